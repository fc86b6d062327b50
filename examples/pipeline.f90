! SPDX-License-Identifier: BSD-3-Clause
! A pipeline in three phases, cycle after cycle: a product in large blocks, an eigensolver in blocks of its own, and a
! product back. dyngrid moves each matrix into the layout that is best for the whole cycle; pipeline.c in Fortran 2008.
!
!   mpifort pipeline.f90 $(pkg-config --cflags --libs dyngrid) -o pipeline
!   dyngrid run -np 4 -- ./pipeline
program pipeline
  use dyngrid
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  implicit none
  integer, parameter :: n = 60, cycles = 12
  type(dyngrid_matrix) :: a, c, z, w
  type(dyngrid_phase) :: product, solve, back
  real(real64), pointer :: local(:, :)
  real(real64), target :: values(n) = 0
  integer, target :: cycle = 0
  integer :: info, outcome, i, j
  external :: pdelset, pdgemm, pdsyevd

  call dyngrid_init(info); call must(info)
  call dyngrid_matrix_create('A', 'd', n, n, 16, 16, a, info); call must(info)
  call dyngrid_matrix_create('C', 'd', n, n, 16, 16, c, info); call must(info)
  call dyngrid_matrix_create('Z', 'd', n, n, 16, 16, z, info); call must(info)
  call dyngrid_matrix_create('W', 'd', n, n, 16, 16, w, info); call must(info)
  call dyngrid_share('cycle', cycle, info); call must(info)
  call dyngrid_share('values', values, info); call must(info)

  call dyngrid_phase_create('product', product, info); call must(info) ! the order of creation is that of a cycle
  call dyngrid_phase_uses(product, a, DYNGRID_READ, info); call must(info)
  call dyngrid_phase_uses(product, c, DYNGRID_WRITE, info); call must(info) ! all of it: nothing is moved
  call dyngrid_phase_layout(product, a, 16, 16, info); call must(info) ! two layouts: dyngrid tries both
  call dyngrid_phase_layout(product, a, 4, 4, info); call must(info)
  call dyngrid_phase_layout(product, c, 16, 16, info); call must(info)
  call dyngrid_phase_create('solve', solve, info); call must(info)
  call dyngrid_phase_uses(solve, c, ior(DYNGRID_READ, DYNGRID_WRITE), info); call must(info)
  call dyngrid_phase_uses(solve, z, DYNGRID_WRITE, info); call must(info)
  call dyngrid_phase_layout(solve, c, 6, 6, info); call must(info) ! PDSYEVD wants both alike
  call dyngrid_phase_layout(solve, z, 6, 6, info); call must(info)
  call dyngrid_phase_create('back', back, info); call must(info)
  call dyngrid_phase_uses(back, z, DYNGRID_READ, info); call must(info)
  call dyngrid_phase_uses(back, w, DYNGRID_WRITE, info); call must(info)
  call dyngrid_phase_uses(back, a, DYNGRID_WRITE, info); call must(info)
  call dyngrid_phase_layout(back, z, 16, 16, info); call must(info)
  call dyngrid_phase_layout(back, w, 16, 16, info); call must(info) ! A: any that another phase names

  call dyngrid_local(a, local)
  if (.not. dyngrid_is_newcomer() .and. associated(local)) then
    do j = 1, n ! 2 on the diagonal, -1 beside it
      do i = 1, n
        call pdelset(local, i, j, dyngrid_desc(a), merge(2d0, merge(-1d0, 0d0, abs(i - j) == 1), i == j))
      end do
    end do
  end if
  do
    call dyngrid_resize_point(outcome)
    if (outcome == DYNGRID_LEAVE .or. cycle == cycles) exit
    if (outcome < 0) write (error_unit, '(2a)') 'pipeline: the grid stays as it is: ', dyngrid_last_message()
    call dyngrid_phase_begin(product, info); call must(info) ! arrays and descriptors are fetched after it
    call multiply(a, 'N', a, c) ! C = A A
    call dyngrid_phase_end(product, info); call must(info)
    call dyngrid_phase_begin(solve, info); call must(info)
    call eigenvectors
    call dyngrid_phase_end(solve, info); call must(info)
    call dyngrid_phase_begin(back, info); call must(info)
    call scale_columns
    call multiply(w, 'T', z, a) ! A = Z sqrt(values) Z': what it was
    call dyngrid_phase_end(back, info); call must(info)
    if (dyngrid_is_first()) print '(a, i0, a, f0.6)', 'cycle ', cycle, ': largest eigenvalue ', values(n)
    cycle = cycle + 1
  end do
  call dyngrid_finalize(info); call must(info)
contains
  subroutine multiply(left, how, right, to) ! to = left op(right)
    type(dyngrid_matrix), intent(in) :: left, right, to
    character, intent(in) :: how
    real(real64), pointer :: l(:, :), r(:, :), t(:, :)
    call dyngrid_local(left, l); call dyngrid_local(right, r); call dyngrid_local(to, t)
    call pdgemm('N', how, n, n, n, 1d0, l, 1, 1, dyngrid_desc(left), r, 1, 1, dyngrid_desc(right), 0d0, t, 1, 1, &
                dyngrid_desc(to))
  end subroutine

  subroutine eigenvectors
    real(real64), pointer :: c_local(:, :), z_local(:, :)
    real(real64) :: size(1)
    real(real64), allocatable :: work(:)
    integer :: isize(1), desc(9), lwork
    integer, allocatable :: iwork(:)
    call dyngrid_local(c, c_local); call dyngrid_local(z, z_local)
    call pdsyevd('V', 'U', n, c_local, 1, 1, dyngrid_desc(c), values, z_local, 1, 1, dyngrid_desc(z), size, -1, isize, &
                 -1, info)
    ! ScaLAPACK 2.2 asks for less than its PDORMTR and PDLASRT need where blocks are large: wrong vectors, info 0
    desc = dyngrid_desc(c)
    lwork = int(size(1)) + desc(5) * (2 * sum(shape(c_local)) + 3 * desc(5)) + n
    allocate (work(lwork), iwork(isize(1)))
    call pdsyevd('V', 'U', n, c_local, 1, 1, dyngrid_desc(c), values, z_local, 1, 1, dyngrid_desc(z), work, &
                 lwork, iwork, isize(1), info)
  end subroutine

  subroutine scale_columns ! W and Z lie alike
    real(real64), pointer :: z_local(:, :), w_local(:, :)
    integer(int64) :: first, last, j_glo, j_loc
    integer(int64) :: k
    call dyngrid_local(z, z_local); call dyngrid_local(w, w_local)
    k = 1; j_loc = 0
    do
      call dyngrid_my_range(z, 'C', k, first, last, info)
      if (info /= 1) exit
      do j_glo = first, last
        j_loc = j_loc + 1
        w_local(:, j_loc) = sqrt(abs(values(j_glo))) * z_local(:, j_loc)
      end do
      k = k + 1
    end do
  end subroutine

  subroutine must(status) ! an error that the program cannot go on with; it is the same on all processes
    integer, intent(in) :: status
    if (status >= 0) return
    write (error_unit, '(2a)') 'pipeline: ', dyngrid_last_message()
    error stop 1
  end subroutine
end program pipeline
