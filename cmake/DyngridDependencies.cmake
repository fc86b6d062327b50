# SPDX-License-Identifier: BSD-3-Clause
# Everything the build needs from outside. Never find_package(scalapack): Debian's exported target names a file
# that does not exist and configuring dies; pkg-config first, the plain library as the fallback.
set(DYNGRID_MPI_FLAVOUR openmpi CACHE STRING "Which MPI: openmpi or mpich")
if(DYNGRID_MPI_FLAVOUR STREQUAL "mpich")
  # Debian has both side by side, under these names
  foreach(language_and_wrapper C=mpicc CXX=mpicxx Fortran=mpifort)
    string(REPLACE "=" ";" pair ${language_and_wrapper})
    list(GET pair 0 language)
    list(GET pair 1 wrapper)
    find_program(MPI_${language}_COMPILER NAMES ${wrapper}.mpich ${wrapper})
  endforeach()
  find_program(MPIEXEC_EXECUTABLE NAMES mpiexec.hydra mpiexec.mpich mpiexec)
endif()
find_package(MPI REQUIRED COMPONENTS C CXX Fortran)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)

add_library(dyngrid_scalapack INTERFACE)
# DYNGRID_SCALAPACK_NAME: of the library, and of its pkg-config file, which asks for lapack and blas without its package
# depending on them
if(DYNGRID_MPI_FLAVOUR STREQUAL "mpich")
  set(DYNGRID_MPI "MPICH")
  set(DYNGRID_MPIRUN mpiexec.hydra)
  set(DYNGRID_MPI_PACKAGE mpich)
  set(DYNGRID_DEV_PACKAGES
    "libmpich-dev, libscalapack-mpich-dev, liblapack-dev | liblapack.so, libblas-dev | libblas.so")
  set(DYNGRID_SCALAPACK_NAME scalapack-mpich)
  # scalapack-mpich.pc asks for `mpi`, which is the machine's default MPI and seldom this one
  set(DYNGRID_SCALAPACK_BY_PKG_CONFIG OFF)
  # over UCX it starts no processes before 4.2: blacs-dyn/src/preflight.cpp
  find_program(MPICHVERSION_EXECUTABLE mpichversion)
  set(device "")
  if(MPICHVERSION_EXECUTABLE)
    execute_process(COMMAND "${MPICHVERSION_EXECUTABLE}" OUTPUT_VARIABLE device ERROR_QUIET)
  endif()
  set(DYNGRID_MPI_CAN_SPAWN ON)
  if(device MATCHES "ch4:ucx" AND device MATCHES "Version:[ \t]*([0-9]+\\.[0-9]+)" AND CMAKE_MATCH_1 VERSION_LESS 4.2)
    set(DYNGRID_MPI_CAN_SPAWN OFF)
    message(STATUS "This MPICH (${CMAKE_MATCH_1}, ch4:ucx) cannot start processes: grids do not grow, and the tests that need it are skipped")
  endif()
elseif(DYNGRID_MPI_FLAVOUR STREQUAL "openmpi")
  set(DYNGRID_MPI "Open MPI")
  set(DYNGRID_MPIRUN mpirun)
  set(DYNGRID_MPI_PACKAGE openmpi-bin)
  set(DYNGRID_DEV_PACKAGES
    "libopenmpi-dev, libscalapack-openmpi-dev, liblapack-dev | liblapack.so, libblas-dev | libblas.so")
  set(DYNGRID_SCALAPACK_NAME scalapack-openmpi)
  set(DYNGRID_SCALAPACK_BY_PKG_CONFIG ON)
  set(DYNGRID_MPI_CAN_SPAWN ON)
else()
  message(FATAL_ERROR "DYNGRID_MPI_FLAVOUR is ${DYNGRID_MPI_FLAVOUR}, wanted openmpi or mpich")
endif()
if(SCALAPACK_LIBRARY) # given, as Spack does: it counts, whatever pkg-config knows
  list(GET SCALAPACK_LIBRARY 0 first)
  get_filename_component(first "${first}" NAME_WE)
  string(REGEX REPLACE "^lib" "" DYNGRID_SCALAPACK_NAME "${first}")
  set(DYNGRID_SCALAPACK_BY_PKG_CONFIG OFF)
elseif(DYNGRID_SCALAPACK_BY_PKG_CONFIG)
  pkg_check_modules(SCALAPACK QUIET IMPORTED_TARGET ${DYNGRID_SCALAPACK_NAME})
endif()
if(TARGET PkgConfig::SCALAPACK)
  target_link_libraries(dyngrid_scalapack INTERFACE PkgConfig::SCALAPACK)
else()
  find_library(SCALAPACK_LIBRARY NAMES ${DYNGRID_SCALAPACK_NAME} scalapack REQUIRED)
  target_link_libraries(dyngrid_scalapack INTERFACE "${SCALAPACK_LIBRARY}")
endif()

# Checkpoints. The HDF5 built for the same MPI, so that no second MPI comes into the program with it, or one built
# without any; used by one process alone.
# Debian's are called after their MPI; hdf5 alone is what others have (Spack).
option(DYNGRID_HDF5 "Checkpoints in HDF5 files where the library is found" ON)
if(DYNGRID_HDF5)
  if(DYNGRID_MPI_FLAVOUR STREQUAL "mpich")
    set(hdf5_names hdf5-mpich hdf5-serial hdf5)
  else()
    set(hdf5_names hdf5-openmpi hdf5-serial hdf5)
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
        target_link_libraries(dyngrid_hdf5 INTERFACE MPI::MPI_C) # its header includes mpi.h
        # not linked: blacs-dyn/src/hdf5_lazy.hpp loads it with the first checkpoint, by the name that its users record,
        # or from where it was found
        execute_process(COMMAND "${CMAKE_OBJDUMP}" -p "${HDF5_LIBRARY_${name}}" OUTPUT_VARIABLE hdf5_header ERROR_QUIET)
        string(REGEX MATCH "SONAME +([^ \n]+)" hdf5_soname "${hdf5_header}")
        if(hdf5_soname)
          set(hdf5_soname "${CMAKE_MATCH_1}")
        else()
          get_filename_component(hdf5_soname "${HDF5_LIBRARY_${name}}" NAME)
        endif()
        set(DYNGRID_HDF5_FILE "${HDF5_LIBRARY_${name}}")
        target_compile_definitions(dyngrid_hdf5 INTERFACE DYNGRID_HDF5_SONAME="${hdf5_soname}"
          DYNGRID_HDF5_FILE="${HDF5_LIBRARY_${name}}")
        message(STATUS "Checkpoints: ${name} ${HDF5_${name}_VERSION}")
      endif()
    endif()
  endforeach()
endif()
if(NOT TARGET dyngrid_hdf5)
  message(STATUS
    "Checkpoints: none (no HDF5 found, or DYNGRID_HDF5=OFF); dyngrid_checkpoint will answer DYNGRID_ERR_UNSUPPORTED")
endif()

find_library(LAPACKE_LIBRARY lapacke REQUIRED)
find_path(LAPACKE_INCLUDE_DIR lapacke.h REQUIRED)
find_path(LEMON_INCLUDE_DIR lemon/network_simplex.h REQUIRED)
find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp)
find_path(JSON_INCLUDE_DIR nlohmann/json.hpp REQUIRED)
