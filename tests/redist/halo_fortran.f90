! SPDX-License-Identifier: BSD-3-Clause
! Borders in Fortran: a periodic field in 2 x 2 blocks per process, sides of their own, corners, every place compared.
program halo_fortran
  use, intrinsic :: iso_c_binding
  use mpi
  use dyngrid_redist
  use expectations
  implicit none
  integer, parameter :: n = 16
  integer(c_int) :: desc(9), row_stretches, col_stretches
  integer :: rank, ierr, all_failures, i, j, k, l
  integer(c_int64_t) :: rows, cols, i_glo, i_loc, i_ghosted, length, j_glo, j_loc, j_ghosted, width
  type(c_ptr) :: layout = c_null_ptr, halo = c_null_ptr
  integer(c_int), allocatable, asynchronous :: u(:, :)
  integer(c_int), allocatable :: local(:, :)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  desc = [1, -1, n, n, 4, 4, 0, 0, n]
  call expect(dyngrid_layout_create(desc, 2, 2, layout=layout) == 0, 'layout')
  call expect(dyngrid_halo_create_sides(MPI_COMM_WORLD, layout, [2, 1], [1, 2], [1, 1], &
    DYNGRID_NEIGHBOURS_EIGHT, 4, halo) == 0, 'halo')
  call expect(dyngrid_halo_shape(halo, rows, cols, row_stretches, col_stretches) == 0, 'shape')
  call expect(rows == 14 .and. cols == 14 .and. row_stretches == 2 .and. col_stretches == 2, &
    'two stretches of 4, each with 3 more')
  rows = 0
  call expect(dyngrid_halo_shape(halo, rows=rows) == 0 .and. rows == 14, 'rows alone')
  call expect(dyngrid_halo_stretch(halo, 'R', 1, i_ghosted=i_ghosted) == 0 .and. i_ghosted == 9, &
    'a place of a stretch alone')
  call expect(dyngrid_halo_range(halo, 1, 1_c_int64_t, length=length) == 1 .and. length == 4, 'a length alone')
  call expect(dyngrid_halo_extents(halo) == 2, 'dimensions alone')
  allocate (u(0:rows - 1, 0:cols - 1), local(8, 8))
  call expect(dyngrid_halo_fill(halo, u, 0_c_int64_t, [-1_c_int]) == 0, 'fill')
  do j = 1, 8
    do i = 1, 8
      local(i, j) = value(global(i - 1, rank / 2), global(j - 1, mod(rank, 2)))
    end do
  end do
  call expect(dyngrid_halo_to_ghosted(halo, local, 8_c_int64_t, u, 0_c_int64_t) == 0, 'to ghosted')
  call expect(dyngrid_halo_start(halo, u, 0_c_int64_t) == 0, 'start')
  call expect(dyngrid_halo_finish(halo) == 0, 'finish')
  do l = 0, col_stretches - 1
    call expect(dyngrid_halo_stretch(halo, 'C', l, j_glo, j_loc, j_ghosted, width) == 0, 'stretch')
    do k = 0, row_stretches - 1
      call expect(dyngrid_halo_stretch(halo, 'R', k, i_glo, i_loc, i_ghosted, length) == 0, 'stretch')
      do j = -1, int(width) + 1
        do i = -2, int(length)
          call expect(u(i_ghosted + i, j_ghosted + j) == value(int(i_glo) + i, int(j_glo) + j), 'an element')
        end do
      end do
    end do
  end do
  local = 0
  call expect(dyngrid_halo_from_ghosted(halo, u, 0_c_int64_t, local, 8_c_int64_t) == 0, 'from the ghosted array')
  call expect(local(3, 6) == value(global(2, rank / 2), global(5, mod(rank, 2))), 'back')
  call expect(dyngrid_halo_exchange(halo, u, 13_c_int64_t) /= 0, 'a leading dimension too small')
  call expect(dyngrid_halo_destroy(halo) == 0 .and. .not. c_associated(halo), 'destroy')
  call expect(dyngrid_layout_destroy(layout) == 0, 'destroy layout')
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
  if (all_failures > 0) error stop 1

contains

  ! where local index i, from 0, of a grid row lies: blocks of 4 over two
  integer function global(i_of, position)
    integer, intent(in) :: i_of, position
    global = (i_of / 4) * 8 + position * 4 + mod(i_of, 4)
  end function

  integer function value(i_of, j_of)
    integer, intent(in) :: i_of, j_of
    value = modulo(i_of, n) * 100 + modulo(j_of, n)
  end function
end program
