! SPDX-License-Identifier: BSD-3-Clause
! Borders in Fortran through 2x2 -> 2x3 -> 1x1: of a field, by a pointer of its rank, and of a matrix in blocks. Every
! element and every border is compared with the number of the element that is there.
program borders_fortran
  use dyngrid
  use need_module
  use, intrinsic :: iso_c_binding, only: c_associated
  use, intrinsic :: iso_fortran_env, only: real32, real64
  implicit none
  integer, parameter :: n(3) = [4, 6, 5], m = 7
  integer, target :: step = 0
  type(dyngrid_matrix) :: u, a
  type(dyngrid_borders) :: of_u, of_a
  real(real64), pointer :: local(:, :, :), x(:, :, :), wrong_rank(:, :)
  complex(real32), pointer :: c(:, :)
  integer :: info, outcome = DYNGRID_SAME, first(3), last

  call dyngrid_init_grid(2, 2, info); call need(info == DYNGRID_SUCCESS, 'init')
  call dyngrid_field_create('u', 'd', n, [integer ::], [integer ::], u, info)
  call need(info == DYNGRID_SUCCESS, 'field')
  call dyngrid_matrix_create('a', 'c', m, m, 2, 3, a, info); call need(info == DYNGRID_SUCCESS, 'matrix')
  call dyngrid_borders_create(u, [1, 1], [1, 1, 1], neighbours=DYNGRID_NEIGHBOURS_FOUR, borders=of_u, info=info)
  call need(info == DYNGRID_ERR_ARGUMENT .or. dyngrid_is_newcomer(), 'a width is missing')
  call dyngrid_borders_create(u, [1, 1, 1], [1, 1, 1], [0, 0, 1], DYNGRID_NEIGHBOURS_EIGHT, -1.0_real64, of_u, info)
  call need(info == DYNGRID_SUCCESS, 'borders of the field')
  call dyngrid_borders_create(a, [0, 1], [1, 0], neighbours=DYNGRID_NEIGHBOURS_FOUR, borders=of_a, info=info)
  call need(info == DYNGRID_SUCCESS, 'borders of the matrix')
  call dyngrid_share('step', step, info); call need(info == DYNGRID_SUCCESS, 'share')
  if (dyngrid_is_newcomer()) then
    call dyngrid_borders_update(of_u, x, info)
    call need(info == DYNGRID_SUCCESS .and. .not. associated(x), 'nothing before the first resize point')
  end if
  do
    if (step > 0 .or. dyngrid_is_newcomer()) then
      call dyngrid_resize_point(outcome)
      if (outcome == DYNGRID_LEAVE) exit
      call need(outcome >= 0, 'resize point')
    end if
    call dyngrid_borders_exchange(of_u, info); call need(info == DYNGRID_ERR_STATE, 'exchange before an update')
    call need(.not. c_associated(dyngrid_borders_halo(of_u)), 'no halo before an update')
    call mine(first)
    if (step == 0) call fill()
    call dyngrid_borders_update(of_u, wrong_rank, info)
    call need(info == DYNGRID_SUCCESS .and. .not. associated(wrong_rank), 'a pointer of another rank')
    call dyngrid_borders_update(of_u, x, info)
    call need(info == DYNGRID_SUCCESS .and. associated(x), 'update')
    call compare(1.0_real64)
    call dyngrid_field_local(u, local)
    x(2:size(x, 1) - 1, 2:size(x, 2) - 1, 2:size(x, 3) - 1) = 2 * local
    call dyngrid_borders_exchange(of_u, info); call need(info == DYNGRID_SUCCESS, 'exchange')
    call compare(2.0_real64)
    call dyngrid_borders_store(of_u, info); call need(info == DYNGRID_SUCCESS, 'store')
    call need(all(local == x(2:size(x, 1) - 1, 2:size(x, 2) - 1, 2:size(x, 3) - 1)), 'stored')
    local = local / 2
    call dyngrid_borders_update(of_a, c, info); call need(info == DYNGRID_SUCCESS .and. associated(c), 'the matrix')
    call need(all(c == (0, 0)), 'zero, and as the boundary')
    if (step == 2) exit
    step = step + 1
    if (step == 1) call dyngrid_request(2, 3, info)
    if (step == 2) call dyngrid_request(1, 1, info)
  end do
  if (outcome /= DYNGRID_LEAVE) then
    call dyngrid_borders_free(of_u, info)
    call need(info == DYNGRID_SUCCESS .and. .not. c_associated(of_u%handle), 'free')
  end if
  call dyngrid_finalize(info); call need(info == DYNGRID_SUCCESS, 'finalize')

contains

  !> My first index in each dimension.
  subroutine mine(first)
    integer, intent(out) :: first(3)
    integer :: d
    do d = 1, 3
      call dyngrid_field_range(u, d, 1, first(d), last, info); call need(info == 1, 'a part of each dimension')
    end do
  end subroutine

  real(real64) function number(i, j, k)
    integer, intent(in) :: i, j, k
    number = i + 10 * j + 100 * (modulo(k - 1, n(3)) + 1)
  end function

  subroutine fill()
    integer :: i, j, k
    call dyngrid_field_local(u, local)
    do k = 1, size(local, 3)
      do j = 1, size(local, 2)
        do i = 1, size(local, 1)
          local(i, j, k) = number(first(1) + i - 1, first(2) + j - 1, first(3) + k - 1)
        end do
      end do
    end do
  end subroutine

  subroutine compare(factor)
    real(real64), intent(in) :: factor
    real(real64) :: expected
    integer :: i, j, k, at(2)
    do k = 1, size(x, 3)
      do j = 1, size(x, 2)
        do i = 1, size(x, 1)
          at = first(1:2) + [i, j] - 2
          expected = -1
          if (all(at >= 1 .and. at <= n(1:2))) expected = factor * number(at(1), at(2), first(3) + k - 2)
          call need(x(i, j, k) == expected, 'an element or its border')
        end do
      end do
    end do
  end subroutine
end program
