// SPDX-License-Identifier: BSD-3-Clause
#include "base/files.hpp"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>

namespace base {

bool make_directories(const std::string& path) {
  std::filesystem::path made;
  for (const std::filesystem::path& part : std::filesystem::path(path)) {
    made /= part;
    std::error_code ignored;
    if (std::filesystem::is_directory(made, ignored)) continue;
    if (mkdir(made.c_str(), 0700) != 0 && errno != EEXIST) return false;
  }
  return true;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string content;
  std::array<char, 4096> part;
  while (file.read(part.data(), part.size()) || file.gcount() > 0) // a folder cannot be read: no exception here
    content.append(part.data(), static_cast<std::size_t>(file.gcount()));
  return content;
}

std::string file_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? "." : slash == 0 ? "/" : path.substr(0, slash));
}

} // namespace base
