! SPDX-License-Identifier: BSD-3-Clause
! Fields of one to five dimensions in Fortran through 2x2 -> 2x3 -> 1x1, every element compared, each by a pointer of
! its rank.
program fields_fortran
  use dyngrid
  use dyngrid_redist
  use need_module
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_int64_t
  use, intrinsic :: iso_fortran_env, only: real32, real64, int32, int64
  implicit none
  integer, target :: step = 0
  type(dyngrid_matrix) :: a1, a2, a3, a4, a5
  real(real64), pointer :: x1(:), x3(:, :, :)
  real(real32), pointer :: x2(:, :)
  complex(real64), pointer :: x4(:, :, :, :)
  integer(int32), pointer :: x5(:, :, :, :, :)
  integer :: info, outcome, dims, parts(5), coordinates(5), nprow, npcol, myrow, mycol, first, last
  integer(int64) :: extents(5), from, to, ghosted(5)
  type(c_ptr) :: halo = c_null_ptr
  real(real64), allocatable :: u(:, :, :)

  call dyngrid_init_grid(2, 2, info); call need(info == DYNGRID_SUCCESS, 'init')
  call dyngrid_field_create('one', 'd', [23], [2], [0], a1, info); call need(info == DYNGRID_SUCCESS, 'create 1')
  call dyngrid_field_create('two', 's', [6_int64, 9_int64], [integer(int64) ::], [1, 0], a2, info)
  call need(info == DYNGRID_SUCCESS, 'create 2')
  call dyngrid_field_create('three', 'd', [4, 5, 7], [0, 1], [1], a3, info)
  call need(info == DYNGRID_SUCCESS, 'create 3')
  call dyngrid_field_create('four', 'z', [2, 3, 4, 5], [integer ::], [integer ::], a4, info)
  call need(info == DYNGRID_SUCCESS, 'create 4')
  call dyngrid_field_create('five', 'i', [2, 3, 2, 3, 4], [1, 1, 1, 1, 1], [0], a5, info)
  call need(info == DYNGRID_SUCCESS, 'create 5')
  call dyngrid_field_create('six', 'd', [1, 1, 1, 1, 1, 1], [integer ::], [integer ::], a5, info)
  call need(info == DYNGRID_ERR_ARGUMENT .or. dyngrid_is_newcomer(), 'six dimensions')
  call dyngrid_share('step', step, info); call need(info == DYNGRID_SUCCESS, 'share')
  a5 = dyngrid_matrix_find('five')
  do
    if (step > 0 .or. dyngrid_is_newcomer()) then
      call dyngrid_resize_point(outcome)
      if (outcome == DYNGRID_LEAVE) exit
      call need(outcome >= 0, 'resize point')
    end if
    call dyngrid_grid(nprow, npcol, myrow, mycol)
    call dyngrid_field_local(a1, x1); call dyngrid_field_local(a2, x2); call dyngrid_field_local(a3, x3)
    call dyngrid_field_local(a4, x4); call dyngrid_field_local(a5, x5)
    call need(associated(x1) .and. associated(x2) .and. associated(x3) .and. associated(x4) .and. associated(x5), &
      'pointers')
    if (step == 0) call walk(.true.)
    call walk(.false.)
    call dyngrid_field_local(a4, x3)
    call need(.not. associated(x3), 'a pointer of another rank')
    call dyngrid_field_shape(a3, extents, parts, coordinates, dims)
    call need(dims == 3 .and. extents(1) == 4, 'shape')
    call need(all(parts(1:3) == [1, nprow, npcol]), 'parts')
    call need(coordinates(2) == myrow .and. coordinates(3) == mycol, 'coordinates')
    call dyngrid_field_range(a3, 2, 1, first, last, info)
    if (myrow < 5) call need(info == 1 .and. first == myrow + 1, 'the first of my indices')
    call dyngrid_field_range(a3, 1, 1_int64, from, to, info)
    call need(info == 1 .and. from == 1 .and. to == 4, 'a dimension that is not cut')
    call dyngrid_field_range(a3, 1, 2, first, last, info); call need(info == 0, 'no more')
    call dyngrid_field_range(a3, 4, 1, first, last, info); call need(info == DYNGRID_ERR_ARGUMENT, 'no such dimension')
    call dyngrid_field_local(a3, x3)
    call dyngrid_matrix_halo(a3, [0, 1, 0], [0, 0, 2], neighbours=DYNGRID_NEIGHBOURS_EIGHT, halo=halo, info=info)
    call need(info == DYNGRID_SUCCESS .and. dyngrid_halo_extents(halo, ghosted) == 3, 'halo')
    call need(ghosted(1) == extents(1), 'no border in the first dimension')
    allocate (u(ghosted(1), ghosted(2), ghosted(3)))
    call need(dyngrid_halo_to_ghosted(halo, x3, int(size(x3, 1) * size(x3, 2), c_int64_t), u, 0_c_int64_t) == 0, 'to')
    call need(dyngrid_halo_exchange(halo, u, 0_c_int64_t) == 0, 'exchange')
    if (nprow * npcol == 1) call need(ghosted(2) == 6 .and. ghosted(3) == 9 .and. all(u(:, 2:, :7) == x3), 'alone')
    call need(dyngrid_halo_destroy(halo) == 0, 'destroy')
    deallocate (u)
    if (step == 2) exit
    step = step + 1
    if (step == 1) call dyngrid_request(2, 3, info)
    if (step == 2) call dyngrid_request(1, 1, info)
  end do
  call dyngrid_finalize(info); call need(info == DYNGRID_SUCCESS, 'finalize')

