! SPDX-License-Identifier: BSD-3-Clause
! ELPA in a self-consistent loop, on a grid that may change before each iteration: H depends on the density, the density
! on the lowest eigenvectors of H. The physics, electrons on a line, is a toy; the calls are those of real programs.
!
!   mpifort elpa.f90 $(pkg-config --cflags --libs dyngrid) -I/usr/include/elpa/modules $(pkg-config --libs elpa) -o elpa
!   dyngrid run -np 4 --wait --resize-at 2:3x3,4:2x3,6:1x2,8:2x2 -- ./elpa
module solver
  use dyngrid
  use elpa
  use mpi
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr
  implicit none
  integer, parameter :: n = 120, nb = 8, occ = 12, iterations = 10
  class(elpa_t), pointer :: handle => null()
  type(dyngrid_matrix) :: matrix
  double precision, pointer :: h(:, :)  ! my part of the matrix
  integer :: desc(9), nprow, npcol, myrow, mycol, rows, columns, comm
contains
  subroutine make(data) bind(C)  ! on each process of a new grid: a handle belongs to one communicator
    type(c_ptr), value :: data
    double precision :: begin
    integer, external :: numroc
    integer :: error
    call dyngrid_grid(nprow, npcol, myrow, mycol)
    if (myrow < 0) return  ! not in the grid, or a new process before its first resize point
    comm = dyngrid_comm(); call dyngrid_local(matrix, h); desc = dyngrid_desc(matrix)
    rows = numroc(n, nb, myrow, 0, nprow)
    columns = numroc(n, nb, mycol, 0, npcol)
    begin = mpi_wtime()
    handle => elpa_allocate(error); call must(error)
    call handle%set('na', n, error); call must(error)
    call handle%set('nev', occ, error); call must(error)
    call handle%set('nblk', nb, error); call must(error)
    call handle%set('local_nrows', size(h, 1), error); call must(error)
    call handle%set('local_ncols', size(h, 2), error); call must(error)
    call handle%set('mpi_comm_parent', comm, error); call must(error)
    call handle%set('process_row', myrow, error); call must(error)
    call handle%set('process_col', mycol, error); call must(error)
    call must(handle%setup())
    call handle%set('solver', ELPA_SOLVER_2STAGE, error); call must(error)
    if (myrow + mycol == 0) print '(2(a, i0), a, f8.3, a)', &
      'made for ', nprow, ' x ', npcol, ' in', 1d3*(mpi_wtime() - begin), ' ms'
  end subroutine
  subroutine drop(data) bind(C)  ! on each process of the old grid, also on those that leave
    type(c_ptr), value :: data
    integer :: error
    if (.not. associated(handle)) return
    call elpa_deallocate(handle, error); call must(error)
    nullify (handle)
  end subroutine
  subroutine must(error)
    integer, intent(in) :: error
    if (error /= ELPA_OK) error stop 'elpa: a call failed; dyngrid''s last message: '//dyngrid_last_message()
  end subroutine
end module

program scf
  use solver
  double precision, parameter :: u = 0.8d0, mixing = 0.6d0
  integer, target :: iteration = 0
  double precision, target :: density(n) = 0
  double precision :: fresh(n), w(n)
  double precision, allocatable :: a(:, :), q(:, :)
  integer :: info, outcome, i, j, indxl2g
  call dyngrid_init(info); call must(info)  ! a new process joins the others here
  call must(elpa_init(20211125))
  call dyngrid_matrix_create('H', 'd', n, n, nb, nb, matrix, info); call must(info)  ! follows the grid
  call dyngrid_share('iteration', iteration, info); call must(info)  ! new processes get these two
  call dyngrid_share('density', density, info); call must(info)
  call dyngrid_on_change(drop, make, c_null_ptr, info); call must(info)
  call make(c_null_ptr)
  do i = 2, merge(n, 0, myrow >= 0)
    call pdelset(h, i, i - 1, desc, -1d0)
    call pdelset(h, i - 1, i, desc, -1d0)
  end do
  do
    call dyngrid_resize_point(outcome); if (outcome == DYNGRID_LEAVE .or. iteration == iterations) exit
    do i = 1, n  ! a well, and the repulsion of the density
      call pdelset(h, i, i, desc, 2 + 0.001d0*(i - (n + 1)/2d0)**2 + u*density(i))
    end do
    a = h; q = h  ! ELPA overwrites a
    call handle%eigenvectors(a, w, q, info); call must(info)
    fresh = 0
    do j = 1, columns
      if (indxl2g(j, nb, mycol, 0, npcol) > occ) exit
      fresh([(indxl2g(i, nb, myrow, 0, nprow), i=1, rows)]) = &
        fresh([(indxl2g(i, nb, myrow, 0, nprow), i=1, rows)]) + 2*q(:rows, j)**2
    end do
    call mpi_allreduce(MPI_IN_PLACE, fresh, n, MPI_DOUBLE_PRECISION, MPI_SUM, comm, info)
    if (myrow + mycol == 0) print '(3(a, i0), a, es22.15)', 'step ', iteration, ' on ', nprow, ' x ', npcol, &
      ': energy ', 2*sum(w(:occ)) - u/2*sum(fresh*density)
    density = density + mixing*(fresh - density)
    iteration = iteration + 1
  end do
  call drop(c_null_ptr)
  call elpa_uninit(info)
  call dyngrid_finalize(info)
end program
