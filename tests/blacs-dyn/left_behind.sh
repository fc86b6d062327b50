# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# For tests of what killed processes leave behind: "ours" are those whose TMPDIR is $folder/tmp.
ours() { grep -alsz -x "TMPDIR=$folder/tmp" /proc/[0-9]*/environ | sed 's|/proc/\([0-9]*\)/.*|\1|'; }
kill_ours() { for pid in $(ours); do kill -KILL "$pid" 2>/dev/null; done; }
# A process that ends has no environment any more when it gives back its memory and, with its last thread, its files.
is_there() {
  awk '/^State:/ { state = $2 } /^Threads:/ { threads = $2 }
    END { exit !(state != "" && (state !~ /[XZ]/ || threads > 1)) }' "/proc/$1/status" 2>/dev/null
}
# until_ours_are_gone [kill]: and have given back what they had; with "kill" it ends them
until_ours_are_gone() {
  local seen='' all pid
  while all=$(ours) && [ -n "$all" ]; do # not all at once: what one starts meanwhile
    seen+=" $all"
    [ "${1:-}" != kill ] || kill -KILL $all 2>/dev/null
    sleep 0.1
  done
  for pid in $seen; do while is_there "$pid"; do sleep 0.1; done; done
}
