! SPDX-License-Identifier: BSD-3-Clause
! dyngrid_run_on in Fortran: LU on 2x2 in blocks of 5, seen to run on 1x4 in blocks of 16 by its last bits.
program run_on_fortran
  use dyngrid
  use expectations
  implicit none
  integer, parameter :: n = 60
  double precision :: own(n, n), row(n, n), found(n, n)
  integer :: info, me, processes

  call blacs_pinfo(me, processes)
  call factor(2, 2, 5, own)
  call factor(1, 4, 16, row)
  call expect(any(own /= row), 'places do not differ')

  call dyngrid_run_on(1, 4, 16, 'pdgetrf ', info)
  call expect(info == DYNGRID_SUCCESS, 'run_on')
  call factor(2, 2, 5, found)
  call expect(all(found == row), 'the next call stayed')
  call factor(2, 2, 5, found)
  call expect(all(found == own), 'a further call was moved')

  call dyngrid_run_on_begin(1, 4, 16, 'p?getrf,pdgemm', info)
  call expect(info == DYNGRID_SUCCESS, 'begin')
  call factor(2, 2, 5, found)
  call factor(2, 2, 5, found)
  call expect(all(found == row), 'a call of the scope stayed')
  call dyngrid_run_on_end(info)
  call expect(info == DYNGRID_SUCCESS, 'end')
  call factor(2, 2, 5, found)
  call expect(all(found == own), 'a call behind the scope was moved')

  call dyngrid_run_on_end(info)
  call expect(info == DYNGRID_ERR_STATE, 'an end without a begin')
  call dyngrid_run_on(1, 4, 16, 'pdgetrg', info)
  call expect(info == DYNGRID_ERR_ARGUMENT, 'a routine that there is not')
  call dyngrid_run_on_begin(1, 4, -2, 'pdgetrf', info)
  call expect(info == DYNGRID_ERR_ARGUMENT, 'blocks that cannot be')
  call blacs_exit(0)
  if (failures /= 0) stop 1

contains

  subroutine factor(nprow, npcol, nb, all)
    integer, intent(in) :: nprow, npcol, nb
    double precision, intent(out) :: all(n, n)
    integer :: ctxt, p, q, myrow, mycol, rows, cols, desc(9), i, j, info
    integer, allocatable :: ipiv(:)
    double precision, allocatable :: a(:, :)
    integer, external :: numroc, indxl2g
    call blacs_get(0, 0, ctxt)
    call blacs_gridinit(ctxt, 'R', nprow, npcol)
    call blacs_gridinfo(ctxt, p, q, myrow, mycol)
    rows = numroc(n, nb, myrow, 0, nprow)
    cols = numroc(n, nb, mycol, 0, npcol)
    allocate (a(max(1, rows), max(1, cols)), ipiv(rows + nb))
    desc = [1, ctxt, n, n, nb, nb, 0, 0, max(1, rows)]
    do j = 1, cols
      do i = 1, rows
        a(i, j) = sin(dble(indxl2g(i, nb, myrow, 0, nprow) * 61 + 7 * indxl2g(j, nb, mycol, 0, npcol)**2))
      end do
    end do
    call pdgetrf(n, n, a, 1, 1, desc, ipiv, info)
    call expect(info == 0, 'info')
    all = 0
    do j = 1, cols
      do i = 1, rows
        all(indxl2g(i, nb, myrow, 0, nprow), indxl2g(j, nb, mycol, 0, npcol)) = a(i, j)
      end do
    end do
    call dgsum2d(ctxt, 'All', ' ', n, n, all, n, -1, -1)
    call blacs_gridexit(ctxt)
  end subroutine
end program
