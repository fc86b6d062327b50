# SPDX-License-Identifier: BSD-3-Clause
# dyngrid plan hosts: this host, hosts through a shell that reaches nobody else, a plan, files that are none.
set(word plan hosts)
include("${CMAKE_CURRENT_LIST_DIR}/one_command.cmake")
function(equal text expected)
  if(NOT text STREQUAL expected)
    message(FATAL_ERROR "got ${text}, expected ${expected}")
  endif()
endfunction()

# a measured host: whatever the figures, they are above 0
foreach(kernel gemm stream true)
  run(0 --kernel ${kernel} --seconds 0.05 --file "${FOLDER}/here.json" --json)
  string(JSON alone GET "${out}" hosts 0 alone)
  string(JSON full GET "${out}" hosts 0 full)
  if(NOT alone GREATER 0 OR NOT full GREATER 0)
    message(FATAL_ERROR "${kernel}: ${alone} alone, ${full} on all cores")
  endif()
endforeach()
run(1 --kernel true --seconds 0.01 --file "${FOLDER}/nowhere/here.json") # what took minutes is not lost
need("${err}" "cannot write .*DYNGRID_HOSTS=.+:[0-9]+:[0-9]")
run(0 --procs 1 --file "${FOLDER}/here.json" --json)
string(JSON processes GET "${out}" hosts 0 processes)
equal("${processes}" 1)

