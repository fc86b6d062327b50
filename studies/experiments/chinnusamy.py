# SPDX-License-Identifier: BSD-3-Clause
"""The thesis on resizing [Chinnusamy2004]."""
import math
import statistics
from typing import Dict, Iterable, List, Tuple

from .lab import Experiment, Lab, Row, processes_of, read


def thesis_shapes(lab: Lab) -> Iterable[Row]:
    grids = lab.pick(["3x3", "4x3", "3x4", "6x2", "2x6", "12x1", "1x12", "7x2", "2x7"], ["1x2", "2x1"])
    gflops = lab.pick(0.1, 0.5)
    for name in ("pdgetrf", "pdgemm"):
        words = [lab.app(name), "--n", str(lab.pick(1200, 128)), "--nb", "32", "--steps", "2"]
        times: Dict[str, List[float]] = {grid: [] for grid in grids}
        for _ in range(lab.pick(3, 1)):
            for grid in grids:
                table = lab.table(name)
                count = processes_of(grid)
                lab.nodes(count, gflops, words + ["--grid", grid, "--csv", str(table)], way="slow")
                steps = [float(line["seconds"]) for line in read(table) if line["what"] == "step"]
                # of a factorization all panels, without the solution; of products the second one
                times[grid].append(sum(steps[:-1]) if name == "pdgetrf" else steps[-1])
        seconds = {grid: statistics.median(several) for grid, several in times.items()}
        for grid in grids:
            yield Row(f"{name}, {grid}", "seconds", "s", seconds[grid])
            yield Row(f"{name}, {grid}", f"over {grids[0]}", "", seconds[grid] / seconds[grids[0]], 2)


def thesis_growth(lab: Lab) -> Iterable[Row]:
    grids = lab.pick(["5x5", "6x6", "7x7", "8x8"], ["1x1", "1x2"])
    stay = 3
    changes = ",".join(f"{stay * k}:{grid}" for k, grid in enumerate(grids) if k > 0)
    # All processes are there from the start, and sleep: what starting them takes is no part of these tables. With more
    # than 16 processes a core Linux 6.18 now and then keeps one that starts from running for minutes.
    spare = processes_of(grids[-1]) - processes_of(grids[0])
    variables = {"DYNGRID_DECIDE": "per-core=0,undo=off", "DYNGRID_SPARE": str(spare)}
    # processors so slow that the real work of all of them fits into two cores
    programs = [("life", 4200, 0.01, ["--distribution", "block", "--generations", "1"]),
                ("pdgemv", 4200, 0.0025, ["--nb", "block"]), ("pdgemm", 840, 0.02, ["--nb", "block"])]
    for name, n, gflops, more in programs:
        steps: Dict[str, List[float]] = {grid: [] for grid in grids}
        exchange: Dict[Tuple[str, str], List[float]] = {}
        for _ in range(lab.pick(3, 1)):
            for placement in ("global", "local1", "local2"):
                table = lab.table(name)
                words = [lab.app(name), "--n", str(n if not lab.quick else 128), "--grid", grids[0], "--steps",
                         str(stay * len(grids)), "--resize-at", changes, "--placement", placement, "--csv", str(table)]
                lab.nodes(processes_of(grids[-1]), lab.pick(gflops, 0.5), words + more, way="slow", variables=variables)
                for line in read(table):
                    if line["what"] == "resize":
                        exchange.setdefault((line["to"], placement), []).append(float(line["exchange_s"]))
                    elif int(line["step"]) % stay > 0:
                        steps[line["to"]].append(float(line["seconds"]))
        step_s = {grid: statistics.median(several) for grid, several in steps.items()}
        for before, after in zip(grids, grids[1:]):
            case = f"{name}, {before} -> {after}"
            saved_s = step_s[before] - step_s[after]
            moved_s = {p: statistics.median(exchange[after, p]) for p in ("global", "local1", "local2")}
            yield Row(case, "step before", "s", step_s[before])
            yield Row(case, "step before over step after", "", step_s[before] / step_s[after], 2)
            for placement, seconds in moved_s.items():
                payoff = str(math.ceil(seconds / saved_s)) if saved_s > 0 else "never"
                yield Row(case, f"redistribution, {placement}", "s", seconds, 4)
                yield Row(case, f"payoff point, {placement}", "steps", payoff)
                yield Row(case, f"resize cost, {placement}", "steps", str(math.ceil(seconds / step_s[after])))
            for placement in ("local1", "local2"):
                yield Row(case, f"redistribution, global above {placement}", "%",
                          100 * (moved_s["global"] / moved_s[placement] - 1), 0)


EXPERIMENTS = [
    Experiment(
        "thesis-5.1-5.2", "Chinnusamy, tables 5.1 and 5.2: shapes of grids of 9, 12 and 14 processors",
        "Emulated processors of 0.1 GFLOP/s, n = 1200 instead of 9000, messages in memory of one machine. Published: "
        "the row N = 9000, printed seconds over those of 3 x 3.",
        ("pdgetrf", "pdgemm"), thesis_shapes),
    Experiment(
        "thesis-5.3-5.12", "Chinnusamy, tables 5.3 to 5.12: growth on block-distributed data",
        "25 to 64 emulated processors on two cores, which sleep until a grid has them: steps are emulated (0.0025 "
        "to 0.02 GFLOP/s), the redistribution is in memory and takes the two cores. n = 4200 (life, pdgemv) and 840 "
        "(pdgemm). Published: N = 42000, ratios of printed seconds. The thesis does not say which local placement it "
        "has; Local2 is assumed. Payoff points and costs depend on the network and are not compared.",
        ("life", "pdgemv", "pdgemm"), thesis_growth),
]
