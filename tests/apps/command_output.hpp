// SPDX-License-Identifier: BSD-3-Clause
// What a sub-command prints, run inside the test.
#pragma once
#include <cstdio>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/command_line.hpp"

/// add: declares the sub-command, with which `line` begins. Throws what the sub-command throws.
inline std::string output_of(void (*add)(base::CommandLine&), const std::string& line) {
  base::CommandLine app("");
  add(app);
  testing::internal::CaptureStdout();
  try {
    std::istringstream text(line);
    app.parse(std::vector<std::string>(std::istream_iterator<std::string>(text), {}));
  } catch (...) {
    testing::internal::GetCapturedStdout();
    throw;
  }
  std::fflush(stdout);
  return testing::internal::GetCapturedStdout();
}
