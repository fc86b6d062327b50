! SPDX-License-Identifier: BSD-3-Clause
! C = A B, step after step, on a grid that changes when somebody asks for it; the Fortran sister of pdgemm_loop.c.
!
!   DYNGRID_RESIZE_AT=2:3x3,4:2x2 mpirun --oversubscribe -np 4 ./pdgemm_loop
!
! B is the matrix that turns the order of the columns round, so C must be A with its columns the other way round.
program pdgemm_loop
  use dyngrid
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  implicit none
  integer, parameter :: n = 500, nb = 32, steps = 6
  type(dyngrid_matrix) :: a, b, c
  real(real64), pointer :: a_local(:, :), b_local(:, :), c_local(:, :)
  integer, target :: step = 0, all_wrong = 0
  integer :: info, outcome, nprow, npcol, myrow, mycol, wrong
  external :: pdgemm

  call dyngrid_init(info); call must(info) ! a spawned process joins its parents here
  call dyngrid_matrix_create('A', 'd', n, n, nb, nb, a, info); call must(info)
  call dyngrid_matrix_create('B', 'd', n, n, nb, nb, b, info); call must(info)
  call dyngrid_matrix_create('C', 'd', n, n, nb, nb, c, info); call must(info)
  call dyngrid_share('step', step, info); call must(info) ! newcomers get these too
  call dyngrid_share('all_wrong', all_wrong, info); call must(info)
  if (.not. dyngrid_is_newcomer()) call fill()

  do
    call dyngrid_resize_point(outcome) ! the only place where the grid can change
    if (outcome == DYNGRID_LEAVE .or. step == steps) exit
    if (outcome < 0) write (error_unit, '(2a)') 'pdgemm_loop: the grid stays as it is: ', dyngrid_last_message()
    call dyngrid_local(a, a_local)
    call dyngrid_local(b, b_local)
    call dyngrid_local(c, c_local)
    call pdgemm('N', 'N', n, n, n, 1d0, a_local, 1, 1, dyngrid_desc(a), b_local, 1, 1, dyngrid_desc(b), &
                0d0, c_local, 1, 1, dyngrid_desc(c))
    wrong = count_wrong()
    all_wrong = all_wrong + wrong
    call dyngrid_grid(nprow, npcol, myrow, mycol)
    if (myrow == 0 .and. mycol == 0) then
      print '(a, i0, a, i0, a, i0, 2a)', 'step ', step, ' on ', nprow, ' x ', npcol, ': ', trim(merge('right', 'WRONG', wrong == 0))
      flush (6)
    end if
    step = step + 1
  end do

  call dyngrid_finalize(info); call must(info)
  if (all_wrong /= 0) stop 1

contains

  real(real64) function a_element(i, j)
    integer, intent(in) :: i, j
    a_element = real(i, real64)*n + j
  end function

  ! Global index of local row (or column) k, both from 1, on row (or column) me of procs.
  integer function global(k, me, procs)
    integer, intent(in) :: k, me, procs
    global = ((k - 1)/nb*procs + me)*nb + mod(k - 1, nb) + 1
  end function

  subroutine fill()
    integer :: i, j, i_glo, j_glo
    call dyngrid_local(a, a_local)
    call dyngrid_local(b, b_local)
    if (.not. associated(a_local)) return ! more processes than the grid has
    call dyngrid_grid(nprow, npcol, myrow, mycol)
    do j = 1, size(a_local, 2)
      do i = 1, size(a_local, 1)
        i_glo = global(i, myrow, nprow)
        j_glo = global(j, mycol, npcol)
        a_local(i, j) = a_element(i_glo, j_glo)
        b_local(i, j) = merge(1d0, 0d0, i_glo + j_glo == n + 1)
      end do
    end do
  end subroutine

  integer function count_wrong()
    integer :: i, j, rows, columns
    integer, external :: numroc
    call dyngrid_grid(nprow, npcol, myrow, mycol)
    rows = numroc(n, nb, myrow, 0, nprow)
    columns = numroc(n, nb, mycol, 0, npcol)
    count_wrong = 0
    do j = 1, columns
      do i = 1, rows
        if (c_local(i, j) /= a_element(global(i, myrow, nprow), n + 1 - global(j, mycol, npcol))) count_wrong = count_wrong + 1
      end do
    end do
    call igsum2d(dyngrid_context(), 'All', ' ', 1, 1, count_wrong, 1, -1, -1) ! the BLACS work as ever
  end function

  ! An error here is one that cannot be gone on with.
  subroutine must(status)
    integer, intent(in) :: status
    if (status >= 0) return
    write (error_unit, '(2a)') 'pdgemm_loop: ', dyngrid_last_message()
    call blacs_abort(dyngrid_context(), 1)
  end subroutine

end program pdgemm_loop
