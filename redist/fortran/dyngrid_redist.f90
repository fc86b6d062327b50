! SPDX-License-Identifier: BSD-3-Clause
! Descriptors, layouts, plans, exchanges and borders of dyngrid/redist.h, whose comments hold here too.
! Communicators are MPI's integer handles (comm%mpi_val with mpi_f08).
module dyngrid_redist
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_double, c_char, c_ptr, c_null_ptr
  implicit none
  private

  integer(c_int), parameter, public :: DYNGRID_DTYPE = 601, DYNGRID_DESC_FIXED = 9
  integer(c_int), parameter, public :: DYNGRID_SCHEDULE_AUTO = 0, DYNGRID_SCHEDULE_CATERPILLAR = 1, &
    DYNGRID_SCHEDULE_CIRCULANT = 2, DYNGRID_SCHEDULE_MATCHING = 3, DYNGRID_SCHEDULE_ASYNC = 4

  type, bind(C), public :: dyngrid_plan_figures
    integer(c_int) :: schedule
    integer(c_int64_t) :: messages, steps, moved, kept, max_out, max_in, lower_bound, sum_of_largest
    real(c_double) :: predicted_seconds
  end type

  public :: dyngrid_desc_init, dyngrid_desc_check
  public :: dyngrid_desc_numroc, dyngrid_desc_indxg2p, dyngrid_desc_indxg2l, dyngrid_desc_indxl2g
  public :: dyngrid_layout_create, dyngrid_layout_create_block_list, dyngrid_layout_create_replicated
  public :: dyngrid_layout_local_size, dyngrid_layout_destroy
  public :: dyngrid_plan_create, dyngrid_plan_get_figures, dyngrid_plan_of_rank, dyngrid_plan_destroy

  integer(c_int), parameter, public :: DYNGRID_NEIGHBOURS_FOUR = 4, DYNGRID_NEIGHBOURS_EIGHT = 8

  integer(c_int), parameter, public :: DYNGRID_SHARING_AUTO = 0, DYNGRID_SHARING_YES = 1, DYNGRID_SHARING_NO = 2
  integer(c_int), parameter, public :: DYNGRID_TRANSPORT_AUTO = 0, DYNGRID_TRANSPORT_MPI = 1, &
    DYNGRID_TRANSPORT_SHARED = 2

  type, bind(C), public :: dyngrid_executor_options
    integer(c_int) :: transport = DYNGRID_TRANSPORT_AUTO, host_key = 0
    integer(c_int64_t) :: extra_bytes = 0
  end type

  ! from, to: c_loc of the first element; c_null_ptr when this process has none. letter: s d c z i
  type, bind(C), public :: dyngrid_transfer
    type(c_ptr) :: plan = c_null_ptr
    type(c_ptr) :: from = c_null_ptr
    integer(c_int64_t) :: lld_from = 1
    type(c_ptr) :: to = c_null_ptr
    integer(c_int64_t) :: lld_to = 1
    character(kind=c_char) :: letter = 'd'
  end type

  type, bind(C), public :: dyngrid_execute_report
    real(c_double) :: pack_s, transfer_s, wait_s, copy_s
    integer(c_int64_t) :: bytes_out, bytes_in, bytes_kept, peak_bytes
  end type

  public :: dyngrid_plan_create_window
  public :: dyngrid_array_create, dyngrid_array_data, dyngrid_array_destroy
  public :: dyngrid_executor_create, dyngrid_execute, dyngrid_execute_start, dyngrid_execute_advance
  public :: dyngrid_execute_finish, dyngrid_execute_in_place, dyngrid_executor_destroy
  public :: dyngrid_halo_create, dyngrid_halo_shape, dyngrid_halo_stretch, dyngrid_halo_exchange, dyngrid_halo_start
  public :: dyngrid_halo_finish, dyngrid_halo_fill, dyngrid_halo_destroy
  public :: dyngrid_halo_to_ghosted, dyngrid_halo_from_ghosted

  interface
    integer(c_int) function dyngrid_desc_init(desc, m, n, n_row_sizes, row_sizes, n_col_sizes, col_sizes, rsrc, csrc, &
                                              ctxt, lld, info) bind(C)
      import :: c_int
      integer(c_int), intent(inout) :: desc(*)
      integer(c_int), value :: m, n, n_row_sizes, n_col_sizes, rsrc, csrc, ctxt, lld
      integer(c_int), intent(in) :: row_sizes(*), col_sizes(*)
      integer(c_int), intent(out) :: info
    end function

    integer(c_int) function dyngrid_desc_check(desc, length, argument, nprow, npcol, myrow, mycol, info) bind(C)
      import :: c_int
      integer(c_int), intent(in) :: desc(*)
      integer(c_int), value :: length, argument, nprow, npcol, myrow, mycol
      integer(c_int), intent(out) :: info
    end function

    integer(c_int) function dyngrid_desc_numroc(desc, axis, position, nprocs) bind(C)
      import :: c_int, c_char
      integer(c_int), intent(in) :: desc(*)
      character(kind=c_char), value :: axis
      integer(c_int), value :: position, nprocs
    end function

    integer(c_int) function dyngrid_desc_indxg2p(desc, axis, i_glo, nprocs) bind(C)
      import :: c_int, c_char
      integer(c_int), intent(in) :: desc(*)
      character(kind=c_char), value :: axis
      integer(c_int), value :: i_glo, nprocs
    end function

    integer(c_int) function dyngrid_desc_indxg2l(desc, axis, i_glo, nprocs) bind(C)
      import :: c_int, c_char
      integer(c_int), intent(in) :: desc(*)
      character(kind=c_char), value :: axis
      integer(c_int), value :: i_glo, nprocs
    end function

    integer(c_int) function dyngrid_desc_indxl2g(desc, axis, i_loc, position, nprocs) bind(C)
      import :: c_int, c_char
      integer(c_int), intent(in) :: desc(*)
      character(kind=c_char), value :: axis
      integer(c_int), value :: i_loc, position, nprocs
    end function

    ! ranks: row-major; leave it out for 0, 1, ...
    integer(c_int) function dyngrid_layout_create(desc, nprow, npcol, ranks, layout) bind(C)
      import :: c_int, c_ptr
      integer(c_int), intent(in) :: desc(*)
      integer(c_int), value :: nprow, npcol
      integer(c_int), intent(in), optional :: ranks(*)
      type(c_ptr), intent(inout) :: layout
    end function

    integer(c_int) function dyngrid_layout_create_block_list(m, n, n_row_blocks, row_sizes, row_owners, &
                                                             n_col_blocks, col_sizes, col_owners, nprow, npcol, &
                                                             ranks, layout) bind(C)
      import :: c_int, c_int64_t, c_ptr
      integer(c_int64_t), value :: m, n
      integer(c_int), value :: n_row_blocks, n_col_blocks, nprow, npcol
      integer(c_int64_t), intent(in) :: row_sizes(*), col_sizes(*)
      integer(c_int), intent(in) :: row_owners(*), col_owners(*)
      integer(c_int), intent(in), optional :: ranks(*)
      type(c_ptr), intent(inout) :: layout
    end function

    integer(c_int) function dyngrid_layout_create_replicated(m, n, nprow, npcol, ranks, layout) bind(C)
      import :: c_int, c_int64_t, c_ptr
      integer(c_int64_t), value :: m, n
      integer(c_int), value :: nprow, npcol
      integer(c_int), intent(in), optional :: ranks(*)
      type(c_ptr), intent(inout) :: layout
    end function

    integer(c_int) function dyngrid_layout_local_size(layout, rank, rows, cols) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: layout
      integer(c_int), value :: rank
      integer(c_int64_t), intent(out) :: rows, cols
    end function

    integer(c_int) function dyngrid_layout_destroy(layout) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: layout
    end function

    integer(c_int) function dyngrid_plan_create(from, to, transpose, schedule, element_bytes, plan) bind(C)
      import :: c_int, c_char, c_ptr
      type(c_ptr), value :: from, to
      character(kind=c_char), value :: transpose
      integer(c_int), value :: schedule, element_bytes
      type(c_ptr), intent(inout) :: plan
    end function

    integer(c_int) function dyngrid_plan_get_figures(plan, figures) bind(C)
      import :: c_int, c_ptr, dyngrid_plan_figures
      type(c_ptr), value :: plan
      type(dyngrid_plan_figures), intent(out) :: figures
    end function

    integer(c_int) function dyngrid_plan_of_rank(plan, rank, sends, recvs, elements_out, elements_in, kept) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: plan
      integer(c_int), value :: rank
      integer(c_int64_t), intent(out) :: sends, recvs, elements_out, elements_in, kept
    end function

    integer(c_int) function dyngrid_plan_destroy(plan) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: plan
    end function

    ! m x n of the target; first rows and columns count from 0
    integer(c_int) function dyngrid_plan_create_window(from, i_from, j_from, to, i_to, j_to, m, n, transpose, &
        schedule, &
                                                       element_bytes, plan) bind(C)
      import :: c_int, c_int64_t, c_char, c_ptr
      type(c_ptr), value :: from, to
      integer(c_int64_t), value :: i_from, j_from, i_to, j_to, m, n
      character(kind=c_char), value :: transpose
      integer(c_int), value :: schedule, element_bytes
      type(c_ptr), intent(inout) :: plan
    end function

    integer(c_int) function dyngrid_array_create(bytes, sharing, array) bind(C)
      import :: c_int, c_int64_t, c_ptr
      integer(c_int64_t), value :: bytes
      integer(c_int), value :: sharing
      type(c_ptr), intent(inout) :: array
    end function

    ! for c_f_pointer
    type(c_ptr) function dyngrid_array_data(array) bind(C)
      import :: c_ptr
      type(c_ptr), value :: array
    end function

    integer(c_int) function dyngrid_array_destroy(array) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: array
    end function

    ! leave options out for the defaults
    integer(c_int) function dyngrid_executor_create(comm, options, executor) bind(C, name='dyngrid_executor_create_f')
      import :: c_int, c_ptr, dyngrid_executor_options
      integer(c_int), value :: comm
      type(dyngrid_executor_options), intent(in), optional :: options
      type(c_ptr), intent(inout) :: executor
    end function

    integer(c_int) function dyngrid_execute(executor, count, transfers, report) bind(C)
      import :: c_int, c_ptr, dyngrid_transfer, dyngrid_execute_report
      type(c_ptr), value :: executor
      integer(c_int), value :: count
      type(dyngrid_transfer), intent(in) :: transfers(*)
      type(dyngrid_execute_report), intent(out), optional :: report
    end function

    ! the arrays are read and written until dyngrid_execute_finish: declare them asynchronous
    integer(c_int) function dyngrid_execute_start(executor, count, transfers) bind(C)
      import :: c_int, c_ptr, dyngrid_transfer
      type(c_ptr), value :: executor
      integer(c_int), value :: count
      type(dyngrid_transfer), intent(in) :: transfers(*)
    end function

    integer(c_int) function dyngrid_execute_advance(executor, done) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: executor
      integer(c_int), intent(out) :: done
    end function

    integer(c_int) function dyngrid_execute_finish(executor, report) bind(C)
      import :: c_int, c_ptr, dyngrid_execute_report
      type(c_ptr), value :: executor
      type(dyngrid_execute_report), intent(out), optional :: report
    end function

    integer(c_int) function dyngrid_execute_in_place(executor, count, transfers, slabs, report) bind(C)
      import :: c_int, c_ptr, dyngrid_transfer, dyngrid_execute_report
      type(c_ptr), value :: executor
      integer(c_int), value :: count, slabs
      type(dyngrid_transfer), intent(in) :: transfers(*)
      type(dyngrid_execute_report), intent(out), optional :: report
    end function

    integer(c_int) function dyngrid_executor_destroy(executor) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: executor
    end function

    integer(c_int) function dyngrid_halo_create(comm, layout, width, neighbours, periodic_rows, periodic_cols, &
                                                element_bytes, halo) bind(C, name='dyngrid_halo_create_f')
      import :: c_int, c_ptr
      integer(c_int), value :: comm
      type(c_ptr), value :: layout
      integer(c_int), value :: width, neighbours, periodic_rows, periodic_cols, element_bytes
      type(c_ptr), intent(inout) :: halo
    end function

    integer(c_int) function dyngrid_halo_shape(halo, rows, cols, row_stretches, col_stretches) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: halo
      integer(c_int64_t), intent(out) :: rows, cols
      integer(c_int), intent(out) :: row_stretches, col_stretches
    end function

    ! k and the indices count from 0
    integer(c_int) function dyngrid_halo_stretch(halo, axis, k, i_glo, i_loc, i_ghosted, length) bind(C)
      import :: c_int, c_int64_t, c_char, c_ptr
      type(c_ptr), value :: halo
      character(kind=c_char), value :: axis
      integer(c_int), value :: k
      integer(c_int64_t), intent(out) :: i_glo, i_loc, i_ghosted, length
    end function

    integer(c_int) function dyngrid_halo_exchange(halo, ghosted, lld) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: halo
      type(*), intent(inout) :: ghosted(*)
      integer(c_int64_t), value :: lld
    end function

    ! ghosted is read and written until dyngrid_halo_finish: declare it asynchronous
    integer(c_int) function dyngrid_halo_start(halo, ghosted, lld) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: halo
      type(*), intent(inout), asynchronous :: ghosted(*)
      integer(c_int64_t), value :: lld
    end function

    integer(c_int) function dyngrid_halo_finish(halo) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: halo
    end function

    integer(c_int) function dyngrid_halo_to_ghosted(halo, local, lld_local, ghosted, lld) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: halo
      type(*), intent(in) :: local(*)
      integer(c_int64_t), value :: lld_local, lld
      type(*), intent(inout) :: ghosted(*)
    end function

    integer(c_int) function dyngrid_halo_from_ghosted(halo, ghosted, lld, local, lld_local) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: halo
      type(*), intent(in) :: ghosted(*)
      integer(c_int64_t), value :: lld_local, lld
      type(*), intent(inout) :: local(*)
    end function

    integer(c_int) function dyngrid_halo_fill(halo, ghosted, lld, one) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: halo
      type(*), intent(inout) :: ghosted(*)
      integer(c_int64_t), value :: lld
      type(*), intent(in) :: one(*)
    end function

    integer(c_int) function dyngrid_halo_destroy(halo) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: halo
    end function
  end interface
end module dyngrid_redist
