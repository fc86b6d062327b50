# SPDX-License-Identifier: BSD-3-Clause
# Everything the build needs from outside. find_package(scalapack) only where its place is given: Debian's exported
# target names a file that does not exist, and configuring dies.
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
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter) # cmake/fortran_interface.py
find_package(MPI REQUIRED COMPONENTS C CXX Fortran)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
include(CheckFortranFunctionExists)
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
  # over UCX older ones start no processes
  file(STRINGS "${PROJECT_SOURCE_DIR}/base/include/base/mpi_version.hpp" limit REGEX "mpich_spawns_over_ucx_from{")
  string(REGEX REPLACE ".*{([0-9]+), ([0-9]+),.*" "\\1.\\2" limit "${limit}")
  find_program(MPICHVERSION_EXECUTABLE mpichversion)
  set(device "")
  if(MPICHVERSION_EXECUTABLE)
    execute_process(COMMAND "${MPICHVERSION_EXECUTABLE}" OUTPUT_VARIABLE device ERROR_QUIET)
  endif()
  set(DYNGRID_MPI_CAN_SPAWN ON)
  if(device MATCHES "ch4:ucx" AND device MATCHES "Version:[ \t]*([0-9]+\\.[0-9]+)" AND CMAKE_MATCH_1 VERSION_LESS limit)
    set(DYNGRID_MPI_CAN_SPAWN OFF)
    message(STATUS "This MPICH (${CMAKE_MATCH_1}, ch4:ucx) cannot start processes: grids do not grow, and the tests "
      "that need it are skipped")
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
  message(FATAL_ERROR "DYNGRID_MPI_FLAVOUR is ${DYNGRID_MPI_FLAVOUR}, expected openmpi or mpich")
endif()
# ScaLAPACK is what was given, files or -l words; or a CMake package whose place was given; or what pkg-config knows by
# one of its names; or a library of one of its names, also beside MPI's own.
set(SCALAPACK_LIBRARIES "" CACHE STRING
  "ScaLAPACK, its BLACS, LAPACK and BLAS, e.g. file;-lname; empty: looked for")
set(DYNGRID_SCALAPACK_WORDS "") # of the link line, where it is not one library that the linker finds
set(words "")
if(SCALAPACK_LIBRARIES OR scalapack_ROOT OR scalapack_DIR)
  set(DYNGRID_SCALAPACK_BY_PKG_CONFIG OFF)
endif()
if(SCALAPACK_LIBRARIES)
  list(GET SCALAPACK_LIBRARIES 0 first)
  get_filename_component(name "${first}" NAME_WE)
  string(REGEX REPLACE "^(-l|lib)" "" DYNGRID_SCALAPACK_NAME "${name}")
  set(scalapack_libraries ${SCALAPACK_LIBRARIES})
  set(words "${SCALAPACK_LIBRARIES}")
elseif(scalapack_ROOT OR scalapack_DIR)
  find_package(scalapack CONFIG REQUIRED)
  set(DYNGRID_SCALAPACK_NAME scalapack)
  set(scalapack_libraries scalapack)
  get_target_property(words scalapack LOCATION)
else()
  if(DYNGRID_SCALAPACK_BY_PKG_CONFIG)
    foreach(name ${DYNGRID_SCALAPACK_NAME} scalapack)
      if(NOT TARGET PkgConfig::SCALAPACK_${name})
        pkg_check_modules(SCALAPACK_${name} QUIET IMPORTED_TARGET ${name})
      endif()
      if(TARGET PkgConfig::SCALAPACK_${name})
        set(DYNGRID_SCALAPACK_NAME ${name})
        break()
      endif()
    endforeach()
  endif()
  if(TARGET PkgConfig::SCALAPACK_${DYNGRID_SCALAPACK_NAME})
    set(scalapack_libraries PkgConfig::SCALAPACK_${DYNGRID_SCALAPACK_NAME})
  else()
    set(DYNGRID_SCALAPACK_BY_PKG_CONFIG OFF)
    list(TRANSFORM MPI_C_LIBRARIES REPLACE "/[^/]*$" "" OUTPUT_VARIABLE beside) # empty where the compiler is mpicc
    find_library(DYNGRID_SCALAPACK_FILE NAMES ${DYNGRID_SCALAPACK_NAME} scalapack HINTS ${beside})
    if(NOT DYNGRID_SCALAPACK_FILE)
      message(FATAL_ERROR
        "No ScaLAPACK: neither pkg-config nor the linker knows ${DYNGRID_SCALAPACK_NAME} or scalapack. "
        "Install it (Debian: lib${DYNGRID_SCALAPACK_NAME}-dev), or give -DSCALAPACK_LIBRARIES=\"FILE;-lNAME;...\", or "
        "-Dscalapack_ROOT=FOLDER of its CMake package")
    endif()
    get_filename_component(name "${DYNGRID_SCALAPACK_FILE}" NAME_WE)
    string(REGEX REPLACE "^lib" "" DYNGRID_SCALAPACK_NAME "${name}")
    set(scalapack_libraries "${DYNGRID_SCALAPACK_FILE}")
  endif()
