# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# For tests that look at a running job from outside, sourced under set -euo pipefail with the command in $dyngrid: a
# folder of the test's own, $dir, and a job, process $job_pid with its output in $dir/out. Both are gone at the end.
dir="$(mktemp -d)"
export DYNGRID_RUNTIME_DIR="$dir/run" DYNGRID_HISTORY="$dir/history.jsonl"
job_pid=
end_job() {
  [ -z "$job_pid" ] || { kill -TERM "$job_pid" 2>/dev/null || true; wait "$job_pid" 2>/dev/null || true; }
  job_pid=
}
finish() {
  local status=$?
  end_job
  [ "$status" -eq 0 ] || { echo "--- output of the job"; tail -n 200 "$dir/out" 2>/dev/null || true; } >&2
  rm -rf "$dir"
  exit "$status"
}
trap finish EXIT
fail() { echo "${0##*/}: $*" >&2; exit 1; }
wants() { case "$2" in *"$1"*) ;; *) fail "expected '$1' in: $2" ;; esac; }
# has_status STATUS WORDS COMMAND...: the words are in what it prints, which is in $dir/answer as well
has_status() {
  local expected="$1" words="$2" status=0
  shift 2
  "$@" >"$dir/answer" 2>&1 || status=$?
  [ "$status" -eq "$expected" ] || fail "$*: status $status, expected $expected: $(cat "$dir/answer")"
  wants "$words" "$(cat "$dir/answer")"
}
# until_no_job: waits until `dyngrid ps` has taken away what a killed job left, whose process 0 may outlive mpirun and
# its own connections by a moment
until_no_job() {
  for _ in $(seq 6000); do
    [ "$("$dyngrid" ps 2>/dev/null)" != "no jobs" ] || return 0
    sleep 0.1
  done
  fail "there is a job: $("$dyngrid" ps)"
}
# until_file_has FILE PATTERN: waits for what a program in the background prints there, later than it acts
until_file_has() {
  for _ in $(seq 6000); do
    ! grep -q "$2" "$1" 2>/dev/null || return 0
    sleep 0.1
  done
  fail "expected '$2' in: $(cat "$1")"
}
# until_listed LINE: waits for a line of `dyngrid ps`
until_listed() {
  for _ in $(seq 6000); do
    if grep -q "$1" <<<"$("$dyngrid" ps 2>/dev/null)"; then return 0; fi
    kill -0 "$job_pid" 2>/dev/null || fail "the job did not start"
    sleep 0.1
  done
  fail "no '$1' in: $("$dyngrid" ps)"
}
