# SPDX-License-Identifier: BSD-3-Clause
# Tests that run a second time over UCX (NAME.ucx): exchanges, kernels, each kind of growth.
set(DYNGRID_TESTS_OVER_UCX
  redist.exec_schedules.np4 redist.exec_prepared.np4 redist.exec_messages_go_on.np3 redist.gemr2d_stock.np4
  redist.moves_c.np4 redist.halo_moves.np4
  pblas.kernels.np4 pblas.in_place.np6 pblas.in_place.np3 pblas.grown.np2_spawn2
  blacs-dyn.grow_and_shrink_optimal.np4_spawn12 blacs-dyn.own_contexts.np4_spawn12 blacs-dyn.relayout.np4_spawn5
  blacs-dyn.sleep_and_wake.np4 blacs-dyn.leave_each_2x2.np4 blacs-dyn.blocking.np4_spawn12 blacs-dyn.fortran.np4_spawn5
  blacs-dyn.classical.np2_spawn8 blacs-dyn.on_change.np2_spawn4 blacs-dyn.background_now
  blacs-dyn.background_computes_on blacs-dyn.background_called_off blacs-dyn.background_warm
  blacs-dyn.background_warm_introduced blacs-dyn.background_keep blacs-dyn.background_keep_soak_short
  blacs-dyn.window_unit_1 blacs-dyn.window_unit_all blacs-dyn.last_message.np1_spawn1)
