! SPDX-License-Identifier: BSD-3-Clause
! A program of two phases, on the grid it was started with. First a self-consistent field: H depends on the density, the
! density on the lowest eigenvectors of H x = w S x, until both agree. Then a propagation: a field is switched on, and
! i S dC/dt = H C is followed in time. The physics, electrons on a line, is a toy; the calls are those of real programs.
!
!   mpifort before.f90 -lscalapack-openmpi -o before && mpirun -np 4 ./before        # prints; and writes scf.out
program scf
  use mpi
  implicit none
  integer, parameter :: n = 40, nb = 4, occ = 6, iterations = 40, steps = 10
  double precision, parameter :: u = 0.8d0, mixing = 0.6d0, tolerance = 1d-6, dt = 0.2d0, field = 0.2d0
  complex(kind(0d0)), parameter :: one = (1, 0), zero = (0, 0), i_half_dt = (0, 0.5d0)*dt
  integer :: context, nprow, npcol, myrow, mycol, rows, columns, desc(9)
  integer :: iam, nprocs, unit, info, i, j, iteration, step
  double precision, parameter :: position(n) = [(i - (n + 1)/2d0, i = 1, n)]
  double precision :: density(n), fresh(n), w(n), change, scale, dipole
  complex(kind(0d0)) :: element
  double precision, allocatable :: s(:, :), l(:, :), h(:, :)
  complex(kind(0d0)), allocatable :: c(:, :)
  double precision, allocatable :: a(:, :), z(:, :), work(:)
  complex(kind(0d0)), allocatable :: b(:, :), m(:, :)
  integer, allocatable :: iwork(:), pivots(:)
  character(80) :: line
  integer, external :: numroc

  call blacs_pinfo(iam, nprocs)
  do nprow = int(sqrt(dble(nprocs))), 1, -1
    if (mod(nprocs, nprow) == 0) exit
  end do
  call blacs_get(-1, 0, context)
  call blacs_gridinit(context, 'Row', nprow, nprocs/nprow)
  call blacs_gridinfo(context, nprow, npcol, myrow, mycol)
  rows = numroc(n, nb, myrow, 0, nprow)
  columns = numroc(n, nb, mycol, 0, npcol)
  call descinit(desc, n, n, nb, nb, 0, 0, context, max(1, rows), info)
  allocate (s(rows, columns), l(rows, columns), h(rows, columns), c(rows, columns))
  call set_up_work
  call set_up_matrices
  if (iam == 0) open (newunit=unit, file='scf.out', status='replace', action='write')
  density = 0

  ! phase 1: the self-consistent field
  do iteration = 1, iterations
    call set_diagonal(0d0)
    a = h
    call pdsygst(1, 'L', n, a, 1, 1, desc, l, 1, 1, desc, scale, info)
    call pdsyevd('V', 'L', n, a, 1, 1, desc, w, z, 1, 1, desc, work, size(work), iwork, size(iwork), info)
    call pdtrsm('L', 'L', 'T', 'N', n, n, 1d0, l, 1, 1, desc, z, 1, 1, desc)  ! eigenvectors of H x = w S x
    call pdgemm('N', 'T', n, n, occ, 2d0, z, 1, 1, desc, z, 1, 1, desc, 0d0, a, 1, 1, desc)
    do i = 1, n
      call pdelget(' ', ' ', fresh(i), a, i, i, desc)  ! 0 where it is not mine
    end do
    call dgsum2d(context, 'All', ' ', n, 1, fresh, n, -1, -1)
    change = sum(abs(fresh - density))
    write (line, '(a, i3, a, f12.6)') 'iteration', iteration, ': energy', 2*sum(w(:occ)) - u/2*sum(fresh*density)
    call say(line)
    density = density + mixing*(fresh - density)
    if (change < tolerance) exit
  end do

  ! phase 2: the propagation
  c = z
  call set_diagonal(field)
  do step = 1, steps
    m = cmplx(s, 0, kind(0d0)) - i_half_dt*h  ! (S + i dt/2 H) C(t + dt) = (S - i dt/2 H) C(t)
    call pzgemm('N', 'N', n, occ, n, one, m, 1, 1, desc, c, 1, 1, desc, zero, b, 1, 1, desc)
    m = cmplx(s, 0, kind(0d0)) + i_half_dt*h
    call pzgesv(n, occ, m, 1, 1, desc, pivots, b, 1, 1, desc, info)
    c = b
    call pzgemm('N', 'C', n, n, occ, (2d0, 0d0), c, 1, 1, desc, c, 1, 1, desc, zero, m, 1, 1, desc)
    dipole = 0
    do i = 1, n
      call pzelget(' ', ' ', element, m, i, i, desc)
      dipole = dipole + dble(element)*position(i)
    end do
    call mpi_allreduce(MPI_IN_PLACE, dipole, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, info)
    write (line, '(a, i3, a, f12.6)') 'step', step, ': dipole', dipole
    call say(line)
  end do

  if (iam == 0) close (unit)
  call blacs_gridexit(context)
  call blacs_exit(0)
contains
  subroutine set_up_matrices
    do j = 1, n
      do i = 1, n
        call pdelset(s, i, j, desc, 0.3d0**abs(i - j))  ! overlap
        call pdelset(h, i, j, desc, merge(-1d0, 0d0, abs(i - j) == 1))  ! Hamiltonian; its diagonal comes later
      end do
    end do
    l = s
    call pdpotrf('L', n, l, 1, 1, desc, info)  ! S = L L'
  end subroutine
  subroutine set_diagonal(strength)  ! of H: a well, the field, and the repulsion of the density
    double precision, intent(in) :: strength
    do i = 1, n
      call pdelset(h, i, i, desc, 2d0 + 0.01d0*position(i)**2 + strength*position(i) + u*density(i))
    end do
  end subroutine
  subroutine set_up_work  ! arrays that hold nothing between two iterations; the work space that PDSYEVD wants
    double precision :: wanted(1)
    integer :: iwanted(1)
    allocate (a(rows, columns), z(rows, columns), b(rows, columns), m(rows, columns), pivots(rows + nb))
    call pdsyevd('V', 'L', n, a, 1, 1, desc, w, z, 1, 1, desc, wanted, -1, iwanted, -1, info)
    ! ScaLAPACK 2.2 asks for less than its PDORMTR and PDLASRT need where blocks are large: wrong vectors, info 0
    wanted = wanted + nb*(2*(rows + columns) + 3*nb) + n
    allocate (work(int(wanted(1))), iwork(iwanted(1)))
  end subroutine
  subroutine say(text)  ! a line to the screen and to the file, by one process
    character(*), intent(in) :: text
    if (iam /= 0) return
    print '(a)', trim(text)
    write (unit, '(a)') trim(text)
    flush (unit)
  end subroutine
end program scf
