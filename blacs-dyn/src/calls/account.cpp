// SPDX-License-Identifier: BSD-3-Clause
#include "calls/account.hpp"

#include <unistd.h>

#include <cstdio>
#include <memory>

#include <mpi.h>

#include "application.hpp"
#include "base/files.hpp"
#include "calls/calls.hpp"
#include "control.hpp"
#include "control/history.hpp"
#include "preflight.hpp"

namespace blacs_dyn::calls {
namespace {

std::unique_ptr<Control>& own_control() {
  static auto* control = new std::unique_ptr<Control>; // ended by tell_and_keep
  return *control;
}

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

bool is_first_process() {
  const Application& app = Application::instance();
  if (app.is_active()) return app.processes.id() == 0;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank); // only to be told once
  return rank == 0;
}

void listen(base::GridShape grid) {
  const Application& app = Application::instance();
  if (app.control != nullptr) job_name() = app.control->name();
  if (app.is_active() || own_control() != nullptr) return;
  try {
    own_control() = std::make_unique<Control>(Settings::from_environment(), Shape{grid.nprow, grid.npcol},
                                              "this program has no resize points: its calls are carried out elsewhere "
                                              "(DYNGRID_CALLS), its grid stays");
    job_name() = own_control()->name();
  } catch (const std::exception& error) { // the program runs without
    std::fprintf(stderr, "dyngrid: calls cannot be asked about from outside: %s\n", error.what());
  }
}

void stop_listening() {
  own_control().reset();
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
  stop_listening(); // last: who asks finds it in one place or the other
}

} // namespace blacs_dyn::calls
