// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "dyngrid.h"
#include "processes.hpp"
#include "redist/plan.hpp"
#include "redist/shared_array.hpp"

/// A matrix that follows the grid. The handle of the C interface.
struct dyngrid_matrix {
  std::string name;
  char type = 'd';
  std::int64_t m = 0, n = 0, mb = 1, nb = 1;
  std::int64_t m_loc = 0, n_loc = 0, lld = 1;
  redist::SharedArray local;
  std::array<int, 10> desc{};
  bool is_placed = false; ///< false on a newcomer before its first resize point
};

namespace blacs_dyn {

using Matrix = dyngrid_matrix;

/// State that every process has: the user's memory, or what came before the user said where it goes.
struct Shared {
  std::string name;
  void* data = nullptr;
  std::vector<char> early; ///< content that waits for dyngrid_share on a newcomer
  std::size_t bytes = 0;
};

/// The one application that this process belongs to: its processes, matrices and shared state, and the changes of its grid.
class Session {
public:
  static Session& instance();

  /// True from dyngrid_init, a classical growth, or the start of a spawned process on: the BLACS set-up layer is ours then.
  bool is_active() const { return processes_.is_started() && !is_finished_; }
  bool is_classical() const { return processes_.mode() == Mode::classical; }
  const Processes& processes() const { return processes_; }

  // managed
  void init(std::optional<Shape> first_grid);
  void finalize();
  int resize_point();
  int resize(Shape to, gridmap::Placement placement);
  int pop();
  void request(Shape to);
  void set_placement(gridmap::Placement placement);
  void set_schedule(int schedule);
  Matrix* create_matrix(const char* name, char type, std::int64_t m, std::int64_t n, std::int64_t mb, std::int64_t nb, bool has_handle);
  void free_matrix(Matrix* matrix);
  Matrix* find_matrix(const std::string& name);
  void share(const char* name, void* data, std::size_t bytes);
  void unshare(const char* name);
  bool is_newcomer() const { return processes_.is_newcomer(); }
  int context() const { return context_; }
  MPI_Comm grid_comm() const { return processes_.grid(); }
  const dyngrid_resize_report& report() const { return report_; }

  // classical
  void classical_setup(int* iam, int* nprocs);
  void classical_join();
  /// System handle of the current grid for blacs_get; made once per grid.
  int system_handle();
  int fortran_handle(); ///< as blacs_get gives it to Fortran: the communicator itself
  void rank_and_size(int* iam, int* nprocs) const;
  /// All BLACS contexts and what hangs on them. Local to the BLACS, collective over their grids.
  void close_contexts();

  void at_mpi_finalize();

private:
  Session() = default;
  void start(Mode mode_of_unit0);
  void require_grid(const char* what) const;
  void find_hosts();
  void write_settings(Packet& packet) const; ///< what every process must decide alike by
  void read_settings(Packet& packet);
  void read_environment();
  SpawnOptions spawn_options() const;
  void check_room(const Change& change) const;
  int change_to(Shape to, gridmap::Placement placement, const GridMap* exact);
  int carry_through(Processes::Union gathered, double started);
  int sleep_until_needed();
  int leave();
  void exchange_state(Processes::Union& gathered, bool is_joining);
  void open_context();
  void drop_everything();
  void place_matrix(Matrix& matrix, const GridMap& grid, int id, redist::SharedArray local) const;
  const Matrix* largest_matrix() const;

  Processes processes_;
  bool is_finished_ = false;
  bool we_started_mpi_ = false;
  bool sleeps_at_first_point_ = false; ///< outside the first grid: parked at the first resize point
  int context_ = -1;
  int system_handle_ = -1;
  bool has_contexts_ = false;
  std::vector<std::unique_ptr<Matrix>> matrices_;
  std::vector<std::unique_ptr<Matrix>> retired_; ///< freed while this process slept: the handle stays readable
  std::vector<Shared> shared_;
  gridmap::Placement placement_ = gridmap::Placement::optimal;
  redist::Schedule exchange_order_ = redist::Schedule::automatic;
  UnitPolicy unit_policy_;
  double join_limit_s_ = 60;
  bool is_verbose_ = false;
  std::vector<TimedRequest> schedule_;
  std::int64_t points_ = 0; ///< resize points passed
  Shape requested_{};
  dyngrid_resize_report report_{};
  std::string setup_program_; ///< classical: what blacs_setup.dat says
  std::optional<std::vector<std::string>> setup_arguments_;
};

std::size_t element_bytes(char type); ///< 0 for an unknown type

} // namespace blacs_dyn
