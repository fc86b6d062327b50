// SPDX-License-Identifier: BSD-3-Clause
#include "calls/account.hpp"

#include <unistd.h>

#include <cstdio>
#include <set>
#include <utility>

#include <mpi.h>

#include "application.hpp"
#include "base/files.hpp"
#include "calls/calls.hpp"
#include "control.hpp"
#include "control/history.hpp"
#include "preflight.hpp"
#include "stock_program.hpp"

namespace blacs_dyn::calls {
namespace {

bool is_this_teller = false;

/// As Control calls it.
std::string& job_name() {
  static auto* name = new std::string;
  return *name;
}

} // namespace

control::CallsBoard& counts() {
  static auto* board = new control::CallsBoard;
  return *board;
}

const control::CallsBoard& board() {
  return counts();
}

void find_teller() {
  const Application& app = Application::instance();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank); // only to be told once
  is_this_teller = (app.is_active() ? app.processes.id() : rank) == 0;
}

bool is_teller() {
  return is_this_teller;
}

void say_once(const std::string& what, const std::string& text) {
  static auto* said = new std::set<std::string>;
  if (is_teller() && said->insert(what).second) std::fprintf(stderr, "dyngrid: %s\n", text.c_str());
}

void listen(base::GridShape grid) {
  static bool is_heard = false;
  if (!is_teller() || std::exchange(is_heard, true)) return;
  const Application& app = Application::instance();
  if (!app.is_active()) show_stock_program(Shape{grid.nprow, grid.npcol}, true);
  const Control* control = app.is_active() ? app.control.get() : shown_stock_program();
  if (control != nullptr) job_name() = control->name();
}

void tell_and_keep() {
  control::CallReport report = counts().report();
  if (const std::string text = describe(report); !text.empty())
    std::fprintf(stderr, "dyngrid: calls of ScaLAPACK's routines\n%s", text.c_str());
  report.job = job_name();
  if (!report.calls.empty()) {
    const control::HistoryKey key{base::file_name(own_program()), control::calls_size, control::machine_name()};
    try {
      control::append_calls(control::history_file(), key, report);
    } catch (const std::exception&) { // a history that cannot be written is lost
    }
  }
  hide_stock_program(); // last: who asks finds it in one place or the other
}

} // namespace blacs_dyn::calls
