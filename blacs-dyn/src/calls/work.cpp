// SPDX-License-Identifier: BSD-3-Clause
// What a worker does (DYNGRID_CALLS, workers=N): it sleeps until it is told of a call, and has its part in it.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <unistd.h>

#include "base/environment.hpp"
#include "calls/calls.hpp"
#include "calls/workers.hpp"
#include "launchers/background.hpp"
#include "launchers/linger.hpp"
#include "launchers/this_mpi.hpp"
#include "messages.hpp"
#include "pblas/stock_calls.hpp"

namespace blacs_dyn::calls {
namespace {

/// A call's arguments as they were sent. Arrays are put in by Elsewhere; what a routine does not look at is there, and
/// 0.
class SentArguments {
public:
  SentArguments(WorkOrder& order, const Routine& routine)
      : addresses_(static_cast<std::size_t>(routine.count), unused_.data()) {
    for (std::size_t k = 0; k < routine.letters.size(); ++k) put(routine.letters[k], &order.letters.at(k));
    for (std::size_t k = 0; k < routine.sizes.size(); ++k) put(routine.sizes[k], &order.sizes.at(k));
    for (std::size_t k = 0; k < routine.scalars.size(); ++k) put(routine.scalars[k], &order.scalars.at(k));
  }
  void put_operands(WorkOrder& order, const Problem& problem) {
    for (std::size_t k = 0; k < problem.operands.size(); ++k) {
      WorkOrder::Part& part = order.operands.at(k);
      put(problem.operands[k].at + 1, &part.i);
      put(problem.operands[k].at + 2, &part.j);
      put(problem.operands[k].at + 3, part.desc.data());
    }
  }
  const Arguments& addresses() const { return addresses_; }

private:
  void put(int at, void* address) { addresses_[static_cast<std::size_t>(at)] = address; }
  std::array<std::int64_t, 512> unused_{};
  Arguments addresses_;
};

void take_part(WorkOrder& order, Merged& merged) {
  const Routine* routine = routine_named(order.routine);
  if (routine == nullptr)
    throw base::Error(base::Status::internal, "blacs-dyn: a worker was told of \"" + order.routine + "\"");
  const char type = order.routine[1];
  SentArguments sent(order, *routine);
  const Problem problem = routine->read(sent.addresses(), type);
  sent.put_operands(order, problem);
  void* stock = pblas::stock_routine(order.routine.c_str());
  take_topologies(order);
  const Everyone all = merged.everyone({});
  const Standing there = merged.context(order.place.grid);
  Elsewhere elsewhere(*routine, problem, sent.addresses(), type, there, order.place.nb);
  double spent_s = 0;
  if (order.what == WorkOrder::What::run)
    run_there(elsewhere, *routine, stock, there, all);
  else
    measure_there(elsewhere, stock, there, all, spent_s);
}

void serve(Merged& merged) {
  constexpr int longest_ms = 10;
  for (;;) {
    WorkOrder order = receive_asleep(merged.comm.get(), 0, base::tag_work, longest_ms).get<WorkOrder>();
    if (order.what == WorkOrder::What::run || order.what == WorkOrder::What::measure)
      take_part(order, merged);
    else
      merged.close_contexts();
    if (order.what == WorkOrder::What::leave) return;
  }
}

} // namespace

bool is_worker() {
  const char* newcomer = base::environment("DYNGRID_NEWCOMER");
  return newcomer != nullptr && std::string_view(newcomer) == "worker" && was_started_in_background();
}

void work() {
  try {
    int is_up = 0;
    MPI_Initialized(&is_up);
    if (is_up == 0) check_mpi(MPI_Init(nullptr, nullptr), "MPI_Init");
    LossText loss;
    loss.ends_silently = true;
    const std::unique_ptr<Launcher> launcher = make_background_launcher(std::move(loss));
    const Nested nested; // calls of ScaLAPACK's routines are the program's, and stay here
    if (std::optional<Comm> intercomm = launcher->enter(MPI_COMM_WORLD)) { // all that were started with this one
      MPI_Comm all = MPI_COMM_NULL;
      LooksForConnections looks;
      check_mpi(MPI_Intercomm_merge(intercomm->get(), 1, &all), "MPI_Intercomm_merge");
      looks.stop();
      Merged merged{Comm::adopt(all)};
      merged.size = merged.comm.size();
      serve(merged);
      merged.comm.close();
      intercomm->disconnect();
    }
    launcher->close();
    linger_prepare();
    MPI_Finalize();
    linger_wait();
    std::exit(0);
  } catch (const std::exception& error) { // the program hears that this process ends
    std::fprintf(stderr, "dyngrid: a worker: %s\n", error.what());
    std::fflush(stderr);
    _exit(1);
  }
}

} // namespace blacs_dyn::calls