endif()
if(words)
  list(LENGTH words count)
  get_filename_component(folder "${words}" DIRECTORY)
  if(count GREATER 1 OR NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
    set(DYNGRID_SCALAPACK_WORDS "${words}")
  endif()
endif()
# pblas calls LAPACK and BLAS too, and a shared ScaLAPACK need not hand them on
unset(DYNGRID_SCALAPACK_HAS_LAPACK CACHE) # ScaLAPACK may be another one now
set(CMAKE_REQUIRED_LIBRARIES ${scalapack_libraries})
set(CMAKE_REQUIRED_QUIET ON)
check_fortran_function_exists(zgetrf DYNGRID_SCALAPACK_HAS_LAPACK)
unset(CMAKE_REQUIRED_LIBRARIES)
unset(CMAKE_REQUIRED_QUIET)
if(NOT DYNGRID_SCALAPACK_HAS_LAPACK)
  find_package(LAPACK REQUIRED) # and BLAS; BLA_VENDOR says whose
  message(STATUS "LAPACK and BLAS beside ${DYNGRID_SCALAPACK_NAME}: ${LAPACK_LIBRARIES}")
  list(APPEND scalapack_libraries ${LAPACK_LIBRARIES})
endif()
target_link_libraries(dyngrid_scalapack INTERFACE ${scalapack_libraries})

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
    if(TARGET dyngrid_hdf5)
      break()
    endif()
    pkg_check_modules(HDF5_${name} QUIET ${name})
    # the C library alone, which Debian calls hdf5_mpich from HDF5 2 on
    set(hdf5_file ${HDF5_${name}_LINK_LIBRARIES})
    list(FILTER hdf5_file INCLUDE REGEX "/libhdf5(_mpich|_openmpi|_serial)?\\.[^/]*$")
    if(hdf5_file)
      list(GET hdf5_file 0 DYNGRID_HDF5_FILE)
      # MPI's own folders and libraries come from FindMPI
      set(folders ${HDF5_${name}_INCLUDE_DIRS})
      list(FILTER folders INCLUDE REGEX "hdf5")
      add_library(dyngrid_hdf5 INTERFACE)
      target_include_directories(dyngrid_hdf5 SYSTEM INTERFACE ${folders})
      target_link_libraries(dyngrid_hdf5 INTERFACE MPI::MPI_C) # its header includes mpi.h
      # not linked: control/src/hdf5_lazy.hpp loads it with the first checkpoint, by the name that its users
      # record, or from where it was found
      execute_process(COMMAND "${CMAKE_OBJDUMP}" -p "${DYNGRID_HDF5_FILE}" OUTPUT_VARIABLE hdf5_header ERROR_QUIET)
      string(REGEX MATCH "SONAME +([^ \n]+)" hdf5_soname "${hdf5_header}")
      if(hdf5_soname)
        set(hdf5_soname "${CMAKE_MATCH_1}")
      else()
        get_filename_component(hdf5_soname "${DYNGRID_HDF5_FILE}" NAME)
      endif()
      target_compile_definitions(dyngrid_hdf5 INTERFACE DYNGRID_HDF5_SONAME="${hdf5_soname}"
        DYNGRID_HDF5_FILE="${DYNGRID_HDF5_FILE}")
      message(STATUS "Checkpoints: ${name} ${HDF5_${name}_VERSION}")
    endif()
  endforeach()
endif()
if(NOT TARGET dyngrid_hdf5)
  message(STATUS
    "Checkpoints: none (no HDF5 found, or DYNGRID_HDF5=OFF); dyngrid_checkpoint will answer DYNGRID_ERR_UNSUPPORTED")
endif()

# New processes that come while the application computes, and what Open MPI 5 says of its mpirun. Only the header, which
# comes with Open MPI's: the library is the one that MPI has loaded.
if(DYNGRID_MPI_FLAVOUR STREQUAL "openmpi")
  pkg_check_modules(PMIX QUIET pmix)
  find_path(PMIX_INCLUDE_DIR pmix.h HINTS ${PMIX_INCLUDE_DIRS} ${MPI_C_INCLUDE_DIRS})
  if(PMIX_INCLUDE_DIR)
    add_library(dyngrid_pmix INTERFACE)
    target_include_directories(dyngrid_pmix SYSTEM INTERFACE "${PMIX_INCLUDE_DIR}")
    target_compile_definitions(dyngrid_pmix INTERFACE DYNGRID_PMIX)
  else()
    message(STATUS "Processes in the background: none (no pmix.h); a growth waits for MPI_Comm_spawn")
  endif()
endif()

find_library(LAPACKE_LIBRARY lapacke REQUIRED)
find_path(LAPACKE_INCLUDE_DIR lapacke.h REQUIRED)
find_path(LEMON_INCLUDE_DIR lemon/network_simplex.h REQUIRED)
find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp)
find_path(JSON_INCLUDE_DIR nlohmann/json.hpp REQUIRED)
