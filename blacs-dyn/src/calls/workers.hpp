// SPDX-License-Identifier: BSD-3-Clause
// Processes beyond the program's own that its calls may run on (DYNGRID_CALLS, workers=N): dyngrid-worker, which is
// sent for at the first call that is looked at and sleeps in between.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "calls/elsewhere.hpp"
#include "launchers/launcher.hpp"

namespace blacs_dyn::calls {

/// What workers are told before each thing that they have a part in.
struct WorkOrder {
  enum class What : int { run, measure, close, leave };
  What what = What::run;
  std::string routine; ///< pdgetrf_
  std::vector<char> letters;
  std::vector<int> sizes;
  using Scalar = std::array<char, 16>; ///< of any type
  std::vector<Scalar> scalars;
  struct Part {
    int i = 1, j = 1;
    Descriptor desc{}; ///< without a context
  };
  std::vector<Part> operands;
  CallPlace place;
  std::string topologies; ///< of the PBLAS' broadcasts and sums, which each process keeps for itself
};
template <class Archive> void fields(Archive& a, WorkOrder& o) {
  a(o.what, o.routine, o.letters, o.sizes, o.scalars, o.operands, o.place, o.topologies);
}
/// The order for a call with these arguments, on such a place.
WorkOrder order_for(WorkOrder::What what, const char* name, const Routine& routine, const Problem& problem,
                    const Arguments& a, char type, const CallPlace& place);

/// Topologies as those of the process that gave the order. Local.
void take_topologies(const WorkOrder& order);

/// A communicator of the program's processes and, behind them, workers; and its contexts.
struct Merged {
  Comm comm;
  int size = 0;
  std::map<GridShape, int> contexts{};

  /// Collective.
  Standing context(GridShape grid);
  Everyone everyone(const Standing& caller);
  void close_contexts();
};

/// The program's side. Its first process starts them, tells them, and hears when they end.
class Workers {
public:
  static Workers& all(); ///< outlives MPI_Finalize
  void ask_for(int count) { asked_for_ = count; }
  int count() const { return merged_.size > 0 ? merged_.size - program_ : 0; } ///< that are in
  Merged& merged() { return merged_; }

  /// How far they have come: what the first process says before a call, and all agree on.
  enum Stage : std::int64_t { none, ready, in };
  /// The first process; sends for them the first time. must_wait: until they are there or given up.
  std::int64_t look(bool must_wait);
  /// Takes them in where they are ready, goes on without them where they have gone. Collective over `comm`, the
  /// processes that called first.
  void go_by(std::int64_t stage, MPI_Comm comm);
  /// From here on their end is the end of everything, until rest(). False on the first process when they have gone.
  bool wake();
  void rest();
  /// The first process: all of them.
  void tell(const WorkOrder& order);
  /// Contexts that workers are in, before the BLACS close all. Collective over the processes that called first.
  void close_contexts();
  /// At MPI_Finalize.
  void end();

private:
  void start();
  void give_up(const std::string& why);
  void come_in(MPI_Comm comm);
  void lose();
  bool all_live();
  void end_with_mpi();

  int asked_for_ = 0, program_ = 0;
  bool is_first_ = false; ///< this process starts them, tells them, hears of them
  bool is_given_up_ = false, was_lost_ = false, ends_with_mpi_ = false;
  NewGroup group_;
  double limit_s_ = 60, started_ = 0;
  std::unique_ptr<Launcher> launcher_;
  std::unique_ptr<Launch> launch_;
  Comm own_; ///< of the program's processes
  Comm intercomm_;
  Merged merged_;
};

} // namespace blacs_dyn::calls
