# SPDX-License-Identifier: BSD-3-Clause
# Flags that all our targets share. Third-party headers are SYSTEM, so that their warnings are not ours.
add_library(dyngrid_flags INTERFACE)
target_compile_features(dyngrid_flags INTERFACE cxx_std_17 c_std_99)
target_compile_options(dyngrid_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion>
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wstrict-prototypes>
  $<$<COMPILE_LANGUAGE:Fortran>:-Wall>)
if(DYNGRID_WERROR)
  target_compile_options(dyngrid_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>)
endif()
# MPI's C binding only: the old C++ one is switched off.
target_compile_definitions(dyngrid_flags INTERFACE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
if(DYNGRID_SANITIZE)
  # gcc 12 takes what is inside an empty std::optional for uninitialized where a sanitizer looks on
  target_compile_options(dyngrid_flags INTERFACE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-maybe-uninitialized>)
  target_compile_options(dyngrid_flags INTERFACE -fsanitize=${DYNGRID_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(dyngrid_flags INTERFACE -fsanitize=${DYNGRID_SANITIZE})
endif()

# dyngrid_module(<name> SOURCES ... LINK ...): a static library that goes whole into libdyngrid.so.
# Its public headers are <folder>/include; <folder>/src is visible to its own tests only (target <name>_private).
function(dyngrid_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
    C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON Fortran_MODULE_DIRECTORY "${PROJECT_BINARY_DIR}/mod")
  target_include_directories(${name} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}/include"
    "${PROJECT_BINARY_DIR}/mod" PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/src")
  target_link_libraries(${name} PUBLIC dyngrid_flags ${arg_LINK})
  add_library(${name}_private INTERFACE)
  target_include_directories(${name}_private INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}/src")
  target_link_libraries(${name}_private INTERFACE ${name})
endfunction()

# dyngrid_fortran(<output> module|f77|include <template> [<template of the module>] HEADERS <header>...): what the C
# headers say already is not written a second time in Fortran (cmake/fortran_interface.py).
function(dyngrid_fortran output what template)
  cmake_parse_arguments(arg "" "" "HEADERS" ${ARGN})
  set(script "${PROJECT_SOURCE_DIR}/cmake/fortran_interface.py")
  set(more ${arg_UNPARSED_ARGUMENTS})
  add_custom_command(OUTPUT "${output}"
    COMMAND Python3::Interpreter "${script}" ${what} "${template}" "${output}" ${more} ${arg_HEADERS}
    DEPENDS "${script}" "${template}" ${more} ${arg_HEADERS}
    VERBATIM)
endfunction()

# dyngrid_fortran_module(<target> <name> HEADERS <header>...): the module of fortran/<name>.f90.in, in the folder of the
# build where the manual pages find all of them.
function(dyngrid_fortran_module target name)
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/fortran")
  dyngrid_fortran("${PROJECT_BINARY_DIR}/fortran/${name}.f90" module
    "${CMAKE_CURRENT_SOURCE_DIR}/fortran/${name}.f90.in" ${ARGN})
  target_sources(${target} PRIVATE "${PROJECT_BINARY_DIR}/fortran/${name}.f90")
endfunction()
