! SPDX-License-Identifier: BSD-3-Clause
! C = A B, step after step, on a grid that may change between two steps; product.c in Fortran 2008.
!
!   mpifort product.f90 $(pkg-config --cflags --libs dyngrid) -o product
!   DYNGRID_WAIT=on dyngrid run -np 2 --resize-at 1:2x2,2:3x1 -- ./product
program product
  use dyngrid
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  implicit none
  integer, parameter :: n = 60, nb = 8, steps = 4
  type(dyngrid_matrix) :: a, b, c
  real(real64), pointer :: a_local(:, :), b_local(:, :), c_local(:, :)
  real(real64) :: total
  integer(int64) :: rows, columns, lld
  integer, target :: step = 0
  integer :: info, outcome, i, j, nprow, npcol, myrow, mycol
  external :: pdelset, pdgemm, dgsum2d

  call dyngrid_init(info); call must(info) ! a new process joins the others here
  call dyngrid_matrix_create('A', 'd', n, n, nb, nb, a, info); call must(info) ! lives on the grid and follows it
  call dyngrid_matrix_create('B', 'd', n, n, nb, nb, b, info); call must(info)
  call dyngrid_matrix_create('C', 'd', n, n, nb, nb, c, info); call must(info)
  call dyngrid_share('step', step, info); call must(info) ! all processes have it, new ones get it
  call dyngrid_local(a, a_local)
  call dyngrid_local(b, b_local)
  if (.not. dyngrid_is_newcomer() .and. associated(a_local)) then
    do j = 1, n
      do i = 1, n
        call pdelset(a_local, i, j, dyngrid_desc(a), real(mod(i + 2*j, 7), real64))
        call pdelset(b_local, i, j, dyngrid_desc(b), real(mod(3*i + j, 5), real64))
      end do
    end do
  end if
  do
    call dyngrid_resize_point(outcome) ! the grid may change here and nowhere else
    if (outcome == DYNGRID_LEAVE .or. step == steps) exit
    if (outcome < 0) write (error_unit, '(2a)') 'product: the grid stays as it is: ', dyngrid_last_message()
    call dyngrid_local(a, a_local); call dyngrid_local(b, b_local); call dyngrid_local(c, c_local)
    call pdgemm('N', 'N', n, n, n, 1d0, a_local, 1, 1, dyngrid_desc(a), b_local, 1, 1, dyngrid_desc(b), 0d0, &
                c_local, 1, 1, dyngrid_desc(c))
    call dyngrid_matrix_shape(c, rows, columns, lld, info)
    total = sum(c_local(:rows, :columns))
    call dgsum2d(dyngrid_context(), 'All', ' ', 1, 1, total, 1, -1, -1) ! the BLACS work as ever
    call dyngrid_grid(nprow, npcol, myrow, mycol)
    if (dyngrid_is_first()) &
      print '(4(a, i0))', 'step ', step, ' on ', nprow, ' x ', npcol, ': sum of C = ', nint(total)
    step = step + 1
  end do
  call dyngrid_finalize(info); call must(info)
contains
  subroutine must(status) ! an error that the program cannot go on with; it is the same on all processes
    integer, intent(in) :: status
    if (status >= 0) return
    write (error_unit, '(2a)') 'product: ', dyngrid_last_message()
    error stop 1
  end subroutine
end program product
