// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "copier.hpp"
#include "dyngrid.h"
#include "holdings.hpp"
#include "job.hpp"
#include "launchers/join.hpp"
#include "place.hpp"
#include "processes.hpp"
#include "redist/grid_life.hpp"
#include "settings.hpp"

namespace blacs_dyn {

/// The one application that this process belongs to: its processes, matrices and shared state, and the changes of its
/// grid.
class Session {
public:
  static Session& instance();

  /// True from dyngrid_init, a classical growth, or the start of a spawned process on: the BLACS set-up layer is ours
  /// then.
  bool is_active() const { return processes_.is_started() && !is_finished_; }
  bool is_classical() const { return processes_.mode() == Mode::classical; }
  const Processes& processes() const { return processes_; }

  // managed
  void init(std::optional<Shape> first_grid);
  void finalize();
  int resize_point(const Place& place);
  int resize_point_at(const char* name);
  const char* entry_point(); ///< also says that this process can be led
  int pending();
  void on_change(dyngrid_change_routine before, dyngrid_change_routine after, void* data);
  int resize(Shape to, gridmap::Placement placement);
  int pop();
  void request(Shape to);
  void set_placement(gridmap::Placement placement);
  void set_schedule(int schedule);
  void set_processes(int way);
  Matrix* create_matrix(const char* name, char type, AxisRule rows, AxisRule cols, bool has_handle);
  void free_matrix(Matrix* matrix);
  void copy(const Matrix* from, Matrix* to);
  Matrix* find_matrix(const std::string& name) { return holdings_.find(name); }
  void share(const char* name, void* data, std::size_t bytes);
  void unshare(const char* name);
  /// What the application can use, how many steps it has, what it tries first: process 0 keeps it, the others only look
  /// whether it can be read.
  void allow(const char* text);
  void set_steps(std::int64_t steps);
  void experiment(const char* text);
  const char* job_name() const { return job_ ? job_->name().c_str() : ""; }
  void checkpoint(const char* path);
  void restore(const char* path);
  bool is_restarted() const { return must_restore_; }
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
  /// The contexts that do not outlive a change, and what hangs on them. Local to the BLACS, collective over their
  /// grids. change: null at the end of the application.
  void close_contexts(const Processes::Union* change);
  void close_all_contexts(); ///< as blacs_exit does

  void at_mpi_finalize();

private:
  enum class Inside { nothing, before, after };
  Session() = default;
  void start(Mode mode_of_unit0);
  void begin(std::optional<Shape> first_grid);
  void require_grid(const char* what) const;
  void refuse_inside(const char* what, bool only_before = false) const;
  std::uint64_t compare_places(const Place& place, std::uint64_t flags);
  void save_if_due();
  void restore_from(const std::string& name, int reader);
  [[noreturn]] void end_without_restore(const std::string& why);
  void find_hosts();
  LossText loss_text() const;
  SpawnOptions spawn_options() const;
  void check_slots(const std::vector<HostShare>& shares) const;
  /// On process 0. bytes_each: of a new process. @throws Error{no_slots, ...} before anything is started.
  void check_room(int fresh, int after, const UnitPolicy& policy, std::int64_t bytes_each, bool is_forced) const;
  std::int64_t bytes_of_a_process() const;
  /// may_wait: when new processes have to be sent for, wait here until they are there; otherwise they are let in at a
  /// later resize point. leave: ids of units that are not in the new grid. is_forced, on process 0: however many
  /// processes a core gets.
  int change_to(Shape to, gridmap::Placement placement, const GridMap* exact, bool may_wait = true,
                const std::vector<int>& leave = {}, bool is_forced = false);
  void use(Way way);
  void await_newcomers();
  int settle_pending();
  std::vector<int> units_of(const std::vector<std::int64_t>& numbers) const;
  std::vector<control::UnitInfo> units() const;
  void call_off_pending(const std::string& why);
  int carry_through(Processes::Union gathered, double started, const Packet* state_of_led = nullptr);
  /// The matrices on the new grid, not in use yet.
  struct Moved {
    std::vector<Lay> lays;
    std::vector<redist::SharedArray> arrays;
    double plan_s = 0, exchange_s = 0;
    std::int64_t moved_bytes = 0, kept_bytes = 0;
  };
  Moved move_matrices(const Processes::Union& gathered, bool is_joining);
  void report(Shape from, const Change& change, const Moved& moved, std::array<double, 5> seconds);
  int sleep_until_needed();
  int leave();
  /// False: this process has to go to another resize point first; it comes back with the state it got.
  bool exchange_state(Processes::Union& gathered, bool is_joining, double started, const Packet* state_of_led);
  int go_on_where_led();
  void call_routines(Inside when);
  void tie_grid();
  void forget_contexts();
  void open_context();
  void drop_everything();
  void open_job(Shape first_grid);
  gridmap::PlacementRequest placement_request(Shape to, gridmap::Placement placement) const;

  Processes processes_;
  int hosts_of_unit0_ = 1;
  std::map<std::string, int> cores_; ///< of the hosts where mpirun started processes
  bool is_finished_ = false;
  bool we_started_mpi_ = false;
  bool sleeps_at_first_point_ = false; ///< outside the first grid: parked at the first resize point
  int context_ = -1;
  int system_handle_ = -1;
  Holdings holdings_;
  Copier copier_; ///< of this grid
  Settings settings_;
  bool must_restore_ = false; ///< DYNGRID_RESTORE: at the first resize point, unless the program does it itself before
  double last_checkpoint_s_ = 0;
  struct Pending { ///< new processes that were sent for and come while the application computes on
    Change change;
    double since = 0;
    std::int64_t asked = 0; ///< on process 0: the request that wanted them, 0 for none
  };
  std::optional<Pending> pending_; ///< the same on all processes of the grid
  Shape requested_{};
  Place place_;                    ///< the last resize point that this process came to
  bool plain_places_count_ = true; ///< false where programs differ; the same on all processes of the grid
  std::string entry_point_;
  bool can_be_led_ = false;
  struct Led { ///< a change that this process takes part in from another resize point; the others wait
    Processes::Union gathered;
    double started;
    Packet state;
  };
  std::optional<Led> led_;
  struct ChangeRoutine {
    dyngrid_change_routine before, after;
    void* data;
  };
  std::vector<ChangeRoutine> change_routines_;
  struct TiedGrid { ///< a grid of which there are communicators
    std::weak_ptr<redist::GridLife> life;
    std::vector<int> ids;
  };
  std::vector<TiedGrid> tied_grids_;
  Inside inside_ = Inside::nothing; ///< which of them is running
  bool is_noticed_ = false;         ///< `before` was called, and `after` not yet
  std::unique_ptr<Job> job_;        ///< on process 0
  dyngrid_resize_report report_{};
  std::string setup_program_; ///< classical: what blacs_setup.dat says
  std::optional<std::vector<std::string>> setup_arguments_;
};

} // namespace blacs_dyn
