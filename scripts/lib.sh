# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: BSD-3-Clause
# Shell functions that the scripts share. Sourced, never run.

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
# absolute, since CMake is configured in another folder
BUILD="$(realpath -ms "${DYNGRID_BUILD_DIR:-$ROOT/build}")"
# root's programs (chroot, debootstrap, tc), which an ordinary user's PATH lacks on Debian
export PATH="$PATH:/usr/sbin:/sbin"
# nproc answers 1 once mpi_environment has set OMP_NUM_THREADS
JOBS="${DYNGRID_JOBS:-$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)}"

# What the library needs on a fresh Debian 12 or 13 or Ubuntu 24.04, to build and to run.
DYNGRID_LIBRARY_PACKAGES=(
  g++ gcc gfortran cmake ninja-build pkg-config
  python3 # the Fortran interfaces are written from the C headers
  openmpi-bin libopenmpi-dev libpmix-dev libscalapack-openmpi-dev libopenblas-dev liblapacke-dev
  libfmt-dev nlohmann-json3-dev liblemon-dev libhdf5-openmpi-dev
  help2man lowdown # manual pages
)
# The applications, the tests and the benchmarks besides.
DYNGRID_PACKAGES=(
  "${DYNGRID_LIBRARY_PACKAGES[@]}"
  libcli11-dev libgtest-dev scalapack-mpi-test gnuplot-nox iproute2 iptables procps python3-numpy
)
# What scripts/format needs besides, the version being part of what "formatted" means, and tests of the Python package.
DYNGRID_DEVELOPER_PACKAGES=(clang-format-14 mypy python3-mpi4py python3-nbclient python3-ipykernel
  python3-pip python3-setuptools python3-wheel)
# What the programs of examples/libraries and their tests need besides; not installed by default. deal.II needs 2 GB.
DYNGRID_LIBRARIES_PACKAGES=(libelpa-dev libmumps-dev libpetsc-real-dev libslepc-real-dev libdeal.ii-dev)
# What the study on simulated hosts (studies/scale) needs besides; not installed by default.
DYNGRID_STUDIES_PACKAGES=(libsimgrid-dev)
# What the preset mpich needs besides; not installed by default.
DYNGRID_MPICH_PACKAGES=(mpich libmpich-dev libscalapack-mpich-dev libhdf5-mpich-dev)
# What scripts/package needs besides; not installed by default.
DYNGRID_PACKAGING_PACKAGES=(dpkg-dev file python3-pip python3-setuptools python3-wheel)
# What scripts/slurmlab and the test slurm.lab need; not installed by default, since on a machine with services they
# start Slurm's.
DYNGRID_SLURM_PACKAGES=(slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge)

say() { printf '%s: %s\n' "${0##*/}" "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }
usage_error() { printf '%s: %s (see --help)\n' "${0##*/}" "$*" >&2; exit 2; }
# number OPTION VALUE: a mistake unless the value is one.
number() { case "$2" in '' | *[!0-9]* | 0*) usage_error "$1 is '$2', expected a number from 1" ;; esac; }

# Names of those packages that are not installed, one per line. Asks dpkg only: no network.
missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] ||
      printf '%s\n' "$package"
  done
}

# Runs a command as root: directly, or through sudo.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; return; fi
  command -v sudo >/dev/null 2>&1 || die "needs root or sudo to run: $*"
  sudo "$@"
}

