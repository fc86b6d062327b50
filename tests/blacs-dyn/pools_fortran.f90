! SPDX-License-Identifier: BSD-3-Clause
! dyngrid_init_on in Fortran: two pools, of which the second grows; a refusal, and names.
program pools_fortran
  use, intrinsic :: iso_c_binding
  use dyngrid
  use expectations
  implicit none
  interface
    integer(c_int) function half_of_world(half) bind(C)
      import
      integer(c_int), intent(out) :: half
    end function
    integer(c_int) function no_communicator() bind(C)
      import
    end function
    subroutine init_mpi() bind(C)
    end subroutine
    subroutine finalize_mpi() bind(C)
    end subroutine
  end interface
  integer :: info, half, comm, outcome, step, nprow, npcol, myrow, mycol, wanted
  character(1) :: name

  call init_mpi()
  comm = no_communicator() ! what a new process passes does not matter
  name = dyngrid_pool()
  if (dyngrid_pool() == '') then
    comm = half_of_world(half)
    write (name, '(i1)') half
    call dyngrid_init_on(no_communicator(), name, info)
    call expect(info == DYNGRID_ERR_ARGUMENT, 'MPI_COMM_NULL')
    call dyngrid_init_on(comm, 'a/b', info)
    call expect(info == DYNGRID_ERR_ARGUMENT, 'a name with a slash')
  end if
  call dyngrid_init_on(comm, name, info)
  call expect(info == DYNGRID_SUCCESS, 'dyngrid_init_on')
  call expect(dyngrid_pool() == name, 'dyngrid_pool')
  do step = merge(1, 0, dyngrid_is_newcomer()), 1
    call dyngrid_resize_point(outcome)
    call expect(outcome >= 0, 'resize point')
    wanted = merge(4, 2, step == 1 .and. name == '1')
    call dyngrid_grid(nprow, npcol, myrow, mycol)
    call expect(nprow * npcol == wanted, 'grid')
    if (step == 0 .and. name == '1') call dyngrid_request(2, 2, info)
  end do
  call dyngrid_finalize(info)
  call expect(info == DYNGRID_SUCCESS, 'dyngrid_finalize')
  call finalize_mpi()
end program
