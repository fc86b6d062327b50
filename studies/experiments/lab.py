# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs of this repository on emulated nodes, and reads what they write."""
import csv
import os
import shlex
import statistics
import subprocess
from pathlib import Path
from typing import Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple, TypeVar, Union

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("DYNGRID_BUILD_DIR", ROOT / "build"))
LOADLAB = ROOT / "studies/load/loadlab"
SKIPPED = 77
T = TypeVar("T")


class Skipped(Exception):
    """This machine cannot emulate what an experiment needs."""


class Row(NamedTuple):
    case: str
    quantity: str
    unit: str
    measured: Union[float, str, None]
    digits: int = 3


class Experiment(NamedTuple):
    name: str
    title: str
    differs: str
    targets: Tuple[str, ...]
    run: Callable[["Lab"], Iterable[Row]]


class Lab:
    """Runs programs, and reads what they write."""

    def __init__(self, quick: bool, folder: Path) -> None:
        self.quick = quick
        self.folder = folder

    def pick(self, full: T, quick: T) -> T:
        return quick if self.quick else full

    def output(self, words: List[str], seconds: int, variables: Optional[Mapping[str, str]] = None) -> str:
        """Runs it in a folder of its own. @raise Skipped where the machine cannot emulate its nodes."""
        environment = dict(os.environ, DYNGRID_HISTORY="off", DYNGRID_RUNTIME_DIR=str(self.folder / "run"))
        environment.update(variables or {})
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, env=environment) as run:
            try:
                out, errors = run.communicate(timeout=seconds + 60)
            except BaseException:  # it takes its nodes down when it is asked to end, not when it is killed
                run.terminate()
                run.communicate()
                raise
        if run.returncode == SKIPPED:
            raise Skipped(errors.strip().splitlines()[-1])
        if run.returncode != 0:
            raise RuntimeError(f"{shlex.join(words)}: status {run.returncode}\n{(out + errors)[-2000:]}")
        return out

    def nodes(self, count: int, core: float, words: List[str], load: Iterable[str] = (), way: str = "", np: int = 0,
              beside: Iterable[str] = (), seconds: int = 300, variables: Optional[Mapping[str, str]] = None) -> str:
        """On emulated nodes of this part of a core; where `way` is slow, on processors of this many GFLOP/s."""
        lab = [str(LOADLAB), "--nodes", str(count), "--core", f"{core:.4g}", "--timeout", str(seconds)]
        lab += ["--way", way] if way else []
        lab += ["--np", str(np)] if np else []
        for entry in load:
            lab += ["--load", entry]
        for job in beside:
            lab += ["--beside", job]
        return self.output(lab + ["--"] + words, seconds, variables)

    def cells(self, n: int, rounds: int, processes: int, steps: int, balance: str, table: Path) -> List[str]:
        """A program of n x n cells in which an iteration has `rounds` rounds of work for each cell, and one exchange of
        borders. Unlike a sweep of jacobi, it takes long beside the 5 to 9 ms in which the kernel gives out the nodes'
        parts of a core."""
        return [self.app("particles"), "--n", str(n), "--nb", "1", "--cell-rounds", str(rounds), "--deal", "items",
                "--crowd", "1", "--drift", "0", "--wander", "0", "--grid", f"{processes}x1", "--steps", str(steps),
                "--balance", balance, "--csv", str(table)]

    def mpirun(self, count: int, words: List[str], seconds: int = 300) -> str:
        script = 'source "$0"; mpi_environment; machine_environment >&2; ' \
            'under_timeout "$1" mpirun --oversubscribe ${MPIRUN_PRELOAD[0]:+"${MPIRUN_PRELOAD[@]}"} -np "${@:2}"'
        prefix = ["bash", "-c", script, str(ROOT / "scripts/lib.sh"), str(seconds), str(count)]
        return self.output(prefix + words, seconds)

    def app(self, name: str) -> str:
        return str(BUILD / ("studies" if name.startswith("bench_ampi") else "apps") / name)

    def table(self, name: str) -> Path:
        """A new file for an application's --csv."""
        path = self.folder / f"{name}.csv"
        path.unlink(missing_ok=True)
        return path


def lines_of(text: str) -> List[Dict[str, str]]:
    """The CSV table that ends an output."""
    lines = [line for line in text.splitlines() if "," in line]
    return list(csv.DictReader(lines))


def read(path: Path) -> List[Dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def over(part: float, whole: float) -> float:
    """By how many per cent `part` is below `whole`."""
    return 100 * (1 - part / whole) if whole > 0 else float("nan")


def mean(values: Iterable[float]) -> Optional[float]:
    values = list(values)
    return statistics.mean(values) if values else None


CORES = len(os.sched_getaffinity(0))


def part_of(nodes: int) -> float:
    """So much of a core that all nodes fit into this machine."""
    return min(0.9, 0.9 * CORES / nodes)


def steps_of(path: Path, skip: int = 2) -> float:
    """Mean seconds of the steps but the first ones."""
    return statistics.mean(float(line["seconds"]) for line in read(path)
                           if line["what"] == "step" and int(line["step"]) >= skip)


def seconds_of(record: Iterable[Mapping[str, str]], from_step: int = 0) -> float:
    """Of steps, changes of the grid, and resize points without one, in which loads are exchanged and decided on."""
    return sum(float(line["seconds"]) + float(line["point_s"] or 0) for line in record
               if int(line["step"]) >= from_step)


def processes_of(grid: str) -> int:
    rows, columns = grid.split("x")
    return int(rows) * int(columns)
