! SPDX-License-Identifier: BSD-3-Clause
! before.f90 on a grid that may change between two solutions. Lines that changed or are new end in '! <'; the comments
! say what they replace.
!
!   DYNGRID_WAIT=on DYNGRID_RESIZE_AT=1:3x2,2:1x3,3:2x2 mpirun --oversubscribe -np 4 ./after system.dat
program linear_system
  use dyngrid                                                                    ! <
  implicit none
  integer, parameter :: nb = 2
  integer :: context, nprow, npcol, myrow, mycol                                 ! <  iam, nprocs: not needed
  integer :: n, systems, i, j, unit, rows, info, outcome                         ! <
  integer, target :: k = 1                                                       ! <  new processes get it
  integer :: desca(9), descb(9)
  integer, allocatable :: pivots(:)
  type(dyngrid_matrix) :: a_matrix                                               ! <  A follows the grid
  double precision, pointer :: a(:, :)                                           ! <
  double precision, allocatable :: lu(:, :), b(:), row(:), right_sides(:, :)     ! <
  double precision :: x
  character(len=256) :: file
  integer, external :: numroc

  call dyngrid_init_grid(2, 2, info); call must(info)                     ! <  blacs_pinfo, blacs_get, blacs_gridinit
  call dyngrid_grid(nprow, npcol, myrow, mycol)                                  ! <  blacs_gridinfo

  call get_command_argument(1, file)
  open (newunit=unit, file=file, status='old', action='read')
  read (unit, *) n, systems

  call dyngrid_matrix_create('A', 'd', n, n, nb, nb, a_matrix, info); call must(info) ! <  numroc, descinit, allocate
  call dyngrid_share('k', k, info); call must(info)                              ! <
  call dyngrid_local(a_matrix, a)                                                ! <
  desca = dyngrid_desc(a_matrix)                                                 ! <

  ! every process reads the file and keeps what is its own
  allocate (row(n), right_sides(n, systems))
  do i = 1, n
    read (unit, *) row
    if (dyngrid_is_newcomer() .or. .not. associated(a)) cycle                    ! <  A comes with the grid
    do j = 1, n
      call pdelset(a, i, j, desca, row(j))
    end do
  end do
  do k = 1, systems
    read (unit, *) right_sides(:, k)
  end do
  close (unit)

  k = 1                                                                          ! <
  do                                                                             ! <  do k = 1, systems
    call dyngrid_resize_point(outcome)                                           ! <  the grid may change here
    if (outcome == DYNGRID_LEAVE .or. k > systems) exit                          ! <
    if (outcome < 0) write (0, '(2a)') 'linear_system: ', dyngrid_last_message() ! <  the grid stays
    context = dyngrid_context()                                                  ! <
    call dyngrid_grid(nprow, npcol, myrow, mycol)                                ! <
    call dyngrid_local(a_matrix, a)                                              ! <
    desca = dyngrid_desc(a_matrix)                                               ! <
    rows = numroc(n, nb, myrow, 0, nprow)                                        ! <  from before the loop
    call descinit(descb, n, 1, nb, nb, 0, 0, context, max(1, rows), info)        ! <
    if (allocated(b)) deallocate (b, pivots)                                     ! <
    allocate (b(max(1, rows)), pivots(rows + nb))                                ! <
    lu = a
    do i = 1, n
      call pdelset(b, i, 1, descb, right_sides(i, k))
    end do
    call pdgesv(n, 1, lu, 1, 1, desca, pivots, b, 1, 1, descb, info)
    if (myrow == 0 .and. mycol == 0) write (*, '(a, i0, a, i0, a, i0)') 'system ', k, ' on ', nprow, ' x ', npcol
    do i = 1, n
      call pdelget('All', ' ', x, b, i, 1, descb)
      if (myrow == 0 .and. mycol == 0) write (*, '(a, i0, a, f12.6)') '  x(', i, ') = ', x
    end do
    k = k + 1                                                                    ! <
  end do

  call dyngrid_finalize(info)                                                    ! <  blacs_gridexit, blacs_exit
contains                                                                         ! <
  subroutine must(status)                                                        ! <
    integer, intent(in) :: status                                                ! <
    if (status < 0) error stop 'linear_system: '//dyngrid_last_message()         ! <
  end subroutine                                                                 ! <
end program linear_system
