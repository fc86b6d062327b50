// SPDX-License-Identifier: BSD-3-Clause
#include "advise/payoff.hpp"

#include <cmath>

#include "refusal.hpp"

namespace advise {
namespace {

void check(const char* name, double seconds) {
  if (!std::isfinite(seconds) || seconds < 0)
    refuse("payoff: {} is {}, expected a finite number of seconds, at least 0", name, seconds);
}

std::int64_t ceil_of(double steps) {
  return steps <= 0x1p53 ? static_cast<std::int64_t>(std::ceil(steps)) : -1;
}

} // namespace

std::int64_t payoff_point(double t_resize, double t_old, double t_new) {
  check("t_resize", t_resize);
  check("t_old", t_old);
  check("t_new", t_new);
  if (t_old <= t_new) return -1;
  return ceil_of(t_resize / (t_old - t_new));
}

std::int64_t resize_cost(double t_resize, double t_new) {
  check("t_resize", t_resize);
  check("t_new", t_new);
  if (t_resize == 0) return 0;
  return ceil_of(t_resize / t_new); // t_new = 0: infinite
}

} // namespace advise
