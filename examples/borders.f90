! SPDX-License-Identifier: BSD-3-Clause
! borders.c in Fortran 2008: heat in a cube, u = 0 around it, by the mean of a value and its six neighbours, on a grid
! of processes that changes.
!
!   mpifort borders.f90 $(pkg-config --cflags --libs dyngrid) -o borders
!   DYNGRID_WAIT=on dyngrid run -np 2 --resize-at 1:2x2,2:3x1 -- ./borders
program borders
  use dyngrid
  use mpi
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  implicit none
  integer, parameter :: n(3) = [12, 10, 8], steps = 4, sweeps = 5
  real(real64), parameter :: pi = acos(-1.0_real64), factor = (1 + 2 * sum(cos(pi / (n + 1)))) / 7 ! of a sweep
  type(dyngrid_matrix) :: field
  type(dyngrid_borders) :: ghosted
  real(real64), pointer :: u(:, :, :), x(:, :, :)
  real(real64) :: error
  integer, target :: step = 0
  integer :: info, outcome, sweep, dims, parts(3), coordinates(3), a, b, c
  integer(int64) :: mine(3)
  logical :: is_right = .true.

  call dyngrid_init_grid(1, 2, info); call must(info)
  call dyngrid_share('step', step, info); call must(info)
  call dyngrid_field_create('u', 'd', n, [integer ::], [integer ::], field, info); call must(info)
  call dyngrid_borders_create(field, [1, 1, 1], [1, 1, 1], neighbours=DYNGRID_NEIGHBOURS_FOUR, borders=ghosted, &
    info=info)
  call must(info)
  do
    call dyngrid_resize_point(outcome)
    if (outcome == DYNGRID_LEAVE .or. step == steps) exit
    if (outcome < 0) write (error_unit, '(2a)') 'borders: the grid stays as it is: ', dyngrid_last_message()
    call dyngrid_field_local(field, u)
    if (step == 0) u = initial()
    call dyngrid_borders_update(ghosted, x, info); call must(info) ! after a change a new array
    a = size(x, 1) - 1; b = size(x, 2) - 1; c = size(x, 3) - 1      ! the last of this process's own
    do sweep = 1, sweeps
      if (sweep > 1) then
        call dyngrid_borders_exchange(ghosted, info); call must(info)
      end if
      x(2:a, 2:b, 2:c) = (x(2:a, 2:b, 2:c) + x(:a-1, 2:b, 2:c) + x(3:, 2:b, 2:c) + x(2:a, :b-1, 2:c) + &
        x(2:a, 3:, 2:c) + x(2:a, 2:b, :c-1) + x(2:a, 2:b, 3:)) / 7
    end do
    call dyngrid_borders_store(ghosted, info); call must(info)
    error = maxval(abs(u - factor**(sweeps * (step + 1)) * initial()))
    call MPI_Allreduce(MPI_IN_PLACE, error, 1, MPI_DOUBLE_PRECISION, MPI_MAX, dyngrid_comm(), info)
    is_right = is_right .and. error < 1e-12_real64
    call dyngrid_field_shape(field, mine, parts, coordinates, dims)
    if (dyngrid_is_first()) print '(4(a, i0), 2a)', 'step ', step, ' on ', parts(1), ' x ', parts(2), ' x ', parts(3), &
      ' processes: ', merge('as exact', 'WRONG   ', error < 1e-12_real64)
    step = step + 1
  end do
  call dyngrid_finalize(info); call must(info)
  if (.not. is_right) error stop 1
contains
  function initial() result(values) ! of this process's elements
    real(real64) :: values(size(u, 1), size(u, 2), size(u, 3))
    integer :: first(3), last, d, i, j, k
    first = 1
    do d = 1, 3
      call dyngrid_field_range(field, d, 1, first(d), last, info)
    end do
    do concurrent (k = 1:size(u, 3), j = 1:size(u, 2), i = 1:size(u, 1))
      values(i, j, k) = product(sin(pi * (first + [i, j, k] - 1) / (n + 1)))
    end do
  end function
  subroutine must(status) ! an error that the program cannot go on with; it is the same on all processes
    integer, intent(in) :: status
    if (status >= 0) return
    write (error_unit, '(2a)') 'borders: ', dyngrid_last_message()
    error stop 1
  end subroutine
end program
