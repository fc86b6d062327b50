! SPDX-License-Identifier: BSD-3-Clause
!> The Fortran side of dyngrid.h. Names and numbers are those of C; info (or outcome) is last and follows
!> dyngrid/status.h: 0 is success, errors are negative, outcomes are DYNGRID_SAME, DYNGRID_RESIZED, DYNGRID_LEAVE and
!> DYNGRID_REDIRECT.
module dyngrid_grids
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real32, real64, int32, int64
  use dyngrid_gridmap, only: DYNGRID_ERR_ARGUMENT
  use dyngrid_redist, only: DYNGRID_DTYPE
  implicit none
  private

  integer, parameter, public :: DYNGRID_BLOCKING = 0, DYNGRID_JOIN = 1, DYNGRID_BACKGROUND = 2
  integer, parameter, public :: DYNGRID_BALANCE_OFF = 0, DYNGRID_BALANCE_ADVISE = 1, DYNGRID_BALANCE_AUTO = 2
  integer, parameter, public :: DYNGRID_ORDER_BLOCK = 1, DYNGRID_ORDER_CYCLIC = 2, &
    DYNGRID_ORDER_FACTOR = 3
  !> An option of dyngrid_lu and dyngrid_cholesky.
  integer, parameter, public :: DYNGRID_GIVE_BACK = 1
  integer, parameter, public :: DYNGRID_SAME = 0, DYNGRID_RESIZED = 1, DYNGRID_LEAVE = 2, DYNGRID_REDIRECT = 3
  !> A matrix that follows the grid.
  type, public :: dyngrid_matrix
    type(c_ptr) :: handle = c_null_ptr
  end type

  !> What the last change of the grid took; see dyngrid_resize_report in dyngrid.h.
  type, bind(C), public :: dyngrid_resize_report
    integer(c_int) :: from_nprow, from_npcol, to_nprow, to_npcol
    integer(c_int) :: spawned, woken, released, parked
    real(c_double) :: spawn_s, merge_s, plan_s, exchange_s, total_s
    integer(c_int64_t) :: moved_bytes, kept_bytes, asked_at_step, changed_at_step
  end type

  !> A panel of dyngrid_lu or dyngrid_cholesky that is done; see dyngrid_panel in dyngrid.h. first from 0.
  type, bind(C), public :: dyngrid_panel
    integer(c_int64_t) :: first, columns, of
    integer(c_int) :: nprow, npcol
    real(c_double) :: seconds
    integer(c_int) :: outcome
  end type

  !> What one process gets of its processor; see dyngrid_load in dyngrid.h. row, col from 0.
  type, bind(C), public :: dyngrid_load
    integer(c_int) :: process, row, col, is_known
    real(c_double) :: share, speed, competing, waited, throttled, stolen, held_s
  end type

  !> What was decided last about loaded processes; see dyngrid_balance_report in dyngrid.h.
  type, bind(C), public :: dyngrid_balance_report
    integer(c_int64_t) :: number
    integer(c_int) :: action, is_done, from_nprow, from_npcol, to_nprow, to_npcol, leaves, comes, measured_steps
    real(c_double) :: before_s, after_s, change_s, measured_before_s, measured_after_s, measured_change_s
    integer(c_int64_t) :: moved_elements, payoff_steps
    real(c_double) :: steps
    character(kind=c_char) :: why(160)
  end type

  !> What a phase does with a matrix.
  integer, parameter, public :: DYNGRID_READ = 1, DYNGRID_WRITE = 2
  !> A part of a program's cycle; see dyngrid_phase_create in dyngrid.h.
  type, public :: dyngrid_phase
    type(c_ptr) :: handle = c_null_ptr
  end type

  !> The phase that ended last, or that runs; see dyngrid_phase_report in dyngrid.h.
  type, bind(C), public :: dyngrid_phase_report
    integer(c_int) :: candidate, candidates, is_planned
    real(c_double) :: seconds, move_s, predicted_s
    integer(c_int64_t) :: moved_bytes
  end type

  public :: dyngrid_phase_create, dyngrid_phase_uses, dyngrid_phase_layout, dyngrid_phase_layout_by, &
    dyngrid_phase_layout_weighted, &
    dyngrid_phase_begin, dyngrid_phase_end, dyngrid_phases_plan, dyngrid_phases_keep, dyngrid_matrix_written, &
    dyngrid_last_phase
  public :: dyngrid_run_on, dyngrid_run_on_begin, dyngrid_run_on_end
  public :: dyngrid_set_balance, dyngrid_loads, dyngrid_rebalance, dyngrid_last_balance
  public :: dyngrid_work_begin, dyngrid_work_end, dyngrid_work_items
  public :: dyngrid_init, dyngrid_init_grid, dyngrid_finalize, dyngrid_is_newcomer, dyngrid_is_first, &
    dyngrid_context, dyngrid_grid, dyngrid_comm, &
    dyngrid_resize_point, dyngrid_resize_point_at, dyngrid_entry_point, dyngrid_pending, dyngrid_was_refused, &
    dyngrid_on_change, &
    dyngrid_change_routine, dyngrid_on_panel, dyngrid_panel_routine, &
    dyngrid_request, dyngrid_resize, dyngrid_relayout, dyngrid_pop, dyngrid_depth, &
    dyngrid_resize_without, dyngrid_request_without, dyngrid_need, dyngrid_process_id, &
    dyngrid_set_placement, dyngrid_set_schedule, dyngrid_set_processes, dyngrid_last_resize, &
    dyngrid_matrix_create, dyngrid_matrix_create_by, dyngrid_distribution, dyngrid_block_rule, &
    dyngrid_matrix_create_weighted, dyngrid_my_range, dyngrid_set_speed, dyngrid_speed, dyngrid_rule_speed, &
    dyngrid_matrix_reblock, dyngrid_matrix_set_rule, dyngrid_matrix_find, dyngrid_matrix_free, &
    dyngrid_copy, dyngrid_lu, dyngrid_cholesky, dyngrid_lu_pivots, dyngrid_matrix_shape, dyngrid_local, dyngrid_desc, &
    dyngrid_allow, dyngrid_set_steps, dyngrid_experiment, dyngrid_job, &
    dyngrid_share, dyngrid_unshare, dyngrid_checkpoint, dyngrid_restore, dyngrid_is_restarted

  !> call dyngrid_matrix_create(name, type, m, n, mb, nb, a, info); sizes all default or all 64-bit integers.
  interface dyngrid_matrix_create
    module procedure create_default, create_int64
  end interface

  !> call dyngrid_matrix_create_weighted(name, type, m, n, mb, nb, order, a, info); sizes all default or all 64-bit
  !> integers.
  interface dyngrid_matrix_create_weighted
    module procedure weighted_default, weighted_int64
  end interface

  !> call dyngrid_my_range(a, axis, k, first, last, info): rows ('R') or columns ('C') first .. last, from 1, of stretch
  !> k, from 1, of this process; info is 1, or 0 when there are no more. All default or all 64-bit integers.
  interface dyngrid_my_range
    module procedure my_range_default, my_range_int64
  end interface

  !> call dyngrid_work_items(a, axis, first, count, seconds, info): what rows ('R') or columns ('C') first, ..., from 1,
  !> of this process take in a step; see dyngrid.h. Both default or both 64-bit integers.
  interface dyngrid_work_items
    module procedure work_items_default, work_items_int64
  end interface

  !> call dyngrid_matrix_reblock(a, mb, nb, outcome); sizes all default or all 64-bit integers.
  interface dyngrid_matrix_reblock
    module procedure reblock_default, reblock_int64
  end interface

  !> call dyngrid_phase_layout(phase, a, mb, nb, info); sizes all default or all 64-bit integers.
  interface dyngrid_phase_layout
    module procedure phase_layout_default, phase_layout_int64
  end interface

  !> call dyngrid_phases_plan(cycles, info), dyngrid_phases_keep(bytes, info); default or 64-bit integers.
  interface dyngrid_phases_plan
    module procedure phases_plan_default, phases_plan_int64
  end interface
  interface dyngrid_phases_keep
    module procedure phases_keep_default, phases_keep_int64
  end interface

  !> How the rows (axis = iachar('R')) or columns (iachar('C')) lie on an nprow x npcol grid: the number of block sizes,
  !> which are also filled in when c_associated(sizes). See dyngrid.h.
  abstract interface
    integer(c_int64_t) function dyngrid_distribution(context, axis, length, nprow, npcol, sizes) bind(C)
      import
      type(c_ptr), value :: context
      integer(c_signed_char), value :: axis
      integer(c_int64_t), value :: length
      integer(c_int), value :: nprow, npcol
      type(c_ptr), value :: sizes
    end function
  end interface

  !> What dyngrid_on_change is given. See dyngrid.h.
  abstract interface
    subroutine dyngrid_change_routine(data) bind(C)
      import
      type(c_ptr), value :: data
    end subroutine
  end interface

  !> What dyngrid_on_panel is given. See dyngrid.h.
  abstract interface
    subroutine dyngrid_panel_routine(panel, data) bind(C)
      import
      type(dyngrid_panel), intent(in) :: panel
      type(c_ptr), value :: data
    end subroutine
  end interface

  !> call dyngrid_resize_point(outcome). Directly, since the place of the call is what tells resize points apart.
  interface
    subroutine dyngrid_resize_point(outcome) bind(C, name="dyngrid_resize_point_")
      import
      integer(c_int), intent(out) :: outcome
    end subroutine
  end interface

  !> call dyngrid_local(a, x): x(:,:) becomes this process's part, x(1:lld, 1:columns), of the matrix's type. It is good
  !> until the next change of the grid; not associated outside the grid.
  interface dyngrid_local
    module procedure local_s, local_d, local_c, local_z, local_i
  end interface

  !> call dyngrid_share(name, variable, info) for a scalar or an array of any rank: integer of 4 or 8 bytes, real and
  !> complex of 4 or 8 bytes each, default logical, character. DYNGRID_ERR_ARGUMENT for a section with gaps, as a(1, :).
  !> Or dyngrid_share(name, address, bytes, info). The variable must have the target attribute and live until
  !> dyngrid_finalize or dyngrid_unshare.
  interface dyngrid_share
    module procedure share_address, share_int32, share_int64, share_logical, share_real32, share_real64, &
      share_complex32, share_complex64, share_text
  end interface

  !> Steps of the whole run, default or 64-bit integer.
  interface dyngrid_set_steps
    module procedure set_steps_default, set_steps_int64
  end interface

  interface
    integer(c_int) function c_init() bind(C, name="dyngrid_init")
      import
    end function
    integer(c_int) function c_init_grid(nprow, npcol) bind(C, name="dyngrid_init_grid")
      import
      integer(c_int), value :: nprow, npcol
    end function
    integer(c_int) function c_finalize() bind(C, name="dyngrid_finalize")
      import
    end function
    integer(c_int) function c_is_newcomer() bind(C, name="dyngrid_is_newcomer")
      import
    end function
    integer(c_int) function c_is_first() bind(C, name="dyngrid_is_first")
      import
    end function
    integer(c_int) function c_context() bind(C, name="dyngrid_context")
      import
    end function
    integer(c_int) function c_grid(nprow, npcol, myrow, mycol) bind(C, name="dyngrid_grid")
      import
      integer(c_int) :: nprow, npcol, myrow, mycol
    end function
    integer(c_int) function c_comm_f() bind(C, name="dyngrid_comm_f")
      import
    end function
    integer(c_int) function c_resize_point_at(name) bind(C, name="dyngrid_resize_point_at")
      import
      character(kind=c_char), intent(in) :: name(*)
    end function
    type(c_ptr) function c_entry_point() bind(C, name="dyngrid_entry_point")
      import
    end function
    integer(c_int) function c_pending() bind(C, name="dyngrid_pending")
      import
    end function
    integer(c_int) function c_on_change(before, after, data) bind(C, name="dyngrid_on_change")
      import
      type(c_funptr), value :: before, after
      type(c_ptr), value :: data
    end function
    integer(c_int) function c_on_panel(routine, data) bind(C, name="dyngrid_on_panel")
      import
      type(c_funptr), value :: routine
      type(c_ptr), value :: data
    end function
    integer(c_int) function c_request(nprow, npcol) bind(C, name="dyngrid_request")
      import
      integer(c_int), value :: nprow, npcol
    end function
    integer(c_int) function c_resize(nprow, npcol, placement) bind(C, name="dyngrid_resize")
      import
      integer(c_int), value :: nprow, npcol, placement
    end function
    integer(c_int) function c_resize_without(nprow, npcol, placement, without) bind(C, name="dyngrid_resize_without")
      import
      integer(c_int), value :: nprow, npcol, placement
      character(kind=c_char), intent(in) :: without(*)
    end function
    integer(c_int) function c_request_without(nprow, npcol, without) bind(C, name="dyngrid_request_without")
      import
      integer(c_int), value :: nprow, npcol
      character(kind=c_char), intent(in) :: without(*)
    end function
    integer(c_int) function c_need(grids) bind(C, name="dyngrid_need")
      import
      character(kind=c_char), intent(in) :: grids(*)
    end function
    integer(c_int) function c_process_id() bind(C, name="dyngrid_process_id")
      import
    end function
    integer(c_int) function c_relayout() bind(C, name="dyngrid_relayout")
      import
    end function
    integer(c_int) function c_reblock(handle, mb, nb) bind(C, name="dyngrid_matrix_reblock")
      import
      type(c_ptr), value :: handle
      integer(c_int64_t), value :: mb, nb
    end function
    integer(c_int) function c_set_rule(handle, rule, context) bind(C, name="dyngrid_matrix_set_rule")
      import
      type(c_ptr), value :: handle
      type(c_funptr), value :: rule
      type(c_ptr), value :: context
    end function
    integer(c_int) function c_pop() bind(C, name="dyngrid_pop")
      import
    end function
    integer(c_int) function c_depth() bind(C, name="dyngrid_depth")
      import
    end function
    integer(c_int) function c_set_placement(placement) bind(C, name="dyngrid_set_placement")
      import
      integer(c_int), value :: placement
    end function
    integer(c_int) function c_set_schedule(schedule) bind(C, name="dyngrid_set_schedule")
      import
      integer(c_int), value :: schedule
    end function
    integer(c_int) function c_set_balance(mode) bind(C, name="dyngrid_set_balance")
      import
      integer(c_int), value :: mode
    end function
    integer(c_int) function c_work_begin() bind(C, name="dyngrid_work_begin")
      import
    end function
    integer(c_int) function c_work_end(units) bind(C, name="dyngrid_work_end")
      import
      real(c_double), value :: units
    end function
    integer(c_int) function c_rebalance() bind(C, name="dyngrid_rebalance")
      import
    end function
    integer(c_int) function c_last_balance(report) bind(C, name="dyngrid_last_balance")
      import
      type(dyngrid_balance_report) :: report
    end function
    integer(c_int) function c_loads(loads, capacity, count) bind(C, name="dyngrid_loads")
      import
      type(dyngrid_load) :: loads(*)
      integer(c_int), value :: capacity
      integer(c_int) :: count
    end function
    integer(c_int) function c_set_processes(way) bind(C, name="dyngrid_set_processes")
      import
      integer(c_int), value :: way
    end function
    integer(c_int) function c_last_resize(report) bind(C, name="dyngrid_last_resize")
      import
      type(dyngrid_resize_report) :: report
    end function
    ! the type as a number: gfortran 12 passes the address of a character dummy where a character by value is wanted
    integer(c_int) function c_matrix_create(name, type, m, n, mb, nb, handle) bind(C, name="dyngrid_matrix_create")
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_signed_char), value :: type
      integer(c_int64_t), value :: m, n, mb, nb
      type(c_ptr) :: handle
    end function
    !> A ready-made dyngrid_distribution: one block for each process. See dyngrid.h.
    integer(c_int64_t) function dyngrid_block_rule(context, axis, length, nprow, npcol, sizes) bind(C)
      import
      type(c_ptr), value :: context
      integer(c_signed_char), value :: axis
      integer(c_int64_t), value :: length
      integer(c_int), value :: nprow, npcol
      type(c_ptr), value :: sizes
    end function
    integer(c_int) function c_matrix_create_by(name, type, m, n, rule, context, handle) &
        bind(C, name="dyngrid_matrix_create_by")
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_signed_char), value :: type
      integer(c_int64_t), value :: m, n
      type(c_funptr), value :: rule
      type(c_ptr), value :: context
      type(c_ptr) :: handle
    end function
    integer(c_int) function c_matrix_create_weighted(name, type, m, n, mb, nb, order, handle) &
        bind(C, name="dyngrid_matrix_create_weighted")
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_signed_char), value :: type
      integer(c_int64_t), value :: m, n, mb, nb
      integer(c_int), value :: order
      type(c_ptr) :: handle
    end function
    integer(c_int) function c_my_range(handle, axis, k, first, last) bind(C, name="dyngrid_my_range")
      import
      type(c_ptr), value :: handle
      integer(c_signed_char), value :: axis
      integer(c_int64_t), value :: k
      integer(c_int64_t) :: first, last
    end function
    integer(c_int) function c_work_items(handle, axis, first, count, seconds) bind(C, name="dyngrid_work_items")
      import
      type(c_ptr), value :: handle
      integer(c_signed_char), value :: axis
      integer(c_int64_t), value :: first, count
      real(c_double), intent(in) :: seconds(*)
    end function
    integer(c_int) function c_set_speed(speed) bind(C, name="dyngrid_set_speed")
      import
      real(c_double), value :: speed
    end function
    !> How fast this process is, relative to the others.
    real(c_double) function dyngrid_speed() bind(C)
      import
    end function
    !> Inside a rule: of the process at (row, col), from 0, of the grid that it is asked for. See dyngrid.h.
    real(c_double) function dyngrid_rule_speed(row, col) bind(C)
      import
      integer(c_int), value :: row, col
    end function
    type(c_ptr) function c_matrix_local(handle) bind(C, name="dyngrid_local")
      import
      type(c_ptr), value :: handle
    end function
    type(c_ptr) function c_matrix_desc(handle) bind(C, name="dyngrid_desc")
      import
      type(c_ptr), value :: handle
    end function
    integer(c_int) function c_matrix_shape(handle, m_loc, n_loc, lld) bind(C, name="dyngrid_matrix_shape")
      import
      type(c_ptr), value :: handle
      integer(c_int64_t) :: m_loc, n_loc, lld
    end function
    type(c_ptr) function c_matrix_find(name) bind(C, name="dyngrid_matrix_find")
      import
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function c_matrix_free(handle) bind(C, name="dyngrid_matrix_free")
      import
      type(c_ptr) :: handle
    end function
    integer(c_int) function c_copy(from, to) bind(C, name="dyngrid_copy")
      import
      type(c_ptr), value :: from, to
    end function
    integer(c_int) function c_phase_create(name, phase) bind(C, name="dyngrid_phase_create")
      import
      character(c_char), intent(in) :: name(*)
      type(c_ptr) :: phase
    end function
    integer(c_int) function c_phase_uses(phase, matrix, use) bind(C, name="dyngrid_phase_uses")
      import
      type(c_ptr), value :: phase, matrix
      integer(c_int), value :: use
    end function
    integer(c_int) function c_phase_layout(phase, matrix, mb, nb) bind(C, name="dyngrid_phase_layout")
      import
      type(c_ptr), value :: phase, matrix
      integer(c_int64_t), value :: mb, nb
    end function
    integer(c_int) function c_phase_layout_weighted(phase, matrix, mb, nb, order) &
        bind(C, name="dyngrid_phase_layout_weighted")
      import
      type(c_ptr), value :: phase, matrix
      integer(c_int64_t), value :: mb, nb
      integer(c_int), value :: order
    end function
    integer(c_int) function c_phase_layout_by(phase, matrix, rule, context) bind(C, name="dyngrid_phase_layout_by")
      import
      type(c_ptr), value :: phase, matrix
      type(c_funptr), value :: rule
      type(c_ptr), value :: context
    end function
    integer(c_int) function c_run_on(nprow, npcol, nb, routine) bind(C, name="dyngrid_run_on")
      import
      integer(c_int), value :: nprow, npcol, nb
      character(c_char), intent(in) :: routine(*)
    end function
    integer(c_int) function c_run_on_begin(nprow, npcol, nb, routines) bind(C, name="dyngrid_run_on_begin")
      import
      integer(c_int), value :: nprow, npcol, nb
      character(c_char), intent(in) :: routines(*)
    end function
    integer(c_int) function c_run_on_end() bind(C, name="dyngrid_run_on_end")
      import
    end function
    integer(c_int) function c_phase_begin(phase) bind(C, name="dyngrid_phase_begin")
      import
      type(c_ptr), value :: phase
    end function
    integer(c_int) function c_phase_end(phase) bind(C, name="dyngrid_phase_end")
      import
      type(c_ptr), value :: phase
    end function
    integer(c_int) function c_phases_plan(cycles) bind(C, name="dyngrid_phases_plan")
      import
      integer(c_int64_t), value :: cycles
    end function
    integer(c_int) function c_phases_keep(bytes) bind(C, name="dyngrid_phases_keep")
      import
      integer(c_int64_t), value :: bytes
    end function
    integer(c_int) function c_matrix_written(matrix) bind(C, name="dyngrid_matrix_written")
      import
      type(c_ptr), value :: matrix
    end function
    integer(c_int) function c_last_phase(report) bind(C, name="dyngrid_last_phase")
      import
      type(dyngrid_phase_report) :: report
    end function
    integer(c_int) function c_lu(a, options, pivots, info) bind(C, name="dyngrid_lu")
      import
      type(c_ptr), value :: a
      integer(c_int), value :: options
      integer(c_int) :: pivots(*), info
    end function
    integer(c_int) function c_cholesky(a, uplo, options, info) bind(C, name="dyngrid_cholesky")
      import
      type(c_ptr), value :: a
      integer(c_signed_char), value :: uplo
      integer(c_int), value :: options
      integer(c_int) :: info
    end function
    integer(c_int) function c_lu_pivots(a, pivots, ipiv) bind(C, name="dyngrid_lu_pivots")
      import
      type(c_ptr), value :: a
      integer(c_int) :: pivots(*), ipiv(*)
    end function
    integer(c_int) function c_share(name, address, bytes) bind(C, name="dyngrid_share")
      import
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: address
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function c_checkpoint(path) bind(C, name="dyngrid_checkpoint")
      import
      character(kind=c_char), intent(in) :: path(*)
    end function
    integer(c_int) function c_restore(path) bind(C, name="dyngrid_restore")
      import
      character(kind=c_char), intent(in) :: path(*)
    end function
    integer(c_int) function c_is_restarted() bind(C, name="dyngrid_is_restarted")
      import
    end function
    integer(c_int) function c_was_refused() bind(C, name="dyngrid_was_refused")
      import
    end function
    integer(c_int) function c_allow(grids) bind(C, name="dyngrid_allow")
      import
      character(kind=c_char), intent(in) :: grids(*)
    end function
    integer(c_int) function c_set_steps(steps) bind(C, name="dyngrid_set_steps")
      import
      integer(c_int64_t), value :: steps
    end function
    integer(c_int) function c_experiment(grids) bind(C, name="dyngrid_experiment")
      import
      character(kind=c_char), intent(in) :: grids(*)
    end function
    type(c_ptr) function c_job() bind(C, name="dyngrid_job")
      import
    end function
    integer(c_int) function c_unshare(name) bind(C, name="dyngrid_unshare")
      import
      character(kind=c_char), intent(in) :: name(*)
    end function
  end interface

