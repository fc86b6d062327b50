// SPDX-License-Identifier: BSD-3-Clause
// The classical way of growing: blacs_setup with a file that says what to spawn.
#include "session.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "launchers/linger.hpp"
#include "preflight.hpp"
#include "setup_file.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

void Session::classical_setup(int* iam, int* nprocs) {
  if (!processes_.is_started()) {
    start(Mode::classical);
    int size = 0;
    MPI_Comm_size(processes_.world(), &size);
    processes_.form_first_grid({1, size});
    open_job({1, size});
  }
  const MPI_Comm grid = processes_.grid();
  try {
    SetupFile setup;
    together(grid, [&] {
      const char* given = environment("DYNGRID_SETUP_FILE");
      const std::string name = given ? given : "blacs_setup.dat";
      std::ifstream file(name);
      if (!file) throw Error(Status::not_found, fmt::format("blacs-dyn: blacs_setup: cannot read {}", name));
      std::ostringstream text;
      text << file.rdbuf();
      setup = parse_setup_file(text.str(), name);
      if (setup.executable == "self") setup.executable = own_program();
      if (processes_.id() == 0) check_program(find_program(setup.executable));
    });
    setup_program_ = setup.executable;
    setup_arguments_ = setup.has_arguments ? std::optional(setup.arguments) : std::nullopt;
    UnitPolicy policy = settings_.unit_policy;
    if (!setup.hosts.empty()) {
      policy.hosts = setup.hosts;
      policy.slots = setup.slots;
      policy.started.clear();
    }
    std::int64_t mine = bytes_of_a_process(), least = 0;
    check_mpi(MPI_Allreduce(&mine, &least, 1, MPI_INT64_T, MPI_MIN, grid), "MPI_Allreduce");
    together(grid, [&] {
      if (processes_.id() == 0)
        check_room(setup.processes, processes_.roster().grid.shape.size() + setup.processes, policy, least, false);
    });
    Change change;
    together(grid, [&] {
      const Roster& roster = processes_.roster();
      change.new_units = group_into_units(roster, setup.processes, policy);
      change.to.ids = roster.grid.ids;
      for (const int id : change.new_ids()) change.to.ids.push_back(id);
      change.to.shape = {1, static_cast<int>(change.to.ids.size())};
    });
    together(grid, [&] {
      if (processes_.id() == 0) processes_.send_for(change, spawn_options());
    });
    await_newcomers();
    close_all_contexts();
    carry_through(processes_.gather(change, spawn_options()), MPI_Wtime());
  } catch (const Error& error) {
    int rank = 0;
    MPI_Comm_rank(grid, &rank);
    base::detail::set_last_message(error.what());
    if (rank == 0)
      std::fprintf(stderr, "dyngrid: blacs_setup starts nothing: %s; going on with the processes there are\n",
                   error.what());
  }
  rank_and_size(iam, nprocs);
}

void Session::classical_join() {
  if (!processes_.is_started()) start(Mode::classical);
  if (!processes_.is_newcomer() || !is_classical()) return;
  auto gathered = processes_.join();
  if (gathered && carry_through(std::move(*gathered), MPI_Wtime()) == DYNGRID_RESIZED) return;
  finalize(); // the growth was given up: there is no application for this process to run
  if (!we_started_mpi_) MPI_Finalize();
  linger_wait();
  std::exit(0);
}

} // namespace blacs_dyn