# hosts by a shell: its first argument is the host; "gone" does not answer
file(WRITE "${FOLDER}/shell" "#!/bin/sh\nhost=$1; shift
[ $host != gone ] || { echo no route to host; exit 255; }\necho a banner, as of ssh >&2\n\"$@\"\n")
file(CHMOD "${FOLDER}/shell" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
file(WRITE "${FOLDER}/hosts" "# three\nnode1:1\ngone\nnode2:2\n")
run(1 --hosts "${FOLDER}/hosts" --shell "${FOLDER}/shell" --kernel stream --seconds 0.05 --file "${FOLDER}/all.json")
need("${err}" "1 of 3 hosts were not measured: gone .status 255: no route to host")
need("${out}" "node1 +1 " "node2 +2 " "left out +1 of 3 hosts: gone .status 255" "DYNGRID_HOSTS=node1:1:.*,node2:2:")
run(1 --hosts "${FOLDER}/hosts" --shell "${FOLDER}/shell" --kernel stream --seconds 0.05 --file "${FOLDER}/all.json"
  --json)
string(JSON name GET "${out}" left_out 0 name)
equal("${name}" gone)
string(JSON count LENGTH "${out}" left_out)
equal("${count}" 1)
# a path with a blank; the time that each host has
file(MAKE_DIRECTORY "${FOLDER}/a folder")
file(COPY_FILE "${COMMAND}" "${FOLDER}/a folder/dyngrid")
file(WRITE "${FOLDER}/two" "node1:1\nnode2:2\n")
file(WRITE "${FOLDER}/as_ssh" "#!/bin/sh\nshift; echo \"$*\" >'${FOLDER}/words'; exec sh -c \"$*\"\n")
file(CHMOD "${FOLDER}/as_ssh" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
execute_process(COMMAND "${FOLDER}/a folder/dyngrid" plan hosts --hosts "${FOLDER}/two" --shell "${FOLDER}/as_ssh"
  --kernel stream --seconds 0.05 --timeout 7 --file "${FOLDER}/blank.json" COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
file(READ "${FOLDER}/words" words)
need("${words}" "--timeout 7")
# the cores that this command may use, whatever its shell may
execute_process(COMMAND taskset -c 0 "${COMMAND}" plan hosts --kernel true --seconds 0.01 --file "${FOLDER}/x" --json
  OUTPUT_VARIABLE out COMMAND_ERROR_IS_FATAL ANY)
string(JSON cores GET "${out}" hosts 0 cores)
equal("${cores}" 1)
# one that was measured before keeps its speeds when it does not answer
file(WRITE "${FOLDER}/dead" "#!/bin/sh\necho no route to host\nexit 255\n")
file(CHMOD "${FOLDER}/dead" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
run(1 --hosts "${FOLDER}/hosts" --shell "${FOLDER}/dead" --kernel stream --seconds 0.05 --file "${FOLDER}/all.json")
need("${err}" "not measured now, the earlier speeds are kept: node1 .status 255: no route to host., node2 "
  "1 of 3 hosts were not measured: gone")
need("${out}" "DYNGRID_HOSTS=node1:1:.*,node2:2:")
# this host is not asked through a shell, which need not reach it
cmake_host_system_information(RESULT self QUERY HOSTNAME)
file(WRITE "${FOLDER}/this_host" "${self}:1\n")
run(0 --hosts "${FOLDER}/this_host" --shell "${FOLDER}/dead" --kernel stream --seconds 0.05 --file
  "${FOLDER}/self.json")
need("${out}" "DYNGRID_HOSTS=${self}:1:")
file(WRITE "${FOLDER}/this_host" "localhost:1\n")
run(0 --hosts "${FOLDER}/this_host" --shell "${FOLDER}/dead" --kernel stream --seconds 0.05 --file
  "${FOLDER}/self.json")

# a shell that is not there costs no speed that was measured
file(WRITE "${FOLDER}/this_and_other" "localhost:1\nnode1:1\n")
run(1 --hosts "${FOLDER}/this_and_other" --shell "${FOLDER}/no-shell" --kernel stream --seconds 0.05 --file
  "${FOLDER}/no_shell.json")
need("${out}" "DYNGRID_HOSTS=localhost:1:")
need("${err}" "1 of 2 hosts were not measured: node1 .cannot start .*no-shell: No such file")
# nor are processes that cannot be started, for want of descriptors, the end of the command
execute_process(COMMAND sh -c "ulimit -n 20; exec \"$0\" plan hosts --cores 40 --kernel 'sleep 0.3' --file \"$1\""
  "${COMMAND}" "${FOLDER}/x" RESULT_VARIABLE status ERROR_VARIABLE err OUTPUT_QUIET)
if(NOT status EQUAL 1)
  message(FATAL_ERROR "without descriptors: status ${status}, expected 1\n${err}")
endif()
need("${err}" "Too many open files")
# a kernel that takes too long is ended, too, and so is one whose dyngrid was killed
file(WRITE "${FOLDER}/slow" "#!/bin/sh\nfor i in $(seq 600); do echo $i >\"$0.alive\"; sleep 0.1; done\n")
file(CHMOD "${FOLDER}/slow" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
function(need_end)
  execute_process(COMMAND sh -c "[ -e \"$0.alive\" ] && sleep 1 && rm \"$0.alive\" && sleep 1 && [ ! -e \"$0.alive\" ]"
    "${FOLDER}/slow" RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "the kernel was not started, or not ended")
  endif()
endfunction()
run(1 --kernel "${FOLDER}/slow" --timeout 5 --file "${FOLDER}/x")
need("${err}" "one of 1 measuring processes took too long")
need_end()
execute_process(COMMAND timeout 5 "${COMMAND}" plan hosts --kernel "${FOLDER}/slow" --file "${FOLDER}/x")
need_end()

# hosts that were measured from here are this machine's; one that is not among them was not measured
file(WRITE "${FOLDER}/more_hosts" "node2:1\nnew\ngone\n")
run(0 --procs 1 --file "${FOLDER}/all.json")
need("${out}" "left out +2 of 3 hosts: gone .status 255: .*, node[12] .gets no process")
run(0 --procs 1 --hosts "${FOLDER}/more_hosts" --file "${FOLDER}/all.json" --json)
foreach(expected "0;node1;not in --hosts" "1;gone;no route" "2;new;not measured: not in")
  list(GET expected 0 at)
  list(GET expected 1 who)
  list(GET expected 2 reason)
  string(JSON name GET "${out}" left_out ${at} name)
  equal("${name}" ${who})
  string(JSON why GET "${out}" left_out ${at} why)
  need("${why}" "${reason}")
endforeach()
run(2 --procs 2 --hosts "${FOLDER}/more_hosts" --file "${FOLDER}/all.json") # of node2 one core is meant
need("${err}" "2 processes for hosts of 1 cores")

# a plan from known figures: four cores of speed 2 and eight of speed 1 make eight equal processes
file(WRITE "${FOLDER}/known.json" "{\"kernel\":\"gemm\",\"unit\":\"GFLOP/s\",\"hosts\":[
  {\"name\":\"fast\",\"cores\":4,\"alone\":2,\"full\":2},{\"name\":\"slow.domain\",\"cores\":8,\"alone\":1,\"full\":1},
  {\"name\":\"gone\",\"error\":\"no answer\"}]}")
file(WRITE "${FOLDER}/known_hosts" "fast\nslow\ngone\n")
run(0 --procs 8 --file "${FOLDER}/known.json" --hosts "${FOLDER}/known_hosts" --json)
string(JSON hosts GET "${out}" DYNGRID_HOSTS)
equal("${hosts}" "fast:4:2,slow.domain:4:2")
string(JSON threads GET "${out}" hosts 1 threads)
equal("${threads}" 2)
string(JSON name GET "${out}" left_out 0 name)
equal("${name}" gone)

# files of other machines, of one host or of several, are refused
file(WRITE "${FOLDER}/other.json" "{\"hosts\":[{\"name\":\"not-this-one\",\"cores\":4,\"alone\":2,\"full\":2}]}")
file(WRITE "${FOLDER}/none.json" "{\"hosts\":[{\"name\":4}]}")
file(WRITE "${FOLDER}/silent.json" "{\"hosts\":[{\"name\":\"gone\",\"error\":\"no answer\"}]}")
file(WRITE "${FOLDER}/bad_hosts" "node1:x\n")
file(WRITE "${FOLDER}/twice" "node1\nnode2\nnode1:2\n")
foreach(wrong "--procs;13;--file;${FOLDER}/known.json;--hosts;${FOLDER}/known_hosts"
  "--procs;1;--file;${FOLDER}/none.json"
  "--procs;1;--file;/nowhere" "--hosts;/nowhere;--file;${FOLDER}/x" "--hosts;${FOLDER}/bad_hosts;--file;${FOLDER}/x")
  run(2 ${wrong})
endforeach()
run(2 --procs 1 --file "${FOLDER}/other.json")
need("${err}" "is of not-this-one, and this is .*, which is none of them: measure from here.* or name these hosts")
run(2 --procs 8 --file "${FOLDER}/known.json")
need("${err}" "known.json. is of fast, slow.domain, gone, and this is .*, which is none of them")
run(2 --procs 1 --file "${FOLDER}/known.json" --hosts "${FOLDER}/hosts_of_others")
need("${err}" "cannot read")
file(WRITE "${FOLDER}/hosts_of_others" "a\nb\n")
run(2 --procs 1 --file "${FOLDER}/known.json" --hosts "${FOLDER}/hosts_of_others")
need("${err}" "expected speeds of the hosts of .*hosts_of_others.: measure these first")
run(2 --procs 1 --file "${FOLDER}/silent.json" --hosts "${FOLDER}/known_hosts")
need("${err}" "none of 3 hosts can be planned with: gone .no answer.")
run(2 --hosts "${FOLDER}/twice" --file "${FOLDER}/x")
need("${err}" "host node1 is twice")
cmake_host_system_information(RESULT this_host QUERY HOSTNAME)
file(WRITE "${FOLDER}/twice" "localhost\n${this_host}\n")
run(2 --hosts "${FOLDER}/twice" --file "${FOLDER}/x")
need("${err}" "host .*is twice")
run(1 --kernel false --seconds 0.05 --file "${FOLDER}/x")
need("${err}" "ended with status 1")
