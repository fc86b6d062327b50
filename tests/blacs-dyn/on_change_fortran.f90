! SPDX-License-Identifier: BSD-3-Clause
! dyngrid_on_change and dyngrid_pending in Fortran: 1x2 -> 2x2 -> 1x1 -> 1x2, the notices counted on each process.
module counting
  use, intrinsic :: iso_c_binding
  use dyngrid, only: dyngrid_comm
  implicit none
  type, bind(C) :: notices
    integer(c_int) :: before = 0, after = 0
  end type

contains

  subroutine before(data) bind(C)
    type(c_ptr), value :: data
    type(notices), pointer :: seen
    call c_f_pointer(data, seen)
    seen%before = seen%before + 1
  end subroutine

  subroutine after(data) bind(C)
    type(c_ptr), value :: data
    type(notices), pointer :: seen
    call c_f_pointer(data, seen)
    seen%after = seen%after + 1
  end subroutine
end module

program on_change_fortran
  use dyngrid
  use need_module
  use counting
  implicit none
  integer, parameter :: shapes(2, 3) = reshape([2, 2, 1, 1, 1, 2], [2, 3])
  integer, target :: step = 0
  integer :: info, outcome, nprow, npcol, myrow, mycol, pending
  type(notices), target :: seen, only_after
  logical :: was_in_the_grid

  call dyngrid_init_grid(1, 2, info); call need(info == DYNGRID_SUCCESS, 'init')
  call dyngrid_share('step', step, info); call need(info == DYNGRID_SUCCESS, 'share')
  call dyngrid_on_change(data=c_loc(seen), info=info); call need(info == DYNGRID_ERR_NOT_FOUND, 'nothing to forget')
  call dyngrid_on_change(before, after, c_loc(seen), info); call need(info == DYNGRID_SUCCESS, 'on_change')
  call dyngrid_on_change(after=after, data=c_loc(only_after), info=info)
  call need(info == DYNGRID_SUCCESS, 'only after')
  do
    call dyngrid_grid(nprow, npcol, myrow, mycol)
    was_in_the_grid = myrow >= 0
    seen = notices()
    only_after = notices()
    if (was_in_the_grid .and. step < 3) then
      call dyngrid_pending(pending); call need(pending == 0, 'nothing is pending')
      call dyngrid_resize_point(outcome); call need(outcome == DYNGRID_SAME .and. seen%before == 0, 'no change')
      step = step + 1
      call dyngrid_request(shapes(1, step), shapes(2, step), info)
      call dyngrid_pending(pending); call need(pending == 1, 'pending')
    end if
    call dyngrid_resize_point_at('loop', outcome)
    if (outcome == DYNGRID_LEAVE) exit
    call need(outcome >= 0, 'resize point')
    if (outcome == DYNGRID_SAME) exit
    call need(seen%before == merge(1, 0, was_in_the_grid) .and. seen%after == 1, 'called before and after')
    call need(only_after%before == 0 .and. only_after%after == 1, 'called after')
    call dyngrid_grid(nprow, npcol, myrow, mycol)
    call need(nprow == shapes(1, step) .and. npcol == shapes(2, step), 'the grid')
  end do
  if (outcome == DYNGRID_LEAVE) call need(seen%after == 0, 'nothing after it left')
  call dyngrid_on_change(data=c_loc(seen), info=info)
  call need(info == merge(DYNGRID_ERR_STATE, DYNGRID_SUCCESS, outcome == DYNGRID_LEAVE), 'forget')
  call dyngrid_finalize(info); call need(info == DYNGRID_SUCCESS, 'finalize')
end program
