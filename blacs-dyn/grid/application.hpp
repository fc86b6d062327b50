// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <optional>

#include "dyngrid.h"
#include "grid/balancing.hpp"
#include "grid/borders.hpp"
#include "grid/change_reports.hpp"
#include "grid/checkpoints.hpp"
#include "grid/control.hpp"
#include "grid/copier.hpp"
#include "grid/grid.hpp"
#include "grid/headroom.hpp"
#include "grid/machine_figures.hpp"
#include "grid/newcomer_command.hpp"
#include "grid/phases.hpp"
#include "grid/program_position.hpp"
#include "grid/registered.hpp"
#include "grid/relayout.hpp"
#include "grid/resize_points.hpp"
#include "grid/settings.hpp"
#include "grid/state_transfer.hpp"
#include "processes/hosts.hpp"
#include "processes/launchers/ways.hpp"
#include "processes/processes.hpp"

namespace blacs_dyn {

/// The application that this process belongs to: its parts, and their start and end. Each routine of the C interface
/// calls the part that it needs.
class Application {
public:
  static Application& instance();

  Processes processes;
  Settings settings;
  Hosts hosts;
  Registered registered;
  Grid grid{processes, registered.matrices};
  MachineFigures machine{control};
  Copier copier{grid, registered.matrices, machine};
  Borders borders{grid, registered.matrices};
  Headroom headroom{processes, settings, hosts, registered.matrices};
  Checkpoints checkpoints{processes, settings, grid, registered, control};
  ChangeReports reports{processes, settings, control};
  Phases phases{grid, registered.matrices, machine, copier, control};
  std::unique_ptr<Control> control; ///< on process 0; destroyed after `changes`, whose requests use it
  Balancing balancing{processes, settings, grid, registered.matrices, machine, control};
  ProgramPosition program_position{grid};
  NewcomerCommand newcomers{processes, settings, program_position};
  StateTransfer transfer{processes, settings, registered, program_position, machine, balancing};
  const Resize::Parts parts{processes, grid, settings, registered, newcomers, transfer, checkpoints, reports, machine};
  Relayout relayout{parts, program_position, copier};
  Changes changes{parts, headroom, relayout, balancing, control};
  ResizePoints points{grid, settings, program_position, checkpoints, balancing, changes};

  /// True from dyngrid_init, a classical growth, or the start of a spawned process on: the BLACS set-up layer is ours
  /// then.
  bool is_active() const { return processes.is_started() && !is_finished_; }
  /// Name of the pool; "" where the application began on all processes of mpirun, and before init_on. On a new process
  /// from its start on.
  const std::string& pool();
  bool is_classical() const { return processes.mode() == Mode::classical; }
  bool was_called() const { return was_called_; } ///< dyngrid_init, whatever came of it
  bool has_left() const { return is_active() && !is_classical() && processes.has_left(); }
  /// @throws Error{bad_state} outside of dyngrid_init .. dyngrid_finalize, and on a process that has left.
  void require_begun(const char* routine) const;

  void init(std::optional<Shape> first_grid);
  /// On a part of mpirun's processes. New processes, whose pool is known, ignore both. Collective over comm.
  void init_on(MPI_Comm comm, const char* pool);
  void finalize();
  void at_mpi_finalize();
  /// New processes come that way from here on. Collective over group 0 or the grid. @throws agreed Error{bad_state,
  /// unsupported}
  void use(LauncherKind way);

  // the classical way: classical.cpp
  void classical_setup(int* iam, int* nprocs);
  void classical_join();

private:
  Application();
  void start(Mode mode_of_unit0, MPI_Comm first = MPI_COMM_WORLD);
  void start_mpi();
  [[noreturn]] void end_unneeded();
  void read_environment();
  void print_failure(const char* routine, const base::Error& error, MPI_Comm comm) const;
  void refuse_second_init() const;
  void begin(std::optional<Shape> first_grid, MPI_Comm first = MPI_COMM_WORLD);
  Shape choose_first_grid(std::optional<Shape> first_grid) const;
  void open_control(Shape first_grid);
  void grow_as_setup_says();
  void drop_everything();
  LossText loss_text() const;
  LauncherKind first_way() const;
  bool is_fork() const; ///< of the process that began: it has copies of its handles, and no part in the application

  int pid_ = 0; ///< of the process that began
  bool is_finished_ = false;
  bool was_called_ = false; ///< dyngrid_init
  bool has_begun_ = false;  ///< dyngrid_init succeeded
  bool we_started_mpi_ = false;
};

} // namespace blacs_dyn
