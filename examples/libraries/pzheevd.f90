! SPDX-License-Identifier: BSD-3-Clause
! PZHEEVD step after step, on a grid that may change before each: electrons on a ring, through which a magnetic flux
! rises. H of a step is made of H of the step before. The lowest energies are known: 2 - 2 cos((2 pi k + flux)/n).
!
!   mpifort pzheevd.f90 $(pkg-config --cflags --libs dyngrid) -o pzheevd
!   dyngrid run -np 4 --wait --resize-at 2:3x3,4:2x3,6:1x2,8:2x2 -- ./pzheevd
program ring
  use dyngrid
  use mpi, only: mpi_wtime
  implicit none
  integer, parameter :: n = 90, nb = 8, occ = 9, steps = 10, dp = kind(0d0)
  complex(dp), parameter :: one = 1, zero = 0
  real(dp), parameter :: rise = 0.1_dp
  type(dyngrid_matrix) :: matrix
  complex(dp), pointer :: h(:, :)  ! my part of H, on the grid of now
  complex(dp), allocatable :: a(:, :), z(:, :), work(:)
  real(dp), allocatable :: rwork(:)
  integer, allocatable :: iwork(:)
  integer, target :: step = 0
  integer :: info, outcome, desc(9), nprow, npcol, myrow, mycol, i, j, distance, indxl2g
  real(dp) :: w(n), none(1), residual
  real(dp), external :: pzlange

  call dyngrid_init(info); call must(info)  ! a new process joins the others here
  call dyngrid_matrix_create('H', 'z', n, n, nb, nb, matrix, info); call must(info)  ! follows the grid
  call dyngrid_share('step', step, info); call must(info)  ! new processes get it
  call make
  do i = 1, merge(n, 0, myrow >= 0)
    call pzelset(h, i, i, desc, 2*one)
    call pzelset(h, i, mod(i, n) + 1, desc, -one)
    call pzelset(h, mod(i, n) + 1, i, desc, -one)
  end do
  do
    call dyngrid_resize_point(outcome); if (outcome == DYNGRID_LEAVE .or. step == steps) exit
    if (outcome == DYNGRID_RESIZED) call make
    do j = 1, size(h, 2)
      do i = 1, size(h, 1)
        distance = indxl2g(i, nb, myrow, 0, nprow) - indxl2g(j, nb, mycol, 0, npcol)
        if (abs(distance) == n - 1) distance = -sign(1, distance)  ! neighbours across the end of the ring
        if (abs(distance) == 1) h(i, j) = h(i, j)*exp(cmplx(0, distance*rise/n, dp))
      end do
    end do
    a = h  ! PZHEEVD overwrites it
    call pzheevd('V', 'L', n, a, 1, 1, desc, w, z, 1, 1, desc, work, size(work), rwork, size(rwork), iwork, &
                 size(iwork), info)
    if (info /= 0) error stop 'pzheevd: no convergence'
    call pzgemm('N', 'N', n, n, n, one, h, 1, 1, desc, z, 1, 1, desc, zero, a, 1, 1, desc)
    do j = 1, size(h, 2)
      i = indxl2g(j, nb, mycol, 0, npcol)
      if (i <= n) a(:, j) = a(:, j) - w(i)*z(:, j)
    end do
    residual = pzlange('M', n, n, a, 1, 1, desc, none)
    if (myrow + mycol == 0) print '(3(a, i0), a, es22.15, a, es8.1)', 'step ', step, ' on ', nprow, ' x ', npcol, &
      ': energy ', sum(w(:occ)), ' residual ', residual
    step = step + 1
  end do
  call dyngrid_finalize(info)
contains
  subroutine must(status)  ! an error that the program cannot go on with; it is the same on all processes
    integer, intent(in) :: status
    if (status < 0) error stop 'pzheevd: '//dyngrid_last_message()
  end subroutine
  subroutine make  ! what a new grid needs: my part of H, matrices and work space of one step
    real(dp) :: begin, rsize(1)
    complex(dp) :: csize(1)
    integer :: isize(1), more
    call dyngrid_grid(nprow, npcol, myrow, mycol)
    if (myrow < 0) return  ! not in the grid, or a new process before its first resize point
    call dyngrid_local(matrix, h); desc = dyngrid_desc(matrix)
    begin = mpi_wtime()
    if (allocated(z)) deallocate (a, z, work, rwork, iwork)
    allocate (a, z, mold=h)
    call pzheevd('V', 'L', n, a, 1, 1, desc, w, z, 1, 1, desc, csize, -1, rsize, -1, isize, -1, info)
    ! ScaLAPACK 2.2 asks for less than its PZUNMTR and PDLASRT need where blocks are large: wrong vectors, info 0
    more = nb*(2*(size(h, 1) + size(h, 2)) + 3*nb) + n
    allocate (work(int(csize(1)) + more), rwork(int(rsize(1)) + more), iwork(isize(1)))
    if (myrow + mycol == 0) print '(2(a, i0), a, f8.3, a)', &
      'made for ', nprow, ' x ', npcol, ' in', 1d3*(mpi_wtime() - begin), ' ms'
  end subroutine
end program
