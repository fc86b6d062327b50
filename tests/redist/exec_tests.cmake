# SPDX-License-Identifier: BSD-3-Clause
# Executors and the drop-in: everything under mpirun.
set(exec_link redist_private MPI::MPI_C)
dyngrid_test(redist.exec_moves SOURCES exec_moves.cpp exec_main.cpp NP 4 LINK ${exec_link})
dyngrid_test(redist.exec_moves NP 7 TIMEOUT 90)
dyngrid_test(redist.gemr2d_stock SOURCES gemr2d_stock.cpp exec_main.cpp NP 4 LINK ${exec_link})
dyngrid_test(redist.gemr2d_stock NP 6 TIMEOUT 90)
