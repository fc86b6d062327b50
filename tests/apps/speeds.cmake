# SPDX-License-Identifier: BSD-3-Clause
# dyngrid speeds: this host, hosts through a shell that reaches nobody else, a plan, files that are none.
set(word speeds)
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
run(0 --plan 1 --file "${FOLDER}/here.json" --json)
string(JSON processes GET "${out}" hosts 0 processes)
equal("${processes}" 1)

# hosts by a shell: its first argument is the host; "gone" does not answer
file(WRITE "${FOLDER}/shell" "#!/bin/sh\nhost=$1; shift
[ $host != gone ] || { echo no route to host; exit 255; }\n\"$@\"\n")
file(CHMOD "${FOLDER}/shell" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
file(WRITE "${FOLDER}/hosts" "# three\nnode1:1\ngone\nnode2:2\n")
run(1 --hosts "${FOLDER}/hosts" --shell "${FOLDER}/shell" --kernel stream --seconds 0.05 --file "${FOLDER}/all.json")
need("${err}" "not measured: gone .status 255: no route to host")
need("${out}" "node1 +1 " "node2 +2 " "DYNGRID_HOSTS=node1:1:.*,node2:2:")

# a plan from known figures: four cores of speed 2 and eight of speed 1 make eight equal processes
file(WRITE "${FOLDER}/known.json" "{\"kernel\":\"gemm\",\"unit\":\"GFLOP/s\",\"hosts\":[
  {\"name\":\"fast\",\"cores\":4,\"alone\":2,\"full\":2},{\"name\":\"slow\",\"cores\":8,\"alone\":1,\"full\":1},
  {\"name\":\"gone\",\"error\":\"no answer\"}]}")
run(0 --plan 8 --file "${FOLDER}/known.json" --json)
string(JSON hosts GET "${out}" DYNGRID_HOSTS)
equal("${hosts}" "fast:4:2,slow:4:2")
string(JSON threads GET "${out}" hosts 1 threads)
equal("${threads}" 2)

file(WRITE "${FOLDER}/other.json" "{\"hosts\":[{\"name\":\"not-this-one\",\"cores\":4,\"alone\":2,\"full\":2}]}")
file(WRITE "${FOLDER}/none.json" "{\"hosts\":[{\"name\":4}]}")
file(WRITE "${FOLDER}/bad_hosts" "node1:x\n")
foreach(wrong "--plan;13;--file;${FOLDER}/known.json" "--plan;1;--file;${FOLDER}/other.json"
  "--plan;1;--file;${FOLDER}/none.json" "--plan;1;--file;/nowhere" "--hosts;/nowhere;--file;${FOLDER}/x"
  "--hosts;${FOLDER}/bad_hosts;--file;${FOLDER}/x")
  run(2 ${wrong})
endforeach()
run(2 --plan 1 --file "${FOLDER}/other.json")
need("${err}" "is of not-this-one, and this is")
run(1 --kernel false --seconds 0.05 --file "${FOLDER}/x")
need("${err}" "ended with status 1")
