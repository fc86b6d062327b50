! SPDX-License-Identifier: BSD-3-Clause
! The explicit interfaces: a system in unequal blocks on 2 x 2 processes, whose answer is known.
program kernels_fortran
  use, intrinsic :: iso_c_binding
  use mpi
  use dyngrid
  use expectations
  implicit none
  integer, parameter :: n = 11, nrhs = 2
  integer(c_int) :: ctxt, nprow, npcol, myrow, mycol, info
  integer(c_int) :: desc(13), descb(13), ipiv(n)
  integer(c_int) :: owners(6)
  integer :: i, j, il, jl, ierr
  real(c_double) :: a(n, n), factors(n, n), x(n, nrhs), b(n, nrhs), s(n, n)
  real(c_double), parameter :: one = 1, zero = 0

  call MPI_Init(ierr)
  call blacs_get(0, 0, ctxt)
  call blacs_gridinit(ctxt, 'R', 2, 2)
  call blacs_gridinfo(ctxt, nprow, npcol, myrow, mycol)
  ! rows 1 2 3 . 4 . 5 6 7 . ...: blocks of 3 and 1; columns of 2 and 4
  desc = [601, ctxt, n, n, 2, 2, 0, 0, n, 3, 1, 2, 4]
  descb = [601, ctxt, n, nrhs, 2, 2, 0, 0, n, 3, 1, 2, 4]
  do j = 1, n
    do i = 1, n
      if (mine(i, j, il, jl)) a(il, jl) = value(i, j)
    end do
  end do
  do j = 1, nrhs
    do i = 1, n
      if (mine(i, j, il, jl)) x(il, jl) = i * 10 + j
    end do
  end do
  factors = a
  call dyngrid_pdgemm('N', 'N', n, nrhs, n, one, a, 1, 1, desc, x, 1, 1, descb, zero, b, 1, 1, descb)
  call dyngrid_pdgetrf(n, n, factors, 1, 1, desc, ipiv, info)
  call expect(info == 0, 'pdgetrf')
  call dyngrid_pdgetrs('N', n, nrhs, factors, 1, 1, desc, ipiv, b, 1, 1, descb, info)
  call expect(info == 0, 'pdgetrs')
  call compare('pdgetrs')
  call dyngrid_pdgemm('N', 'N', n, nrhs, n, one, a, 1, 1, desc, x, 1, 1, descb, zero, b, 1, 1, descb)
  factors = a
  call dyngrid_pdgesv(n, nrhs, factors, 1, 1, desc, ipiv, b, 1, 1, descb, info)
  call expect(info == 0, 'pdgesv')
  call compare('pdgesv')
  ! S = A A^T is positive definite
  call dyngrid_pdgemm('N', 'T', n, n, n, one, a, 1, 1, desc, a, 1, 1, desc, zero, s, 1, 1, desc)
  call dyngrid_pdgemm('N', 'N', n, nrhs, n, one, s, 1, 1, desc, x, 1, 1, descb, zero, b, 1, 1, descb)
  call dyngrid_pdsyrk('L', 'N', n, n, one, a, 1, 1, desc, zero, s, 1, 1, desc)
  call dyngrid_pdpotrf('L', n, s, 1, 1, desc, info)
  call expect(info == 0, 'pdpotrf')
  call dyngrid_pdpotrs('L', n, nrhs, s, 1, 1, desc, b, 1, 1, descb, info)
  call compare('pdpotrs')
  call dyngrid_pdtrsm('R', 'U', 'T', 'N', n, nrhs, one, a, 1, 1, desc, b, 1, 1, descb)
  call expect(dyngrid_factor_order(6_c_int64_t, 2, [2d0, 1d0], owners) == 0, 'factor_order')
  call expect(count(owners == 0) == 4, 'shares of factor_order')
  ! what cannot be is an info
  call dyngrid_pdgetrf(n, n + 1, factors, 1, 1, desc, ipiv, info)
  call expect(info == -2, 'pdgetrf of more columns than there are')
  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call blacs_gridexit(ctxt)
  call MPI_Finalize(ierr)
  if (failures /= 0) stop 1

contains

  pure real(c_double) function value(i, j)
    integer, intent(in) :: i, j
    value = merge(9d0, 1d0 / (i + 2 * j), mod(i + 2, n) == mod(j, n))
  end function

  !> Where this process has an element.
  logical function mine(i, j, il, jl)
    integer, intent(in) :: i, j
    integer, intent(out) :: il, jl
    logical :: row, col
    row = locate(i, [3, 1], myrow, il)
    col = locate(j, [2, 4], mycol, jl)
    mine = row .and. col
  end function

  logical function locate(index, sizes, me, local)
    integer, intent(in) :: index, sizes(2), me
    integer, intent(out) :: local
    integer :: k, block, inside
    local = 0
    block = 0
    inside = 0
    do k = 1, index
      if (inside == sizes(mod(block, 2) + 1)) then
        block = block + 1
        inside = 0
      end if
      inside = inside + 1
      if (mod(block, 2) == me) local = local + 1
    end do
    locate = mod(block, 2) == me
  end function

  subroutine compare(what)
    character(*), intent(in) :: what
    do j = 1, nrhs
      do i = 1, n
        if (mine(i, j, il, jl)) call expect(abs(b(il, jl) - x(il, jl)) < 1d-9, what)
      end do
    end do
  end subroutine
end program
