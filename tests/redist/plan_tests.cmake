# SPDX-License-Identifier: BSD-3-Clause
# The C test is compiled as C, the Fortran test as Fortran; both have a main of their own and need no GoogleTest.
dyngrid_test_program(redist_desc_c desc_c.c LINK dyngrid::dyngrid)
dyngrid_test(redist.desc_c TARGET redist_desc_c NP 4 LABELS c)

add_executable(redist_desc_fortran desc_fortran.f90)
target_include_directories(redist_desc_fortran PRIVATE "${PROJECT_BINARY_DIR}/mod")
target_link_libraries(redist_desc_fortran PRIVATE test_fortran redist_local stdc++)
dyngrid_test(redist.desc_fortran TARGET redist_desc_fortran LABELS fortran)

# Random descriptors and plans.
set(rounds_descriptor 300000)
set(rounds_plan 20000)
foreach(what descriptor plan)
  add_executable(redist_fuzz_${what} fuzz_${what}.cpp)
  target_link_libraries(redist_fuzz_${what} PRIVATE redist_local_private)
  dyngrid_test(redist.fuzz_${what} TARGET redist_fuzz_${what} ARGS ${rounds_${what}} LABELS fuzz)
endforeach()

dyngrid_headers_alone(redist redist/*.hpp dyngrid/*.h)
