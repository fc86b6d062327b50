! SPDX-License-Identifier: BSD-3-Clause
! The whole life of an application in Fortran: a matrix and shared state follow 2x2 -> 3x3 -> 1x2, every element
! compared, PDGEADD on each grid.
module any_owners
  use dyngrid
  use, intrinsic :: iso_c_binding
  implicit none
contains
  !> Each row (column) for itself, number i on grid row (column) i * i mod their number.
  integer(c_int64_t) function squares(context, axis, length, nprow, npcol, sizes, owners) bind(C)
    type(c_ptr), value :: context
    integer(c_signed_char), value :: axis
    integer(c_int64_t), value :: length
    integer(c_int), value :: nprow, npcol
    type(c_ptr), value :: sizes, owners
    integer(c_int64_t), pointer :: size_of(:)
    integer(c_int), pointer :: owner_of(:)
    integer :: i
    squares = length
    if (c_associated(context) .or. .not. c_associated(sizes)) return
    call c_f_pointer(sizes, size_of, [length])
    call c_f_pointer(owners, owner_of, [length])
    size_of = 1
    owner_of = [(mod(i * i, merge(nprow, npcol, axis == iachar('R'))), i = 1, int(length))]
  end function
end module

program follow_fortran
  use dyngrid
  use any_owners, only: squares
  use need_module
  use, intrinsic :: iso_fortran_env, only: real64, int64
  use, intrinsic :: iso_c_binding, only: c_null_char, c_null_ptr
  implicit none
  integer, parameter :: n = 29, nb = 3
  integer, target :: step = 0
  real(real64), target :: state(3) = 0
  logical, target :: is_on = .false., flags(2, 3) = .false.
  integer(int64), target :: counts(2, 2) = 0
  complex(real64), target :: wave(2) = 0
  complex, target :: phase = 0
  real, target :: table(2, 2, 2) = 0
  character(5), target :: word = '', words(2) = ''
  integer :: info, outcome, nprow, npcol, myrow, mycol, desc(9)
  type(dyngrid_matrix) :: a, b, c, o
  type(dyngrid_resize_report) :: report
  type(dyngrid_balance_report) :: decided
  real(real64), pointer :: x(:, :), y(:, :)
  logical :: is_newcomer
  type(dyngrid_matrix) :: w
  integer :: k, first, last, i_loc, i, info1, info2
  external :: pdgeadd

  call dyngrid_init_grid(2, 2, info); call need(info == DYNGRID_SUCCESS, 'init')
  call dyngrid_matrix_create('a', 'd', n, n, nb, nb, a, info); call need(info == DYNGRID_SUCCESS, 'create')
  call dyngrid_matrix_create('b', 'd', int(n, int64), int(n, int64), int(nb, int64), int(nb, int64), b, info)
  call need(info == DYNGRID_SUCCESS, 'create of 64-bit sizes')
  call dyngrid_matrix_create_by('c', 'd', int(n, int64), int(n, int64), dyngrid_block_rule, c_null_ptr, c, info)
  call need(info == DYNGRID_SUCCESS, 'create by dyngrid_block_rule')
  call dyngrid_matrix_create_owned('o', 'd', int(n, int64), int(n, int64), squares, c_null_ptr, o, info)
  call need(info == DYNGRID_SUCCESS, 'create_owned')
  call dyngrid_matrix_create_weighted('w', 'd', n, n, nb, nb, 4, w, info)
  call need(info == DYNGRID_ERR_ARGUMENT, 'no such order')
  call dyngrid_matrix_create_weighted('w', 'd', n, n, nb, nb, DYNGRID_ORDER_CYCLIC, w, info)
  call need(info == DYNGRID_SUCCESS, 'create_weighted')
  call dyngrid_share('step', step, info); call need(info == DYNGRID_SUCCESS, 'share')
  call dyngrid_share('state', state, info); call need(info == DYNGRID_SUCCESS, 'share of a vector')
  call dyngrid_share('is_on', is_on, info); call need(info == DYNGRID_SUCCESS, 'share of a logical')
  call dyngrid_share('flags', flags, info); call need(info == DYNGRID_SUCCESS, 'share of logicals')
  call dyngrid_share('counts', counts, info); call need(info == DYNGRID_SUCCESS, 'share of 8-byte integers')
  call dyngrid_share('wave', wave, info); call need(info == DYNGRID_SUCCESS, 'share of complex numbers')
  call dyngrid_share('phase', phase, info); call need(info == DYNGRID_SUCCESS, 'share of a complex number')
  call dyngrid_share('table', table, info); call need(info == DYNGRID_SUCCESS, 'share of an array of rank 3')
  call dyngrid_share('word', word, info); call need(info == DYNGRID_SUCCESS, 'share of a text')
  call dyngrid_share('words', words, info); call need(info == DYNGRID_SUCCESS, 'share of texts')
  call dyngrid_share('row', counts(1, :), info)
  call need(info == DYNGRID_ERR_ARGUMENT .and. index(dyngrid_last_message(), '"row" is a section with gaps') > 0, &
    'share of a section with gaps')
  is_newcomer = dyngrid_is_newcomer()
  if (.not. is_newcomer) then
    call dyngrid_grid(nprow, npcol, myrow, mycol)
    call need(dyngrid_depth() == merge(1, 0, myrow >= 0), 'depth')
    call each(a, .true.)
    state = [1.5d0, 2.5d0, 3.5d0]
    is_on = .true.; flags(2, 1:3:2) = .true.; counts = 5000000000_int64; wave = (1d0, -2d0); phase = (3., 4.)
    table = 2.5; word = 'hello'; words = ['one  ', 'three']
    call dyngrid_matrix_create('a', 'd', n, n, nb, nb, b, info)
    call need(info == DYNGRID_ERR_ARGUMENT .and. index(dyngrid_last_message(), 'already') > 0, &
      'a second matrix of that name')
    b = dyngrid_matrix_find('b')
    call dyngrid_pop(outcome); call need(outcome == DYNGRID_ERR_STATE, 'no level below the first')
    call dyngrid_allow('1,2,4,9; aspect 2 ', info); call need(info == DYNGRID_SUCCESS, 'allow')
    call dyngrid_allow('four', info); call need(info == DYNGRID_ERR_ARGUMENT, 'allow of nonsense')
    call dyngrid_set_steps(3, info); call need(info == DYNGRID_SUCCESS, 'set_steps')
    call dyngrid_set_steps(3_int64, info); call need(info == DYNGRID_SUCCESS, 'set_steps of 64 bits')
    call dyngrid_experiment('2x2,', info); call need(info == DYNGRID_ERR_ARGUMENT, 'experiment of nonsense')
    call dyngrid_grid(nprow, npcol, myrow, mycol)
    call need((len(dyngrid_job()) > 0) .eqv. (myrow == 0 .and. mycol == 0), 'job')
  end if
  do
    call dyngrid_resize_point(outcome)
    if (outcome == DYNGRID_LEAVE) exit
    call need(outcome >= 0, 'resize point')
    call dyngrid_grid(nprow, npcol, myrow, mycol)
    if (step == 1) call need(nprow == 3 .and. npcol == 3 .and. dyngrid_depth() == 2, 'grown')
    if (step == 2) call need(nprow == 1 .and. npcol == 2 .and. dyngrid_depth() == 1, 'shrunk')
    call need(all(state == [1.5d0, 2.5d0, 3.5d0]), 'shared state')
    call need(is_on .and. count(flags) == 2 .and. flags(2, 1) .and. flags(2, 3), 'shared logicals')
    call need(all(counts == 5000000000_int64) .and. all(table == 2.5), 'shared arrays')
    call need(all(wave == (1d0, -2d0)) .and. phase == (3., 4.), 'shared complex numbers')
    call need(word == 'hello' .and. words(1) == 'one' .and. words(2) == 'three', 'shared texts')
    call each(a, .false.)
    if (step > 0) then
      call dyngrid_last_resize(report, info)
      call need(report%to_nprow == nprow .and. report%moved_bytes + report%kept_bytes == 5_int64 * n * n * 8, 'report')
    end if
    ! b := a with ScaLAPACK, through the descriptors
    call dyngrid_local(a, x); call dyngrid_local(b, y)
    call need(size(dyngrid_desc(dyngrid_matrix_find('none'))) == 9 .and. &
      all(dyngrid_desc(dyngrid_matrix_find('none')) == -1), 'the descriptor of no matrix')
    desc = dyngrid_desc(a)
    call need(desc(2) == dyngrid_context(), 'context')
    call pdgeadd('N', n, n, 1d0, x, 1, 1, desc, 0d0, y, 1, 1, dyngrid_desc(b))
    call each(b, .false.)
    y = -1
    call dyngrid_copy(a, b, info); call need(info == DYNGRID_SUCCESS, 'copy')
    call each(b, .false.)
    call dyngrid_add('N', 3d0, a, -2d0, b, info); call need(info == DYNGRID_SUCCESS, 'add')
    call each(b, .false.)
    call dyngrid_add('T', 1d0, a, 0d0, b, info); call need(info == DYNGRID_SUCCESS, 'transpose')
    call dyngrid_add('C', -1d0, b, 2d0, a, info)
    call need(info == DYNGRID_SUCCESS, 'transpose back, from twice the same')
    call each(a, .false.)
    call dyngrid_add('N', 1d0, a, 0d0, a, info); call need(info == DYNGRID_ERR_ARGUMENT, 'onto itself')
    call dyngrid_copy(a, b, info); call need(info == DYNGRID_SUCCESS, 'copy')
    ! and by way of one block for each process
    if (step > 0) then
      y = -1
      call dyngrid_copy(c, b, info); call need(info == DYNGRID_SUCCESS, 'copy from blocks')
      call each(b, .false.)
      y = -1
      call dyngrid_copy(o, b, info); call need(info == DYNGRID_SUCCESS, 'copy from any owners')
      call each(b, .false.)
    end if
    call dyngrid_copy(a, c, info); call need(info == DYNGRID_SUCCESS, 'copy to blocks')
    desc = dyngrid_desc(c)
    call need(size(dyngrid_desc(c)) == 9 .and. desc(1) == 1, 'one size for rows, one for columns: ScaLAPACK takes it')
    call dyngrid_copy(a, o, info); call need(info == DYNGRID_SUCCESS, 'copy to any owners')
    call dyngrid_my_range(o, 'R', 1, first, last, info)
    do i = 1, n
      if (info == 1 .and. mod(i * i, nprow) == myrow) exit
    end do
    if (info == 1) call need(first == i, 'the first of my rows')
    call dyngrid_copy(a, w, info); call need(info == DYNGRID_SUCCESS, 'copy to the one that is dealt out')
    call dyngrid_set_speed(0d0, info); call need(info == DYNGRID_ERR_ARGUMENT, 'no speed')
    call dyngrid_set_speed(dble(1 + mycol), info); call need(info == DYNGRID_SUCCESS, 'set_speed')
    call dyngrid_work_end(1d0, info); call need(info == DYNGRID_ERR_STATE, 'an end without a beginning')
    call dyngrid_work_begin(info); call need(info == DYNGRID_SUCCESS, 'work_begin')
    call dyngrid_work_end(-1d0, info); call need(info == DYNGRID_ERR_ARGUMENT, 'work of less than nothing')
    call dyngrid_work_end(1d0, info); call need(info == DYNGRID_SUCCESS, 'work_end')
    call dyngrid_work_items(w, 'X', 1, 1, [1d0], info); call need(info == DYNGRID_ERR_ARGUMENT, 'no axis X')
    call dyngrid_work_items(w, 'R', 1_int64, 1_int64, [1d0], info)
    call need(info == DYNGRID_ERR_UNSUPPORTED, 'cyclic: no rows of unequal work')
    if (step == 0) then
      call dyngrid_rebalance(outcome); call need(outcome == DYNGRID_SAME, 'nothing is known of loads yet')
      call dyngrid_last_balance(decided, info)
      call need(info == DYNGRID_SUCCESS .and. decided%number >= 1 .and. decided%is_done == 0 .and. &
        decided%why(160) == c_null_char .and. decided%why(1) /= c_null_char, 'last_balance')
    end if
    call need(dyngrid_speed() == 1 + mycol, 'speed')
    call dyngrid_relayout(outcome); call need(outcome >= 0, 'by speed')
    call dyngrid_local(w, x)
    i_loc = 0
    k = 1
    do
      call dyngrid_my_range(w, 'C', k, first, last, info)
      if (info /= 1) exit
      do i = first, last
        i_loc = i_loc + 1
        ! the first of my rows
        call dyngrid_my_range(w, 'R', 1, info1, info2, info)
        if (info == 1) call need(x(1, i_loc) == info1 * n + i, 'element by ranges')
      end do
      k = k + 1
    end do
    call need(info == 0, 'no more')
    call dyngrid_my_range(w, 'X', 1, first, last, info); call need(info == DYNGRID_ERR_ARGUMENT, 'no such axis')
    if (step == 2) then ! the same grid, other blocks, and back
      call dyngrid_matrix_reblock(a, 5, 1, outcome); call need(outcome == DYNGRID_RESIZED, 'reblock')
      desc = dyngrid_desc(a); call need(desc(5) == 5 .and. desc(6) == 1 .and. desc(2) == dyngrid_context(), 'blocks')
      call dyngrid_relayout(outcome); call need(outcome == DYNGRID_SAME, 'nothing to move')
      call dyngrid_matrix_set_rule(a, dyngrid_block_rule, c_null_ptr, outcome)
      call need(outcome == DYNGRID_RESIZED, 'set_rule')
      call dyngrid_matrix_set_owner_rule(a, squares, c_null_ptr, outcome)
      call need(outcome == DYNGRID_RESIZED, 'set_owner_rule')
      call dyngrid_matrix_reblock(a, 0_int64, 1_int64, outcome); call need(outcome == DYNGRID_ERR_ARGUMENT, 'no size')
      call dyngrid_matrix_reblock(a, int(nb, int64), int(nb, int64), outcome)
      call need(outcome == DYNGRID_RESIZED, 'and back')
      call each(a, .false.)
      call on_other_processes(a)
      call in_phases(a)
      call each(a, .false.)
    end if
    if (step == 2) exit
    step = step + 1
    if (step == 1) call dyngrid_request(3, 3, info)
    if (step == 2) call dyngrid_request(1, 2, info)
    call need(info == DYNGRID_SUCCESS, 'request')
  end do
  call need(dyngrid_payoff_point(2d0, 1d0, 0.5d0) == 4 .and. dyngrid_resize_cost(2d0, 0.5d0) == 4, 'payoff')
  call dyngrid_finalize(info); call need(info == DYNGRID_SUCCESS, 'finalize')

