# SPDX-License-Identifier: BSD-3-Clause
"""Time adaptation [Arefeen2005]."""
import shlex
from pathlib import Path
from statistics import median
from typing import Dict, Iterable, List, NamedTuple, Tuple

from .lab import Experiment, Lab, Row, over, part_of, read, seconds_of, steps_of

CELLS = {"wing": 128, "t60k": 256, "brack2": 512}  # in each dimension
SHARED_NODES = 16


class Placed(NamedTuple):
    """A job that begins on a node, some time after the first one, to last so long if it were alone."""

    name: str
    processes: int
    first_node: int = 0
    delay_s: float = 0
    alone_s: float = 40


class Overlapped:
    """Jobs at the same time on the same nodes: what each takes, from its first step on."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.part = part_of(SHARED_NODES)
        self.step_s: Dict[Tuple[str, int], float] = {}

    def words(self, job: Placed, steps: int, mode: str, table: Path) -> List[str]:
        n = CELLS[job.name]
        rounds = self.lab.pick(58, 3) * 2**20 // n**2  # as much work for any n
        return self.lab.cells(n, rounds, job.processes, steps, mode, table)

    def steps(self, job: Placed) -> int:
        """As many as it does alone in the time."""
        key = job.name, job.processes
        if key not in self.step_s:
            table = self.lab.table(f"alone-{job.name}")
            self.lab.nodes(SHARED_NODES, self.part, self.words(job, 10, "off", table), np=job.processes)
            self.step_s[key] = steps_of(table)
        return max(10, round((2 if self.lab.quick else job.alone_s) / self.step_s[key]))

    def seconds(self, jobs: List[Placed], mode: str) -> List[float]:
        """mode: auto, or advise, which lays out the matrices alike and never adapts."""
        tables = [self.lab.table(f"{k}-{job.name}") for k, job in enumerate(jobs)]
        words = [self.words(job, self.steps(job), mode, table) for job, table in zip(jobs, tables)]
        beside = [f"{job.first_node}:{job.processes}@{job.delay_s:g} {shlex.join(line)}"
                  for job, line in zip(jobs[1:], words[1:])]
        self.lab.nodes(SHARED_NODES, self.part, words[0], np=jobs[0].processes, beside=beside, seconds=500)
        return [seconds_of(read(table)) for table in tables]


def overlapped(lab: Lab, pairs: List[Tuple[str, str]], overlaps: List[int], processes: int,
               is_inside: bool) -> Iterable[Row]:
    """Two jobs, some processes of which share nodes. is_inside: the second job has no others."""
    runs = Overlapped(lab)
    for first, second in pairs:
        alone = runs.seconds([Placed(first, processes)], "advise")[0]
        for overlap in overlaps:
            mine = Placed(first, processes)
            count = overlap if is_inside else processes
            other = Placed(second, count, processes - overlap, 1 if lab.quick else 12, 20)
            fixed = runs.seconds([mine, other], "advise")
            adapted = runs.seconds([mine, other], "auto")
            case = f"{first} and {second}, {processes} processes, {overlap} overlapped"
            yield Row(case, "first job, not adapted", "s", fixed[0], 2)
            yield Row(case, "first job, adapted", "s", adapted[0], 2)
            yield Row(case, "first job, not adapted over alone", "", fixed[0] / alone, 2)
            yield Row(case, "first job, adapted below not adapted", "%", over(adapted[0], fixed[0]), 1)
            yield Row(case, "second job, not adapted", "s", fixed[1], 2)
            yield Row(case, "second job, adapted", "s", adapted[1], 2)
            yield Row(case, "second job, adapted below not adapted", "%", over(adapted[1], fixed[1]), 1)


def time_pairs(lab: Lab) -> Iterable[Row]:
    pairs = [("wing", "t60k"), ("brack2", "t60k"), ("brack2", "wing")]
    return overlapped(lab, lab.pick(pairs, pairs[:1]), lab.pick([8, 4, 2], [2]), lab.pick(8, 4), False)


def time_inside(lab: Lab) -> Iterable[Row]:
    pairs = [("t60k", "wing"), ("wing", "t60k"), ("brack2", "t60k")]
    return overlapped(lab, lab.pick(pairs, pairs[:1]), lab.pick([16, 8, 4, 2], [2]), lab.pick(16, 4), True)


def time_three(lab: Lab) -> Iterable[Row]:
    runs = Overlapped(lab)
    jobs = [Placed("t60k", 8, 0, 0, 50), Placed("wing", 8, 4, 1 if lab.quick else 15, 20),
            Placed("brack2", 8, 12, 2 if lab.quick else 23, 10)]
    modes = ["advise", "auto"]
    rounds = [[runs.seconds(jobs, mode) for mode in modes] for _ in range(lab.pick(5, 1))]  # in turns
    fixed, adapted = ([median(times) for times in zip(*(one[k] for one in rounds))] for k in range(len(modes)))
    for job, before, after in zip(jobs, fixed, adapted):
        yield Row(job.name, "not adapted", "s", before, 2)
        yield Row(job.name, "adapted", "s", after, 2)
        yield Row(job.name, "adapted below not adapted", "%", over(after, before), 1)


EXPERIMENTS = [
    Experiment(
        "time-5-10", "Time adaptation, tables 5 to 10: two jobs of 8 processes, some on the same nodes",
        "16 emulated nodes of 0.11 of a core. Jobs of 40 and 20 s over 128 x 128 (wing), 256 x 256 (t60k) and 512 x "
        "512 cells (brack2), with the same work in an iteration, instead of graph problems, whose part of computation "
        "they do not have. Both jobs adapt when their load monitors see the other one, within two seconds; no "
        "directory says it. No partition from scratch.",
        ("particles",), time_pairs),
    Experiment(
        "time-11-13", "Time adaptation, tables 11 to 13: a job of 16 processes and a smaller one inside",
        "As time-5-10. The second job, which has loaded nodes only, may adapt, too.",
        ("particles",), time_inside),
    Experiment(
        "time-14", "Time adaptation, table 14: a job whose overlap grows to 8 nodes and shrinks again",
        "As time-5-10: t60k of 50 s, wing of 20 s after 15 s, brack2 of 10 s after 23 s; medians of five runs "
        "in turns. The costs of the single changes, in seconds of other data and machines, are left out.",
        ("particles",), time_three),
]
