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

std::vector<std::int64_t> entries_in(const std::string& file, std::initializer_list<const char*> names) {
  std::vector<std::int64_t> values(names.size(), -1);
  // stdio takes little memory: this process may have no addresses left
  std::FILE* in = std::fopen(file.c_str(), "r");
  if (in == nullptr) return values;
  for (char line[256]; std::fgets(line, sizeof line, in) != nullptr;) {
    const std::size_t length = std::strcspn(line, " \t");
    for (std::size_t i = 0; i < names.size(); ++i) {
      const char* const name = names.begin()[i];
      long long value = -1;
      if (values[i] < 0 && std::strlen(name) == length && std::strncmp(line, name, length) == 0 &&
          std::sscanf(line + length, "%lld", &value) == 1)
        values[i] = value;
    }
  }
  std::fclose(in);
  return values;
}

} // namespace base