contains

  !> To one column of processes, to the first one, to all, and back; on 1 x 2.
  subroutine on_other_processes(m)
    type(dyngrid_matrix), intent(in) :: m
    type(dyngrid_matrix) :: rows, first_one, part, all_of_it, copies
    real(real64), pointer :: z(:, :)
    integer :: i, j
    call dyngrid_matrix_create_on('rows', 'd', n, n, nb, nb, 7, rows, info)
    call need(info == DYNGRID_ERR_ARGUMENT, 'no such shape')
    call dyngrid_matrix_create_on('rows', 'd', n, n, 15, n, DYNGRID_ON_COLUMN, rows, info)
    call need(info == DYNGRID_SUCCESS, 'on one column')
    call dyngrid_matrix_create_on('first', 'd', int(n, int64), int(n, int64), 4_int64, 4_int64, DYNGRID_ON_FIRST, &
      first_one, info)
    call need(info == DYNGRID_SUCCESS, 'on the first, of 64-bit sizes')
    call dyngrid_matrix_create_on_part('part', 'd', n, n, nb, nb, 0, 1, part, info)
    call need(info == DYNGRID_ERR_ARGUMENT, 'a part without rows')
    call dyngrid_matrix_create_on_part('part', 'd', n, n, nb, nb, 2, 2, part, info)
    call need(info == DYNGRID_SUCCESS, 'on a part')
    call dyngrid_matrix_create_on('all', 'd', n, n, n, n, DYNGRID_ON_ALL, all_of_it, info)
    call need(info == DYNGRID_SUCCESS, 'on all')
    call dyngrid_copy(m, rows, info); call need(info == DYNGRID_SUCCESS, 'copy')
    call dyngrid_local(rows, z) ! rows 1 .. 15, and 16 .. 29
    call need(all([((z(i, j) == (15 * mycol + i) * n + j, i = 1, merge(15, 14, mycol == 0)), j = 1, n)]), 'its rows')
    desc = dyngrid_desc(rows)
    call need(desc(2) >= 0 .and. desc(2) /= dyngrid_context(), 'a context of its own')
    call dyngrid_copy(rows, first_one, info); call need(info == DYNGRID_SUCCESS, 'copy to the first')
    call dyngrid_copy(first_one, part, info); call need(info == DYNGRID_SUCCESS, 'copy to the part')
    call dyngrid_copy(part, all_of_it, info); call need(info == DYNGRID_SUCCESS, 'copy to all')
    call dyngrid_local(all_of_it, z)
    call need(all([((z(i, j) == i * n + j, i = 1, n), j = 1, n)]), 'all of it')
    call dyngrid_matrix_create_on('copies', 'd', n, n, nb, nb, DYNGRID_ON_EACH_COLUMN, copies, info)
    call need(info == DYNGRID_SUCCESS, 'on each column')
    call dyngrid_copy(all_of_it, copies, info); call need(info == DYNGRID_SUCCESS, 'copy to each column')
    call dyngrid_local(copies, z) ! the grid has one row: each of the two columns has all of it
    call need(all([((z(i, j) == i * n + j, i = 1, n), j = 1, n)]), 'each copy')
    desc = dyngrid_desc(copies)
    call need(desc(2) >= 0 .and. desc(2) /= dyngrid_context(), 'a context of its own for each copy')
    call dyngrid_matrix_free(copies, info); call need(info == DYNGRID_SUCCESS, 'free')
    call dyngrid_matrix_free(rows, info); call need(info == DYNGRID_SUCCESS, 'free')
    call dyngrid_matrix_free(first_one, info); call need(info == DYNGRID_SUCCESS, 'free')
    call dyngrid_matrix_free(part, info); call need(info == DYNGRID_SUCCESS, 'free')
    call dyngrid_matrix_free(all_of_it, info); call need(info == DYNGRID_SUCCESS, 'free')
  end subroutine

  !> Through two layouts and back; a is read in both.
  subroutine in_phases(m)
    type(dyngrid_matrix), intent(in) :: m
    type(dyngrid_phase) :: narrow, wide
    type(dyngrid_phase_report) :: figures
    integer :: cycle
    call dyngrid_phase_create('narrow', narrow, info); call need(info == DYNGRID_SUCCESS, 'phase')
    call dyngrid_phase_create('wide', wide, info); call need(info == DYNGRID_SUCCESS, 'phase')
    call dyngrid_phase_create('wide', wide, info); call need(info == DYNGRID_ERR_ARGUMENT, 'a phase twice')
    call dyngrid_phase_uses(narrow, m, DYNGRID_READ, info); call need(info == DYNGRID_SUCCESS, 'uses')
    call dyngrid_phase_uses(wide, m, DYNGRID_READ + DYNGRID_WRITE, info); call need(info == DYNGRID_SUCCESS, 'uses')
    call dyngrid_phase_layout(narrow, m, 5, 1, info); call need(info == DYNGRID_SUCCESS, 'layout')
    call dyngrid_phase_layout(wide, m, int(nb, int64), int(nb, int64), info)
    call need(info == DYNGRID_SUCCESS, 'layout')
    call dyngrid_phases_keep(0_int64, info); call need(info == DYNGRID_SUCCESS, 'keep')
    do cycle = 1, 3
      call dyngrid_phase_begin(narrow, info); call need(info == DYNGRID_SUCCESS, 'begin')
      desc = dyngrid_desc(m); call need(desc(5) == 5 .and. desc(6) == 1, 'in its layout')
      call dyngrid_phase_end(narrow, info); call need(info == DYNGRID_SUCCESS, 'end')
      call dyngrid_phase_begin(wide, info); call need(info == DYNGRID_SUCCESS, 'begin')
      desc = dyngrid_desc(m); call need(desc(5) == nb .and. desc(6) == nb, 'in its layout')
      call dyngrid_phase_end(wide, info); call need(info == DYNGRID_SUCCESS, 'end')
      call dyngrid_last_phase(figures, info)
      call need(info == DYNGRID_SUCCESS .and. figures%candidates == 1 .and. figures%moved_bytes > 0, 'figures')
      if (cycle == 3) call need(figures%is_planned == 1, 'planned')
    end do
    call dyngrid_phases_plan(2, info); call need(info == DYNGRID_SUCCESS, 'plan')
    call dyngrid_matrix_written(m, info); call need(info == DYNGRID_SUCCESS, 'written')
  end subroutine

  subroutine each(m, fill)
    type(dyngrid_matrix), intent(in) :: m
    logical, intent(in) :: fill
    real(real64), pointer :: z(:, :)
    integer :: i, j, ig, jg, rows, cols
    integer, external :: numroc, indxl2g
    call dyngrid_grid(nprow, npcol, myrow, mycol)
    if (myrow < 0) return
    call dyngrid_local(m, z)
    rows = numroc(n, nb, myrow, 0, nprow); cols = numroc(n, nb, mycol, 0, npcol)
    do j = 1, cols
      do i = 1, rows
        ig = indxl2g(i, nb, myrow, 0, nprow); jg = indxl2g(j, nb, mycol, 0, npcol)
        if (fill) then
          z(i, j) = ig * n + jg
        else
          call need(z(i, j) == ig * n + jg, 'element')
        end if
      end do
    end do
  end subroutine
end program