contains

  !> All elements of this process, by their indices in the whole field.
  subroutine walk(fills)
    logical, intent(in) :: fills
    integer, allocatable :: i(:), j(:), k(:), l(:), m(:)
    integer :: p, q, r, s, t
    call mine(a1, 1, i)
    call need(size(i) == size(x1), 'extents 1')
    do p = 1, size(i)
      if (fills) x1(p) = i(p)
      call need(nint(x1(p)) == i(p), 'one')
    end do
    call mine(a2, 1, i); call mine(a2, 2, j)
    call need(all(shape(x2) == [size(i), size(j)]), 'extents 2')
    do q = 1, size(j)
      do p = 1, size(i)
        if (fills) x2(p, q) = i(p) + 10 * j(q)
        call need(nint(x2(p, q)) == i(p) + 10 * j(q), 'two')
      end do
    end do
    call mine(a4, 1, i); call mine(a4, 2, j); call mine(a4, 3, k); call mine(a4, 4, l)
    call need(all(shape(x4) == [size(i), size(j), size(k), size(l)]), 'extents 4')
    do s = 1, size(l)
      do r = 1, size(k)
        do q = 1, size(j)
          do p = 1, size(i)
            if (fills) x4(p, q, r, s) = cmplx(i(p) + 10 * j(q), k(r) + 10 * l(s), real64)
            call need(x4(p, q, r, s) == cmplx(i(p) + 10 * j(q), k(r) + 10 * l(s), real64), 'four')
          end do
        end do
      end do
    end do
    call mine(a5, 1, i); call mine(a5, 2, j); call mine(a5, 3, k); call mine(a5, 4, l); call mine(a5, 5, m)
    call need(all(shape(x5) == [size(i), size(j), size(k), size(l), size(m)]), 'extents 5')
    do t = 1, size(m)
      do s = 1, size(l)
        do r = 1, size(k)
          do q = 1, size(j)
            do p = 1, size(i)
              if (fills) x5(p, q, r, s, t) = i(p) + 10 * (j(q) + 10 * (k(r) + 10 * (l(s) + 10 * m(t))))
              call need(x5(p, q, r, s, t) == i(p) + 10 * (j(q) + 10 * (k(r) + 10 * (l(s) + 10 * m(t)))), 'five')
            end do
          end do
        end do
      end do
    end do
  end subroutine

  subroutine mine(a, dim, list)
    type(dyngrid_matrix), intent(in) :: a
    integer, intent(in) :: dim
    integer, allocatable, intent(out) :: list(:)
    integer :: number, begin, end, found, i
    allocate (list(0))
    number = 1
    do
      call dyngrid_field_range(a, dim, number, begin, end, found)
      if (found /= 1) exit
      list = [list, (i, i = begin, end)]
      number = number + 1
    end do
  end subroutine
end program
