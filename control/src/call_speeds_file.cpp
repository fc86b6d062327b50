// SPDX-License-Identifier: BSD-3-Clause
#include "control/call_speeds_file.hpp"

#include <unistd.h>

#include <cstdio>
#include <map>
#include <sstream>
#include <tuple>

#include <fmt/format.h>

#include "base/file_descriptor.hpp"
#include "base/files.hpp"
#include "control/history.hpp"

namespace control {
namespace {

using gridmap::CallSample;

bool read_line(const std::string& line, CallSample& sample, std::string& machine) {
  std::istringstream in(line);
  char x = 0, slash = 0;
  int p = 0, q = 0;
  in >> sample.routine >> sample.aspect >> p >> x >> q >> slash >> sample.place.nb >> sample.n >> sample.work >>
      sample.seconds >> sample.count >> std::ws;
  if (!in || x != 'x' || slash != '/' || p < 1 || q < 1 || sample.place.nb < 1 || sample.n < 1) return false;
  if (!(sample.seconds > 0) || !(sample.work >= 0) || sample.count < 1) return false;
  sample.place.grid = {p, q};
  return static_cast<bool>(std::getline(in, machine));
}

} // namespace

std::string call_speeds_file() {
  const std::string history = history_file();
  return history.empty() ? history : history + ".calls";
}

std::string lines_of(const std::vector<CallSample>& samples, const std::string& machine) {
  std::string lines;
  for (const CallSample& s : samples)
    lines += fmt::format("{} {} {} {} {:.6g} {:.6g} {} {}\n", s.routine, s.aspect, to_string(s.place), s.n, s.work,
                         s.seconds, s.count, machine);
  return lines;
}

std::vector<CallSample> call_samples_in(const std::string& lines, const std::string& machine) {
  std::vector<CallSample> samples;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    CallSample sample;
    std::string of;
    if (read_line(line, sample, of) && of == machine) samples.push_back(sample);
  }
  return samples;
}

void save_call_samples(const std::string& file, const std::vector<CallSample>& samples, const std::string& machine) {
  if (file.empty() || samples.empty() || !base::make_directories(base::folder_of(file))) return;
  std::map<std::tuple<std::string, int, gridmap::CallPlace, std::int64_t>, CallSample> mine;
  std::string text;
  std::istringstream in(base::content_of(file));
  for (std::string line; std::getline(in, line);) {
    CallSample sample;
    std::string of;
    if (!read_line(line, sample, of)) continue;
    if (of == machine)
      mine[{sample.routine, sample.aspect, sample.place, sample.n}] = sample;
    else
      text += line + "\n";
  }
  for (const CallSample& s : samples) mine[{s.routine, s.aspect, s.place, s.n}] = s;
  std::vector<CallSample> all;
  for (const auto& entry : mine) all.push_back(entry.second);
  const std::string part = fmt::format("{}.{}", file, getpid());
  const base::FileDescriptor out = base::new_file(part, 0600);
  if (!out) return;
  if (!base::write_all(out.get(), text + lines_of(all, machine)) || std::rename(part.c_str(), file.c_str()) != 0)
    std::remove(part.c_str());
}

} // namespace control
