// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

/// A made-up /proc and /sys.
struct FakeSystem {
  std::string root;
  FakeSystem() {
    char name[] = "/tmp/dyngrid-limits-XXXXXX";
    root = mkdtemp(name);
  }
  ~FakeSystem() { std::filesystem::remove_all(root); }
  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root + path).substr(0, (root + path).rfind('/')));
    std::ofstream(root + path) << text;
  }
};