contains

  subroutine dyngrid_init(info)
    integer, intent(out) :: info
    info = c_init()
  end subroutine

  subroutine dyngrid_init_grid(nprow, npcol, info)
    integer, intent(in) :: nprow, npcol
    integer, intent(out) :: info
    info = c_init_grid(nprow, npcol)
  end subroutine

  subroutine dyngrid_finalize(info)
    integer, intent(out) :: info
    info = c_finalize()
  end subroutine

  logical function dyngrid_is_newcomer()
    dyngrid_is_newcomer = c_is_newcomer() /= 0
  end function

  logical function dyngrid_is_first()
    dyngrid_is_first = c_is_first() /= 0
  end function

  integer function dyngrid_context()
    dyngrid_context = c_context()
  end function

  subroutine dyngrid_grid(nprow, npcol, myrow, mycol)
    integer, intent(out) :: nprow, npcol, myrow, mycol
    integer :: status
    status = c_grid(nprow, npcol, myrow, mycol)
  end subroutine

  integer function dyngrid_comm()
    dyngrid_comm = c_comm_f()
  end function

  !> A resize point with a name, to which processes that join or wake can be led.
  subroutine dyngrid_resize_point_at(name, outcome)
    character(*), intent(in) :: name
    integer, intent(out) :: outcome
    outcome = c_resize_point_at(trim(name) // c_null_char)
  end subroutine

  !> Name of the resize point where this process is to go on; empty unless it is a newcomer or was given
  !> DYNGRID_REDIRECT.
  function dyngrid_entry_point() result(name)
    character(:), allocatable :: name
    name = text_at(c_entry_point())
  end function

  !> pending: 1 when the next resize point would try a change, 0 when not; an error is negative.
  subroutine dyngrid_pending(pending)
    integer, intent(out) :: pending
    pending = c_pending()
  end subroutine

  !> `before` is called on the old grid when a change is certain, `after` on the new one; `data` is handed to them. One
  !> that is left out, with both left out those made known with this data are forgotten: call
  !> dyngrid_on_change(data=data, info=info).
  subroutine dyngrid_on_change(before, after, data, info)
    procedure(dyngrid_change_routine), optional :: before, after
    type(c_ptr), intent(in) :: data
    integer, intent(out) :: info
    type(c_funptr) :: first, second
    first = c_null_funptr
    second = c_null_funptr
    if (present(before)) first = c_funloc(before)
    if (present(after)) second = c_funloc(after)
    info = c_on_change(first, second, data)
  end subroutine

  !> `routine` is called after each panel of dyngrid_lu and dyngrid_cholesky, `data` is handed to it; without it: none.
  subroutine dyngrid_on_panel(routine, data, info)
    procedure(dyngrid_panel_routine), optional :: routine
    type(c_ptr), intent(in) :: data
    integer, intent(out) :: info
    type(c_funptr) :: known
    known = c_null_funptr
    if (present(routine)) known = c_funloc(routine)
    info = c_on_panel(known, data)
  end subroutine

  subroutine dyngrid_request(nprow, npcol, info)
    integer, intent(in) :: nprow, npcol
    integer, intent(out) :: info
    info = c_request(nprow, npcol)
  end subroutine

  subroutine dyngrid_resize(nprow, npcol, placement, outcome)
    integer, intent(in) :: nprow, npcol, placement
    integer, intent(out) :: outcome
    outcome = c_resize(nprow, npcol, placement)
  end subroutine

  !> The same without some processes: '3,5', 'host:NAME', 'slowest'; see dyngrid_resize_without in dyngrid.h.
  subroutine dyngrid_resize_without(nprow, npcol, placement, without, outcome)
    integer, intent(in) :: nprow, npcol, placement
    character(*), intent(in) :: without
    integer, intent(out) :: outcome
    outcome = c_resize_without(nprow, npcol, placement, trim(without) // c_null_char)
  end subroutine

  !> At the next resize point.
  subroutine dyngrid_request_without(nprow, npcol, without, info)
    integer, intent(in) :: nprow, npcol
    character(*), intent(in) :: without
    integer, intent(out) :: info
    info = c_request_without(nprow, npcol, trim(without) // c_null_char)
  end subroutine

  !> Waits asleep until the scheduler grants one of these grids: '8:32', '4:32:*2; aspect 2'.
  subroutine dyngrid_need(grids, outcome)
    character(*), intent(in) :: grids
    integer, intent(out) :: outcome
    outcome = c_need(trim(grids) // c_null_char)
  end subroutine

  !> By which others name this process; -1 on a newcomer before its first resize point.
  integer function dyngrid_process_id()
    dyngrid_process_id = c_process_id()
  end function

  !> Asks the rules of all matrices again, on the grid there is.
  subroutine dyngrid_relayout(outcome)
    integer, intent(out) :: outcome
    outcome = c_relayout()
  end subroutine

  subroutine dyngrid_pop(outcome)
    integer, intent(out) :: outcome
    outcome = c_pop()
  end subroutine

  integer function dyngrid_depth()
    dyngrid_depth = c_depth()
  end function

  subroutine dyngrid_set_placement(placement, info)
    integer, intent(in) :: placement
    integer, intent(out) :: info
    info = c_set_placement(placement)
  end subroutine

  !> The grids that this application can use, for requests from outside: '4:32:*2; aspect 2'.
  subroutine dyngrid_allow(grids, info)
    character(*), intent(in) :: grids
    integer, intent(out) :: info
    info = c_allow(trim(grids) // c_null_char)
  end subroutine

  subroutine set_steps_default(steps, info)
    integer(int32), intent(in) :: steps
    integer, intent(out) :: info
    info = c_set_steps(int(steps, c_int64_t))
  end subroutine

  subroutine set_steps_int64(steps, info)
    integer(int64), intent(in) :: steps
    integer, intent(out) :: info
    info = c_set_steps(steps)
  end subroutine

  !> Tries these grids in the first steps and goes to the quickest: '2x2,2x3,3x3@3'.
  subroutine dyngrid_experiment(grids, info)
    character(*), intent(in) :: grids
    integer, intent(out) :: info
    info = c_experiment(trim(grids) // c_null_char)
  end subroutine

  !> The name for `dyngrid resize JOB 3x3` on process 0, empty elsewhere.
  function dyngrid_job() result(name)
    character(:), allocatable :: name
    name = text_at(c_job())
  end function

  !> Of at most 63 characters, and a null character at its end.
  function text_at(address) result(name)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: name
    character(kind=c_char), pointer :: text(:)
    integer :: i
    call c_f_pointer(address, text, [64])
    name = ''
    do i = 1, size(text)
      if (text(i) == c_null_char) exit
      name = name // text(i)
    end do
  end function

  subroutine dyngrid_set_schedule(schedule, info)
    integer, intent(in) :: schedule
    integer, intent(out) :: info
    info = c_set_schedule(schedule)
  end subroutine

  subroutine dyngrid_set_balance(mode, info)
    integer, intent(in) :: mode
    integer, intent(out) :: info
    info = c_set_balance(mode)
  end subroutine

  !> Marks work of this process; see dyngrid.h.
  subroutine dyngrid_work_begin(info)
    integer, intent(out) :: info
    info = c_work_begin()
  end subroutine

  subroutine dyngrid_work_end(units, info)
    real(c_double), intent(in) :: units
    integer, intent(out) :: info
    info = c_work_end(units)
  end subroutine

  !> Looks now whether giving out the work anew is worth it, and does what is; outcome as of dyngrid_resize.
  subroutine dyngrid_rebalance(outcome)
    integer, intent(out) :: outcome
    outcome = c_rebalance()
  end subroutine

  subroutine dyngrid_last_balance(report, info)
    type(dyngrid_balance_report), intent(out) :: report
    integer, intent(out) :: info
    info = c_last_balance(report)
  end subroutine

  !> The loads of the grid's processes, row by row; count says how many there are, at most size(loads) are filled in.
  subroutine dyngrid_loads(loads, count, info)
    type(dyngrid_load), intent(inout) :: loads(:)
    integer, intent(out) :: count, info
    type(dyngrid_load) :: list(size(loads))
    count = 0
    info = c_loads(list, size(loads), count)
    if (info == 0 .and. count > 0) loads(1:min(count, size(loads))) = list(1:min(count, size(loads)))
  end subroutine

  subroutine dyngrid_set_processes(way, info)
    integer, intent(in) :: way
    integer, intent(out) :: info
    info = c_set_processes(way)
  end subroutine

  subroutine dyngrid_last_resize(report, info)
    type(dyngrid_resize_report), intent(out) :: report
    integer, intent(out) :: info
    info = c_last_resize(report)
  end subroutine

  subroutine create_int64(name, type, m, n, mb, nb, a, info)
    character(*), intent(in) :: name
    character, intent(in) :: type
    integer(int64), intent(in) :: m, n, mb, nb
    type(dyngrid_matrix), intent(inout) :: a
    integer, intent(out) :: info
    info = c_matrix_create(trim(name) // c_null_char, iachar(type, c_signed_char), m, n, mb, nb, a%handle)
  end subroutine

  subroutine create_default(name, type, m, n, mb, nb, a, info)
    character(*), intent(in) :: name
    character, intent(in) :: type
    integer, intent(in) :: m, n, mb, nb
    type(dyngrid_matrix), intent(inout) :: a
    integer, intent(out) :: info
    call create_int64(name, type, int(m, int64), int(n, int64), int(mb, int64), int(nb, int64), a, info)
  end subroutine

  !> A matrix that lies as `rule` says on every grid; `context` is handed to it.
  subroutine dyngrid_matrix_create_by(name, type, m, n, rule, context, a, info)
    character(*), intent(in) :: name
    character, intent(in) :: type
    integer(int64), intent(in) :: m, n
    procedure(dyngrid_distribution) :: rule
    type(c_ptr), intent(in) :: context
    type(dyngrid_matrix), intent(inout) :: a
    integer, intent(out) :: info
    info = c_matrix_create_by(trim(name) // c_null_char, iachar(type, c_signed_char), m, n, c_funloc(rule), context, &
      a%handle)
  end subroutine

  subroutine weighted_int64(name, type, m, n, mb, nb, order, a, info)
    character(*), intent(in) :: name
    character, intent(in) :: type
    integer(int64), intent(in) :: m, n, mb, nb
    integer, intent(in) :: order
    type(dyngrid_matrix), intent(inout) :: a
    integer, intent(out) :: info
    info = c_matrix_create_weighted(trim(name) // c_null_char, iachar(type, c_signed_char), m, n, mb, nb, order, &
      a%handle)
  end subroutine

  subroutine weighted_default(name, type, m, n, mb, nb, order, a, info)
    character(*), intent(in) :: name
    character, intent(in) :: type
    integer, intent(in) :: m, n, mb, nb, order
    type(dyngrid_matrix), intent(inout) :: a
    integer, intent(out) :: info
    call weighted_int64(name, type, int(m, int64), int(n, int64), int(mb, int64), int(nb, int64), order, a, info)
  end subroutine

  subroutine my_range_int64(a, axis, k, first, last, info)
    type(dyngrid_matrix), intent(in) :: a
    character, intent(in) :: axis
    integer(int64), intent(in) :: k
    integer(int64), intent(inout) :: first, last
    integer, intent(out) :: info
    integer(c_int64_t) :: from, to
    info = c_my_range(a%handle, iachar(axis, c_signed_char), k - 1, from, to)
    if (info /= 1) return
    first = from + 1
    last = to
  end subroutine

  subroutine my_range_default(a, axis, k, first, last, info)
    type(dyngrid_matrix), intent(in) :: a
    character, intent(in) :: axis
    integer, intent(in) :: k
    integer, intent(inout) :: first, last
    integer, intent(out) :: info
    integer(int64) :: from, to
    call my_range_int64(a, axis, int(k, int64), from, to, info)
    if (info /= 1) return
    first = int(from)
    last = int(to)
  end subroutine

  subroutine work_items_int64(a, axis, first, count, seconds, info)
    type(dyngrid_matrix), intent(in) :: a
    character, intent(in) :: axis
    integer(int64), intent(in) :: first, count
    real(c_double), intent(in) :: seconds(*)
    integer, intent(out) :: info
    info = c_work_items(a%handle, iachar(axis, c_signed_char), first - 1, count, seconds)
  end subroutine

  subroutine work_items_default(a, axis, first, count, seconds, info)
    type(dyngrid_matrix), intent(in) :: a
    character, intent(in) :: axis
    integer, intent(in) :: first, count
    real(c_double), intent(in) :: seconds(*)
    integer, intent(out) :: info
    call work_items_int64(a, axis, int(first, int64), int(count, int64), seconds, info)
  end subroutine

  !> Mine, relative to the others'; no data move until dyngrid_relayout or a change of the grid.
  subroutine dyngrid_set_speed(speed, info)
    real(c_double), intent(in) :: speed
    integer, intent(out) :: info
    info = c_set_speed(speed)
  end subroutine

  subroutine reblock_int64(a, mb, nb, outcome)
    type(dyngrid_matrix), intent(in) :: a
    integer(int64), intent(in) :: mb, nb
    integer, intent(out) :: outcome
    outcome = c_reblock(a%handle, mb, nb)
  end subroutine

  subroutine reblock_default(a, mb, nb, outcome)
    type(dyngrid_matrix), intent(in) :: a
    integer, intent(in) :: mb, nb
    integer, intent(out) :: outcome
    call reblock_int64(a, int(mb, int64), int(nb, int64), outcome)
  end subroutine

  !> The matrix lies as `rule` says from now on.
  subroutine dyngrid_matrix_set_rule(a, rule, context, outcome)
    type(dyngrid_matrix), intent(in) :: a
    procedure(dyngrid_distribution) :: rule
    type(c_ptr), intent(in) :: context
    integer, intent(out) :: outcome
    outcome = c_set_rule(a%handle, c_funloc(rule), context)
  end subroutine

  !> The matrix of that name; its handle is null when there is none.
  type(dyngrid_matrix) function dyngrid_matrix_find(name)
    character(*), intent(in) :: name
    dyngrid_matrix_find%handle = c_matrix_find(trim(name) // c_null_char)
  end function

  subroutine dyngrid_matrix_free(a, info)
    type(dyngrid_matrix), intent(inout) :: a
    integer, intent(out) :: info
    info = c_matrix_free(a%handle)
  end subroutine

  !> All elements of a into b, of the same size and type, however the two lie.
  subroutine dyngrid_copy(a, b, info)
    type(dyngrid_matrix), intent(in) :: a, b
    integer, intent(out) :: info
    info = c_copy(a%handle, b%handle)
  end subroutine

  !> A phase; those of a program are a cycle in the order in which they are made.
  subroutine dyngrid_phase_create(name, phase, info)
    character(*), intent(in) :: name
    type(dyngrid_phase), intent(inout) :: phase
    integer, intent(out) :: info
    info = c_phase_create(trim(name) // c_null_char, phase%handle)
  end subroutine

  !> use: DYNGRID_READ, DYNGRID_WRITE or their sum.
  subroutine dyngrid_phase_uses(phase, a, use, info)
    type(dyngrid_phase), intent(in) :: phase
    type(dyngrid_matrix), intent(in) :: a
    integer, intent(in) :: use
    integer, intent(out) :: info
    info = c_phase_uses(phase%handle, a%handle, use)
  end subroutine

  subroutine phase_layout_int64(phase, a, mb, nb, info)
    type(dyngrid_phase), intent(in) :: phase
    type(dyngrid_matrix), intent(in) :: a
    integer(int64), intent(in) :: mb, nb
    integer, intent(out) :: info
    info = c_phase_layout(phase%handle, a%handle, mb, nb)
  end subroutine

  subroutine phase_layout_default(phase, a, mb, nb, info)
    type(dyngrid_phase), intent(in) :: phase
    type(dyngrid_matrix), intent(in) :: a
    integer, intent(in) :: mb, nb
    integer, intent(out) :: info
    call phase_layout_int64(phase, a, int(mb, int64), int(nb, int64), info)
  end subroutine

  !> Dealt out by speed in whole blocks; order: DYNGRID_ORDER_*.
  subroutine dyngrid_phase_layout_weighted(phase, a, mb, nb, order, info)
    type(dyngrid_phase), intent(in) :: phase
    type(dyngrid_matrix), intent(in) :: a
    integer, intent(in) :: mb, nb, order
    integer, intent(out) :: info
    info = c_phase_layout_weighted(phase%handle, a%handle, int(mb, int64), int(nb, int64), order)
  end subroutine

  !> Lying as `rule` says.
  subroutine dyngrid_phase_layout_by(phase, a, rule, context, info)
    type(dyngrid_phase), intent(in) :: phase
    type(dyngrid_matrix), intent(in) :: a
    procedure(dyngrid_distribution) :: rule
    type(c_ptr), intent(in) :: context
    integer, intent(out) :: info
    info = c_phase_layout_by(phase%handle, a%handle, c_funloc(rule), context)
  end subroutine

  !> The next call of a routine of ScaLAPACK's, 'pdgetrf', runs on an nprow x npcol grid in blocks of nb; 0: as the
  !> call has it. Local, to be said alike by all processes of its context.
  subroutine dyngrid_run_on(nprow, npcol, nb, routine, info)
    integer, intent(in) :: nprow, npcol, nb
    character(*), intent(in) :: routine
    integer, intent(out) :: info
    info = c_run_on(nprow, npcol, nb, trim(routine) // c_null_char)
  end subroutine

  !> The same for all calls of these routines until dyngrid_run_on_end.
  subroutine dyngrid_run_on_begin(nprow, npcol, nb, routines, info)
    integer, intent(in) :: nprow, npcol, nb
    character(*), intent(in) :: routines
    integer, intent(out) :: info
    info = c_run_on_begin(nprow, npcol, nb, trim(routines) // c_null_char)
  end subroutine

  subroutine dyngrid_run_on_end(info)
    integer, intent(out) :: info
    info = c_run_on_end()
  end subroutine

  subroutine dyngrid_phase_begin(phase, info)
    type(dyngrid_phase), intent(in) :: phase
    integer, intent(out) :: info
    info = c_phase_begin(phase%handle)
  end subroutine

  subroutine dyngrid_phase_end(phase, info)
    type(dyngrid_phase), intent(in) :: phase
    integer, intent(out) :: info
    info = c_phase_end(phase%handle)
  end subroutine

  subroutine phases_plan_int64(cycles, info)
    integer(int64), intent(in) :: cycles
    integer, intent(out) :: info
    info = c_phases_plan(cycles)
  end subroutine

  subroutine phases_plan_default(cycles, info)
    integer, intent(in) :: cycles
    integer, intent(out) :: info
    info = c_phases_plan(int(cycles, int64))
  end subroutine

  subroutine phases_keep_int64(bytes, info)
    integer(int64), intent(in) :: bytes
    integer, intent(out) :: info
    info = c_phases_keep(bytes)
  end subroutine

  subroutine phases_keep_default(bytes, info)
    integer, intent(in) :: bytes
    integer, intent(out) :: info
    info = c_phases_keep(int(bytes, int64))
  end subroutine

  !> The program wrote the matrix outside a phase that says so.
  subroutine dyngrid_matrix_written(a, info)
    type(dyngrid_matrix), intent(in) :: a
    integer, intent(out) :: info
    info = c_matrix_written(a%handle)
  end subroutine

  subroutine dyngrid_last_phase(report, info)
    type(dyngrid_phase_report), intent(out) :: report
    integer, intent(out) :: info
    info = c_last_phase(report)
  end subroutine

  !> A = P L U in place; each panel is a resize point. pivots(min(m, n)) and info are set where this process goes on in
  !> the grid: outcome is DYNGRID_SAME or DYNGRID_RESIZED.
  subroutine dyngrid_lu(a, options, pivots, info, outcome)
    type(dyngrid_matrix), intent(in) :: a
    integer, intent(in) :: options
    integer, intent(inout) :: pivots(*), info
    integer, intent(out) :: outcome
    outcome = c_lu(a%handle, options, pivots, info)
  end subroutine

  !> A = L L^H ('L') or U^H U ('U') in place, in the same way.
  subroutine dyngrid_cholesky(a, uplo, options, info, outcome)
    type(dyngrid_matrix), intent(in) :: a
    character, intent(in) :: uplo
    integer, intent(in) :: options
    integer, intent(inout) :: info
    integer, intent(out) :: outcome
    outcome = c_cholesky(a%handle, iachar(uplo, c_signed_char), options, info)
  end subroutine

  !> The pivots of dyngrid_lu as p?getrs wants them: ipiv(LOCr(M_A) + MB_A).
  subroutine dyngrid_lu_pivots(a, pivots, ipiv, info)
    type(dyngrid_matrix), intent(in) :: a
    integer, intent(in) :: pivots(*)
    integer, intent(inout) :: ipiv(*)
    integer, intent(out) :: info
    info = c_lu_pivots(a%handle, pivots, ipiv)
  end subroutine

  subroutine dyngrid_matrix_shape(a, m_loc, n_loc, lld, info)
    type(dyngrid_matrix), intent(in) :: a
    integer(int64), intent(out) :: m_loc, n_loc, lld
    integer, intent(out) :: info
    info = c_matrix_shape(a%handle, m_loc, n_loc, lld)
  end subroutine

  !> The descriptor on the current grid: ScaLAPACK's nine integers; of a matrix with a rule, DTYPE_ 601 with its lists
  !> of sizes.
  function dyngrid_desc(a) result(desc)
    type(dyngrid_matrix), intent(in) :: a
    integer, allocatable :: desc(:)
    integer(c_int), pointer :: d(:)
    integer :: length
    call c_f_pointer(c_matrix_desc(a%handle), d, [9])
    length = 9
    if (d(1) == DYNGRID_DTYPE) then
      length = 9 + d(5) + d(6)
      call c_f_pointer(c_matrix_desc(a%handle), d, [length])
    end if
    desc = d(1:length)
  end function

  !> Shape of the local array as ScaLAPACK sees it, at least 1 x 1.
  function local_shape(a) result(extent)
    type(dyngrid_matrix), intent(in) :: a
    integer(int64) :: extent(2), m_loc
    integer :: info
    call dyngrid_matrix_shape(a, m_loc, extent(2), extent(1), info)
    extent = max(extent, 1_int64)
  end function

  subroutine local_s(a, x)
    type(dyngrid_matrix), intent(in) :: a
    real(real32), pointer, intent(out) :: x(:, :)
    nullify (x)
    if (c_associated(c_matrix_local(a%handle))) call c_f_pointer(c_matrix_local(a%handle), x, local_shape(a))
  end subroutine
  subroutine local_d(a, x)
    type(dyngrid_matrix), intent(in) :: a
    real(real64), pointer, intent(out) :: x(:, :)
    nullify (x)
    if (c_associated(c_matrix_local(a%handle))) call c_f_pointer(c_matrix_local(a%handle), x, local_shape(a))
  end subroutine
  subroutine local_c(a, x)
    type(dyngrid_matrix), intent(in) :: a
    complex(real32), pointer, intent(out) :: x(:, :)
    nullify (x)
    if (c_associated(c_matrix_local(a%handle))) call c_f_pointer(c_matrix_local(a%handle), x, local_shape(a))
  end subroutine
  subroutine local_z(a, x)
    type(dyngrid_matrix), intent(in) :: a
    complex(real64), pointer, intent(out) :: x(:, :)
    nullify (x)
    if (c_associated(c_matrix_local(a%handle))) call c_f_pointer(c_matrix_local(a%handle), x, local_shape(a))
  end subroutine
  subroutine local_i(a, x)
    type(dyngrid_matrix), intent(in) :: a
    integer(int32), pointer, intent(out) :: x(:, :)
    nullify (x)
    if (c_associated(c_matrix_local(a%handle))) call c_f_pointer(c_matrix_local(a%handle), x, local_shape(a))
  end subroutine

  subroutine share_address(name, address, bytes, info)
    character(*), intent(in) :: name
    type(c_ptr), intent(in) :: address
    integer(c_size_t), intent(in) :: bytes
    integer, intent(out) :: info
    info = c_share(trim(name) // c_null_char, address, bytes)
  end subroutine
  subroutine share_whole(name, address, bits, count, is_whole, info)
    character(*), intent(in) :: name
    type(c_ptr), intent(in) :: address
    integer, intent(in) :: bits
    integer(c_size_t), intent(in) :: count
    logical, intent(in) :: is_whole
    integer, intent(out) :: info
    info = DYNGRID_ERR_ARGUMENT ! a section with gaps, which has no one address
    if (is_whole) call share_address(name, address, count * (bits / 8), info)
  end subroutine
  subroutine share_int32(name, variable, info)
    character(*), intent(in) :: name
    integer(int32), target, intent(in) :: variable(..)
    integer, intent(out) :: info
    call share_whole(name, c_loc(variable), storage_size(variable), size(variable, kind=c_size_t), &
      is_contiguous(variable), info)
  end subroutine
  subroutine share_int64(name, variable, info)
    character(*), intent(in) :: name
    integer(int64), target, intent(in) :: variable(..)
    integer, intent(out) :: info
    call share_whole(name, c_loc(variable), storage_size(variable), size(variable, kind=c_size_t), &
      is_contiguous(variable), info)
  end subroutine
  subroutine share_logical(name, variable, info)
    character(*), intent(in) :: name
    logical, target, intent(in) :: variable(..)
    integer, intent(out) :: info
    call share_whole(name, c_loc(variable), storage_size(variable), size(variable, kind=c_size_t), &
      is_contiguous(variable), info)
  end subroutine
  subroutine share_real32(name, variable, info)
    character(*), intent(in) :: name
    real(real32), target, intent(in) :: variable(..)
    integer, intent(out) :: info
    call share_whole(name, c_loc(variable), storage_size(variable), size(variable, kind=c_size_t), &
      is_contiguous(variable), info)
  end subroutine
  subroutine share_real64(name, variable, info)
    character(*), intent(in) :: name
    real(real64), target, intent(in) :: variable(..)
    integer, intent(out) :: info
    call share_whole(name, c_loc(variable), storage_size(variable), size(variable, kind=c_size_t), &
      is_contiguous(variable), info)
  end subroutine
  subroutine share_complex32(name, variable, info)
    character(*), intent(in) :: name
    complex(real32), target, intent(in) :: variable(..)
    integer, intent(out) :: info
    call share_whole(name, c_loc(variable), storage_size(variable), size(variable, kind=c_size_t), &
      is_contiguous(variable), info)
  end subroutine
  subroutine share_complex64(name, variable, info)
    character(*), intent(in) :: name
    complex(real64), target, intent(in) :: variable(..)
    integer, intent(out) :: info
    call share_whole(name, c_loc(variable), storage_size(variable), size(variable, kind=c_size_t), &
      is_contiguous(variable), info)
  end subroutine
  subroutine share_text(name, variable, info)
    character(*), intent(in) :: name
    character(*), target, intent(in) :: variable(..)
    integer, intent(out) :: info
    call share_whole(name, c_loc(variable), storage_size(variable), size(variable, kind=c_size_t), &
      is_contiguous(variable), info)
  end subroutine

  !> An empty path is that of DYNGRID_CHECKPOINT.
  subroutine dyngrid_checkpoint(path, info)
    character(*), intent(in) :: path
    integer, intent(out) :: info
    info = c_checkpoint(trim(path) // c_null_char)
  end subroutine

  !> An empty path is that of DYNGRID_RESTORE.
  subroutine dyngrid_restore(path, info)
    character(*), intent(in) :: path
    integer, intent(out) :: info
    info = c_restore(trim(path) // c_null_char)
  end subroutine

  logical function dyngrid_is_restarted()
    dyngrid_is_restarted = c_is_restarted() /= 0
  end function

  !> Whether a change was refused or failed at the last resize point.
  logical function dyngrid_was_refused()
    dyngrid_was_refused = c_was_refused() /= 0
  end function

  subroutine dyngrid_unshare(name, info)
    character(*), intent(in) :: name
    integer, intent(out) :: info
    info = c_unshare(trim(name) // c_null_char)
  end subroutine

end module

!> All of dyngrid: grids, and what gridmap, redist and pblas offer to Fortran.
module dyngrid
  use dyngrid_gridmap
  use dyngrid_redist
  use dyngrid_pblas
  use dyngrid_grids
  implicit none
  public
end module
