# SPDX-License-Identifier: BSD-3-Clause
# What scripts/test runs without --all: every room, every public routine, each kind of growth once.
set(DYNGRID_ESSENTIAL_ROOMS base gridmap advise rooms docs scripts)
# names of tests, without .npN and what follows
set(DYNGRID_ESSENTIAL_TESTS
  # decisions and texts, in one process each
  redist.axis_runs redist.packer redist.plan redist.plan_memory redist.schedule redist.descriptor redist.work
  redist.desc_fortran redist.halo blacs-dyn.decide blacs-dyn.place_word blacs-dyn.preflight blacs-dyn.answers
  blacs-dyn.shared_state blacs-dyn.loads_no_hdf5 blacs-dyn.before_mpi
  blacs-dyn.control_decide blacs-dyn.control_job blacs-dyn.control_load blacs-dyn.control_socket blacs-dyn.offer
  sched.journal sched.journal_file sched.policies sched.talk apps.help apps.bad_block apps.bad_first_grid apps.bad_grid
  apps.bad_matrix_file apps.options_capacitance apps.options_flame apps.options_jacobi apps.options_life
  apps.options_particles apps.options_pdgemm apps.options_pdgemv apps.options_pdgetrf
  apps.options_sor apps.plan_decision apps.plan_exchange apps.dyngrid_plan_bad_grid apps.dyngrid_plan_bad_schedule
  apps.matrix_market apps.bench_order apps.launch apps.variables apps.watch
  apps.slurm apps.options_adi
  # exchanges, p?gemr2d, the halo, the kernels
  redist.desc_c redist.exec_schedules redist.exec_memory redist.exec_prepared redist.moves_c redist.moves_fortran
  redist.halo_c redist.halo_fortran redist.halo_moves redist.gemr2d_stock redist.gemr2d_contexts redist.gemr2d_listed
  redist.gemr2d_wrong_corner redist.gemr2d_wrong_lld pblas.arguments pblas.kernels pblas.kernels_fortran
  pblas.error_exits pblas.in_place pblas.memory pblas.grown
  # each kind of growth and of leaving
  blacs-dyn.grow_and_shrink_optimal blacs-dyn.blocking blacs-dyn.background_now blacs-dyn.background_computes_on
  blacs-dyn.background_keep blacs-dyn.background_warm blacs-dyn.sleep_and_wake
  blacs-dyn.from_one_process blacs-dyn.first_grid_smaller_than_mpirun blacs-dyn.units_of_two blacs-dyn.leave_each_2x2
  python.follow python.errors
  blacs-dyn.pools_short blacs-dyn.pools_one_ends blacs-dyn.pools_wrong
  blacs-dyn.leave_refused blacs-dyn.growth_fails_missing blacs-dyn.growth_fails_slots blacs-dyn.growth_fails_late
  # what follows the grid
  blacs-dyn.fortran blacs-dyn.classical blacs-dyn.own_contexts blacs-dyn.borders blacs-dyn.reshape
  blacs-dyn.copies blacs-dyn.relayout
  blacs-dyn.items blacs-dyn.speeds blacs-dyn.matrices_cpp blacs-dyn.on_change blacs-dyn.on_change_fortran
  blacs-dyn.run_on blacs-dyn.run_on_fortran blacs-dyn.statuses blacs-dyn.two_loops_named blacs-dyn.two_loops_plain
  blacs-dyn.two_loops_cpp_named blacs-dyn.two_loops_fortran_named blacs-dyn.two_loops_fortran77_plain
  blacs-dyn.checkpoint_write blacs-dyn.checkpoint_read_grown blacs-dyn.checkpoint_refused blacs-dyn.save_cpp
  blacs-dyn.save_fortran blacs-dyn.save_fortran77 blacs-dyn.phases blacs-dyn.phases_chosen blacs-dyn.balanced_uniform
  blacs-dyn.balanced_weighted blacs-dyn.rebalanced calls.forced blacs-dyn.factoring_lu_d
  blacs-dyn.factoring_cholesky_z blacs-dyn.factoring_cpp blacs-dyn.factoring_fortran blacs-dyn.factoring_fortran77
  blacs-dyn.panels_lu blacs-dyn.control_real_run blacs-dyn.soak_short blacs-dyn.undone_and_refused
  blacs-dyn.stock_xCbtest blacs-dyn.stock_dpb3tst
  # the applications, the command, the scheduler, the installed tree
  apps.pdgemm_up_and_down apps.pdgemv_up_and_down apps.pdgetrf_between_panels apps.pdgetrf_matrix_market
  apps.life_up_and_down apps.jacobi_up_and_down apps.sor_up_and_down apps.particles_up_and_down apps.capacitance_plate
  apps.adi_up_and_down apps.flame_in_phases apps.run_and_doctor apps.refused_in_words apps.csv_and_json
  sched.two_pdgemm_and_a_third sched.inside_a_factorization install.tree install.exports
  install.headers install.pages install.completion install.pkg_config install.find_package install.preload
  install.readme install.licence_lines install.picture
)
if(DYNGRID_WITH_JOIN)
  list(APPEND DYNGRID_ESSENTIAL_TESTS blacs-dyn.join_now sched.offered_and_booked)
endif()
