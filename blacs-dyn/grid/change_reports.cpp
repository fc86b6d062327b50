// SPDX-License-Identifier: BSD-3-Clause
#include "grid/change_reports.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include <fmt/format.h>

#include "processes/mpi_util.hpp"

namespace blacs_dyn {

void ChangeReports::relaid(const MatrixMove& move, double started) {
  const std::array<double, 3> mine{move.plan_s, move.exchange_s, MPI_Wtime() - started};
  std::array<double, 3> most{};
  check_mpi(MPI_Allreduce(mine.data(), most.data(), 3, MPI_DOUBLE, MPI_MAX, processes_.grid()), "MPI_Allreduce");
  const Shape shape = processes_.process_set().grid.shape;
  dyngrid_resize_report& r = last_;
  r = {};
  r.asked_at_step = r.changed_at_step = -1;
  r.from_nprow = r.to_nprow = shape.nprow;
  r.from_npcol = r.to_npcol = shape.npcol;
  r.plan_s = most[0];
  r.exchange_s = most[1];
  r.total_s = most[2];
  r.moved_bytes = move.moved_bytes;
  r.kept_bytes = move.kept_bytes;
  if (control_) control_->relaid();
  if (are_printed())
    std::fputs(fmt::format("dyngrid: {} laid out anew: plan {:.4f} s, exchange {:.3f} s{}, all {:.3f} s; {} bytes "
                           "moved, {} kept\n",
                           to_string(shape), r.plan_s, r.exchange_s, move.is_in_slabs ? " in slabs" : "", r.total_s,
                           r.moved_bytes, r.kept_bytes)
                   .c_str(),
               stderr);
}

void ChangeReports::resized(const Processes::Union& gathered, const MatrixMove& move, const Resized& mine,
                            std::optional<control::ResizeRequest>& request) {
  const std::array<double, 6> took{gathered.spawn_s, mine.merge_s, move.plan_s,
                                   move.exchange_s,  mine.total_s, mine.asked_at_step};
  std::array<double, 6> most{};
  check_mpi(MPI_Allreduce(took.data(), most.data(), 6, MPI_DOUBLE, MPI_MAX, processes_.grid()), "MPI_Allreduce");
  const Change& change = gathered.change;
  const Shape from = gathered.before.grid.shape, to = change.to.shape;
  dyngrid_resize_report& r = last_;
  r = {};
  r.from_nprow = from.nprow;
  r.from_npcol = from.npcol;
  r.to_nprow = to.nprow;
  r.to_npcol = to.npcol;
  r.spawned = static_cast<int>(change.new_ids().size());
  r.woken = static_cast<int>(change.wake.size());
  r.parked = static_cast<int>(change.park.size());
  r.released = from.size() + r.spawned + r.woken - to.size() - r.parked;
  r.spawn_s = most[0];
  r.merge_s = most[1];
  r.plan_s = most[2];
  r.exchange_s = most[3];
  r.total_s = most[4];
  r.asked_at_step = static_cast<std::int64_t>(most[5]);
  r.changed_at_step = r.asked_at_step < 0 ? -1 : settings_.points - 1;
  r.moved_bytes = move.moved_bytes;
  r.kept_bytes = move.kept_bytes;
  if (control_) {
    control_->know(processes_); // before any client is sent the change, since it may ask
    control_->changed(r, static_cast<int>(processes_.process_set().all_parked().size()), request);
  }
  if (are_printed()) print(move.is_in_slabs);
}

void ChangeReports::failed(Shape to, const base::Error& error, std::optional<control::ResizeRequest>& request) {
  if (processes_.id() == 0)
    std::fprintf(stderr, "dyngrid: no change to %s: %s; going on with %s\n", to_string(to).c_str(), error.what(),
                 to_string(processes_.process_set().grid.shape).c_str());
  if (control_) control_->failed(to, error.status(), error.what(), request);
}

void ChangeReports::print(bool is_in_slabs) const {
  const dyngrid_resize_report& r = last_;
  const std::string when = r.asked_at_step < 0 ? ""
                                               : fmt::format("; requested at step {}, changed at step {}",
                                                             r.asked_at_step, r.changed_at_step);
  std::fputs(fmt::format("dyngrid: {} -> {}: {} spawned, {} woken, {} released, {} parked; spawn {:.3f} s, merge "
                         "{:.3f} s, plan {:.4f} s, exchange {:.3f} s{}, other {:.3f} s, all {:.3f} s; "
                         "{} bytes moved, {} kept{}\n",
                         to_string(Shape{r.from_nprow, r.from_npcol}), to_string(Shape{r.to_nprow, r.to_npcol}),
                         r.spawned, r.woken, r.released, r.parked, r.spawn_s, r.merge_s, r.plan_s, r.exchange_s,
                         is_in_slabs ? " in slabs" : "",
                         std::max(0.0, r.total_s - r.spawn_s - r.merge_s - r.plan_s - r.exchange_s), r.total_s,
                         r.moved_bytes, r.kept_bytes, when)
                 .c_str(),
             stderr);
}

} // namespace blacs_dyn
