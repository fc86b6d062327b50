! SPDX-License-Identifier: BSD-3-Clause
! The Fortran module: constants against the C header (numbers.c gives them), every function once.
program fortran_test
  use, intrinsic :: iso_c_binding
  use dyngrid_gridmap
  implicit none
  interface
    integer(c_int) function number_of(name) bind(C)
      import :: c_int, c_char
      character(kind=c_char), intent(in) :: name(*)
    end function
  end interface
  integer :: failures = 0

  call numbers()
  call topology()
  call balance()
  call placement()
  call mapping()
  call check(dyngrid_payoff_point(48.94_c_double, 1.624_c_double, 1.130_c_double) == 100, 'payoff point')
  call check(dyngrid_resize_cost(48.94_c_double, 1.130_c_double) == 44, 'resize cost')
  if (failures > 0) stop 1

contains

  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    print '(a)', what//' does not hold ('//dyngrid_last_message()//')'
    failures = failures + 1
  end subroutine

  subroutine same(name, value)
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: value
    call check(number_of(name//c_null_char) == value, name//' is the same in C and Fortran')
  end subroutine

  subroutine numbers()
    call same('DYNGRID_SUCCESS', DYNGRID_SUCCESS)
    call same('DYNGRID_ERR_ARGUMENT', DYNGRID_ERR_ARGUMENT)
    call same('DYNGRID_ERR_NULL', DYNGRID_ERR_NULL)
    call same('DYNGRID_ERR_TYPE', DYNGRID_ERR_TYPE)
    call same('DYNGRID_ERR_SHAPE', DYNGRID_ERR_SHAPE)
    call same('DYNGRID_ERR_DESCRIPTOR', DYNGRID_ERR_DESCRIPTOR)
    call same('DYNGRID_ERR_MISMATCH', DYNGRID_ERR_MISMATCH)
    call same('DYNGRID_ERR_STATE', DYNGRID_ERR_STATE)
    call same('DYNGRID_ERR_NOT_FOUND', DYNGRID_ERR_NOT_FOUND)
    call same('DYNGRID_ERR_UNSUPPORTED', DYNGRID_ERR_UNSUPPORTED)
    call same('DYNGRID_ERR_MEMORY', DYNGRID_ERR_MEMORY)
    call same('DYNGRID_ERR_IO', DYNGRID_ERR_IO)
    call same('DYNGRID_ERR_SLOTS', DYNGRID_ERR_SLOTS)
    call same('DYNGRID_ERR_SPAWN', DYNGRID_ERR_SPAWN)
    call same('DYNGRID_ERR_TIMEOUT', DYNGRID_ERR_TIMEOUT)
    call same('DYNGRID_ERR_MPI', DYNGRID_ERR_MPI)
    call same('DYNGRID_ERR_INTERNAL', DYNGRID_ERR_INTERNAL)
    call same('DYNGRID_OPTIMAL', DYNGRID_OPTIMAL)
    call same('DYNGRID_GLOBAL', DYNGRID_GLOBAL)
    call same('DYNGRID_LOCAL1', DYNGRID_LOCAL1)
    call same('DYNGRID_LOCAL2', DYNGRID_LOCAL2)
    call same('DYNGRID_FREE_FIRST', DYNGRID_FREE_FIRST)
    call same('DYNGRID_PREFER_COLUMNS', DYNGRID_PREFER_COLUMNS)
    call same('DYNGRID_PREFER_ROWS', DYNGRID_PREFER_ROWS)
    call same('DYNGRID_MAP_BEST', DYNGRID_MAP_BEST)
    call same('DYNGRID_MAP_SVD', DYNGRID_MAP_SVD)
    call same('DYNGRID_MAP_NATURAL', DYNGRID_MAP_NATURAL)
    call same('DYNGRID_SELECT_BEST', DYNGRID_SELECT_BEST)
    call same('DYNGRID_SELECT_GLOBAL', DYNGRID_SELECT_GLOBAL)
    call same('DYNGRID_SELECT_LOCAL', DYNGRID_SELECT_LOCAL)
    call same('DYNGRID_SELECT_MIXED', DYNGRID_SELECT_MIXED)
    call same('DYNGRID_BALANCE_STAY', DYNGRID_BALANCE_STAY)
    call same('DYNGRID_BALANCE_REBALANCE', DYNGRID_BALANCE_REBALANCE)
    call same('DYNGRID_BALANCE_REMOVE', DYNGRID_BALANCE_REMOVE)
    call same('DYNGRID_BALANCE_TAKE_BACK', DYNGRID_BALANCE_TAKE_BACK)
    call same('DYNGRID_BALANCE_REPLACE', DYNGRID_BALANCE_REPLACE)
    call same('sizeof dyngrid_balance_request', int(c_sizeof(dyngrid_balance_request()), c_int))
    call same('sizeof dyngrid_axis', int(c_sizeof(dyngrid_axis()), c_int))
    call same('sizeof dyngrid_topology_request', int(c_sizeof(dyngrid_topology_request()), c_int))
    call check(dyngrid_status_string(DYNGRID_ERR_SHAPE) == 'shapes do not fit', 'name of a status')
  end subroutine

  subroutine topology()
    integer(c_int) :: p, q
    integer(c_int), allocatable :: set(:)
    integer(c_int), target :: valid(2)
    type(dyngrid_topology_request) :: request
    character(:), allocatable :: why
    real(c_double) :: seconds
    call check(dyngrid_topology(14, 2.0_c_double, 2.0_c_double, 0, 0, p, q) == DYNGRID_SUCCESS, 'topology')
    call check(p == 3 .and. q == 4, '14 processes make 3x4')
    q = 0
    call check(dyngrid_topology(14, 2.0_c_double, 2.0_c_double, 0, 0, npcol=q) == DYNGRID_SUCCESS .and. q == 4, &
      'topology without nprow')
    call check(dyngrid_topology(0, 2.0_c_double, 2.0_c_double, 0, 0, p, q) == DYNGRID_ERR_ARGUMENT, 'no processes')
    call check(index(dyngrid_last_message(), 'procs is 0') > 0, 'message')
    valid = [4, 9]
    request%procs = 14
    request%valid_procs = c_loc(valid)
    request%n_valid_procs = 2
    call check(dyngrid_topology_choose(request, p, q, seconds, why) == DYNGRID_SUCCESS, 'topology of a valid set')
    call check(p == 3 .and. q == 3 .and. seconds < 0 .and. index(why, '5 idle') > 0, 'why: '//why)
    call check(dyngrid_topology_choose(request, why=why) == DYNGRID_SUCCESS .and. index(why, '5 idle') > 0, &
      'why alone: '//why)
    call check(dyngrid_parse_set('4:32:*2', set) == DYNGRID_SUCCESS, 'set')
    call check(all(set == [4, 8, 16, 32]), 'numbers of the set')
    call check(dyngrid_parse_set('1:100', set) == DYNGRID_SUCCESS .and. size(set) == 100, 'long set')
    call check(dyngrid_parse_set('a', set) == DYNGRID_ERR_ARGUMENT .and. size(set) == 0, 'bad set')
  end subroutine

  subroutine balance()
    real(c_double), target :: speeds(4)
    integer(c_int) :: action, p, q, order(4)
    integer(c_int64_t) :: cols(4), payoff
    real(c_double) :: before, after
    type(dyngrid_balance_request) :: request
    character(:), allocatable :: why
    speeds = [1.0_c_double, 1.0_c_double, 1.0_c_double, 0.5_c_double]
    request%nprow = 2
    request%npcol = 2
    request%n_processes = 4
    request%speeds = c_loc(speeds)
    request%m = 6000
    request%n = 6000
    request%change_s = 10
    call check(dyngrid_balance_plan(request, action, p, q, order, cols=cols, step_now_s=before, step_then_s=after, &
      payoff_steps=payoff, why=why) == DYNGRID_SUCCESS, 'balance')
    call check(action == DYNGRID_BALANCE_REMOVE .and. p == 1 .and. q == 3 .and. cols(3) == 2000, 'one leaves: '//why)
    call check(before > 1.9 .and. after < 1.4 .and. payoff == 15 .and. index(why, 'the cost after 15') > 0, why)
    speeds(2) = 0
    call check(dyngrid_balance_plan(request, action) == DYNGRID_ERR_ARGUMENT, 'no speed')
    call check(index(dyngrid_last_message(), 'speed of process 1 is 0') > 0, dyngrid_last_message())
  end subroutine

  subroutine placement()
    integer(c_int) :: grid(9)
    integer(c_int64_t) :: moved, retained, bonus(4), kept(9)
    integer(c_int64_t), target :: six(1), four(1)
    type(dyngrid_axis) :: from, to
    call check(dyngrid_place(1, 4, 1, 6, 12_c_int64_t, 12_c_int64_t, 0_c_int64_t, 0_c_int64_t, DYNGRID_LOCAL2, &
      grid) == DYNGRID_SUCCESS, &
               'place')
    call check(all(grid(1:6) == [0, 4, 1, 2, 5, 3]), 'figure 4.3 b')
    six = 6
    four = 4
    from = dyngrid_axis(12, c_loc(six), 1, 0, 2)
    to = dyngrid_axis(12, c_loc(four), 1, 0, 3)
    call check(dyngrid_place_axes(from, from, to, to, DYNGRID_OPTIMAL, grid=grid, moved=moved, retained=retained, &
      kept=kept) == &
               DYNGRID_SUCCESS, 'place by axes')
    call check(moved == 80 .and. retained == 64 .and. sum(kept) == 64, '5/9 of the elements move')
    moved = 0
    call check(dyngrid_place_axes(from, from, to, to, DYNGRID_OPTIMAL, moved=moved) == DYNGRID_SUCCESS .and. &
      moved == 80, 'place by axes without the grid')
    moved = 0
    call check(dyngrid_place(2, 2, 3, 3, 12_c_int64_t, 12_c_int64_t, 0_c_int64_t, 0_c_int64_t, DYNGRID_OPTIMAL, &
      moved=moved) == DYNGRID_SUCCESS .and. moved == 80, 'place without the grid')
    bonus = 0
    call check(dyngrid_place_axes(from, from, from, from, DYNGRID_GLOBAL, bonus, grid, &
      moved) == DYNGRID_SUCCESS .and. moved == 0, 'same grid')
  end subroutine

  subroutine mapping()
    real(c_double) :: speeds(4), available(4), r(2), c(2), t, used, slowest
    real(c_double), parameter :: costs(6) = [1, 1, 1, 1, 4, 5]
    integer(c_int64_t) :: first(3), first_row(2), first_col(3)
    integer(c_int) :: order(4), n_chosen, chosen(4), p, q, row_order(2), col_order(2)
    integer(c_int64_t) :: rows(8), cols(8), retained
    integer(c_int64_t), target :: five(1)
    type(dyngrid_axis) :: axis
    speeds = [2, 4, 1, 2]
    available = [3, 5, 2, 8]
    call check(dyngrid_map(2, 2, speeds, 300_c_int64_t, 600_c_int64_t, DYNGRID_MAP_SVD, order, r, c, rows, cols, &
      t) == DYNGRID_SUCCESS, 'map')
    call check(rows(1) == 200 .and. cols(1) == 400 .and. order(1) == 1, 'the strongest in the corner')
    call check(dyngrid_map_in_place(2, 2, speeds, 300_c_int64_t, 600_c_int64_t, DYNGRID_MAP_BEST, rows=rows, &
      cols=cols) == &
               DYNGRID_SUCCESS, 'map in place')
    call check(rows(1) == 200 .and. cols(1) == 200, 'places kept')
    speeds(3) = -1
    call check(dyngrid_map(2, 2, speeds, 3_c_int64_t, 6_c_int64_t, DYNGRID_MAP_BEST) == DYNGRID_ERR_ARGUMENT, &
      'negative speed')
    speeds(3) = 1
    call check(dyngrid_natural_blocks(9_c_int64_t, 4, speeds, rows) == DYNGRID_SUCCESS .and. rows(2) == 4, &
      'natural blocks')
    call check(dyngrid_cut(6_c_int64_t, costs, 2, first=first, seconds=slowest) == DYNGRID_SUCCESS .and. &
      first(2) == 5 .and. slowest == 8, 'cut')
    slowest = 0
    call check(dyngrid_cut(6_c_int64_t, costs, 2, seconds=slowest) == DYNGRID_SUCCESS .and. slowest == 8, &
      'seconds of the cut alone')
    slowest = 0
    call check(dyngrid_cut_cells(2_c_int64_t, 3_c_int64_t, costs, 1, 2, seconds=slowest) == DYNGRID_SUCCESS .and. &
      slowest == 7, 'seconds of the cells alone')
    call check(dyngrid_natural_blocks(9_c_int64_t, 4, speeds) == DYNGRID_SUCCESS, 'whether natural blocks are accepted')
    call check(dyngrid_factor_order(9_c_int64_t, 0, speeds) == DYNGRID_ERR_ARGUMENT, 'an order for no positions')
    call check(dyngrid_cut_cells(2_c_int64_t, 3_c_int64_t, costs, 1, 2, first_row=first, first_col=first_col, &
      seconds=slowest) == DYNGRID_SUCCESS .and. first_col(2) == 2 .and. slowest == 7, 'cut of cells')
    call check(dyngrid_select(2, 2, speeds, 4, available, 7.0_c_double, DYNGRID_SELECT_BEST, 300_c_int64_t, &
      300_c_int64_t, n_chosen, chosen, &
                              p, q, tpp_used=used, t=t) == DYNGRID_SUCCESS, 'select')
    call check(p*q == 4 + n_chosen .and. used <= 7, 'what was selected')
    five = 5
    axis = dyngrid_axis(10, c_loc(five), 1, 0, 2)
    call check(dyngrid_order_grid(axis, axis, 2, [5_c_int64_t, 5_c_int64_t], 2, [5_c_int64_t, 5_c_int64_t], [2, &
      3, 0, 1], row_order, &
                                  col_order, retained) == DYNGRID_SUCCESS, 'order')
    call check(retained == 100 .and. row_order(1) == 1, 'rows change places')
  end subroutine

end program
