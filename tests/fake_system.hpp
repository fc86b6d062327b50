// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "temporary_folder.hpp"

/// A made-up /proc and /sys.
struct FakeSystem : TemporaryFolder {
  const std::string& root = path;
  void put(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root + file).parent_path());
    std::ofstream(root + file) << text;
  }
};
