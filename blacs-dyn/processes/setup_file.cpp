// SPDX-License-Identifier: BSD-3-Clause
#include "processes/setup_file.hpp"

#include <sstream>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "base/text.hpp"
#include "processes/names.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

std::string setup_file_name() {
  return base::environment("DYNGRID_START", "setup").value_or("blacs_setup.dat");
}

SetupFile parse_setup_file(std::string_view text, std::string_view name, std::string_view local) {
  SetupFile setup;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::vector<std::string> parts = base::words_in(line.substr(0, line.find('#')));
    if (parts.empty()) continue;
    const std::string where = fmt::format("{} line {}", name, number);
    std::string key = parts[0];
    if (key == "executable" || key == "processes" || key == "arguments" || key == "host")
      parts.erase(parts.begin());
    else
      key = setup.executable.empty() ? "executable" : setup.processes == 0 ? "processes" : "";
    if (key.empty())
      throw Error(Status::bad_argument, "blacs-dyn: {}: \"{}\" is not executable, processes, arguments or host", where,
                  parts[0]);
    if (key == "arguments") {
      setup.has_arguments = true;
      setup.arguments = parts;
      continue;
    }
    if (parts.size() != 1)
      throw Error(Status::bad_argument, "blacs-dyn: {}: {} has {} values, expected one", where, key, parts.size());
    if (key == "executable") setup.executable = parts[0];
    if (key == "host") setup.hosts.push_back(base::parse_host(parts[0], "blacs-dyn: " + where));
    if (key == "processes")
      setup.processes = static_cast<int>(
          base::parse_whole_number(parts[0], fmt::format("blacs-dyn: {}: processes", where), 1, max_processes));
  }
  if (const auto twice = base::named_twice(setup.hosts, local))
    throw Error(Status::bad_argument, "blacs-dyn: {}: host {} is there twice", name, *twice);
  if (setup.executable.empty()) throw Error(Status::bad_argument, "blacs-dyn: {} names no executable", name);
  if (setup.processes == 0) throw Error(Status::bad_argument, "blacs-dyn: {} has no line \"processes N\"", name);
  return setup;
}

} // namespace blacs_dyn
