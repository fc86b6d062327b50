! SPDX-License-Identifier: BSD-3-Clause
! before.f90 on a grid that may change before each iteration and each step; docs/porting.md goes through it.
!
!   mpifort after.f90 $(pkg-config --cflags --libs dyngrid) -o after
!   export DYNGRID_WAIT=on                                               # changes come at exactly these steps
!   dyngrid run -np 2 --resize-at 3:2x2,20:2x3,25:1x2 -- ./after        # prints the same, and writes the same scf.out
program scf
  use mpi
  use dyngrid
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer, parameter :: n = 40, nb = 4, occ = 6, iterations = 40, steps = 10
  double precision, parameter :: u = 0.8d0, mixing = 0.6d0, tolerance = 1d-6, dt = 0.2d0, field = 0.2d0
  complex(kind(0d0)), parameter :: one = (1, 0), zero = (0, 0), i_half_dt = (0, 0.5d0)*dt
  integer :: outcome, desc(9), unit, info, i, j
  double precision, parameter :: position(n) = [(i - (n + 1)/2d0, i = 1, n)]
  integer, target :: phase = 1, iteration = 0, step = 0, lines = 0  ! shared: new processes get them
  double precision, target :: density(n) = 0
  type(dyngrid_matrix) :: s_matrix, l_matrix, h_matrix, c_matrix  ! these follow the grid
  logical :: is_restarted
  double precision :: fresh(n), w(n), change, scale, dipole
  complex(kind(0d0)) :: element
  double precision, pointer :: s(:, :), l(:, :), h(:, :)  ! my parts of them, on the grid of now
  complex(kind(0d0)), pointer :: c(:, :)
  double precision, allocatable :: a(:, :), z(:, :), work(:)
  complex(kind(0d0)), allocatable :: b(:, :), m(:, :)
  integer, allocatable :: iwork(:), pivots(:)
  character(80) :: line

  call dyngrid_init(info); call must(info)
  call dyngrid_matrix_create('S', 'd', n, n, nb, nb, s_matrix, info); call must(info)
  call dyngrid_matrix_create('L', 'd', n, n, nb, nb, l_matrix, info); call must(info)
  call dyngrid_matrix_create('H', 'd', n, n, nb, nb, h_matrix, info); call must(info)
  call dyngrid_matrix_create('C', 'z', n, n, nb, nb, c_matrix, info); call must(info)
  call dyngrid_share('phase', phase, info); call must(info)
  call dyngrid_share('iteration', iteration, info); call must(info)
  call dyngrid_share('step', step, info); call must(info)
  call dyngrid_share('lines', lines, info); call must(info)
  call dyngrid_share('density', density, info); call must(info)
  is_restarted = dyngrid_is_restarted()
  if (is_restarted) call dyngrid_restore('', info); call must(info)  ! matrices and shared state of the checkpoint
  if (dyngrid_context() >= 0) then  ! new processes get their part at their first resize point
    call set_up_work
    if (.not. is_restarted) call set_up_matrices
    if (dyngrid_is_first()) call open_output
  end if

  ! phase 1: the self-consistent field
  outcome = DYNGRID_SAME
  do while (phase == 1 .and. dyngrid_entry_point() /= 'propagation')  ! new processes may begin in phase 2
    call dyngrid_resize_point_at('scf', outcome)  ! the grid may change here
    if (outcome == DYNGRID_LEAVE .or. outcome == DYNGRID_REDIRECT) exit
    call see
    iteration = iteration + 1
    call set_diagonal(0d0)
    a = h
    call pdsygst(1, 'L', n, a, 1, 1, desc, l, 1, 1, desc, scale, info)
    call pdsyevd('V', 'L', n, a, 1, 1, desc, w, z, 1, 1, desc, work, size(work), iwork, size(iwork), info)
    call pdtrsm('L', 'L', 'T', 'N', n, n, 1d0, l, 1, 1, desc, z, 1, 1, desc)  ! eigenvectors of H x = w S x
    call pdgemm('N', 'T', n, n, occ, 2d0, z, 1, 1, desc, z, 1, 1, desc, 0d0, a, 1, 1, desc)
    do i = 1, n
      call pdelget(' ', ' ', fresh(i), a, i, i, desc)  ! 0 where it is not mine
    end do
    call dgsum2d(dyngrid_context(), 'All', ' ', n, 1, fresh, n, -1, -1)
    change = sum(abs(fresh - density))
    write (line, '(a, i3, a, f12.6)') 'iteration', iteration, ': energy', 2*sum(w(:occ)) - u/2*sum(fresh*density)
    call say(line)
    density = density + mixing*(fresh - density)
    if (change < tolerance .or. iteration == iterations) then  ! what is done once, between the phases
      c = z
      call set_diagonal(field)
      phase = 2
    end if
  end do

  ! phase 2: the propagation
  do while (outcome /= DYNGRID_LEAVE)
    call dyngrid_resize_point_at('propagation', outcome)  ! and here
    if (outcome == DYNGRID_LEAVE .or. step == steps) exit
    call see
    step = step + 1
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
    call mpi_allreduce(MPI_IN_PLACE, dipole, 1, MPI_DOUBLE_PRECISION, MPI_SUM, dyngrid_comm(), info)
    write (line, '(a, i3, a, f12.6)') 'step', step, ': dipole', dipole
    call say(line)
  end do

  if (dyngrid_is_first()) close (unit)
  call dyngrid_finalize(info)
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
  subroutine set_up_work  ! all that a new grid needs: my parts of what follows, arrays of one iteration, work space
    double precision :: wanted(1)
    integer :: iwanted(1), rows, columns
    call dyngrid_local(s_matrix, s); call dyngrid_local(l_matrix, l)
    call dyngrid_local(h_matrix, h); call dyngrid_local(c_matrix, c)
    desc = dyngrid_desc(s_matrix)  ! the same for all n x n matrices in nb x nb blocks
    rows = size(s, 1); columns = size(s, 2)
    if (allocated(a)) deallocate (a, z, b, m, pivots, work, iwork)
    allocate (a(rows, columns), z(rows, columns), b(rows, columns), m(rows, columns), pivots(rows + nb))
    call pdsyevd('V', 'L', n, a, 1, 1, desc, w, z, 1, 1, desc, wanted, -1, iwanted, -1, info)
    ! ScaLAPACK 2.2 asks for less than its PDORMTR and PDLASRT need where blocks are large: wrong vectors, info 0
    wanted = wanted + nb*(2*(rows + columns) + 3*nb) + n
    allocate (work(int(wanted(1))), iwork(iwanted(1)))
  end subroutine
  subroutine see  ! what a resize point said
    if (outcome == DYNGRID_RESIZED) call set_up_work
    if (outcome < 0 .and. dyngrid_is_first()) write (error_unit, '(2a)') 'scf: not resized: ', dyngrid_last_message()
  end subroutine
  subroutine open_output  ! a restarted run goes on after the lines that the checkpoint knows of
    open (newunit=unit, file='scf.out', status=merge('old    ', 'replace', is_restarted), action='readwrite')
    do i = 1, lines
      read (unit, '()')
    end do
  end subroutine
  subroutine must(status)  ! the same on all processes
    integer, intent(in) :: status
    if (status < 0) error stop 'scf: '//dyngrid_last_message()
  end subroutine
  subroutine say(text)  ! a line to the screen and to the file, by one process
    character(*), intent(in) :: text
    lines = lines + 1
    if (.not. dyngrid_is_first()) return
    print '(a)', trim(text)
    write (unit, '(a)') trim(text)
    flush (unit)
  end subroutine
end program scf
