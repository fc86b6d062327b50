// SPDX-License-Identifier: BSD-3-Clause
#include "base/clock.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace base {
namespace {

std::string time_text(const char* form, const std::tm& time) {
  char text[40] = "";
  std::strftime(text, sizeof text, form, &time);
  return text;
}

} // namespace

std::int64_t monotonic_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

double monotonic_s() {
  return static_cast<double>(monotonic_ns()) * 1e-9;
}

double unix_time_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string utc_text(std::int64_t unix_s) {
  const std::time_t seconds = unix_s;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return time_text("%Y-%m-%dT%H:%M:%SZ", utc);
}

std::string local_clock_text() {
  const std::time_t seconds = std::time(nullptr);
  std::tm local{};
  localtime_r(&seconds, &local);
  return time_text("%H:%M:%S", local);
}

double Deadline::left_s() const {
  return end_s_ < 0 ? -1 : std::max(0.0, end_s_ - monotonic_s());
}

int Deadline::left_ms() const {
  return end_s_ < 0 ? -1 : static_cast<int>(std::min(std::ceil(left_s() * 1000), 1e9));
}

} // namespace base
