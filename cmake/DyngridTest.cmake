# SPDX-License-Identifier: BSD-3-Clause
find_package(GTest REQUIRED)

# room for more processes than slots, in the words of Open MPI 4 and of 5
set(DYNGRID_TEST_ROOM OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe)
set(DYNGRID_TEST_ENV OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 ${DYNGRID_TEST_ROOM} OMPI_MCA_mpi_yield_when_idle=1
  DYNGRID_HISTORY=off # the history of the user is not for tests
  DYNGRID_WAIT=on) # changes at exactly the step that is asked for
# As root Open MPI needs two variables. The variables are set for root only.
execute_process(COMMAND id -u OUTPUT_VARIABLE uid OUTPUT_STRIP_TRAILING_WHITESPACE)
if(uid STREQUAL "0")
  list(APPEND DYNGRID_TEST_ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
endif()

set(DYNGRID_YIELD_LIBRARY "")
if(TARGET dyngrid_yield)
  set(DYNGRID_YIELD_LIBRARY "${PROJECT_BINARY_DIR}/lib/dyngrid/libdyngrid-yield.so")
endif()

# One launcher for all tests, with the words of Open MPI's mpirun
if(DYNGRID_MPI_FLAVOUR STREQUAL "mpich")
  set(mpiexec "${MPIEXEC_EXECUTABLE}")
  set(yield_library "${DYNGRID_YIELD_LIBRARY}")
  configure_file("${PROJECT_SOURCE_DIR}/tests/mpirun.mpich.in" "${PROJECT_BINARY_DIR}/tests/mpirun" @ONLY)
  set(DYNGRID_TEST_MPIRUN "${PROJECT_BINARY_DIR}/tests/mpirun")
else()
  set(DYNGRID_TEST_MPIRUN "${MPIEXEC_EXECUTABLE}")
endif()

# One limit for all tests, in seconds: it ends a hang. It is more than ten times what the longest test takes on a quiet
# machine, and no test depends on it. mpirun's own limit comes first, since it ends the whole job.
set(DYNGRID_TEST_LIMIT 1200)
math(EXPR DYNGRID_TEST_MPIRUN_LIMIT "${DYNGRID_TEST_LIMIT} - 60")

# What scripts/test runs without --all.
include("${PROJECT_SOURCE_DIR}/tests/essential.cmake")

# dyngrid_test_folder(): the first line of each folder of tests. Once the folder is read, all of its tests get the
# limit, and those that tests/essential.cmake names get the label essential.
macro(dyngrid_test_folder)
  cmake_language(DEFER CALL dyngrid_finish_tests)
endmacro()
function(dyngrid_finish_tests)
  get_property(tests DIRECTORY PROPERTY TESTS)
  set_tests_properties(${tests} PROPERTIES TIMEOUT ${DYNGRID_TEST_LIMIT})
  foreach(test IN LISTS tests)
    string(REGEX REPLACE "[.]np[0-9]+.*$" "" name "${test}")
    string(REGEX REPLACE "[.].*$" "" room "${test}")
    if(room IN_LIST DYNGRID_ESSENTIAL_ROOMS OR name IN_LIST DYNGRID_ESSENTIAL_TESTS)
      set_property(TEST ${test} APPEND PROPERTY LABELS essential)
    endif()
    set_property(GLOBAL APPEND PROPERTY DYNGRID_TEST_NAMES ${name})
  endforeach()
endfunction()

# Those that run a second time over UCX, which connects processes of different worlds in another way.
include("${PROJECT_SOURCE_DIR}/tests/over_ucx.cmake")
set(DYNGRID_HAS_UCX OFF)
if(DYNGRID_MPI_FLAVOUR STREQUAL "openmpi")
  execute_process(COMMAND ompi_info --parsable --param pml ucx OUTPUT_VARIABLE component ERROR_QUIET)
  if(component MATCHES "mca:pml:ucx:")
    set(DYNGRID_HAS_UCX ON)
  endif()
endif()

# In names of tests: what the processes beyond the first ones are
set(DYNGRID_TEST_BORN spawn)
if(NOT DYNGRID_MPI_CAN_SPAWN)
  set(DYNGRID_TEST_BORN spare)
endif()

# Which of a program's tests stand in these sources: a value for --gtest_filter. Read anew whenever one changes.
function(dyngrid_suites_of result)
  set(suites "")
  foreach(source IN LISTS ARGN)
    get_filename_component(source "${source}" ABSOLUTE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    file(STRINGS "${source}" lines REGEX "^(TYPED_)?TEST(_[FP])?\\(")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^[A-Z_]+\\(([A-Za-z0-9]+),.*" "\\1" suite "${line}")
      if(line MATCHES "^TYPED_TEST\\(")
        list(APPEND suites "${suite}/*")
      elseif(line MATCHES "_P\\(")
        list(APPEND suites "*/${suite}.*" "*/${suite}/*")
      else()
        list(APPEND suites "${suite}.*")
      endif()
    endforeach()
  endforeach()
  if(NOT suites)
    message(FATAL_ERROR "no test in ${ARGN}: all would seem to pass")
  endif()
  list(REMOVE_DUPLICATES suites)
  list(JOIN suites ":" filter)
  set(${result} "--gtest_filter=${filter}" PARENT_SCOPE)
endfunction()

# dyngrid_test_program(<name> <source>... LINK <library>...): a program with a main of its own, for TARGET below.
function(dyngrid_test_program name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${arg_LINK} dyngrid_flags)
endfunction()

# dyngrid_test(<module.behaviour> SOURCES a.cpp ... | COMMAND cmd args...
#              [NP n] [SPAWN k] [MUST_SPAWN] [SANITIZED] [LABELS ...] [LINK ...] [ARGS ...]
#              [ENV A=B ...] [TARGET name] [IN program] [PROCESSORS n] [LOCK lock] [PRINTS pattern])
# IN: the sources belong to a program that several tests share, since a compiler takes them together in half the time;
# each test runs the suites of its own sources. A later dyngrid_test of the same name, without SOURCES, runs them again.
# SANITIZED: a test with NP that CI runs under the sanitizers too (label sanitized); those without NP all are.
# Without NP: a plain GoogleTest program in one process, or a COMMAND without the labels mpi, spawn and app
# (label pure).
# With NP: run by mpirun, with the main of tests/mpi_main.cpp where the sources have none; with SPAWN: k more processes
# are born, and spawn tests take one lock.
# The name gets .npN or .npN_spawnK. SOURCES builds the program (target test_<module_behaviour>, or TARGET); TARGET
# without SOURCES runs one that exists.
# PROCESSORS: of a COMMAND that starts processes itself. It takes the lock LOCK or, with the label spawn, that one.
# PRINTS: what it has to print besides (tests/prints).
# Under an MPI that cannot start processes all n + k are started at once and k of them sleep until they are needed
# (.npN_spareK), but for a test of what is started itself (MUST_SPAWN), which is skipped.
function(dyngrid_test name)
  cmake_parse_arguments(arg "MUST_SPAWN;SANITIZED" "NP;SPAWN;TARGET;IN;PROCESSORS;LOCK;PRINTS"
    "SOURCES;COMMAND;LABELS;LINK;ARGS;ENV" ${ARGN})
  if(arg_IN)
    set(arg_TARGET ${arg_IN})
    dyngrid_suites_of(filter ${arg_SOURCES})
    list(PREPEND arg_ARGS ${filter})
    set_property(GLOBAL PROPERTY DYNGRID_TEST_${name} ${arg_IN} ${filter})
    if(TARGET ${arg_IN})
      target_sources(${arg_IN} PRIVATE ${arg_SOURCES})
      target_link_libraries(${arg_IN} PRIVATE ${arg_LINK})
      set(arg_SOURCES "")
    endif()
  endif()
  get_property(shared GLOBAL PROPERTY DYNGRID_TEST_${name})
  if(shared AND NOT arg_SOURCES AND NOT arg_TARGET)
    list(POP_FRONT shared arg_TARGET)
    list(PREPEND arg_ARGS ${shared})
  endif()
  if(NOT arg_TARGET)
    string(REGEX REPLACE "[^A-Za-z0-9]" "_" arg_TARGET "test_${name}")
  endif()
  if(arg_SOURCES)
    add_executable(${arg_TARGET} ${arg_SOURCES})
    target_link_libraries(${arg_TARGET} PRIVATE ${arg_LINK} GTest::gtest dyngrid_flags)
    if(arg_NP)
      target_link_libraries(${arg_TARGET} PRIVATE test_mpi_main)
    else()
      target_link_libraries(${arg_TARGET} PRIVATE GTest::gtest_main)
    endif()
  endif()
  if(arg_COMMAND)
    set(program ${arg_COMMAND})
  else()
    set(program $<TARGET_FILE:${arg_TARGET}> ${arg_ARGS})
  endif()
  set(prints "")
  if(arg_PRINTS)
    set(prints "${PROJECT_SOURCE_DIR}/tests/prints" "${arg_PRINTS}")
  endif()
  if(arg_NP)
    set(test_name "${name}.np${arg_NP}")
    set(processors ${arg_NP})
    set(started ${arg_NP})
    if(arg_SPAWN)
      math(EXPR processors "${arg_NP}+${arg_SPAWN}")
      if(DYNGRID_MPI_CAN_SPAWN OR arg_MUST_SPAWN)
        string(APPEND test_name "_spawn${arg_SPAWN}")
      else()
        string(APPEND test_name "_spare${arg_SPAWN}")
        set(started ${processors})
        list(APPEND arg_ENV DYNGRID_SPARE=${arg_SPAWN})
      endif()
    endif()
    if(arg_MUST_SPAWN AND NOT DYNGRID_MPI_CAN_SPAWN)
      dyngrid_skipped_test(${test_name})
    else()
      add_test(NAME ${test_name} COMMAND ${prints} ${DYNGRID_TEST_MPIRUN} --oversubscribe
        --timeout ${DYNGRID_TEST_MPIRUN_LIMIT} -np ${started} ${program})
    endif()
    set_tests_properties(${test_name} PROPERTIES PROCESSORS ${processors} LABELS "mpi;${arg_LABELS}")
    if(arg_SPAWN)
      set_tests_properties(${test_name} PROPERTIES RESOURCE_LOCK spawn LABELS "mpi;spawn;${arg_LABELS}")
    endif()
    if(arg_SANITIZED)
      set_property(GLOBAL APPEND PROPERTY DYNGRID_MODULE_TESTS ${arg_TARGET})
      set_property(TEST ${test_name} APPEND PROPERTY LABELS sanitized)
    endif()
  else()
    set(test_name "${name}")
    add_test(NAME ${test_name} COMMAND ${prints} ${program})
    set(labels ${arg_LABELS})
    if(NOT "mpi" IN_LIST labels AND NOT "spawn" IN_LIST labels AND NOT "app" IN_LIST labels)
      list(PREPEND labels pure)
    endif()
    set_tests_properties(${test_name} PROPERTIES LABELS "${labels}")
    if(arg_PROCESSORS)
      set_tests_properties(${test_name} PROPERTIES PROCESSORS ${arg_PROCESSORS})
      if("spawn" IN_LIST arg_LABELS AND NOT arg_LOCK)
        set(arg_LOCK spawn)
      endif()
    endif()
    if(arg_LOCK)
      set_tests_properties(${test_name} PROPERTIES RESOURCE_LOCK ${arg_LOCK})
    endif()
    if(NOT arg_COMMAND AND NOT name MATCHES "^apps")
      set_property(GLOBAL APPEND PROPERTY DYNGRID_MODULE_TESTS ${arg_TARGET})
      set_tests_properties(${test_name} PROPERTIES LABELS "pure;module;${arg_LABELS}")
    endif()
  endif()
  set(environment ${DYNGRID_TEST_ENV})
  if(arg_NP AND DYNGRID_SANITIZE)
    list(APPEND environment ASAN_OPTIONS=detect_leaks=0) # MPI's own
  endif()
  if(arg_NP AND DYNGRID_YIELD_LIBRARY AND DYNGRID_MPI_FLAVOUR STREQUAL "openmpi") # tests/mpirun does it for MPICH
    list(APPEND environment "LD_PRELOAD=${DYNGRID_YIELD_LIBRARY}")
    if(arg_TARGET AND TARGET ${arg_TARGET})
      add_dependencies(${arg_TARGET} dyngrid_yield)
    endif()
  endif()
  # a GoogleTest program passes when no test has the name that it is to run
  set_tests_properties(${test_name} PROPERTIES ENVIRONMENT "${environment};${arg_ENV}" SKIP_RETURN_CODE 77
    FAIL_REGULAR_EXPRESSION "Running 0 tests from 0 test suites")
  if(DYNGRID_HAS_UCX AND test_name IN_LIST DYNGRID_TESTS_OVER_UCX)
    if(arg_COMMAND)
      set(program COMMAND ${arg_COMMAND})
    else()
      set(program TARGET ${arg_TARGET} ARGS ${arg_ARGS})
    endif()
    foreach(what NP SPAWN PROCESSORS LOCK)
      if(arg_${what})
        list(APPEND program ${what} ${arg_${what}})
      endif()
    endforeach()
    if(arg_MUST_SPAWN)
      list(APPEND program MUST_SPAWN)
    endif()
    dyngrid_test(${name}.ucx ${program} LABELS ${arg_LABELS} ENV ${arg_ENV} OMPI_MCA_pml=ucx OMPI_MCA_pml_ucx_tls=any
      OMPI_MCA_pml_ucx_devices=any OMPI_MCA_pml_ucx_progress_iterations=1) # as dyngrid run does
  endif()
endfunction()

# A test that this MPI cannot run: it is there, skipped, and says why.
function(dyngrid_skipped_test name)
  add_test(NAME ${name} COMMAND sh -c
    "echo 'skipped: this MPI cannot start processes or connect to others (see dyngrid doctor)'; exit 77")
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()
