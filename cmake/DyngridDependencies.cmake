# SPDX-License-Identifier: BSD-3-Clause
# Everything the build needs from outside. Never find_package(scalapack): Debian's exported target names a file
# that does not exist and configuring dies; pkg-config first, the plain library as the fallback.
find_package(MPI REQUIRED COMPONENTS C CXX Fortran)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)

add_library(dyngrid_scalapack INTERFACE)
set(DYNGRID_MPI "Open MPI")
set(DYNGRID_MPIRUN mpirun)
set(DYNGRID_MPI_PACKAGE openmpi-bin)
set(DYNGRID_SCALAPACK_NAME scalapack-openmpi) # of its pkg-config file and of its library
set(DYNGRID_SCALAPACK_BY_PKG_CONFIG ON)
pkg_check_modules(SCALAPACK QUIET IMPORTED_TARGET ${DYNGRID_SCALAPACK_NAME})
if(TARGET PkgConfig::SCALAPACK)
  target_link_libraries(dyngrid_scalapack INTERFACE PkgConfig::SCALAPACK)
else()
  find_library(SCALAPACK_LIBRARY NAMES ${DYNGRID_SCALAPACK_NAME} scalapack REQUIRED)
  target_link_libraries(dyngrid_scalapack INTERFACE "${SCALAPACK_LIBRARY}")
endif()

find_library(LAPACKE_LIBRARY lapacke REQUIRED)
find_path(LAPACKE_INCLUDE_DIR lapacke.h REQUIRED)
find_path(LEMON_INCLUDE_DIR lemon/network_simplex.h REQUIRED)
find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp)
find_path(JSON_INCLUDE_DIR nlohmann/json.hpp REQUIRED)
