# SPDX-License-Identifier: BSD-3-Clause
# The C test is compiled as C, the Fortran test as Fortran; both have a main of their own and need no GoogleTest.
add_executable(redist_desc_c desc_c.c)
target_link_libraries(redist_desc_c PRIVATE dyngrid::dyngrid dyngrid_flags)
dyngrid_test(redist.desc_c TARGET redist_desc_c NP 4 TIMEOUT 30 LABELS c)

add_executable(redist_desc_fortran desc_fortran.f90)
target_include_directories(redist_desc_fortran PRIVATE "${PROJECT_BINARY_DIR}/mod")
target_link_libraries(redist_desc_fortran PRIVATE dyngrid::dyngrid dyngrid_flags)
add_dependencies(redist_desc_fortran redist)
dyngrid_test(redist.desc_fortran TARGET redist_desc_fortran LABELS fortran)

# Under clang -DDYNGRID_SANITIZE=fuzzer,address makes the same file a libFuzzer target; everywhere else our driver runs it shortly.
add_executable(redist_fuzz_descriptor fuzz_descriptor.cpp)
target_link_libraries(redist_fuzz_descriptor PRIVATE redist_private)
if(DYNGRID_SANITIZE MATCHES "fuzzer")
  dyngrid_test(redist.fuzz_descriptor TARGET redist_fuzz_descriptor ARGS -runs=300000 LABELS fuzz)
else()
  target_compile_definitions(redist_fuzz_descriptor PRIVATE DYNGRID_FUZZ_MAIN)
  dyngrid_test(redist.fuzz_descriptor TARGET redist_fuzz_descriptor ARGS 300000 LABELS fuzz)
endif()

# Every public header compiles alone.
foreach(header redist/layout.hpp redist/rank_plan.hpp redist/plan.hpp redist/descriptor.hpp redist/halo.hpp redist/executor.hpp redist/shared_array.hpp
    redist/measure.hpp redist/gemr2d.hpp dyngrid/redist.h)
  string(REGEX REPLACE "[^a-z]" "_" unit "${header}")
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/alone_${unit}.cpp" CONTENT "#include \"@header@\"\n" @ONLY)
  list(APPEND alone "${CMAKE_CURRENT_BINARY_DIR}/alone_${unit}.cpp")
endforeach()
add_library(redist_headers_alone OBJECT ${alone})
target_link_libraries(redist_headers_alone PRIVATE redist)
