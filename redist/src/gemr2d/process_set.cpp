// SPDX-License-Identifier: BSD-3-Clause
#include "gemr2d/process_set.hpp"

#include <algorithm>

#include "exec/mpi_check.hpp"
#include "redist/blacs.hpp"
#include "redist/element.hpp"
#include "redist/gemr2d.hpp"

namespace redist {
namespace detail {
namespace {

constexpr int executors_kept = 8;           ///< of sets without a context, each with 1.6 MB
constexpr std::size_t sets_remembered = 64; ///< without an executor
// Making an executor takes as long as some copies without one. It is made at once where it stays, and later
// where it goes with its context.
constexpr int load_worth_keeping = 8, load_worth_making = 16;

/// One for the copy and one for each MiB.
int load_of(const Call& call) {
  const double mib = static_cast<double>(call.m) * call.n * element_bytes(static_cast<char>(call.type)) / (1 << 20);
  return 1 + static_cast<int>(std::min(mib, 1e6));
}

// These outlive MPI_Finalize: nothing is freed at exit.
std::list<std::unique_ptr<State>>& states() {
  static auto* all = new std::list<std::unique_ptr<State>>;
  return *all;
}
std::list<ProcessSet>& sets() { // oldest first
  static auto* all = new std::list<ProcessSet>;
  return *all;
}

int keyval = MPI_KEYVAL_INVALID;

void close(std::list<ProcessSet>::iterator set) {
  if (set->executor) set->executor->close();
  sets().erase(set);
}

/// Called by MPI when the context's communicator goes, on all its ranks: the state goes with it, and an
/// executor of its own that does not stay.
int on_delete(MPI_Comm, int, void* value, void*) {
  auto& all = states();
  const auto at = std::find_if(all.begin(), all.end(), [&](const auto& s) { return s.get() == value; });
  if (at == all.end()) return MPI_SUCCESS;
  ProcessSet* const set = (*at)->set;
  all.erase(at);
  if (--set->contexts > 0 || !set->executor || set->is_kept) return MPI_SUCCESS;
  try {
    close(std::find_if(sets().begin(), sets().end(), [&](const ProcessSet& s) { return &s == set; }));
  } catch (...) {
    return MPI_ERR_OTHER;
  }
  return MPI_SUCCESS;
}

/// Local, but what it finds of sets with an executor is the same on all of them.
ProcessSet& set_of(MPI_Comm comm) {
  ProcessSet fresh;
  check(MPI_Comm_rank(comm, &fresh.rank), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &fresh.size), "MPI_Comm_size");
  fresh.group = base::Group::of(comm);
  auto& all = sets();
  for (ProcessSet& set : all) {
    if (set.rank != fresh.rank || set.size != fresh.size) continue;
    if (set.group.is_same_as(fresh.group)) return set;
  }
  // MPI_COMM_WORLD is asked for what it is: the processes that end together
  fresh.is_of_one_world = fresh.group.common_with(base::Group::of(MPI_COMM_WORLD)).size() == fresh.size;
  const auto is_idle = [](const ProcessSet& set) { return !set.executor && set.contexts == 0; };
  if (static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_idle)) >= sets_remembered)
    close(std::find_if(all.begin(), all.end(), is_idle));
  all.push_back(std::move(fresh));
  return all.back();
}

} // namespace

State& state_of(int ctxt) {
  const MPI_Comm comm = communicator_of(ctxt);
  if (keyval == MPI_KEYVAL_INVALID)
    check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, nullptr), "MPI_Comm_create_keyval");
  void* value = nullptr;
  int found = 0;
  check(MPI_Comm_get_attr(comm, keyval, &value, &found), "MPI_Comm_get_attr");
  if (found != 0) return *static_cast<State*>(value);
  auto state = std::make_unique<State>(State{comm, &set_of(comm)});
  check(MPI_Comm_set_attr(comm, keyval, state.get()), "MPI_Comm_set_attr");
  states().push_back(std::move(state));
  ++states().back()->set->contexts;
  return *states().back();
}

void make_executor(State& state, const std::vector<CallOfRank>& calls) {
  const auto least = [&](int CallOfRank::*which) {
    return (*std::min_element(calls.begin(), calls.end(),
                              [=](const CallOfRank& x, const CallOfRank& y) { return x.*which < y.*which; })).*
           which;
  };
  const int now = load_of(calls[0].call);
  const bool stays = least(&CallOfRank::has_room) != 0;
  const bool is_time = stays ? least(&CallOfRank::load_of_set) + now >= load_worth_keeping
                             : least(&CallOfRank::load_of_context) + now >= load_worth_making;
  state.set->load += now;
  state.load += now;
  if (!is_time) return;
  state.set->executor = std::make_unique<Executor>(state.comm);
  state.set->is_kept = stays;
}

bool has_room() {
  return std::count_if(sets().begin(), sets().end(), [](const ProcessSet& s) { return s.is_kept; }) < executors_kept;
}

} // namespace detail

void forget_all_contexts() {
  if (!detail::mpi_is_up()) return;
  while (!detail::states().empty())
    detail::check(MPI_Comm_delete_attr(detail::states().front()->comm, detail::keyval), "MPI_Comm_delete_attr");
}

void forget_process_sets() {
  if (!detail::mpi_is_up()) return;
  forget_all_contexts();
  while (!detail::sets().empty()) detail::close(detail::sets().begin());
}

std::size_t remembered_contexts() {
  return detail::states().size();
}

std::size_t remembered_executors() {
  const auto& all = detail::sets();
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const auto& set) { return set.executor != nullptr; }));
}

} // namespace redist
