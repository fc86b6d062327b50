# SPDX-License-Identifier: BSD-3-Clause
"""DRMS [MoreiraNaik1997]."""
import statistics
from typing import Dict, Iterable, List, NamedTuple

from .lab import Experiment, Lab, Row, over, processes_of, read


class Change(NamedTuple):
    """Medians over the changes of a run from one grid to another."""

    total_s: float
    plan_s: float
    exchange_s: float
    bytes: float
    first_s: float  # the first step afterwards
    steady_s: float  # the others


def reconfigured(lab: Lab, name: str, words: List[str], small: str, large: str, way: str) -> Dict[str, Change]:
    """A program between two grids, to and fro; by the grid that it comes to."""
    table = lab.table(f"{name}-{large}")
    stay = 4
    times = lab.pick(5, 1)
    grids = [(2 * k + 1, large) for k in range(times)] + [(2 * k + 2, small) for k in range(times)]
    changes = ",".join(f"{stay * k}:{grid}" for k, grid in sorted(grids))
    words = [lab.app(name), *words, "--grid", small, "--steps", str(stay * (2 * times + 1)), "--resize-at", changes,
             "--csv", str(table)]
    if way == "slow":
        lab.nodes(processes_of(large), lab.pick(0.02, 0.5), words, way="slow", np=processes_of(small), seconds=500)
    else:
        lab.mpirun(processes_of(small), words)
    lines = read(table)
    result = {}
    for grid in (large, small):
        made = [line for line in lines if line["what"] == "resize" and line["to"] == grid and line["from"] != grid]
        steps = {int(line["step"]): float(line["seconds"]) for line in lines if line["what"] == "step"}
        firsts = [int(line["step"]) for line in made]

        def median(column: str) -> float:
            return statistics.median(float(line[column]) for line in made)

        result[grid] = Change(median("seconds"), median("plan_s"), median("exchange_s"),
                              median("moved_bytes") + median("kept_bytes"),
                              statistics.median(steps[k] for k in firsts),
                              statistics.median(steps[k + j] for k in firsts for j in range(1, stay)))
    return result


def drms(lab: Lab) -> Iterable[Row]:
    def rows_of(program: str, words: List[str], small: str, large: str, way: str) -> Iterable[Row]:
        changes = reconfigured(lab, program, words, small, large, way)
        for start, end in ((small, large), (large, small)):
            case = f"{program}, {processes_of(start)} -> {processes_of(end)}"
            change = changes[end]
            redistribution_s = change.plan_s + change.exchange_s
            yield Row(case, "distributed data", "MB", change.bytes / 2**20, 0)
            yield Row(case, "reconfiguration", "s", change.total_s)
            yield Row(case, "redistribution", "s", redistribution_s)
            yield Row(case, "processes and communicators: part of the reconfiguration", "%",
                      over(redistribution_s, change.total_s), 0)
            yield Row(case, "planning: part of the redistribution", "%", 100 * change.plan_s / redistribution_s, 1)
            yield Row(case, "first step over later ones", "", change.first_s / change.steady_s, 2)
            if way == "slow":
                yield Row(case, "step before over step after", "", changes[start].steady_s / change.steady_s, 2)

    n = str(lab.pick(4096, 256))
    grids = lab.pick([("2x2", "2x4"), ("2x4", "4x4")], [("1x1", "1x2")])
    for small, large in grids:
        yield from rows_of("jacobi", ["--n", n, "--nb", "block", "--sweeps", "1"], small, large, "slow")
    order = str(lab.pick(128, 24))
    for small, large in grids:
        yield from rows_of("adi", ["--n", order], small, large, "")
    for count in lab.pick([2, 4], [2]):
        out = lab.mpirun(count, [lab.app("adi"), "--n", order, "--plain", "--steps", str(lab.pick(40, 6))])
        times = float(out.split("a step takes ")[1].split()[0])
        yield Row(f"adi, {count} processes", "step with resize points above one of MPI alone", "%",
                  100 * (times - 1), 1)


EXPERIMENTS = [
    Experiment(
        "drms-1-7", "DRMS, tables 1 to 7: reconfigurations of jacobi and adi",
        "All processes are on one machine of two cores, and data move in its memory. jacobi is DRMS's JACOBI (two "
        "arrays of 4096 x 4096) on emulated processors of 0.02 GFLOP/s; its 16 -> 32 is left out: 32 processes would "
        "measure the two cores. adi (n = 128, four fields, not slowed) stands for APPBT, APPLU and APPSP: only the "
        "cost of resize points is compared. Published are ratios and parts of printed seconds; the seconds are those "
        "of an SP2 and its network. CHOLESKY, with its sparse columns, has no counterpart among the programs.",
        ("jacobi", "adi"), drms),
]
