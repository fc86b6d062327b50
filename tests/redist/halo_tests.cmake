# SPDX-License-Identifier: BSD-3-Clause
# Borders: plans in one process, exchanges under mpirun.
dyngrid_test(redist.halo SOURCES halo_test.cpp IN test_redist LINK redist_local_private)
dyngrid_test(redist.halo_moves SOURCES halo_moves.cpp IN test_redist_mpi NP 4 LINK redist_halo_private MPI::MPI_C)
dyngrid_test(redist.halo_moves NP 6)

dyngrid_test_program(redist_halo_c halo_c.c LINK dyngrid::dyngrid)
dyngrid_test(redist.halo_c TARGET redist_halo_c NP 4 LABELS c)

add_executable(redist_halo_fortran halo_fortran.f90)
target_include_directories(redist_halo_fortran PRIVATE "${PROJECT_BINARY_DIR}/mod")
target_link_libraries(redist_halo_fortran PRIVATE test_fortran dyngrid::dyngrid dyngrid_flags MPI::MPI_Fortran)
add_dependencies(redist_halo_fortran redist_local)
dyngrid_test(redist.halo_fortran TARGET redist_halo_fortran NP 4 LABELS fortran)
