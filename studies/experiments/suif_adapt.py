# SPDX-License-Identifier: BSD-3-Clause
"""SUIF-Adapt [MorrisLowenthal2001]."""
import time
from typing import Dict, Iterable, List

from .lab import Experiment, Lab, Row, over, part_of, read, seconds_of


class Loaded:
    """Iterations over n x n cells, on nodes half of which get a competing process."""

    def __init__(self, lab: Lab, nodes: int, rounds: int, steps: int) -> None:
        self.lab, self.nodes, self.rounds, self.steps = lab, nodes, rounds, steps

    def run(self, mode: str, load_at_s: float) -> List[Dict[str, str]]:
        """The record; without competitors where load_at_s is below 0."""
        table = self.lab.table("cells")
        words = self.lab.cells(self.lab.pick(1024, 128), self.rounds, self.nodes, self.steps, mode, table)
        loaded = range(self.nodes // 2, self.nodes) if load_at_s >= 0 else []
        self.lab.nodes(self.nodes, part_of(self.nodes), words, load=[f"{k}:1@{load_at_s:.2f}" for k in loaded])
        return read(table)


def suif_at(lab: Lab) -> Iterable[Row]:
    for nodes in lab.pick([2, 4, 8], [2]):
        cells = Loaded(lab, nodes, 64, lab.pick(100, 20))
        began = time.monotonic()
        free_s = seconds_of(cells.run("advise", -1))
        start_s = time.monotonic() - began - free_s  # of mpirun and the nodes
        for iteration in lab.pick([20, 60, 90], [4]):
            at_s = start_s + free_s * iteration / cells.steps
            fixed, adapted = cells.run("advise", at_s), cells.run("auto", at_s)
            changes = [line for line in adapted if line["what"] == "resize"]
            case = f"{nodes} nodes, competing from iteration {iteration}"
            yield Row(case, "not adapted", "s", seconds_of(fixed), 2)
            yield Row(case, "adapted", "s", seconds_of(adapted), 2)
            yield Row(case, "adapted below not adapted", "%", over(seconds_of(adapted), seconds_of(fixed)), 1)
            yield Row(case, "redistributes", "", "yes" if changes else "no")


def suif_heavy(lab: Lab) -> Iterable[Row]:
    for nodes in lab.pick([2, 4, 8], [2]):
        for name, rounds, steps in (("light", 50, 100), ("medium", 96, 52), ("heavy", 234, 22)):
            cells = Loaded(lab, nodes, rounds, lab.pick(steps, 20))
            half = cells.steps // 2
            fixed, adapted = (seconds_of(cells.run(mode, 0), half) / half for mode in ("advise", "auto"))
            case = f"{nodes} nodes, {name}"
            yield Row(case, "iteration, not adapted", "ms", 1e3 * fixed, 1)
            yield Row(case, "iteration, adapted", "ms", 1e3 * adapted, 1)
            yield Row(case, "adapted below not adapted", "%", over(adapted, fixed), 1)


EXPERIMENTS = [
    Experiment(
        "suif-10", "SUIF-Adapt, figure 10: a competing process on half of the nodes, 100 iterations",
        "2, 4 and 8 emulated nodes; messages instead of pages of shared virtual memory; an iteration is 64 rounds of "
        "work in each of 1024 x 1024 cells and an exchange of borders instead of Jacobi's; competitors come by the "
        "clock, near that iteration, and are seen after a second or two. The figure is a graph: published is what the "
        "text says of it (around 10 %, around 2 %).",
        ("particles",), suif_at),
    Experiment(
        "suif-11", "SUIF-Adapt, figure 11: what an iteration saves, by its amount of computation",
        "As suif-10, with 50, 96 and 234 rounds, which are in the ratio of the published 0.75, 1.44 and 3.51 s; the "
        "second half of the iterations. The figure is a graph.",
        ("particles",), suif_heavy),
]
