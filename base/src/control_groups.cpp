// SPDX-License-Identifier: BSD-3-Clause
#include "base/control_groups.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/text.hpp"

namespace base {

std::vector<std::string> control_groups(const std::string& root, const std::string& controller) {
  std::vector<std::string> folders;
  const auto add = [&](const std::string& base, std::string path) {
    for (;; path.erase(path.rfind('/'))) {
      while (!path.empty() && path.back() == '/') path.pop_back();
      const std::string folder = base + path;
      std::error_code ignored;
      if (std::filesystem::is_directory(folder, ignored) &&
          std::find(folders.begin(), folders.end(), folder) == folders.end())
        folders.push_back(folder);
      if (path.empty()) return;
    }
  };
  const std::string base = root + "/sys/fs/cgroup";
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) { // "7:cpu,cpuacct:/a/b", and "0::/a/b" of version 2
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos || line[second + 1] != '/') continue;
    const std::string list = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    if (list.empty()) {
      add(base, path);
      add(base + "/unified", path);
    } else if (("," + list + ",").find("," + controller + ",") != std::string::npos) {
      add(base + "/" + list, path);
      add(base + "/" + controller, path);
    }
  }
  return folders;
}

std::optional<std::int64_t> number_in(const std::string& file) {
  std::ifstream in(file);
  std::string first;
  in >> first;
  return whole_number(first);
}

std::int64_t entry_in(const std::string& file, const std::string& name) {
  // stdio takes little memory: this process may have no addresses left
  std::FILE* in = std::fopen(file.c_str(), "r");
  if (in == nullptr) return -1;
  long long value = -1;
  for (char line[256]; value < 0 && std::fgets(line, sizeof line, in) != nullptr;)
    if (std::strncmp(line, name.c_str(), name.size()) == 0 && (line[name.size()] == ' ' || line[name.size()] == '\t'))
      std::sscanf(line + name.size(), "%lld", &value);
  std::fclose(in);
  return value;
}

} // namespace base
