// SPDX-License-Identifier: BSD-3-Clause
// The classical way of growing: blacs_setup with a file that says what to spawn.
#include "grid/application.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "processes/launchers/linger.hpp"
#include "processes/messages.hpp"
#include "processes/preflight.hpp"
#include "processes/setup_file.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

namespace {

/// blacs_setup.dat of process 0, with the program to start looked at. Collective over the grid.
SetupFile read_setup_file(MPI_Comm grid, bool is_process0, const std::string& local) {
  const std::string name = setup_file_name();
  std::ostringstream text;
  together(grid, [&] {
    if (!is_process0) return;
    std::ifstream file(name);
    if (!file) throw Error(Status::not_found, "blacs-dyn: blacs_setup: cannot read {}", name);
    text << file.rdbuf();
  });
  const std::string all = value_of_root(text.str(), 0, grid);
  SetupFile setup;
  together(grid, [&] {
    setup = parse_setup_file(all, name, local);
    if (setup.executable == "self") setup.executable = own_program();
    if (is_process0) check_program(find_program(setup.executable));
  });
  return setup;
}

/// The grid gets one row, with the new processes at its end.
Change grown(const ProcessSet& process_set, int fresh, const GroupPolicy& policy) {
  Change change;
  change.new_groups = group_into_groups(process_set, fresh, policy);
  change.to.ids = process_set.grid.ids;
  for (const int id : change.new_ids()) change.to.ids.push_back(id);
  change.to.shape = {1, static_cast<int>(change.to.ids.size())};
  return change;
}

} // namespace

void Application::classical_setup(int* iam, int* nprocs) {
  if (!processes.is_started()) {
    start(Mode::classical);
    int size = 0;
    MPI_Comm_size(processes.world(), &size);
    processes.form_first_grid({1, size}, hosts.of_ranks(), settings.group_policy);
    open_control({1, size});
  }
  const int rank = grid.rank();
  try {
    grow_as_setup_says();
  } catch (const Error& error) {
    if (error.status() == Status::mpi_failure) throw;
    base::detail::set_last_message(error.what());
    if (rank == 0)
      std::fprintf(stderr, "dyngrid: blacs_setup starts nothing: %s; going on with the processes there are\n",
                   error.what());
  }
  grid.rank_and_size(iam, nprocs);
}

void Application::grow_as_setup_says() {
  const std::vector<std::string>& known = hosts.of_ranks(); // none on a new process
  const SetupFile setup = read_setup_file(grid.comm(), processes.id() == 0, known.empty() ? "" : known[0]);
  newcomers.set(setup.executable, setup.has_arguments ? std::optional(setup.arguments) : std::nullopt);
  GroupPolicy policy = settings.group_policy;
  if (!setup.hosts.empty()) policy.set_hosts(setup.hosts);
  headroom.check(setup.processes, {1, grid.shape().size() + setup.processes}, policy, false);
  Change change;
  together(grid.comm(), [&] { change = grown(processes.process_set(), setup.processes, policy); });
  changes.grow(std::move(change));
}

void Application::classical_join() {
  if (!processes.is_started()) start(Mode::classical);
  if (!processes.is_newcomer() || !is_classical()) return;
  if (changes.join() == DYNGRID_RESIZED) return;
  finalize(); // the growth was given up: there is no application for this process to run
  if (!we_started_mpi_) MPI_Finalize();
  linger_wait();
  std::exit(0);
}

} // namespace blacs_dyn