# Open MPI refuses to run as root without two variables; only root gets them. One BLAS thread per
# process, because a grid has more processes than this machine has cores.
mpi_environment() {
  export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
  # mpirun lets waiting processes give way only when it starts more of them than there are cores; a grid that grows
  # later needs it too
  export OMPI_MCA_mpi_yield_when_idle=1
  export DYNGRID_WAIT="${DYNGRID_WAIT:-on}" # grids change at the steps that are asked for
  if [ "$(id -u)" -eq 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
  # the library says of a variable that is none of its own that it has no effect
  export -n DYNGRID_BUILD_DIR DYNGRID_JOBS DYNGRID_ROOTS
}

# What processes that mpirun starts want on this machine, once it is built: OPENBLAS_CORETYPE where OpenBLAS does not
# know the processor (the decision is that of
# `dyngrid run`), and in MPIRUN_PRELOAD words for mpirun, with which processes that wait sleep. Not into the scripts'
# own environment, and not with DYNGRID_YIELD=off.
MPIRUN_PRELOAD=()
can_preload() { [[ "$BUILD" != *[[:space:]:]* ]]; } # LD_PRELOAD takes no path with a blank or a colon
machine_environment() {
  local lines yield="$BUILD/lib/dyngrid/libdyngrid-yield.so"
  lines="$("$BUILD/apps/dyngrid-blas" 2>/dev/null || true)"
  if [ -n "$lines" ]; then
    say "OpenBLAS does not know this processor: $lines"
    eval "$lines"
  fi
  [ ! -f "$yield" ] || ! can_preload || [ "${DYNGRID_YIELD:-on}" = off ] ||
    MPIRUN_PRELOAD=(-x "LD_PRELOAD=$yield${LD_PRELOAD:+:$LD_PRELOAD}")
}

# configure PRESET BUILD_DIR [cmake options...]
configure() {
  local preset="$1" dir="$2"
  shift 2
  mkdir -p "$dir"
  say "configuring ($preset)"
  (cd "$ROOT" && cmake --preset "$preset" -B "$dir" "$@" >"$dir/configure.log" 2>&1) ||
    { cat "$dir/configure.log" >&2; die "configuring failed"; }
}

# build BUILD_DIR: builds BUILD_TARGETS, an array, or everything.
BUILD_TARGETS=()
build() {
  local dir="$1"
  say "building in $dir"
  cmake --build "$dir" -j "$JOBS" ${BUILD_TARGETS[0]:+--target "${BUILD_TARGETS[@]}"} >"$dir/build.log" 2>&1 ||
    { tail -n 60 "$dir/build.log" >&2; die "building failed; the whole output is in $dir/build.log"; }
}

configure_and_build() {
  configure "$@"
  build "$2"
}

# under_timeout SECONDS COMMAND...: ends a job that hangs, mpirun's processes included. It runs in the background, since
# Ctrl-C does not reach the process group that timeout makes: SIGINT and SIGTERM end it, and then the script.
under_timeout() {
  local seconds="$1" traps before="${!:-}" runner='' status=0
  shift
  traps="$(trap -p INT TERM)"
  # first: a signal may come as soon as the job runs, of which $! knows then
  trap '[ "${!:-}" = "$before" ] || runner=$!; end_with "$runner" INT 130' INT
  trap '[ "${!:-}" = "$before" ] || runner=$!; end_with "$runner" TERM 143' TERM
  timeout --kill-after=10 "$seconds" "$@" <&0 &
  runner=$!
  wait "$runner" || status=$?
  trap - INT TERM
  eval "$traps"
  return "$status"
}

# end_with PID SIGNAL STATUS: ends a background job, if there is one, and this shell. A subshell ends by the signal
# itself, because the shell that waits for it goes on after any other end.
end_with() {
  [ -z "$1" ] || { kill "$1" 2>/dev/null || true; }
  [ -z "$1" ] || wait "$1" || true
  if [ "$BASHPID" -ne $$ ]; then
    trap - "$2"
    kill -s "$2" "$BASHPID"
  fi
  exit "$3"
}

# compare_numbers FIRST SECOND LIMIT: of two outputs, how many lines there are, how many differ in a digit, and by how
# much of the number at most. Status 1 where that is more than LIMIT, or where a word or the number of lines differs.
compare_numbers() {
  awk -v limit="$3" 'function is_number(s) { return s ~ /^[-+]?[0-9]*\.?[0-9]+([EeDd][-+]?[0-9]+)?$/ }
    NR == FNR { line[NR] = $0; lines = NR; next }
    { ++seen
      if ($0 == line[FNR]) next
      count = split(line[FNR], x, " ")
      if (count != NF) { other = 1; next }
      for (k = 1; k <= NF; ++k) {
        if ($k == x[k]) continue
        if (!is_number($k) || !is_number(x[k])) { other = 1; continue }
        a = $k + 0; b = x[k] + 0
        size = a * a > b * b ? a : b; if (size < 0) size = -size
        d = a > b ? a - b : b - a
        if (size > 0 && d / size > most) most = d / size
      }
      ++differing }
    END { if (seen != lines) other = 1
      printf "%d %d %.0e\n", lines, differing, most
      exit other || most > limit }' "$1" "$2"
}

# section NAME SECONDS COMMAND...: runs a benchmark of scripts/bench or studies/bench, which writes NAME.csv into the
# folder $out, beside NAME.log. The arrays sections and failed have the names of all and of those that failed.
sections=() failed=()
section() {
  local name="$1" limit="$2" status=0 begin=$SECONDS
  shift 2
  sections+=("$name")
  say "$name ..."
  rm -f "$out/$name.csv" "$out/$name.skipped"
  under_timeout "$limit" "$@" --csv "$out/$name.csv" >"$out/$name.log" 2>&1 </dev/null || status=$?
  if [ "$status" -eq 77 ]; then
    say "$name: skipped: $(tail -n 1 "$out/$name.log")"
    echo "Skipped: $(tail -n 1 "$out/$name.log")" >"$out/$name.skipped"
    rm -f "$out/$name.csv"
  elif [ "$status" -ne 0 ]; then
    say "$name: FAILED with status $status; its output is in $out/$name.log"
    tail -n 5 "$out/$name.log" >&2
    failed+=("$name")
    { echo "Failed with status $status:"; tail -n 20 "$out/$name.log"; } >"$out/$name.skipped"
    rm -f "$out/$name.csv"
  else
    say "$name: $((SECONDS - begin)) s"
  fi
}
