# SPDX-License-Identifier: BSD-3-Clause
# Everything the build needs from outside. Never find_package(scalapack): Debian's exported target names a file
# that does not exist and configuring dies; pkg-config first, the plain library as the fallback.
find_package(MPI REQUIRED COMPONENTS C CXX Fortran)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)

add_library(dyngrid_scalapack INTERFACE)
set(DYNGRID_SCALAPACK_NAME scalapack-openmpi) # of its pkg-config file and of its library
set(DYNGRID_SCALAPACK_BY_PKG_CONFIG ON)
pkg_check_modules(SCALAPACK QUIET IMPORTED_TARGET ${DYNGRID_SCALAPACK_NAME})
if(TARGET PkgConfig::SCALAPACK)
  target_link_libraries(dyngrid_scalapack INTERFACE PkgConfig::SCALAPACK)
else()
  find_library(SCALAPACK_LIBRARY NAMES ${DYNGRID_SCALAPACK_NAME} scalapack REQUIRED)
  target_link_libraries(dyngrid_scalapack INTERFACE "${SCALAPACK_LIBRARY}")
endif()

# Checkpoints. The HDF5 built for the same MPI, so that no second MPI comes into the program with it, or one built without any; used by one process alone.
option(DYNGRID_HDF5 "Checkpoints in HDF5 files where the library is found" ON)
if(DYNGRID_HDF5)
  if(MPI_C_LIBRARY_VERSION_STRING MATCHES "MPICH")
    set(hdf5_names hdf5-mpich hdf5-serial)
  else()
    set(hdf5_names hdf5-openmpi hdf5-serial)
  endif()
  foreach(name ${hdf5_names})
    if(NOT TARGET dyngrid_hdf5)
      pkg_check_modules(HDF5_${name} QUIET ${name})
      if(HDF5_${name}_FOUND)
        # MPI's own folders and libraries come from FindMPI
        set(folders ${HDF5_${name}_INCLUDE_DIRS})
        list(FILTER folders INCLUDE REGEX "hdf5")
        find_library(HDF5_LIBRARY_${name} hdf5 HINTS ${HDF5_${name}_LIBRARY_DIRS} NO_DEFAULT_PATH)
        add_library(dyngrid_hdf5 INTERFACE)
        target_include_directories(dyngrid_hdf5 SYSTEM INTERFACE ${folders})
        target_link_libraries(dyngrid_hdf5 INTERFACE "${HDF5_LIBRARY_${name}}" MPI::MPI_C) # its header includes mpi.h
        message(STATUS "Checkpoints: ${name} ${HDF5_${name}_VERSION}")
      endif()
    endif()
  endforeach()
endif()
if(NOT TARGET dyngrid_hdf5)
  message(STATUS "Checkpoints: none (no HDF5 found, or DYNGRID_HDF5=OFF); dyngrid_checkpoint will answer DYNGRID_ERR_UNSUPPORTED")
endif()

find_library(LAPACKE_LIBRARY lapacke REQUIRED)
find_path(LAPACKE_INCLUDE_DIR lapacke.h REQUIRED)
find_path(LEMON_INCLUDE_DIR lemon/network_simplex.h REQUIRED)
find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp)
find_path(JSON_INCLUDE_DIR nlohmann/json.hpp REQUIRED)
