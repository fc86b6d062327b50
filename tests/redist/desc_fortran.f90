! SPDX-License-Identifier: BSD-3-Clause
! Descriptors, layouts and plans in Fortran, without MPI: nothing here communicates.
program desc_fortran
  use, intrinsic :: iso_c_binding
  use dyngrid_redist
  use expectations
  implicit none
  integer(c_int) :: desc(DYNGRID_DESC_FIXED + 3), info
  integer(c_int64_t) :: rows, cols, sends, recvs, elements_out, elements_in, kept
  type(c_ptr) :: from = c_null_ptr, to = c_null_ptr, plan = c_null_ptr
  type(dyngrid_plan_figures) :: figures

  ! 10 rows in 3 1 3 1 2 over two grid rows: 8 and 2
  call expect(dyngrid_desc_init(desc, 10, 8, 2, [3, 1], 1, [2], 0, 0, -1, 8, info) == 0 .and. info == 0, 'init')
  call expect(desc(1) == DYNGRID_DTYPE .and. desc(10) == 3 .and. desc(12) == 2, 'entries')
  call expect(dyngrid_desc_check(desc, 12, 3, 2, 2, 0, 0, info) == 0 .and. info == 0, 'check')
  call expect(dyngrid_desc_check(desc, 12, 3, 1, 2, 0, 0, info) /= 0 .and. info == -309, &
    'a leading dimension too small')
  call expect(dyngrid_desc_init(desc, 10, 8, 2, [3, 1], 1, [2], 0, 0, -1, 8) == 0 .and. &
    dyngrid_desc_check(desc, 12, 3, 2, 2, 0, 0) == 0, 'init and check without info')
  call expect(dyngrid_desc_numroc(desc, 'R', 0, 2) == 8 .and. dyngrid_desc_numroc(desc, 'R', 1, 2) == 2, 'numroc')
  call expect(dyngrid_desc_indxg2p(desc, 'R', 4, 2) == 1 .and. dyngrid_desc_indxg2l(desc, 'R', 5, 2) == 4, &
    'indxg2p, indxg2l')
  call expect(dyngrid_desc_indxl2g(desc, 'R', 2, 1, 2) == 8, 'indxl2g')

  call expect(dyngrid_layout_create(desc, 2, 2, layout=from) == 0, 'layout')
  call expect(dyngrid_layout_create_replicated(10_c_int64_t, 8_c_int64_t, 1, 2, [3, 7], to) == 0, 'replicated layout')
  call expect(dyngrid_layout_local_size(from, 1, rows, cols) == 0 .and. rows == 8 .and. cols == 4, 'local size')
  call expect(dyngrid_plan_create(from, to, 'N', DYNGRID_SCHEDULE_MATCHING, 8, plan) == 0, 'plan')
  call expect(dyngrid_plan_get_figures(plan, figures) == 0, 'figures')
  ! rank 3, at (1,1), keeps its 2 x 4 elements; all others go to ranks 3 and 7
  call expect(figures%schedule == DYNGRID_SCHEDULE_MATCHING .and. figures%messages == 7 .and. figures%kept == 8 .and. &
              figures%moved == 152 .and. figures%lower_bound == 80 .and. figures%sum_of_largest == 80, 'figures')
  call expect(dyngrid_plan_of_rank(plan, 3, sends, recvs, elements_out, elements_in, kept) == 0, 'plan of a rank')
  call expect(sends == 1 .and. recvs == 3 .and. elements_out == 8 .and. elements_in == 72 .and. kept == 8, &
    'plan of a rank')
  kept = 0
  call expect(dyngrid_plan_of_rank(plan, 3, kept=kept) == 0 .and. kept == 8, 'what a rank keeps alone')
  cols = 0
  call expect(dyngrid_layout_local_size(from, 1, cols=cols) == 0 .and. cols == 4, 'local columns alone')
  call expect(dyngrid_plan_destroy(plan) == 0 .and. .not. c_associated(plan), 'destroy plan')
  call expect(dyngrid_layout_destroy(from) == 0 .and. dyngrid_layout_destroy(to) == 0, 'destroy layouts')
  if (failures > 0) error stop 1

end program
