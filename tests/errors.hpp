// SPDX-License-Identifier: BSD-3-Clause
// What calls throw and texts say, for GoogleTest.
#pragma once
#include <string>

#include <gtest/gtest.h>

#include "base/status.hpp"

/// The error that a call throws; its status is success where it throws none.
template <class Call> base::Error thrown_by(Call&& call) {
  try {
    call();
  } catch (const base::Error& error) {
    return error;
  }
  return {base::Status::success, "no error"};
}
/// @param text  gets its words
template <class Call> base::Status status_of(Call&& call, std::string* text = nullptr) {
  const base::Error error = thrown_by(call);
  if (text) *text = error.what();
  return error.status();
}
template <class Exception = base::Error, class Call> std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Exception& error) {
    return error.what();
  }
  return "no error";
}

/// For EXPECT_TRUE and EXPECT_FALSE, which print both.
inline testing::AssertionResult says(const std::string& text, const std::string& words) {
  const bool does_say = text.find(words) != std::string::npos;
  return (does_say ? testing::AssertionSuccess() : testing::AssertionFailure()) << "\"" << words << "\" in: " << text;
}
