// SPDX-License-Identifier: BSD-3-Clause
// Arrays and executors of dyngrid/redist.h.
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/mpi/agree.hpp"
#include "base/status.hpp"
#include "desc/handles.hpp"
#include "dyngrid/redist.h"
#include "exec/mpi_check.hpp"
#include "redist/executor.hpp"
#include "redist/grid_life.hpp"
#include "redist/shared_array.hpp"

struct dyngrid_array {
  redist::SharedArray array;
};

struct dyngrid_executor {
  redist::Executor executor;
  int rank;
};

namespace {

using base::Error;
using base::Status;
using base::detail::guard;
using base::detail::not_null;
using redist::Pointers;
using redist::RankPlan;

/// The transfers of a call, in C++.
struct Transfers {
  std::vector<const RankPlan*> plans;
  std::vector<Pointers> pointers;
};

/// Where they cannot be read the other ranks throw, too. Collective then.
/// @param scalings none: copies
Transfers read(dyngrid_executor& executor, int count, const dyngrid_transfer* list,
               std::optional<const dyngrid_scaling*> scalings = std::nullopt) {
  Transfers transfers;
  const std::optional<Error> wrong = base::attempt([&] {
    if (count < 0) throw Error(Status::bad_argument, "redist: {} transfers, expected at least 0", count);
    if (count > 0) not_null(list, "redist: transfers");
    if (count > 0 && scalings) not_null(*scalings, "redist: scalings");
    for (int t = 0; t < count; ++t) {
      const dyngrid_transfer& x = list[t];
      const dyngrid_plan& plan = not_null(x.plan, "redist: plan of a transfer");
      transfers.plans.push_back(&plan.of_rank(executor.rank, x.type));
      transfers.pointers.push_back({x.from, x.lld_from, x.to, x.lld_to});
      if (!scalings) continue;
      const dyngrid_scaling& by = (*scalings)[t];
      if (by.alpha == nullptr || by.beta == nullptr)
        throw Error(Status::null_pointer, "redist: transfer {}: {} is null, expected an element of type {}", t,
                    by.alpha == nullptr ? "alpha" : "beta", x.type);
      transfers.pointers.back().alpha = by.alpha;
      transfers.pointers.back().beta = by.beta;
    }
  });
  if (wrong) executor.executor.refuse(*wrong);
  return transfers;
}

void write(dyngrid_execute_report* out, const redist::ExecuteReport& report) {
  if (out == nullptr) return;
  *out = {report.pack_s,    report.transfer_s, report.wait_s,     report.copy_s,
          report.bytes_out, report.bytes_in,   report.bytes_kept, static_cast<int64_t>(report.peak_bytes)};
}

} // namespace

int dyngrid_array_create(int64_t bytes, int sharing, dyngrid_array** array) {
  return guard([&] {
    not_null(array, "redist: place for the array");
    if (bytes < 0) throw Error(Status::bad_argument, "redist: array of {} bytes, expected at least 0", bytes);
    if (sharing < DYNGRID_SHARING_AUTO || sharing > DYNGRID_SHARING_NO)
      throw Error(Status::bad_argument, "redist: sharing is {}, expected 0 .. 2", sharing);
    *array =
        new dyngrid_array{redist::SharedArray(static_cast<std::size_t>(bytes), static_cast<redist::Sharing>(sharing))};
  });
}

void* dyngrid_array_data(const dyngrid_array* array) {
  return array == nullptr ? nullptr : array->array.data();
}

int dyngrid_array_destroy(dyngrid_array** array) {
  return guard([&] { delete std::exchange(not_null(array, "redist: address of the array"), nullptr); });
}

int dyngrid_executor_create(MPI_Comm comm, const dyngrid_executor_options* options, dyngrid_executor** executor) {
  return guard([&] {
    redist::ExecuteOptions how;
    redist::require_whole_grid(comm, "executor");
    const auto read = [&]() -> std::int64_t {
      not_null(executor, "redist: place for the executor");
      if (options == nullptr) return DYNGRID_TRANSPORT_AUTO;
      if (options->transport < DYNGRID_TRANSPORT_AUTO || options->transport > DYNGRID_TRANSPORT_SHARED)
        throw Error(Status::bad_argument, "redist: executor: transport is {}, expected 0 .. 2", options->transport);
      if (options->extra_bytes < 0)
        throw Error(Status::bad_argument, "redist: executor: extra_bytes is {}, expected at least 0",
                    options->extra_bytes);
      how.transport = static_cast<redist::Transport>(options->transport);
      how.host_key = options->host_key;
      if (options->extra_bytes > 0) how.extra_bytes = static_cast<std::size_t>(options->extra_bytes);
      return options->transport;
    };
    base::together_on_number(
        comm, read, "redist: executor: transport differs between the processes of the communicator, expected the same");
    int rank = 0;
    redist::detail::check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    *executor = new dyngrid_executor{redist::Executor(comm, how), rank};
  });
}

int dyngrid_executor_create_f(MPI_Fint comm, const dyngrid_executor_options* options, dyngrid_executor** executor) {
  return dyngrid_executor_create(MPI_Comm_f2c(comm), options, executor);
}

int dyngrid_execute(dyngrid_executor* executor, int count, const dyngrid_transfer* transfers,
                    dyngrid_execute_report* report) {
  return guard([&] {
    dyngrid_executor& with = not_null(executor, "redist: executor");
    const Transfers all = read(with, count, transfers);
    write(report, with.executor.execute(all.plans, all.pointers));
  });
}

int dyngrid_execute_scaled(dyngrid_executor* executor, int count, const dyngrid_transfer* transfers,
                           const dyngrid_scaling* scalings, dyngrid_execute_report* report) {
  return guard([&] {
    dyngrid_executor& with = not_null(executor, "redist: executor");
    const Transfers all = read(with, count, transfers, scalings);
    write(report, with.executor.execute(all.plans, all.pointers));
  });
}

int dyngrid_execute_start(dyngrid_executor* executor, int count, const dyngrid_transfer* transfers) {
  return guard([&] {
    dyngrid_executor& with = not_null(executor, "redist: executor");
    const Transfers all = read(with, count, transfers);
    with.executor.start(all.plans, all.pointers);
  });
}

int dyngrid_execute_advance(dyngrid_executor* executor, int* done) {
  return guard([&] {
    dyngrid_executor& with = not_null(executor, "redist: executor");
    not_null(done, "redist: place for the answer");
    *done = with.executor.advance() ? 1 : 0;
  });
}

int dyngrid_execute_finish(dyngrid_executor* executor, dyngrid_execute_report* report) {
  return guard([&] { write(report, not_null(executor, "redist: executor").executor.finish()); });
}

int dyngrid_execute_in_place(dyngrid_executor* executor, int count, const dyngrid_transfer* transfers, int slabs,
                             dyngrid_execute_report* report) {
  return guard([&] {
    dyngrid_executor& with = not_null(executor, "redist: executor");
    const Transfers all = read(with, count, transfers);
    write(report, with.executor.execute_in_place(all.plans, all.pointers, slabs));
  });
}

int dyngrid_executor_destroy(dyngrid_executor** executor) {
  return guard([&] {
    not_null(executor, "redist: address of the executor");
    const std::unique_ptr<dyngrid_executor> gone(*executor);
    *executor = nullptr;
    if (gone) gone->executor.close();
  });
}
