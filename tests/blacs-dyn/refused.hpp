// SPDX-License-Identifier: BSD-3-Clause
// Refusals of dyngrid.hpp.
#pragma once
#include <string>

#include "dyngrid.hpp"
#include "follow.hpp"

namespace follow {

/// The call throws a dyngrid::Error of this status, with these words.
template <class Call> void refused(int status, const std::string& words, Call&& call) {
  try {
    call();
  } catch (const dyngrid::Error& error) {
    expect(error.status() == status && std::string(error.what()).find(words) != std::string::npos,
           "refused with " + std::to_string(error.status()) + ", " + error.what() + ", for " + words);
    return;
  }
  fail("was not refused: " + words);
}

} // namespace follow
