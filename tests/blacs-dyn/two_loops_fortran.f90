! SPDX-License-Identifier: BSD-3-Clause
! two_loops.h in Fortran: a call's place is its address in the program.
program two_loops_fortran
  use dyngrid
  use need_module
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: scf_steps = 3, all_steps = 4, step_of_growth = 1
  integer, target :: scf = 0, step = 0
  character(16) :: kind
  character(:), allocatable :: entry
  integer :: info, outcome, nprow, npcol, myrow, mycol
  type(dyngrid_matrix) :: a
  real(real64), pointer :: x(:, :)
  logical :: is_led, is_plain

  call get_command_argument(1, kind)
  is_led = kind == 'led'
  is_plain = kind == 'plain'
  call dyngrid_init_grid(1, 2, info); call need(info == DYNGRID_SUCCESS, 'init')
  call dyngrid_matrix_create('a', 'd', 37, 29, 4, 3, a, info); call need(info == DYNGRID_SUCCESS, 'create')
  call dyngrid_share('scf', scf, info); call need(info == DYNGRID_SUCCESS, 'share scf')
  call dyngrid_share('step', step, info); call need(info == DYNGRID_SUCCESS, 'share step')
  if (.not. dyngrid_is_newcomer()) then
    call dyngrid_local(a, x)
    if (associated(x)) x = 7
  end if
  entry = ''
  if (is_led) entry = dyngrid_entry_point()
  call need((entry == 'propagation') .eqv. (is_led .and. dyngrid_is_newcomer()), 'where a new one is to go')

  outcome = DYNGRID_SAME
  if (entry /= 'propagation') then
    do while (scf < scf_steps)
      if (is_plain) then
        call dyngrid_resize_point(outcome)
      else
        call dyngrid_resize_point_at('scf', outcome)
      end if
      if (outcome == DYNGRID_LEAVE .or. outcome == DYNGRID_REDIRECT) exit
      call need(outcome == DYNGRID_SAME, 'the first loop')
      scf = scf + 1
    end do
    if (outcome == DYNGRID_REDIRECT) &
      call need(is_led .and. dyngrid_entry_point() == 'propagation', 'where one goes that woke')
  end if
  do while (outcome /= DYNGRID_LEAVE .and. step < all_steps)
    call dyngrid_grid(nprow, npcol, myrow, mycol)
    if (step == step_of_growth .and. myrow >= 0) call dyngrid_request(2, 2, info)
    if (is_plain) then
      call dyngrid_resize_point(outcome)
    else
      call dyngrid_resize_point_at('propagation', outcome)
    end if
    if (outcome == DYNGRID_LEAVE) exit
    call need((outcome < 0) .eqv. (.not. is_led .and. step == step_of_growth), 'refused when not led, only then')
    if (outcome < 0) then
      call need(outcome == DYNGRID_ERR_STATE, 'the status')
      if (is_plain) call need(index(dyngrid_last_message(), 'two_loops_fortran+0x') &
        < index(dyngrid_last_message(), 'two_loops_fortran+0x', back=.true.), 'both places are named')
      if (.not. is_plain) call need(index(dyngrid_last_message(), '"scf"') > 0 &
        .and. index(dyngrid_last_message(), '"propagation"') > 0, 'both places are named')
    end if
    call dyngrid_grid(nprow, npcol, myrow, mycol)
    call need(nprow == merge(2, 1, is_led .and. step >= step_of_growth), 'the grid')
    call dyngrid_local(a, x)
    call need(all(x == 7), 'elements')
    step = step + 1
  end do
  call dyngrid_finalize(info); call need(info == DYNGRID_SUCCESS, 'finalize')
end program
