# SPDX-License-Identifier: BSD-3-Clause
# Executors and the drop-in: everything under mpirun.
set(exec_link redist_private MPI::MPI_C)
dyngrid_test(redist.exec_moves SOURCES exec_moves.cpp IN test_redist_mpi NP 4 LINK ${exec_link})
dyngrid_test(redist.exec_moves NP 7)
dyngrid_test(redist.exec_scaled SOURCES exec_scaled.cpp IN test_redist_mpi NP 4 LINK ${exec_link})
dyngrid_test(redist.exec_scaled NP 7)
dyngrid_test(redist.exec_schedules SOURCES exec_schedules.cpp IN test_redist_mpi NP 4 LINK ${exec_link})
dyngrid_test(redist.exec_schedules NP 7)
dyngrid_test(redist.exec_prepared SOURCES exec_prepared.cpp IN test_redist_mpi NP 4 LINK ${exec_link})
dyngrid_test(redist.exec_prepared NP 7)
# Where no process reads another one's memory a large message needs both of its ends.
dyngrid_test(redist.exec_messages_go_on SOURCES exec_messages_go_on.cpp NP 3 LINK ${exec_link} ENV
  OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_smsc=^cma UCX_TLS=posix,sysv,self)
dyngrid_test(redist.gemr2d_stock SOURCES gemr2d_stock.cpp IN test_redist_mpi NP 4 LINK ${exec_link})
dyngrid_test(redist.gemr2d_stock NP 6)
dyngrid_test(redist.gemr2d_listed SOURCES gemr2d_listed.cpp IN test_redist_mpi NP 4 LINK ${exec_link})
dyngrid_test(redist.gemr2d_listed NP 7)
dyngrid_test(redist.gemr2d_contexts SOURCES gemr2d_contexts.cpp IN test_redist_mpi NP 4 LINK ${exec_link})
dyngrid_test(redist.gemr2d_contexts NP 5)
dyngrid_test(redist.exec_memory SOURCES exec_memory.cpp IN test_redist_mpi NP 4 LINK ${exec_link})
dyngrid_test(redist.gemr2d_100000_calls TARGET test_redist_mpi NP 2 ARGS --gtest_filter=*ManyCalls*
  ENV DYNGRID_TEST_CALLS=100000)
dyngrid_test(redist.gemr2d_switched_to_stock TARGET test_redist_mpi NP 4 ARGS --gtest_filter=*FortranNames* ENV
  DYNGRID_EXCHANGE=gemr2d=stock)
foreach(case "lld=LLD of A is 9, expected at least 10" "corner=A: 10 x 10 elements from" "source=B: first process is"
    "listed_lld=LLD of B is 9, expected at least 10" "listed_none=B: redist: descriptor entry 5 .MB_. is 0"
      "listed_many=B: redist: descriptor entry 6 .NB_. is 1073741824"
    "listed_negative=B: redist: descriptor entry 11 .a block size. is -2"
      "listed_zeros=B: redist: descriptor entry 11 .a block size. is 0"
    "wide=B: its descriptor has integers of 8 bytes .ILP64., expected 4"
    "listed_source=B: redist: descriptor entry 8 .CSRC_. is 2" "listed_differ=B: its descriptor or corner differs")
  string(REGEX MATCH "^[a-z_]+" what "${case}")
  string(REGEX REPLACE "^[a-z_]+=" "" message "${case}")
  if(NOT TARGET test_redist_gemr2d_wrong)
    dyngrid_test(redist.gemr2d_wrong_${what} TARGET test_redist_gemr2d_wrong SOURCES gemr2d_wrong.cpp NP 2 LINK
      ${exec_link} ARGS ${what})
  else()
    dyngrid_test(redist.gemr2d_wrong_${what} TARGET test_redist_gemr2d_wrong NP 2 ARGS ${what})
  endif()
  set_tests_properties(redist.gemr2d_wrong_${what}.np2 PROPERTIES PASS_REGULAR_EXPRESSION "PDGEMR2D: ${message}")
endforeach()

dyngrid_test(redist.gemr2d_wrong_listed_for_stock TARGET test_redist_gemr2d_wrong NP 2 ARGS listed_good ENV
  DYNGRID_EXCHANGE=gemr2d=stock)
set_tests_properties(redist.gemr2d_wrong_listed_for_stock.np2 PROPERTIES PASS_REGULAR_EXPRESSION
  "takes no descriptor of DTYPE_ 601")

# The same from C and Fortran.
dyngrid_test_program(redist_moves_c moves_c.c LINK dyngrid::dyngrid)
dyngrid_test(redist.moves_c TARGET redist_moves_c NP 4 LABELS c)

add_executable(redist_moves_fortran moves_fortran.f90)
target_include_directories(redist_moves_fortran PRIVATE "${PROJECT_BINARY_DIR}/mod")
target_link_libraries(redist_moves_fortran PRIVATE test_fortran dyngrid::dyngrid dyngrid_flags MPI::MPI_Fortran)
add_dependencies(redist_moves_fortran redist)
dyngrid_test(redist.moves_fortran TARGET redist_moves_fortran NP 4 LABELS fortran)

# A partner that dies: mpirun may not end the job; each of the three survivors has to say what happened.
dyngrid_test_program(test_redist_exec_partner_dies exec_partner_dies.cpp LINK ${exec_link})
foreach(where exchange agreement background)
  add_test(NAME redist.exec_partner_dies_in_${where}.np4 COMMAND sh -c
    "test 3 = $('${DYNGRID_TEST_MPIRUN}' --oversubscribe --enable-recovery --timeout 600 -np 4 \
'$<TARGET_FILE:test_redist_exec_partner_dies>' ${where} | grep -c ': good')")
  set_tests_properties(redist.exec_partner_dies_in_${where}.np4 PROPERTIES PROCESSORS 4 LABELS mpi
    ENVIRONMENT "${DYNGRID_TEST_ENV}")
endforeach()
