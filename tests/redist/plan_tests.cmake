# SPDX-License-Identifier: BSD-3-Clause
# The C test is compiled as C, the Fortran test as Fortran; both have a main of their own and need no GoogleTest.
dyngrid_test_program(redist_desc_c desc_c.c LINK dyngrid::dyngrid)
dyngrid_test(redist.desc_c TARGET redist_desc_c NP 4 LABELS c)

add_executable(redist_desc_fortran desc_fortran.f90)
target_include_directories(redist_desc_fortran PRIVATE "${PROJECT_BINARY_DIR}/mod")
target_link_libraries(redist_desc_fortran PRIVATE test_fortran redist_local stdc++)
dyngrid_test(redist.desc_fortran TARGET redist_desc_fortran LABELS fortran)

# Fuzz targets. With DYNGRID_BUILD_FUZZERS (clang) libFuzzer drives them, built from the sources under test alone, with
# the sanitizers:
#     cmake -B build-fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DDYNGRID_BUILD_FUZZERS=ON
#     ninja -C build-fuzz redist_fuzz_descriptor redist_fuzz_plan && build-fuzz/tests/redist/redist_fuzz_descriptor
#     -max_total_time=300
# Everywhere else drivers of our own run them shortly.
set(fuzzed_descriptor redist/src/desc/descriptor.cpp)
file(GLOB fuzzed_plan RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/redist/src/plan/*.cpp")
list(APPEND fuzzed_plan redist/src/layout.cpp gridmap/src/cost.cpp gridmap/src/payoff.cpp base/src/names.cpp
  base/src/statistics.cpp)
set(rounds_descriptor 300000)
set(rounds_plan 20000)
foreach(what descriptor plan)
  add_executable(redist_fuzz_${what} fuzz_${what}.cpp)
  if(DYNGRID_BUILD_FUZZERS)
    foreach(source gridmap/src/axis.cpp base/src/status.cpp ${fuzzed_${what}})
      target_sources(redist_fuzz_${what} PRIVATE "${PROJECT_SOURCE_DIR}/${source}")
    endforeach()
    target_include_directories(redist_fuzz_${what} PRIVATE "${PROJECT_SOURCE_DIR}/base/include"
      "${PROJECT_SOURCE_DIR}/gridmap/include"
      "${PROJECT_SOURCE_DIR}/redist/include"
      "${PROJECT_SOURCE_DIR}/redist/src")
    target_compile_options(redist_fuzz_${what} PRIVATE -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -O1
      -g1)
    target_link_options(redist_fuzz_${what} PRIVATE -fsanitize=fuzzer,address,undefined)
    target_link_libraries(redist_fuzz_${what} PRIVATE fmt::fmt dyngrid_flags)
    dyngrid_test(redist.fuzz_${what} TARGET redist_fuzz_${what} ARGS -runs=${rounds_${what}} LABELS fuzz)
  else()
    target_link_libraries(redist_fuzz_${what} PRIVATE redist_local_private)
    target_compile_definitions(redist_fuzz_${what} PRIVATE DYNGRID_FUZZ_MAIN)
    dyngrid_test(redist.fuzz_${what} TARGET redist_fuzz_${what} ARGS ${rounds_${what}} LABELS fuzz)
  endif()
endforeach()

# Every public header compiles alone.
foreach(header redist/layout.hpp redist/rank_plan.hpp redist/schedule.hpp redist/plan.hpp redist/descriptor.hpp
  redist/halo.hpp
  redist/executor.hpp redist/exchange.hpp redist/shared_array.hpp
    redist/measure.hpp redist/gemr2d.hpp dyngrid/redist.h dyngrid/halo.h)
  string(REGEX REPLACE "[^a-z]" "_" unit "${header}")
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/alone_${unit}.cpp" CONTENT "#include \"@header@\"\n" @ONLY)
  list(APPEND alone "${CMAKE_CURRENT_BINARY_DIR}/alone_${unit}.cpp")
endforeach()
add_library(redist_headers_alone OBJECT ${alone})
target_link_libraries(redist_headers_alone PRIVATE redist redist_halo)
