! SPDX-License-Identifier: BSD-3-Clause
! Statuses of dyngrid/status.h and the functions of dyngrid/gridmap.h, whose comments hold here too: what each argument
! is, its length, and what is returned. Processes, indices and positions count from 0 as in C. Outputs that are not
! wanted may be left out (optional).
module dyngrid_gridmap
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_double, c_char, c_ptr, c_size_t, c_null_ptr, &
    c_null_char, c_f_pointer, &
    c_associated
  implicit none
  private

  integer(c_int), parameter, public :: DYNGRID_SUCCESS = 0, DYNGRID_ERR_ARGUMENT = -1, DYNGRID_ERR_NULL = -2, &
    DYNGRID_ERR_TYPE = -3, &
    DYNGRID_ERR_SHAPE = -4, DYNGRID_ERR_DESCRIPTOR = -5, DYNGRID_ERR_MISMATCH = -6, DYNGRID_ERR_STATE = -7, &
      DYNGRID_ERR_NOT_FOUND = -8, &
    DYNGRID_ERR_UNSUPPORTED = -9, DYNGRID_ERR_MEMORY = -10, DYNGRID_ERR_IO = -11, DYNGRID_ERR_SLOTS = -12, &
      DYNGRID_ERR_SPAWN = -13, &
    DYNGRID_ERR_TIMEOUT = -14, DYNGRID_ERR_MPI = -15, DYNGRID_ERR_INTERNAL = -16
  integer(c_int), parameter, public :: DYNGRID_OPTIMAL = 0, DYNGRID_GLOBAL = 1, DYNGRID_LOCAL1 = 2, &
    DYNGRID_LOCAL2 = 3, DYNGRID_FREE_FIRST = 64
  integer(c_int), parameter, public :: DYNGRID_PREFER_COLUMNS = 0, DYNGRID_PREFER_ROWS = 1
  integer(c_int), parameter, public :: DYNGRID_MAP_BEST = 0, DYNGRID_MAP_SVD = 1, DYNGRID_MAP_NATURAL = 2
  integer(c_int), parameter, public :: DYNGRID_SELECT_BEST = 0, DYNGRID_SELECT_GLOBAL = 1, &
    DYNGRID_SELECT_LOCAL = 2, DYNGRID_SELECT_MIXED = 3

  integer(c_int), parameter, public :: DYNGRID_BALANCE_STAY = 0, DYNGRID_BALANCE_REBALANCE = 1, &
    DYNGRID_BALANCE_REMOVE = 2, DYNGRID_BALANCE_TAKE_BACK = 3, DYNGRID_BALANCE_REPLACE = 4

  ! sizes: c_loc of an integer(c_int64_t), target array of n_sizes
  type, bind(C), public :: dyngrid_axis
    integer(c_int64_t) :: n = 0
    type(c_ptr) :: sizes = c_null_ptr
    integer(c_int) :: n_sizes = 0
    integer(c_int) :: src = 0
    integer(c_int) :: nprocs = 1
  end type

  type, bind(C), public :: dyngrid_topology_request
    integer(c_int) :: procs = 0
    integer(c_int) :: from_nprow = 0, from_npcol = 0
    integer(c_int) :: prefer = DYNGRID_PREFER_COLUMNS
    real(c_double) :: aspect_p = 0, aspect_q = 0
    integer(c_int64_t) :: data_m = 0, data_n = 0
    real(c_double) :: data_aspect = 0
    type(c_ptr) :: valid_procs = c_null_ptr, valid_rows = c_null_ptr, valid_cols = c_null_ptr
    integer(c_int) :: n_valid_procs = 0, n_valid_rows = 0, n_valid_cols = 0
    integer(c_int) :: n_times = 0
    type(c_ptr) :: time_nprow = c_null_ptr, time_npcol = c_null_ptr, time_seconds = c_null_ptr
  end type

  ! speeds, shares, places: c_loc of arrays of n_processes
  type, bind(C), public :: dyngrid_balance_request
    integer(c_int) :: nprow = 1, npcol = 1
    integer(c_int) :: n_processes = 0
    type(c_ptr) :: speeds = c_null_ptr, shares = c_null_ptr, places = c_null_ptr
    integer(c_int64_t) :: m = 0, n = 0, mb = 0, nb = 0
    integer(c_int) :: is_weighted = 0
    real(c_double) :: work_s = 0, fixed_s = 0, border_s = 0, volume_s = 0, messages_s = 0
    real(c_double) :: processor_part = 0, step_s = 0
    integer(c_int64_t) :: steps_left = 0
    real(c_double) :: change_s = 0
  end type

  public :: dyngrid_last_message, dyngrid_status_string
  public :: dyngrid_topology, dyngrid_topology_choose, dyngrid_parse_set
  public :: dyngrid_place, dyngrid_place_axes
  public :: dyngrid_map, dyngrid_map_in_place, dyngrid_natural_blocks, dyngrid_factor_order, dyngrid_order_grid
  public :: dyngrid_select
  public :: dyngrid_balance_plan, dyngrid_payoff_point, dyngrid_resize_cost

  interface
    integer(c_int) function dyngrid_topology(procs, aspect_p, aspect_q, from_nprow, from_npcol, nprow, npcol) bind(C)
      import :: c_int, c_double
      integer(c_int), value :: procs, from_nprow, from_npcol
      real(c_double), value :: aspect_p, aspect_q
      integer(c_int), intent(out) :: nprow, npcol
    end function

    integer(c_int) function topology_choose_c(request, nprow, npcol, seconds, why, why_size) bind(C, &
      name="dyngrid_topology_choose")
      import :: c_int, c_double, c_char, c_size_t, dyngrid_topology_request
      type(dyngrid_topology_request), intent(in) :: request
      integer(c_int), intent(out) :: nprow, npcol
      real(c_double), intent(out), optional :: seconds
      character(kind=c_char), intent(out) :: why(*)
      integer(c_size_t), value :: why_size
    end function

    integer(c_int) function parse_set_c(text, capacity, values, n) bind(C, name="dyngrid_parse_set")
      import :: c_int, c_char
      character(kind=c_char), intent(in) :: text(*)
      integer(c_int), value :: capacity
      integer(c_int), intent(inout) :: values(*)
      integer(c_int), intent(inout) :: n
    end function

    integer(c_int) function dyngrid_place(nprow_from, npcol_from, nprow_to, npcol_to, m, n, mb, nb, placement, grid, &
                                          moved, retained, max_in, max_out) bind(C)
      import :: c_int, c_int64_t
      integer(c_int), value :: nprow_from, npcol_from, nprow_to, npcol_to, placement
      integer(c_int64_t), value :: m, n, mb, nb
      integer(c_int), intent(out) :: grid(*)
      integer(c_int64_t), intent(out), optional :: moved, retained, max_in, max_out
    end function

    integer(c_int) function dyngrid_place_axes(rows_from, cols_from, rows_to, cols_to, placement, stay_bonus, grid, &
                                               moved, retained, max_in, max_out, kept, in, out) bind(C)
      import :: c_int, c_int64_t, dyngrid_axis
      type(dyngrid_axis), intent(in) :: rows_from, cols_from, rows_to, cols_to
      integer(c_int), value :: placement
      integer(c_int64_t), intent(in), optional :: stay_bonus(*)
      integer(c_int), intent(out) :: grid(*)
      integer(c_int64_t), intent(out), optional :: moved, retained, max_in, max_out, kept(*), in(*), out(*)
    end function

    integer(c_int) function dyngrid_map(nprow, npcol, speeds, m, n, method, order, r, c, rows, cols, t_continuous, &
      t_theory) bind(C)
      import :: c_int, c_int64_t, c_double
      integer(c_int), value :: nprow, npcol, method
      real(c_double), intent(in) :: speeds(*)
      integer(c_int64_t), value :: m, n
      integer(c_int), intent(out), optional :: order(*)
      real(c_double), intent(out), optional :: r(*), c(*), t_continuous, t_theory
      integer(c_int64_t), intent(out), optional :: rows(*), cols(*)
    end function

    integer(c_int) function dyngrid_map_in_place(nprow, npcol, speeds, m, n, method, r, c, rows, cols, &
      t_continuous, t_theory) bind(C)
      import :: c_int, c_int64_t, c_double
      integer(c_int), value :: nprow, npcol, method
      real(c_double), intent(in) :: speeds(*)
      integer(c_int64_t), value :: m, n
      real(c_double), intent(out), optional :: r(*), c(*), t_continuous, t_theory
      integer(c_int64_t), intent(out), optional :: rows(*), cols(*)
    end function

    integer(c_int) function dyngrid_natural_blocks(n, count, speeds, sizes) bind(C)
      import :: c_int, c_int64_t, c_double
      integer(c_int64_t), value :: n
      integer(c_int), value :: count
      real(c_double), intent(in) :: speeds(*)
      integer(c_int64_t), intent(out) :: sizes(*)
    end function

    integer(c_int) function dyngrid_factor_order(blocks, count, speeds, owners) bind(C)
      import :: c_int, c_int64_t, c_double
      integer(c_int64_t), value :: blocks
      integer(c_int), value :: count
      real(c_double), intent(in) :: speeds(*)
      integer(c_int), intent(out) :: owners(*)
    end function

    integer(c_int) function dyngrid_order_grid(rows_from, cols_from, nprow, rows, npcol, cols, grid, row_order, &
      col_order, retained) bind(C)
      import :: c_int, c_int64_t, dyngrid_axis
      type(dyngrid_axis), intent(in) :: rows_from, cols_from
      integer(c_int), value :: nprow, npcol
      integer(c_int64_t), intent(in) :: rows(*), cols(*)
      integer(c_int), intent(in) :: grid(*)
      integer(c_int), intent(out), optional :: row_order(*), col_order(*)
      integer(c_int64_t), intent(out), optional :: retained
    end function

    integer(c_int) function dyngrid_select(nprow, npcol, grid, count, available, tpp, strategy, m, n, n_chosen, &
      chosen, new_nprow, &
                                           new_npcol, order, rows, cols, tpp_used, t) bind(C)
      import :: c_int, c_int64_t, c_double
      integer(c_int), value :: nprow, npcol, count, strategy
      real(c_double), intent(in) :: grid(*), available(*)
      real(c_double), value :: tpp
      integer(c_int64_t), value :: m, n
      integer(c_int), intent(out), optional :: n_chosen, chosen(*), new_nprow, new_npcol, order(*)
      integer(c_int64_t), intent(out), optional :: rows(*), cols(*)
      real(c_double), intent(out), optional :: tpp_used, t
    end function

    integer(c_int) function balance_plan_c(request, action, nprow, npcol, order, rows, cols, step_now_s, step_then_s, &
      change_s, payoff_steps, why, why_size) bind(C, name="dyngrid_balance_plan")
      import :: c_int, c_int64_t, c_double, c_char, c_size_t, dyngrid_balance_request
      type(dyngrid_balance_request), intent(in) :: request
      integer(c_int), intent(out), optional :: action, nprow, npcol, order(*)
      integer(c_int64_t), intent(out), optional :: rows(*), cols(*), payoff_steps
      real(c_double), intent(out), optional :: step_now_s, step_then_s, change_s
      character(kind=c_char), intent(out) :: why(*)
      integer(c_size_t), value :: why_size
    end function

    integer(c_int64_t) function dyngrid_payoff_point(t_resize, t_old, t_new) bind(C)
      import :: c_int64_t, c_double
      real(c_double), value :: t_resize, t_old, t_new
    end function

    integer(c_int64_t) function dyngrid_resize_cost(t_resize, t_new) bind(C)
      import :: c_int64_t, c_double
      real(c_double), value :: t_resize, t_new
    end function

    type(c_ptr) function last_message_c() bind(C, name="dyngrid_last_message")
      import :: c_ptr
    end function

    type(c_ptr) function status_string_c(status) bind(C, name="dyngrid_status_string")
      import :: c_ptr, c_int
      integer(c_int), value :: status
    end function

    integer(c_size_t) function strlen_c(text) bind(C, name="strlen")
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
    end function
  end interface

