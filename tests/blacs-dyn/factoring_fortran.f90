! SPDX-License-Identifier: BSD-3-Clause
! A x = b in Fortran: LU and Cholesky while the grid changes between panels, solved by ScaLAPACK on the grid there is.
module counting_panels
  use, intrinsic :: iso_c_binding
  use dyngrid, only: dyngrid_panel, dyngrid_grid, DYNGRID_SAME, DYNGRID_RESIZED
  use need_module
  implicit none
  type, bind(C) :: panels
    integer(c_int) :: next, count
  end type

contains

  subroutine on_panel(panel, data) bind(C)
    type(dyngrid_panel), intent(in) :: panel
    type(c_ptr), value :: data
    type(panels), pointer :: seen
    integer :: nprow, npcol, myrow, mycol
    call c_f_pointer(data, seen)
    call dyngrid_grid(nprow, npcol, myrow, mycol)
    call need(panel%first == seen%next .and. panel%columns == 8 .and. panel%of == 120, 'the columns of a panel')
    call need(panel%nprow == nprow .and. panel%npcol == npcol .and. panel%seconds >= 0, 'the grid of a panel')
    call need(panel%outcome == DYNGRID_SAME .or. panel%outcome == DYNGRID_RESIZED, 'the resize point of a panel')
    seen%next = seen%next + int(panel%columns)
    seen%count = seen%count + 1
  end subroutine
end module

program factoring_fortran
  use dyngrid
  use need_module
  use counting_panels
  use, intrinsic :: iso_fortran_env, only: real64, int64
  implicit none
  integer, parameter :: n = 120, nb = 8
  integer :: info, outcome = 0, k, pivots(n), desc(9), desc_b(9)
  integer, allocatable :: ipiv(:)
  integer(int64) :: rows, cols, lld
  integer, target :: round = 1
  type(panels), target :: seen = panels(0, 0)
  type(dyngrid_matrix) :: a, b, no
  real(real64), pointer :: x(:, :), y(:, :)
  external :: pdgetrs, pdpotrs

  call dyngrid_init_grid(2, 2, info); call need(info == DYNGRID_SUCCESS, 'init')
  call dyngrid_matrix_create('a', 'd', n, n, nb, nb, a, info); call need(info == DYNGRID_SUCCESS, 'create')
  call dyngrid_matrix_create('b', 'd', n, 1, nb, nb, b, info); call need(info == DYNGRID_SUCCESS, 'create')
  call dyngrid_share('round', round, info); call need(info == DYNGRID_SUCCESS, 'share')
  call dyngrid_share('next', seen%next, info); call need(info == DYNGRID_SUCCESS, 'share')
  call dyngrid_share('count', seen%count, info); call need(info == DYNGRID_SUCCESS, 'share')
  call dyngrid_on_panel(on_panel, c_loc(seen), info); call need(info == DYNGRID_SUCCESS, 'on_panel')
  do while (round <= 2)
    call set_up()
    if (round == 1) then
      call dyngrid_lu(a, 0, pivots, info, outcome)
    else
      call dyngrid_cholesky(a, 'U', 0, info, outcome)
    end if
    if (outcome == DYNGRID_LEAVE) exit
    call need(outcome >= 0 .and. info == 0, 'the factorization')
    call need(seen%next == n .and. seen%count == n / nb * round, 'all panels were reported')
    seen%next = 0
    call dyngrid_local(a, x); call dyngrid_local(b, y)
    desc = dyngrid_desc(a); desc_b = dyngrid_desc(b)
    if (round == 1) then
      call need(all(pivots >= [(k, k=1, n)]) .and. any(pivots > [(k, k=1, n)]), 'pivots')
      call dyngrid_matrix_shape(a, rows, cols, lld, info)
      allocate (ipiv(rows + nb))
      call dyngrid_lu_pivots(a, pivots, ipiv, info); call need(info == DYNGRID_SUCCESS, 'lu_pivots')
      call pdgetrs('N', n, 1, x, 1, 1, desc, ipiv, y, 1, 1, desc_b, info)
    else
      call pdpotrs('U', n, 1, x, 1, 1, desc, y, 1, 1, desc_b, info)
    end if
    call need(info == 0, 'the solution')
    call each(.false.)
    round = round + 1
  end do
  if (outcome /= DYNGRID_LEAVE) then
    call dyngrid_lu(no, 0, pivots, info, outcome); call need(outcome == DYNGRID_ERR_NULL, 'no matrix')
    call dyngrid_cholesky(a, 'x', 0, info, outcome); call need(outcome == DYNGRID_ERR_ARGUMENT, 'no triangle')
    call dyngrid_lu(a, 2, pivots, info, outcome); call need(outcome == DYNGRID_ERR_ARGUMENT, 'no option')
    call dyngrid_on_panel(data=c_null_ptr, info=info); call need(info == DYNGRID_SUCCESS, 'no routine is called')
  end if
  call dyngrid_finalize(info); call need(info == DYNGRID_SUCCESS, 'finalize')

contains

  ! symmetric; in the first round its largest elements are not on the diagonal
  real(real64) function element(i, j)
    integer, intent(in) :: i, j
    integer :: far
    far = abs(i - j)
    if (round == 1) far = abs(i + j - n - 1)
    element = 1d0 / (1 + far)
    if (far == 0) element = 4 * n
  end function

  ! b = A (1, 2, 3, ...)
  subroutine set_up()
    call dyngrid_local(a, x)
    if (.not. associated(x)) return
    call each(.true.)
  end subroutine

  subroutine each(fill)
    logical, intent(in) :: fill
    integer :: i, j, ig, jg, k, nprow, npcol, myrow, mycol
    integer, external :: numroc, indxl2g
    call dyngrid_grid(nprow, npcol, myrow, mycol)
    if (myrow < 0) return
    call dyngrid_local(a, x); call dyngrid_local(b, y)
    do i = 1, numroc(n, nb, myrow, 0, nprow)
      ig = indxl2g(i, nb, myrow, 0, nprow)
      if (fill) then
        do j = 1, numroc(n, nb, mycol, 0, npcol)
          jg = indxl2g(j, nb, mycol, 0, npcol)
          x(i, j) = element(ig, jg)
        end do
        if (mycol == 0) y(i, 1) = sum([(element(ig, k) * k, k=1, n)])
      else if (mycol == 0) then
        call need(abs(y(i, 1) - ig) < 1d-9 * n, 'x')
      end if
    end do
  end subroutine
end program
