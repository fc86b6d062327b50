! SPDX-License-Identifier: BSD-3-Clause
! Executors in Fortran on 4 processes: a window of a 2 x 2 grid's complex matrix, conjugated and turned, and an integer
! one, in one round.
program moves_fortran
  use, intrinsic :: iso_c_binding
  use mpi
  use dyngrid_redist
  use expectations
  implicit none
  integer, parameter :: m = 12, n = 10
  integer(c_int) :: done
  integer :: rank, ierr, all_failures, which, schedule, i, j, il, jl
  type(c_ptr) :: from = c_null_ptr, to = c_null_ptr, plan = c_null_ptr, turned = c_null_ptr, executor = c_null_ptr
  type(c_ptr) :: space = c_null_ptr
  type(dyngrid_executor_options) :: options
  type(dyngrid_execute_report) :: report
  type(dyngrid_transfer) :: transfers(2)
  ! 2 x 2 processes, blocks of 3 x 2: 6 rows; columns 0 1 4 5 8 9 and 2 3 6 7. 4 x 1 processes: 3 rows each, all
  ! columns.
  complex(c_double_complex), pointer :: a(:, :)
  complex(c_double_complex), target, asynchronous :: b(3, m)
  integer(c_int), target, asynchronous :: k(6, 6), l(3, n)
  complex(c_double_complex), target :: alpha = (2, -3), beta = (-1, 4)
  integer(c_int), target :: minus_two = -2, five = 5
  type(dyngrid_scaling) :: scalings(2)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call expect(dyngrid_layout_create([1, -1, m, n, 3, 2, 0, 0, m], 2, 2, layout=from) == 0, 'source')
  call expect(dyngrid_array_create(36_c_int64_t * 16, DYNGRID_SHARING_YES, space) == 0, 'array')
  call c_f_pointer(dyngrid_array_data(space), a, [6, 6])
  do jl = 1, 6
    do il = 1, 6
      i = (il - 1) / 3 * 6 + rank / 2 * 3 + mod(il - 1, 3)
      j = (jl - 1) / 2 * 4 + mod(rank, 2) * 2 + mod(jl - 1, 2)
      a(il, jl) = cmplx(i, j + 1, c_double)
      k(il, jl) = 100 * i + j
    end do
  end do
  do which = 0, 2
    options%transport = which
    call expect(dyngrid_executor_create(MPI_COMM_WORLD, options, executor) == 0, 'executor')
    do schedule = DYNGRID_SCHEDULE_AUTO, DYNGRID_SCHEDULE_ASYNC
      ! rows 1 .. 8 and columns 2 .. 9 of a, turned, to rows 0 .. 7 and columns 4 .. 11 of b
      call expect(dyngrid_layout_create([1, -1, n, m, 3, m, 0, 0, n], 4, 1, layout=to) == 0, 'target')
      call expect(dyngrid_plan_create_window(from, 1_c_int64_t, 2_c_int64_t, to, 0_c_int64_t, 4_c_int64_t, &
        8_c_int64_t, &
                                             8_c_int64_t, 'C', schedule, 16, turned) == 0, 'window')
      call expect(dyngrid_layout_destroy(to) == 0, 'destroy')
      call expect(dyngrid_layout_create([1, -1, m, n, 3, n, 0, 0, m], 4, 1, layout=to) == 0, 'target')
      call expect(dyngrid_plan_create(from, to, 'N', schedule, 4, plan) == 0, 'plan')
      call expect(dyngrid_layout_destroy(to) == 0, 'destroy')
      b = (-1, -1)
      l = -1
      transfers(1) = dyngrid_transfer(turned, c_loc(a), 6_c_int64_t, c_loc(b), 3_c_int64_t, 'z')
      transfers(2) = dyngrid_transfer(plan, c_loc(k), 6_c_int64_t, c_loc(l), 3_c_int64_t, 'i')
      if (mod(schedule, 2) == 0) then
        call expect(dyngrid_execute(executor, 2, transfers, report) == 0, 'execute')
      else
        call expect(dyngrid_execute_start(executor, 2, transfers) == 0, 'start')
        done = 0
        do while (done == 0)
          call expect(dyngrid_execute_advance(executor, done) == 0, 'advance')
        end do
        call expect(dyngrid_execute_finish(executor) == 0, 'finish')
      end if
      do il = 1, 3
        do j = 0, n - 1
          call expect(l(il, j + 1) == 100 * (rank * 3 + il - 1) + j, 'an integer')
        end do
        i = rank * 3 + il - 1 ! its row of b; the last process has one
        do j = 0, m - 1
          if (i < 8 .and. j >= 4) then
            call expect(b(il, j + 1) == cmplx(j - 3, -(i + 3), c_double), 'a complex number')
          else
            call expect(b(il, j + 1) == (-1, -1), 'outside the window')
          end if
        end do
      end do
      ! l := 5 l - 2 k, and b stays outside the window: every element of b has been set above
      scalings(1) = dyngrid_scaling(c_loc(alpha), c_loc(beta))
      scalings(2) = dyngrid_scaling(c_loc(minus_two), c_loc(five))
      b = (-1, -1)
      call expect(dyngrid_execute_scaled(executor, 2, transfers, scalings, report) == 0, 'scaled')
      do il = 1, 3
        i = rank * 3 + il - 1
        do j = 0, n - 1
          call expect(l(il, j + 1) == 3 * (100 * i + j), 'a scaled integer')
        end do
        do j = 0, m - 1
          if (i < 8 .and. j >= 4) then
            call expect(b(il, j + 1) == alpha * cmplx(j - 3, -(i + 3), c_double) - beta * (1, 1), 'a scaled number')
          else
            call expect(b(il, j + 1) == (-1, -1), 'outside the scaled window')
          end if
        end do
      end do
      call expect(dyngrid_execute_in_place(executor, 1, transfers(2:2), 4) == 0 .and. l(1, 3) == 100 * rank * 3 + 2, &
        'in place')
      call expect(dyngrid_plan_destroy(plan) == 0 .and. dyngrid_plan_destroy(turned) == 0, 'destroy plans')
    end do
    call expect(dyngrid_executor_destroy(executor) == 0 .and. .not. c_associated(executor), 'destroy executor')
  end do
  call expect(dyngrid_array_destroy(space) == 0 .and. dyngrid_layout_destroy(from) == 0, 'destroy')
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
  if (all_failures > 0) error stop 1

end program