contains

  ! Text of the last error on this thread, of length 0 when there was none.
  function dyngrid_last_message() result(text)
    character(:), allocatable :: text
    text = from_c(last_message_c())
  end function

  function dyngrid_status_string(status) result(text)
    integer(c_int), intent(in) :: status
    character(:), allocatable :: text
    text = from_c(status_string_c(status))
  end function

  ! why: why this shape and why processes stay idle
  integer(c_int) function dyngrid_topology_choose(request, nprow, npcol, seconds, why) result(status)
    type(dyngrid_topology_request), intent(in) :: request
    integer(c_int), intent(out) :: nprow, npcol
    real(c_double), intent(out), optional :: seconds
    character(:), allocatable, intent(out), optional :: why
    character(kind=c_char) :: buffer(512)
    buffer = c_null_char
    status = topology_choose_c(request, nprow, npcol, seconds, buffer, size(buffer, kind=c_size_t))
    if (present(why)) why = from_buffer(buffer)
  end function

  ! why: what is gained, or why nothing is done
  integer(c_int) function dyngrid_balance_plan(request, action, nprow, npcol, order, rows, cols, step_now_s, &
    step_then_s, change_s, payoff_steps, why) result(status)
    type(dyngrid_balance_request), intent(in) :: request
    integer(c_int), intent(out), optional :: action, nprow, npcol, order(*)
    integer(c_int64_t), intent(out), optional :: rows(*), cols(*), payoff_steps
    real(c_double), intent(out), optional :: step_now_s, step_then_s, change_s
    character(:), allocatable, intent(out), optional :: why
    character(kind=c_char) :: buffer(512)
    buffer = c_null_char
    status = balance_plan_c(request, action, nprow, npcol, order, rows, cols, step_now_s, step_then_s, change_s, &
      payoff_steps, buffer, size(buffer, kind=c_size_t))
    if (present(why)) why = from_buffer(buffer)
  end function

  function from_buffer(buffer) result(text)
    character(kind=c_char), intent(in) :: buffer(:)
    character(:), allocatable :: text
    integer :: i
    text = ''
    do i = 1, size(buffer)
      if (buffer(i) == c_null_char) exit
      text = text//buffer(i)
    end do
  end function

  ! values: the numbers of "4:32:*2" and the like, ascending; of length 0 on an error
  integer(c_int) function dyngrid_parse_set(text, values) result(status)
    character(*), intent(in) :: text
    integer(c_int), allocatable, intent(out) :: values(:)
    integer(c_int) :: n
    integer(c_int) :: first(64)
    n = 0
    status = parse_set_c(text//c_null_char, int(size(first), c_int), first, n)
    if (status == DYNGRID_SUCCESS) then
      values = first(1:n)
    else if (status == DYNGRID_ERR_SHAPE) then
      allocate (values(n))
      status = parse_set_c(text//c_null_char, n, values, n)
    else
      allocate (values(0))
    end if
  end function

  function from_c(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer :: i
    if (.not. c_associated(pointer)) then
      text = ''
      return
    end if
    call c_f_pointer(pointer, characters, [strlen_c(pointer)])
    allocate (character(size(characters)) :: text)
    do i = 1, size(characters)
      text(i:i) = characters(i)
    end do
  end function

end module
