! SPDX-License-Identifier: BSD-3-Clause
! A matrix in an allocatable of the program: the allocatable follows the grid; adopt.cpp in Fortran 2008.
!
!   mpifort adopt.f90 $(pkg-config --cflags --libs dyngrid) -o adopt
!   DYNGRID_WAIT=on dyngrid run -np 2 --resize-at 1:2x2,2:3x1 -- ./adopt
program adopt
  use dyngrid
  use mpi
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  implicit none
  integer, parameter :: n = 60, nb = 8, steps = 4
  real(real64), allocatable, target :: a(:, :) ! not allocated on a new process, which has no part of it yet
  type(dyngrid_matrix) :: matrix
  integer, target :: step = 0
  integer :: desc(9), info, outcome, nprow, npcol, myrow, mycol, rows, columns, wrong
  integer, external :: numroc, indxl2g

  call dyngrid_init(info); call must(info)
  desc = [1, dyngrid_context(), n, n, nb, nb, 0, 0, 1]
  call where_i_am
  if (myrow >= 0) then
    allocate (a(max(1, rows), columns))
    desc(9) = size(a, 1)
  end if
  call dyngrid_matrix_adopt('A', a, desc, matrix, info); call must(info) ! from here on a follows the grid
  call dyngrid_share('step', step, info); call must(info)
  if (myrow >= 0) a(:rows, :columns) = first(rows, columns)
  do
    call dyngrid_resize_point(outcome)
    if (outcome == DYNGRID_LEAVE .or. step == steps) exit
    if (outcome < 0) write (error_unit, '(2a)') 'adopt: the grid stays as it is: ', dyngrid_last_message()
    call where_i_am
    a = a + 1 ! the array that the program has always had, with its size on the grid of now
    step = step + 1
    wrong = count(abs(a(:rows, :columns) - first(rows, columns) - step) > 0)
    call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, dyngrid_comm(), info)
    if (dyngrid_is_first()) &
      print '(4(a, i0), a)', 'step ', step - 1, ' on ', nprow, ' x ', npcol, ': ', wrong, ' elements of A are wrong'
  end do
  call dyngrid_finalize(info); call must(info)
contains
  subroutine where_i_am ! on the grid of now, and how much of the matrix this process has
    call dyngrid_grid(nprow, npcol, myrow, mycol)
    if (myrow < 0) return
    rows = numroc(n, nb, myrow, 0, nprow)
    columns = numroc(n, nb, mycol, 0, npcol)
  end subroutine
  function first(rows, columns) result(values) ! what the elements were at the beginning
    integer, intent(in) :: rows, columns
    real(real64) :: values(rows, columns)
    integer :: i, j
    do j = 1, columns
      do i = 1, rows
        values(i, j) = n * indxl2g(i, nb, myrow, 0, nprow) + indxl2g(j, nb, mycol, 0, npcol)
      end do
    end do
  end function
  subroutine must(status) ! an error that the program cannot go on with; it is the same on all processes
    integer, intent(in) :: status
    if (status >= 0) return
    write (error_unit, '(2a)') 'adopt: ', dyngrid_last_message()
    error stop 1
  end subroutine
end program adopt
