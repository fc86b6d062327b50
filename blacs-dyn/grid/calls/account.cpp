// SPDX-License-Identifier: BSD-3-Clause
#include "grid/calls/account.hpp"

#include <cstdio>
#include <memory>
#include <set>
#include <utility>

#include <mpi.h>

#include "base/files.hpp"
#include "grid/calls/calls.hpp"
#include "grid/control.hpp"
#include "grid/stock_blacs.hpp"
#include "processes/preflight.hpp"
#include "processes/processes.hpp"

namespace blacs_dyn::calls {
namespace {

bool this_process_prints = false;
struct { // null where the program uses nothing of dyngrid
  const Processes* processes = nullptr;
  const std::unique_ptr<Control>* control = nullptr;
} application;

bool is_in_application() {
  return application.processes != nullptr && application.processes->is_started();
}

std::string& job_name() { // as Control calls it
  static auto* name = new std::string;
  return *name;
}

class Host final : public CallHost {
public:
  control::CallsBoard& board() override { return counts(); }
  bool prints_here() const override { return this_process_prints; }
  void print_once(const std::string& what, const std::string& text) override { calls::print_once(what, text); }
  bool is_verbose() const override { return blacs_dyn::is_verbose(); }
  void hide() override { hide_stock_program(); }
  std::string job() const override { return job_name(); }
  std::string program() const override { return base::file_name(own_program()); }
};

} // namespace

control::CallsBoard& counts() {
  static auto* board = new control::CallsBoard;
  return *board;
}

void belong_to(const Processes& processes, const std::unique_ptr<Control>& control) {
  application = {&processes, &control};
}

void find_printing_process() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank); // only so that it is reported once
  this_process_prints = (is_in_application() ? application.processes->id() : rank) == 0;
}

void print_once(const std::string& what, const std::string& text) {
  static auto* printed = new std::set<std::string>;
  if (this_process_prints && printed->insert(what).second) std::fprintf(stderr, "dyngrid: %s\n", text.c_str());
}

void show(base::GridShape grid) {
  static bool is_shown = false;
  if (!this_process_prints || std::exchange(is_shown, true)) return;
  if (!is_in_application()) show_stock_program(grid, true);
  const Control* shown = is_in_application() ? application.control->get() : shown_stock_program();
  if (shown != nullptr) job_name() = shown->name();
}

CallHost& host() {
  static auto* one = new Host;
  return *one;
}

} // namespace blacs_dyn::calls
