# SPDX-License-Identifier: BSD-3-Clause
# For tests of one command of dyngrid by cmake -P: COMMAND is the program, FOLDER is emptied, `word` names the command.
file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")
# run(<status> <arguments>...): out and err are what it prints.
function(run expected_status)
  execute_process(COMMAND "${COMMAND}" ${word} ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT status EQUAL expected_status)
    message(FATAL_ERROR "${word} ${ARGN}: status ${status}, expected ${expected_status}\n${out}\n${err}")
  endif()
  set(out "${out}" PARENT_SCOPE)
  set(err "${err}" PARENT_SCOPE)
endfunction()
# need(<text> <expressions>...): each is in it.
function(need text)
  foreach(part IN LISTS ARGN)
    if(NOT text MATCHES "${part}")
      message(FATAL_ERROR "'${part}' is not in:\n${text}")
    endif()
  endforeach()
endfunction()
