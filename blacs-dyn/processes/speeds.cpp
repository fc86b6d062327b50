// SPDX-License-Identifier: BSD-3-Clause
#include "processes/processes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/environment.hpp"
#include "gridmap/mapping.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

bool are_alike(const std::vector<double>& speeds) {
  return std::all_of(speeds.begin(), speeds.end(), [&](double speed) { return speed == speeds[0]; });
}

void share_out(MPI_Comm comm, GridMap& map, const std::vector<double>& speeds) {
  map.row_shares.clear();
  map.col_shares.clear();
  map.speeds = speeds;
  if (are_alike(speeds)) return;
  const auto nprow = static_cast<std::size_t>(map.shape.nprow), npcol = static_cast<std::size_t>(map.shape.npcol);
  std::vector<double> shares(nprow + npcol);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  together(comm, [&] {
    if (rank != 0) return;
    gridmap::MappingRequest request;
    request.speeds = speeds;
    request.nprow = map.shape.nprow;
    request.npcol = map.shape.npcol;
    const gridmap::Mapping mapping = gridmap::map_in_place(request);
    std::copy(mapping.r.begin(), mapping.r.end(), shares.begin());
    std::copy(mapping.c.begin(), mapping.c.end(), shares.begin() + static_cast<std::ptrdiff_t>(nprow));
  });
  check_mpi(MPI_Bcast(shares.data(), static_cast<int>(shares.size()), MPI_DOUBLE, 0, comm), "MPI_Bcast");
  map.row_shares.assign(shares.begin(), shares.begin() + static_cast<std::ptrdiff_t>(nprow));
  map.col_shares.assign(shares.begin() + static_cast<std::ptrdiff_t>(nprow), shares.end());
}

namespace {
/// The message of a process that takes part in a growth.
struct OwnSpeed {
  double speed;
  int number;
  std::array<char, 256> host; ///< ends with 0
};
} // namespace

void Processes::set_speed(double speed) {
  const auto check = [&] {
    if (!std::isfinite(speed) || speed <= 0)
      throw Error(Status::bad_argument, "blacs-dyn: dyngrid_set_speed: speed is {}, expected a finite number above 0",
                  speed);
  };
  if (!grid_) {
    check();
    own_speed_ = speed;
    return;
  }
  together(grid_.get(), check);
  is_speed_given_ = true;
  std::vector<double> speeds(process_set_.grid.ids.size());
  check_mpi(MPI_Allgather(&speed, 1, MPI_DOUBLE, speeds.data(), 1, MPI_DOUBLE, grid_.get()), "MPI_Allgather");
  GridMap map = process_set_.grid;
  blacs_dyn::share_out(grid_.get(), map, speeds);
  take_speeds(speeds, std::move(map));
}

void Processes::take_speeds(const std::vector<double>& speeds, GridMap map) {
  for (std::size_t k = 0; k < speeds.size(); ++k) process_set_.set_speed(map.ids[k], speeds[k]);
  process_set_.grid = std::move(map);
}

std::vector<double> Processes::know_speeds(const std::vector<int>& ids, const std::vector<double>& speeds) {
  std::vector<double> before;
  for (std::size_t k = 0; k < ids.size(); ++k) {
    before.push_back(process_set_.speed_of(ids[k]));
    process_set_.set_speed(ids[k], speeds[k]);
  }
  return before;
}

double Processes::speed() const {
  if (grid_) return process_set_.speed_of(id_);
  return own_speed_ > 0 ? own_speed_ : 1;
}

int Processes::exchange_speeds(Union& gathered, int number) const {
  const MPI_Comm comm = gathered.comm.get();
  std::vector<OwnSpeed> all(union_order(gathered.before, gathered.change).size());
  OwnSpeed mine{own_speed_, number, {}};
  base::host_name().copy(mine.host.data(), mine.host.size() - 1);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm, &request),
            "MPI_Iallgather");
  wait_asleep(&request);
  std::vector<double> speeds;
  std::vector<std::string> hosts;
  for (const OwnSpeed& one : all) {
    speeds.push_back(one.speed);
    hosts.emplace_back(one.host.data());
    number = std::max(number, one.number);
  }
  note_hosts(gathered.before, gathered.change, hosts);
  note_speeds(gathered.before, gathered.change, speeds);
  return number;
}

void Processes::share_out(Union& gathered) const {
  GridMap& to = gathered.change.to;
  std::vector<double> speeds = apply(gathered.before, gathered.change).speeds_on(to);
  if (to.row_shares.empty())
    blacs_dyn::share_out(gathered.comm.get(), to, speeds);
  else
    to.speeds = std::move(speeds);
}

} // namespace blacs_dyn
