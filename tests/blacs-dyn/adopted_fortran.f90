! SPDX-License-Identifier: BSD-3-Clause
! Matrices in allocatables of the program (dyngrid_matrix_adopt), of all types, on 1x2, 2x2, 1x1, 1x3 and 2x1: grown,
! parked, woken, left; other blocks, and a matrix that ends.
module arrays
  use, intrinsic :: iso_fortran_env, only: real32, real64
  implicit none
  real(real32), allocatable, target :: s(:, :)
  complex(real32), allocatable, target :: c(:, :)
  complex(real64), allocatable, target :: z(:, :)
  integer, allocatable, target :: i(:, :)
end module

program adopted_fortran
  use dyngrid
  use need_module
  use arrays
  implicit none
  integer, parameter :: m = 37, n = 23, mb = 5, nb = 3
  integer, parameter :: shapes(2, 5) = reshape([2, 2, 1, 1, 1, 3, 2, 1, 2, 2], [2, 5])
  real(real64), allocatable, target :: d(:, :)
  real(real64), pointer :: seen(:, :)
  type(dyngrid_matrix) :: as, ad, ac, az, ai
  integer, target :: step = 0
  integer :: info, outcome, nprow, npcol, myrow, mycol, desc(9)
  real(real64) :: first

  call dyngrid_init_grid(1, 2, info); call need(info == DYNGRID_SUCCESS, 'init')
  call dyngrid_grid(nprow, npcol, myrow, mycol)
  desc = [1, dyngrid_context(), m, n, mb, nb, 0, 0, 1]
  if (myrow >= 0) then
    desc(9) = local_count(m, mb, myrow, nprow) + 2 ! two rows more than the matrix has
    allocate (s(desc(9), local_count(n, nb, mycol, npcol)))
    allocate (d(desc(9), size(s, 2)), c(desc(9), size(s, 2)), z(desc(9), size(s, 2)), i(desc(9), size(s, 2)))
  end if
  call dyngrid_matrix_adopt('s', s, desc, as, info); call need(info == DYNGRID_SUCCESS, 'adopt s')
  call dyngrid_matrix_adopt('d', d, desc, ad, info); call need(info == DYNGRID_SUCCESS, 'adopt d')
  call dyngrid_matrix_adopt('c', c, desc, ac, info); call need(info == DYNGRID_SUCCESS, 'adopt c')
  call dyngrid_matrix_adopt('z', z, desc, az, info); call need(info == DYNGRID_SUCCESS, 'adopt z')
  call dyngrid_matrix_adopt('i', i, desc, ai, info); call need(info == DYNGRID_SUCCESS, 'adopt i')
  if (myrow >= 0) then
    call fill
    call dyngrid_matrix_adopt('i', i, desc, ai, info); call need(info == DYNGRID_ERR_ARGUMENT, 'the name is there')
    call check('adopted')
  end if
  call dyngrid_share('step', step, info); call need(info == DYNGRID_SUCCESS, 'share')
  do while (step < size(shapes, 2))
    if (myrow >= 0) then
      step = step + 1
      call dyngrid_request(shapes(1, step), shapes(2, step), info)
    end if
    call dyngrid_resize_point_at('change', outcome)
    call dyngrid_grid(nprow, npcol, myrow, mycol)
    if (outcome == DYNGRID_LEAVE) exit
    call need(outcome == DYNGRID_RESIZED, 'a change')
    call need(size(d, 1) == local_count(m, mb, myrow, nprow) .and. size(d, 2) == local_count(n, nb, mycol, npcol), &
      'the size on this grid')
    call check('changed')
    call dyngrid_local(ad, seen)
    call need(associated(seen, d), 'dyngrid_local is the allocatable')
    call dyngrid_matrix_reblock(ad, 4, 4, outcome); call need(outcome == DYNGRID_RESIZED, 'reblock')
    call dyngrid_matrix_reblock(ad, mb, nb, outcome); call need(outcome == DYNGRID_RESIZED, 'and back')
    call check('reblocked')
  end do
  if (myrow < 0) then
    call need(.not. (allocated(s) .or. allocated(d) .or. allocated(c) .or. allocated(z) .or. allocated(i)), &
      'nothing is allocated outside the grid')
  else
    first = d(1, 1)
    call dyngrid_matrix_free(ad, info)
    call need(info == DYNGRID_SUCCESS .and. allocated(d), 'the array stays when the matrix ends')
    call need(abs(d(1, 1) - first) <= 0, 'with its elements')
    desc(2) = dyngrid_context()
    desc(9) = size(d, 1)
    call dyngrid_matrix_adopt('d2', d, desc, ad, info); call need(info == DYNGRID_SUCCESS, 'adopt it again')
    call dyngrid_matrix_reblock(ad, 2, 2, outcome)
    call dyngrid_matrix_reblock(ad, mb, nb, outcome); call need(outcome == DYNGRID_RESIZED, 'it follows again')
    call check('adopted again')
  end if
  call dyngrid_finalize(info); call need(info == DYNGRID_SUCCESS, 'finalize')
  if (myrow >= 0) call need(allocated(s) .and. allocated(z), 'the arrays stay at the end of dyngrid')

contains

  integer function local_count(length, block, at, procs)
    integer, intent(in) :: length, block, at, procs
    integer :: k
    local_count = count([(mod((k - 1) / block, procs) == at, k = 1, length)])
  end function

  !> Local index to global one.
  integer function global(k, block, at, procs)
    integer, intent(in) :: k, block, at, procs
    global = ((k - 1) / block * procs + at) * block + mod(k - 1, block) + 1
  end function

  subroutine fill
    integer :: row, col, value
    do col = 1, size(d, 2)
      do row = 1, local_count(m, mb, myrow, nprow)
        value = n * global(row, mb, myrow, nprow) + global(col, nb, mycol, npcol)
        s(row, col) = real(value, real32)
        d(row, col) = real(value, real64)
        c(row, col) = cmplx(value, -value, real32)
        z(row, col) = cmplx(value, -value, real64)
        i(row, col) = value
      end do
    end do
  end subroutine

  subroutine check(what)
    character(*), intent(in) :: what
    integer :: row, col, value, wrong
    wrong = 0
    do col = 1, local_count(n, nb, mycol, npcol)
      do row = 1, local_count(m, mb, myrow, nprow)
        value = n * global(row, mb, myrow, nprow) + global(col, nb, mycol, npcol)
        if (nint(s(row, col)) /= value .or. nint(d(row, col)) /= value .or. i(row, col) /= value) wrong = wrong + 1
        if (abs(c(row, col) - cmplx(value, -value, real32)) > 0) wrong = wrong + 1
        if (abs(z(row, col) - cmplx(value, -value, real64)) > 0) wrong = wrong + 1
      end do
    end do
    call need(wrong == 0, what)
  end subroutine
end program
