! SPDX-License-Identifier: BSD-3-Clause
! A ScaLAPACK program as there are many: reads a matrix and some right-hand sides, solves A x = b for each with PDGESV,
! prints x. It runs on the 2 x 2 grid it was started with. after.f90 is the same program on a grid that may change
! between two solutions.
!
!   mpifort before.f90 -lscalapack-openmpi -o before
!   mpirun --oversubscribe -np 4 ./before system.dat
program linear_system
  implicit none
  integer, parameter :: nb = 2
  integer :: iam, nprocs, context, nprow, npcol, myrow, mycol
  integer :: n, systems, k, i, j, unit, rows, columns, info
  integer :: desca(9), descb(9)
  integer, allocatable :: pivots(:)
  double precision, allocatable :: a(:, :), lu(:, :), b(:), row(:), right_sides(:, :)
  double precision :: x
  character(len=256) :: file
  integer, external :: numroc

  nprow = 2
  npcol = 2
  call blacs_pinfo(iam, nprocs)
  call blacs_get(-1, 0, context)
  call blacs_gridinit(context, 'Row', nprow, npcol)
  call blacs_gridinfo(context, nprow, npcol, myrow, mycol)

  call get_command_argument(1, file)
  open (newunit=unit, file=file, status='old', action='read')
  read (unit, *) n, systems

  rows = numroc(n, nb, myrow, 0, nprow)
  columns = numroc(n, nb, mycol, 0, npcol)
  call descinit(desca, n, n, nb, nb, 0, 0, context, max(1, rows), info)
  call descinit(descb, n, 1, nb, nb, 0, 0, context, max(1, rows), info)
  allocate (a(max(1, rows), max(1, columns)), lu(max(1, rows), max(1, columns)), b(max(1, rows)), pivots(rows + nb))

  ! every process reads the file and keeps what is its own
  allocate (row(n), right_sides(n, systems))
  do i = 1, n
    read (unit, *) row
    do j = 1, n
      call pdelset(a, i, j, desca, row(j))
    end do
  end do
  do k = 1, systems
    read (unit, *) right_sides(:, k)
  end do
  close (unit)

  do k = 1, systems
    lu = a
    do i = 1, n
      call pdelset(b, i, 1, descb, right_sides(i, k))
    end do
    call pdgesv(n, 1, lu, 1, 1, desca, pivots, b, 1, 1, descb, info)
    if (myrow == 0 .and. mycol == 0) write (*, '(a, i0, a, i0, a, i0)') 'system ', k, ' on ', nprow, ' x ', npcol
    do i = 1, n
      call pdelget('All', ' ', x, b, i, 1, descb)
      if (myrow == 0 .and. mycol == 0) write (*, '(a, i0, a, f12.6)') '  x(', i, ') = ', x
    end do
  end do

  call blacs_gridexit(context)
  call blacs_exit(0)
end program linear_system
