// SPDX-License-Identifier: BSD-3-Clause
#include "exec/connections.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "exec/mpi_check.hpp"
#include "redist/grid_life.hpp"

namespace redist::detail {

using base::Error;
using base::Status;

namespace {

/// Panels of one rank in shared memory: eight, each enough to run for some 50 us between two switches of process.
constexpr std::size_t shared_panels_bytes = SharedHost::usual_panels * (std::size_t{192} << 10);

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
  auto extra = static_cast<std::int64_t>(std::min(options.extra_bytes, std::size_t{1} << 40));
  processes = std::make_unique<Liveness>(comm, extra);
  std::size_t for_panels = 0;
  if (options.transport != Transport::mpi) {
    for_panels = std::min(static_cast<std::size_t>(extra) / 2, shared_panels_bytes);
    host = std::make_unique<SharedHost>(comm, for_panels, options.host_key);
    if (options.transport == Transport::shared && !host->everybody())
      throw Error(Status::unsupported, "redist: executor: transport is shared, but some ranks share no "
                                       "memory, expected Transport::automatic");
    if (!host->reaches(rank)) host.reset(); // this rank has no segment: it and the others talk over MPI
  }
  wire = std::make_unique<Wire>(comm, static_cast<std::size_t>(extra) - for_panels);
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
  const std::int64_t verdict = static_cast<std::int64_t>(mine) * (std::int64_t{1} << 32) + rank;
  std::int64_t all[SharedHost::numbers_at_once] = {verdict, signature, -signature, static_cast<std::int64_t>(ahead)};
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
    throw Error(worst, fmt::format("redist: rank {} of {} reports: {}", who, size, base::to_string(worst)));
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
