// SPDX-License-Identifier: BSD-3-Clause
// two_loops.h with dyngrid.hpp.
#include "dyngrid.hpp"
#include "two_loops.h"

int main(int argc, char** argv) {
  using dyngrid::Outcome;
  const std::string kind = argc > 1 ? argv[1] : "plain";
  const bool is_led = kind == "led", is_plain = kind == "plain";
  dyngrid::Application app(1, 2);
  dyngrid::Matrix<double> a("a", 37, 29, 4, 3);
  dyngrid::Shared<int> scf("scf", 0), step("step", 0);
  if (!app.is_newcomer()) fill_or_check(a.handle(), 1);
  const std::string entry = is_led ? app.entry_point() : "";
  need(entry == (is_led && app.is_newcomer() ? "propagation" : ""), "where a new process is to go");

  Outcome outcome = Outcome::same;
  std::string refusal, one = "\"scf\"", other = "\"propagation\"";
  for (; entry.empty() && scf < scf_steps; scf = scf + 1) {
    if (is_plain)
      one = "two_loops_cpp.cpp:" + std::to_string(__LINE__), outcome = app.resize_point();
    else
      outcome = app.resize_point_at("scf");
    if (outcome == Outcome::leave || outcome == Outcome::redirect) break;
    need(outcome == Outcome::same, "the first loop");
    fill_or_check(a.handle(), 0);
  }
  if (outcome == Outcome::redirect)
    need(is_led && app.entry_point() == "propagation", "where a process goes that woke");
  for (; outcome != Outcome::leave && step < all_steps; step = step + 1) {
    if (step == step_of_growth && app.grid().is_mine()) app.request(2, 2);
    if (is_plain)
      other = "two_loops_cpp.cpp:" + std::to_string(__LINE__), outcome = app.resize_point(refusal);
    else
      outcome = app.resize_point_at("propagation", refusal);
    if (outcome == Outcome::leave) break;
    look_at(refusal.empty() ? 0 : DYNGRID_ERR_STATE, step, is_led, one.c_str(), other.c_str());
    fill_or_check(a.handle(), 0);
  }
  app.finalize();
  return 0;
}
