// SPDX-License-Identifier: BSD-3-Clause
#include "exec/connections.hpp"

#include <algorithm>
#include <new>
#include <vector>

#include "exec/mpi_check.hpp"
#include "redist/grid_life.hpp"

namespace redist::detail {

using base::Error;
using base::Status;

namespace {

/// Panels of one rank in shared memory: eight, each enough to run for some 50 us between two switches of process.
constexpr std::size_t shared_panels_bytes = SharedHost::usual_panels * (std::size_t{192} << 10);

std::size_t bytes_for_panels(std::int64_t extra_bytes) {
  return std::min(static_cast<std::size_t>(extra_bytes) / 2, shared_panels_bytes);
}

/// What each rank has for the others at first, in one message.
struct Card {
  std::int64_t extra_bytes, is_without_memory;
  ProcessCard process;
  SharedHost::Card host;
};

} // namespace

Connections::Connections(MPI_Comm parent, const ExecuteOptions& with) : options(with) {
  require_whole_grid(parent, "executor");
  if (options.is_comm_lent)
    comm = parent;
  else
    check(MPI_Comm_dup(parent, &comm), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  try {
    set_up();
  } catch (const Error& error) {
    // Agreed by all ranks, so that all free it; after a failure of MPI it is in an unknown state.
    if (error.status() != Status::mpi_failure && !options.is_comm_lent) MPI_Comm_free(&comm);
    throw;
  }
}

void Connections::set_up() {
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  const bool may_share = options.transport != Transport::mpi;
  Card mine{};
  mine.extra_bytes = static_cast<std::int64_t>(std::min(options.extra_bytes, std::size_t{1} << 40));
  mine.process = ProcessCard::mine();
  if (may_share) {
    try {
      host = std::make_unique<SharedHost>(comm, bytes_for_panels(mine.extra_bytes), options.host_key);
      mine.host = host->card();
    } catch (const std::bad_alloc&) {
      mine.is_without_memory = 1;
    }
  }
  std::vector<Card> cards(static_cast<std::size_t>(size));
  check(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, cards.data(), sizeof mine, MPI_BYTE, comm), "MPI_Allgather");
  if (std::any_of(cards.begin(), cards.end(), [](const Card& other) { return other.is_without_memory != 0; }))
    throw Error(Status::out_of_memory, "redist: executor: no memory for its shared panels on some rank");
  std::int64_t extra_bytes = mine.extra_bytes;
  std::vector<ProcessCard> all_processes;
  std::vector<SharedHost::Card> all_hosts;
  for (const Card& other : cards) {
    extra_bytes = std::min(extra_bytes, other.extra_bytes);
    all_processes.push_back(other.process);
    all_hosts.push_back(other.host);
  }
  processes = std::make_unique<Liveness>(all_processes, rank);
  const std::size_t for_panels = may_share ? bytes_for_panels(extra_bytes) : 0;
  if (may_share) {
    host->find_others(all_hosts, all_processes, for_panels);
    if (options.transport == Transport::shared && !host->everybody())
      throw Error(Status::unsupported, "redist: executor: transport is shared, but some ranks share no "
                                       "memory, expected Transport::automatic");
    if (!host->reaches(rank)) host.reset(); // this rank has no segment: it and the others talk over MPI
  }
  wire = std::make_unique<Wire>(comm, static_cast<std::size_t>(extra_bytes) - for_panels);
}

void Connections::require_open() const {
  if (comm == MPI_COMM_NULL) throw Error(Status::bad_state, "redist: executor: is closed, expected an open one");
}

void Connections::require_ready() const {
  require_open();
  require_whole_grid(comm, "executor");
  if (broken)
    throw Error(Status::bad_state, "redist: executor: an earlier exchange failed half way, expected a new executor");
  if (active != nullptr)
    throw Error(Status::bad_state, "redist: executor: an exchange is under way, expected finish() first");
}

void Connections::minimum_of(std::int64_t (&numbers)[SharedHost::numbers_at_once], bool is_short) {
  try {
    if (host && host->everybody())
      host->minimum(numbers, *processes, is_short);
    else
      check(MPI_Allreduce(MPI_IN_PLACE, numbers, SharedHost::numbers_at_once, MPI_INT64_T, MPI_MIN, comm),
            "MPI_Allreduce");
  } catch (...) {
    broken = true;
    throw;
  }
}

std::optional<bool> Connections::agree(const std::optional<Error>& wrong, std::int64_t signature, PutDown ahead,
                                       bool may_differ, bool is_short) {
  const Status mine = wrong ? wrong->status() : Status::success;
  const std::int64_t packed = static_cast<std::int64_t>(mine) * (std::int64_t{1} << 32) + rank;
  std::int64_t all[SharedHost::numbers_at_once] = {packed, signature, -signature, static_cast<std::int64_t>(ahead)};
  minimum_of(all, is_short);
  const bool will_run = all[0] >> 32 == 0 && all[1] == -all[2] && (all[1] >= 0 || !may_differ);
  if (!will_run && all[3] < 0 && host && host->everybody()) {
    host->drop_panels();
    std::int64_t numbers[SharedHost::numbers_at_once] = {}; // no rank writes new ones before all have dropped these
    minimum_of(numbers);
  }
  return agreed(wrong, all, may_differ);
}

std::optional<bool> Connections::agreed(const std::optional<Error>& wrong,
                                        const std::int64_t (&all)[SharedHost::numbers_at_once], bool may_differ) const {
  const std::int64_t who = all[0] & 0xffffffff;
  const auto worst = static_cast<Status>(static_cast<int>((all[0] - who) / (std::int64_t{1} << 32)));
  if (worst != Status::success) {
    if (wrong && wrong->status() == worst) throw *wrong;
    throw Error(worst, "redist: rank {} of {} reports: {}", who, size, base::to_string(worst));
  }
  if (may_differ && (all[1] != -all[2] || all[1] < 0)) return std::nullopt;
  if (all[1] != -all[2])
    throw Error(
        Status::rank_mismatch,
        "redist: transfers: their number, types, schedules, slabs, alpha or beta differ between ranks, expected "
        "the same everywhere");
  return all[3] <= static_cast<std::int64_t>(PutDown::sources);
}

void Connections::close() {
  wire.reset();
  host.reset();
  if (broken || options.is_comm_lent) {
    comm = MPI_COMM_NULL;
    return;
  }
  check(MPI_Comm_free(&comm), "MPI_Comm_free");
}

} // namespace redist::detail
