! SPDX-License-Identifier: BSD-3-Clause
! Descriptors, layouts and plans of dyngrid/redist.h, whose comments hold here too. All calls are local.
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
  end interface
end module dyngrid_redist
