// SPDX-License-Identifier: BSD-3-Clause
// A call at another place than the caller's: its arrays there, the routine on them, and the way there and back.
#pragma once
#include <cstdlib>
#include <memory>
#include <vector>

#include "grid/calls/place.hpp"

namespace blacs_dyn::calls {

/// The processes that have a part in a call: those of the caller's context.
struct Everyone {
  MPI_Comm comm = MPI_COMM_NULL;
  int size = 0;
  int cover = -1;    ///< a context of all of them
  Standing caller{}; ///< of this process in the caller's grid
};

/// The part of a call at a place that a process has. Nothing is initialized. Null pointers where there was no memory.
class Elsewhere {
public:
  /// Local. @param type of the elements
  Elsewhere(const Routine& routine, const Problem& problem, const Arguments& a, char type, const Standing& there,
            int nb);
  Elsewhere(const Elsewhere&) = delete; // the arguments are addresses of members
  Elsewhere& operator=(const Elsewhere&) = delete;

  /// Of all arrays of all processes, about.
  std::int64_t bytes_here() const { return bytes_; }
  /// False without memory for the operands.
  bool is_made() const { return is_made_; }
  /// Asks the routine for its work space and gets it; of a place's processes. False without memory.
  bool get_work(void* stock);
  /// The operands that go in, from the caller; then what was written, back. Collective over everyone.
  void bring_in(const Everyone& all);
  void bring_back(const Everyone& all) const;
  /// Pivots, scalars of reflectors and eigenvalues. Collective over everyone.
  void bring_pivots_in(const Everyone& all);
  void bring_vectors_back(const Everyone& all) const;
  /// The routine itself; of a place's processes.
  void run(void* stock);
  /// The info of the routine, on all processes: below 0 where one of them refused. Collective over `comm`.
  int info(MPI_Comm comm) const;
  /// Bytes that go there and back, of all processes.
  double moved_bytes() const;

  /// Operands for a measurement: numbers that suit every routine. Local.
  void fill();

private:
  struct Free {
    void operator()(void* bytes) const { std::free(bytes); }
  };
  using Bytes = std::unique_ptr<void, Free>;
  struct Panel {
    Operand operand;
    Given from;
    Descriptor desc{};
    Bytes data;
  };
  Bytes get(std::int64_t bytes);
  void replace(int at, void* address) { arguments_[static_cast<std::size_t>(at)] = address; }
  std::int64_t pivots_count() const;
  std::vector<int> all_pivots(const int* pivots, const Given& x, const Standing& where, MPI_Comm comm) const;
  void bring_tau_back(const Everyone& all) const;
  void bring_eigenvalues_back(const Everyone& all) const;
  char* theirs(int at) const { return static_cast<char*>(given_[static_cast<std::size_t>(at)]); }

  const Routine& routine_;
  const Arguments& given_;
  char type_;
  Standing there_;
  Arguments arguments_; ///< those of the routine there
  std::vector<Panel> panels_;
  Bytes pivots_, tau_, eigenvalues_, work_, rwork_, iwork_;
  std::vector<char> room_; ///< that queries write to, some of them more than the first element
  std::int64_t bytes_ = 0;
  bool is_made_ = true;
  int info_ = 0, lwork_ = -1, lrwork_ = -1, liwork_ = -1;
  const int one_ = 1;
};

/// How a call at a place ended.
struct Run {
  enum class Outcome { done, no_memory, refused };
  Outcome outcome = Outcome::done;
  int info = 0;
  double run_s = 0; ///< of the routine alone
};
/// The call as a whole: operands there, the routine, what it wrote back. The caller's operands are untouched but where
/// it is done. Collective over everyone.
Run run_there(Elsewhere& elsewhere, const Routine& routine, void* stock, const Standing& there, const Everyone& all);
/// The routine on numbers that suit it, twice: seconds of the slowest process, the better time. NaN without memory.
/// spent_s grows by both. Collective over everyone.
double measure_there(Elsewhere& elsewhere, void* stock, const Standing& there, const Everyone& all, double& spent_s);
/// Collective.
bool all_agree(bool mine, MPI_Comm comm);

/// Inside of a routine of ScaLAPACK while it lives: what that calls itself stays where it is. Local.
class Nested {
public:
  Nested() { ++depth(); }
  ~Nested() { --depth(); }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;
  static int& depth();
};

} // namespace blacs_dyn::calls
