// SPDX-License-Identifier: BSD-3-Clause
#include "setup_file.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "base/text.hpp"
#include "processes/shape.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

std::string setup_file_name() {
  return base::environment("DYNGRID_START", "setup").value_or("blacs_setup.dat");
}

void parse_host(std::string_view text, std::string_view where, std::vector<std::string>& hosts, std::vector<int>& slots,
                std::vector<double>& speeds) {
  const std::vector<std::string> parts = base::split(text, ':');
  const auto count = parts.size() > 1 ? base::whole_number<int>(parts[1]) : 0;
  char* end = nullptr;
  const bool has_speed = parts.size() == 3 && !parts[2].empty();
  const double speed = has_speed ? std::strtod(parts[2].c_str(), &end) : 0;
  if (parts.empty() || parts.size() > 3 || parts[0].empty() || !count || (parts.size() > 1 && *count < 1) ||
      (parts.size() == 3 && (!has_speed || *end != '\0' || !(speed > 0) || !std::isfinite(speed))))
    throw Error(
        Status::bad_argument,
        fmt::format("blacs-dyn: {}: host is \"{}\", expected NAME, NAME:SLOTS or NAME:SLOTS:SPEED", where, text));
  hosts.push_back(parts[0]);
  slots.push_back(*count);
  speeds.push_back(speed);
}

SetupFile parse_setup_file(std::string_view text, std::string_view name) {
  SetupFile setup;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::vector<std::string> parts;
    for (std::string word; words >> word;) parts.push_back(word);
    if (parts.empty()) continue;
    const std::string where = fmt::format("{} line {}", name, number);
    std::string key = parts[0];
    if (key == "executable" || key == "processes" || key == "arguments" || key == "host")
      parts.erase(parts.begin());
    else
      key = setup.executable.empty() ? "executable" : setup.processes == 0 ? "processes" : "";
    if (key.empty())
      throw Error(
          Status::bad_argument,
          fmt::format("blacs-dyn: {}: \"{}\" is not executable, processes, arguments or host", where, parts[0]));
    if (key == "arguments") {
      setup.has_arguments = true;
      setup.arguments = parts;
      continue;
    }
    if (parts.size() != 1)
      throw Error(Status::bad_argument,
                  fmt::format("blacs-dyn: {}: {} has {} values, expected one", where, key, parts.size()));
    if (key == "executable") setup.executable = parts[0];
    if (key == "host") parse_host(parts[0], where, setup.hosts, setup.slots, setup.speeds);
    if (key == "processes") {
      const auto [end, failed] = std::from_chars(parts[0].data(), parts[0].data() + parts[0].size(), setup.processes);
      if (failed != std::errc() || end != parts[0].data() + parts[0].size() || setup.processes < 1 ||
          setup.processes > max_processes)
        throw Error(Status::bad_argument,
                    fmt::format("blacs-dyn: {}: processes is \"{}\", expected a number from 1, at most {}", where,
                                parts[0], max_processes));
    }
  }
  if (setup.executable.empty())
    throw Error(Status::bad_argument, fmt::format("blacs-dyn: {} names no executable", name));
  if (setup.processes == 0)
    throw Error(Status::bad_argument, fmt::format("blacs-dyn: {} does not say how many processes", name));
  return setup;
}

} // namespace blacs_dyn
