# SPDX-License-Identifier: BSD-3-Clause
# workload_simulator: a table, a CSV file, a picture, recorded jobs, errors.
set(word "") # it has no sub-commands
include("${CMAKE_CURRENT_LIST_DIR}/../../tests/apps/one_command.cmake")

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

# a trace: counted, written and read again, all policies; the schedule of the first two is worked out in sched.traces
set(rest "-1 -1 -1 -1 -1 -1 -1")
file(WRITE "${FOLDER}/trace.swf" "; MaxProcs: 10\n1 0 -1 10 6 -1 -1 6 10 -1 1 ${rest}
2 1 -1 10 8 -1 -1 8 10 -1 1 ${rest}
3 2 -1 7 2 -1 -1 2 7 -1 1 ${rest}\n4 3 -1 7 4 -1 -1 4 7 -1 1 ${rest}\n5 4 -1 20 2 -1 -1 2 20 -1 1 ${rest}
6 5 -1 30 3 -1 -1 3 30 -1 1 ${rest}\n7 5 -1 30 99 -1 -1 99 30 -1 1 ${rest}\n")
run(0 --swf "${FOLDER}/trace.swf" --policy easy,conservative,rs --json --csv "${FOLDER}/trace.csv" --plot
  "${FOLDER}/trace.svg" --write-swf "${FOLDER}/again.swf")
string(JSON most GET "${out}" policies 0 classes 0 wait_s max)
string(JSON left_out GET "${out}" remarks 0 left_out)
string(JSON first_line GET "${out}" remarks 0 first_line)
if(NOT most EQUAL 17 OR NOT left_out OR NOT first_line EQUAL 8)
  message(FATAL_ERROR "longest wait ${most} s, expected 17; line ${first_line} left out, expected 8\n${out}")
endif()
file(STRINGS "${FOLDER}/trace.csv" lines)
list(LENGTH lines count)
if(NOT count EQUAL 7) # a heading; all and 2-9 for each policy
  message(FATAL_ERROR "trace.csv has ${count} lines, expected 7")
endif()
run(0 --swf "${FOLDER}/again.swf" --policy easy)
need("${out}" "6 jobs on 10 processors" "bounded slowdown")
run(0 --synthetic lublin --jobs 2000 --procs 1000 --load 0.7 --malleable 0.5 --policy rs,easy --speedup downey:1:0.5
  --finish-by 2:4)
need("${out}" "2 000 jobs on 1 000 processors, load 0.700" "malleable")
file(WRITE "${FOLDER}/bad.swf" "; MaxProcs: 10\n1 0 -1 10 6\n")
run(2 --swf "${FOLDER}/bad.swf")
need("${err}" "line 2 of .*bad.swf has 5 fields")

# all that makes work has a bound
foreach(endless "--error;0.01" "--max-jobs;10000000000" "--warm-up;10000000000" "--threads;1000000"
  "--synthetic;lublin;--jobs;10000001")
  run(2 ${endless})
  list(GET endless -1 value)
  need("${err}" "${value}.* (not in range|expected)")
endforeach()
string(REPEAT "25:25:50," 200 mixes)
run(2 --mix ${mixes})
need("${err}" "200 mixes, 8 utilizations and 4 policies are 6400 simulations, expected at most 1000")
string(REPEAT "0.5," 1025 utilizations)
run(2 --utilization ${utilizations}1)
need("${err}" "got more than 1024 numbers")

foreach(wrong "--swf;/nowhere" "--synthetic;lublin" "--synthetic;downey;--jobs;0"
  "--synthetic;lublin;--jobs;9;--procs;4" "--swf;${FOLDER}/trace.swf;--policy;fifo"
  "--swf;${FOLDER}/trace.swf;--speedup;fast"
  "--finish-by;2:4" "--load;0.7" "--malleable;0.5" "--speedup;linear" "--estimates;5" "--resize-seconds;3"
  "--write-swf;${FOLDER}/none.swf"
  "--swf;${FOLDER}/trace.swf;--finish-by;4:1" "--mix;30:30:30" "--policy;fifo" "--utilization;0" "--jobs;/nowhere"
  "--plot;${FOLDER}/x.gif;--mix;25:25:50;--utilization;0.1;--error;50"
    "--serial;1" "--small;5,1" "--error;0")
  run(2 ${wrong})
  string(REGEX MATCHALL "\n" ends "${err}")
  list(LENGTH ends lines_of_error)
  if(NOT lines_of_error EQUAL 1)
    message(FATAL_ERROR "workload_simulator ${wrong}: wanted one line on stderr\n${err}")
  endif()
endforeach()
