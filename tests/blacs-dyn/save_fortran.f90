! SPDX-License-Identifier: BSD-3-Clause
! save_fortran FILE hdf5|none|join: checkpoint, restore and the way of new processes through the module, on 2x2 and
! after a change to 1x3. none: this dyngrid cannot write checkpoints and says so everywhere. join: mpirun knows of an
! ompi-server (with_server); the growth comes that way.
program save_fortran
  use dyngrid
  use need_module
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: m = 37, n = 29, nb = 3
  integer, target :: step = 0
  integer :: info, outcome
  type(dyngrid_matrix) :: a
  character(200) :: file, kind

  call get_command_argument(1, file)
  call get_command_argument(2, kind)
  call dyngrid_init(info); call need(info == DYNGRID_SUCCESS, 'init')
  call dyngrid_matrix_create('a', 'd', m, n, nb, nb, a, info); call need(info == DYNGRID_SUCCESS, 'create')
  call dyngrid_share('step', step, info); call need(info == DYNGRID_SUCCESS, 'share')
  if (dyngrid_is_newcomer()) then
    call dyngrid_resize_point(outcome); call need(outcome == DYNGRID_RESIZED, 'a new process joins')
  else
    call need(.not. dyngrid_is_restarted(), 'not restarted')
    call who_is_first()
    call dyngrid_need('2:4 ', outcome); call need(outcome == DYNGRID_SAME, 'it has what it needs')
    call dyngrid_need('9:16', outcome); call need(outcome == DYNGRID_ERR_UNSUPPORTED, 'a need without a scheduler')
    call dyngrid_need('no grids', outcome); call need(outcome == DYNGRID_ERR_ARGUMENT, 'a need of no grids')
    call dyngrid_set_processes(7, info); call need(info == DYNGRID_ERR_ARGUMENT, 'no such way')
    call dyngrid_set_processes(DYNGRID_BLOCKING, info); call need(info == DYNGRID_SUCCESS, 'spawn')
    call dyngrid_set_processes(DYNGRID_JOIN, info)
    if (kind == 'join') then
      call need(info == DYNGRID_SUCCESS, 'join')
    else
      call need(any(info == [DYNGRID_ERR_STATE, DYNGRID_ERR_UNSUPPORTED]) .and. & ! Open MPI 5 has none
        index(dyngrid_last_message(), 'ompi-server') > 0, 'join without an ompi-server')
    end if
    call each(1); step = 5
    if (kind == 'hdf5') then
      call dyngrid_checkpoint(file, info); call need(info == DYNGRID_SUCCESS, 'checkpoint')
      call each(2); step = 6
      call dyngrid_restore(file, info); call need(info == DYNGRID_SUCCESS .and. step == 5, 'restore')
      call each(-1)
      call dyngrid_checkpoint('/no/such/folder/file ', info); call need(info == DYNGRID_ERR_IO, 'a checkpoint nowhere')
      call dyngrid_restore('/no/such/file ', info); call need(info == DYNGRID_ERR_NOT_FOUND, 'nothing to restore')
      call dyngrid_checkpoint('', info); call need(info == DYNGRID_ERR_ARGUMENT, 'no name')
      call each(-1)
    else if (kind == 'none') then
      call dyngrid_checkpoint(file, info); call need(info == DYNGRID_ERR_UNSUPPORTED, 'checkpoint without HDF5')
      call need(index(dyngrid_last_message(), 'without HDF5') > 0, 'the word')
      call dyngrid_restore(file, info); call need(info == DYNGRID_ERR_UNSUPPORTED .and. step == 5, &
        'restore without HDF5')
      call each(-1)
    end if
    call dyngrid_resize(1, 3, DYNGRID_OPTIMAL, outcome)
    if (outcome == DYNGRID_LEAVE) then
      call dyngrid_finalize(info)
      stop
    end if
    call need(outcome == DYNGRID_RESIZED, 'resize')
  end if
  call each(-1)
  call need(step == 5, 'shared')
  if (kind == 'hdf5') then
    call each(3); step = 7
    call dyngrid_restore(file, info); call need(info == DYNGRID_SUCCESS .and. step == 5, 'restore on another grid')
    call each(-1)
  end if
  call dyngrid_finalize(info); call need(info == DYNGRID_SUCCESS, 'finalize')

contains

  subroutine who_is_first()
    integer :: nprow, npcol, myrow, mycol
    call dyngrid_grid(nprow, npcol, myrow, mycol)
    call need(dyngrid_is_first() .eqv. (myrow == 0 .and. mycol == 0), 'which is first')
  end subroutine

  !> Fills the matrix with which * (1000 i + j), or (negative) compares with that.
  subroutine each(which)
    integer, intent(in) :: which
    real(real64), pointer :: x(:, :)
    integer :: i, j, nprow, npcol, myrow, mycol, wanted
    integer, external :: numroc, indxl2g
    call dyngrid_grid(nprow, npcol, myrow, mycol)
    if (myrow < 0) return
    call dyngrid_local(a, x)
    do j = 1, numroc(n, nb, mycol, 0, npcol)
      do i = 1, numroc(m, nb, myrow, 0, nprow)
        wanted = abs(which) * (1000 * indxl2g(i, nb, myrow, 0, nprow) + indxl2g(j, nb, mycol, 0, npcol))
        if (which > 0) x(i, j) = wanted
        call need(x(i, j) == wanted, 'element')
      end do
    end do
  end subroutine
end program
