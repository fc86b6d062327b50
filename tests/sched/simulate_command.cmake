# SPDX-License-Identifier: BSD-3-Clause
# dyngrid simulate: a table, a CSV file, a picture, recorded jobs, errors.
file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")
function(run expected_status)
  execute_process(COMMAND "${COMMAND}" simulate ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT status EQUAL expected_status)
    message(FATAL_ERROR "simulate ${ARGN}: status ${status}, expected ${expected_status}\n${out}\n${err}")
  endif()
  set(out "${out}" PARENT_SCOPE)
  set(err "${err}" PARENT_SCOPE)
endfunction()
function(need text)
  foreach(part IN LISTS ARGN)
    if(NOT text MATCHES "${part}")
      message(FATAL_ERROR "'${part}' is not in:\n${text}")
    endif()
  endforeach()
endfunction()

run(0 --mix 25:25:50 --utilization 0.2,0.5 --error 5 --threads 1 --csv "${FOLDER}/points.csv" --plot
  "${FOLDER}/it's.svg")
need("${out}" "mix 25:25:50" "ls/rs" "job executions in" "a minute")
file(STRINGS "${FOLDER}/points.csv" lines)
list(LENGTH lines count)
if(NOT count EQUAL 9)
  message(FATAL_ERROR "points.csv has ${count} lines, expected a heading and 8")
endif()
file(READ "${FOLDER}/it's.svg" picture)
need("${picture}" "<svg" "mix 25:25:50" "RS" "utilization" "</svg>")

run(0 --mix 55:25:20 --utilization 0.3 --policy rs --error 5 --json)
string(JSON response GET "${out}" points 0 response_s)
string(JSON converged GET "${out}" points 0 converged)
if(NOT converged OR response LESS 100 OR response GREATER 400)
  message(FATAL_ERROR "response ${response} s, converged ${converged}")
endif()

file(WRITE "${FOLDER}/jobs" "a,0,1 2 4,10,4 2 1,resize=0.5\nb,2.5,1 2 4,10,4 2 1,resize=0.5\n")
run(0 --jobs "${FOLDER}/jobs" --procs 4 --policy ls,rs --json --events)
string(JSON ls GET "${out}" policies 0 response_s) # (10 + 17.5) / 2
string(JSON rs GET "${out}" policies 1 response_s) # (17.5 + 18.5) / 2
if(NOT ls EQUAL 13.75 OR NOT rs EQUAL 18)
  message(FATAL_ERROR "response times ${ls} and ${rs}, expected 13.75 and 18")
endif()

foreach(wrong "--mix;30:30:30" "--policy;fifo" "--utilization;0" "--jobs;/nowhere"
  "--plot;${FOLDER}/x.gif;--mix;25:25:50;--utilization;0.1;--error;50"
    "--serial;1" "--small;5,1" "--error;0")
  run(2 ${wrong})
  string(REGEX MATCHALL "\n" ends "${err}")
  list(LENGTH ends lines_of_error)
  if(NOT lines_of_error EQUAL 1)
    message(FATAL_ERROR "simulate ${wrong}: wanted one line on stderr\n${err}")
  endif()
endforeach()
