# SPDX-License-Identifier: BSD-3-Clause
"""A-MPI [Weatherly2002]."""
import statistics
import sys
from typing import Dict, Iterable, List, NamedTuple

from .lab import Experiment, Lab, ROOT, Row, Skipped, lines_of, mean, over, part_of, steps_of

WAYS = ("equal", "naive", "logical", "physical", "dyngrid")


class Case(NamedTuple):
    nodes: int
    competitors: int
    ratio: float
    seconds: Dict[str, float]
    rows: Dict[str, int]
    removes: bool  # dyngrid's balance sent the loaded process to sleep

    @property
    def name(self) -> str:
        return f"{self.nodes} nodes, {self.competitors} competing, ratio {self.ratio:g}"

    @property
    def removal_is_best(self) -> bool:
        included = [self.seconds["naive"]] + ([] if self.removes else [self.seconds["dyngrid"]])
        return min(self.seconds["logical"], self.seconds["physical"]) < min(included)


def synthetic(lab: Lab, nodes: int, competitors: int, ratios: List[float], more: List[str]) -> List[Case]:
    result = []
    for ratio in ratios:  # each a run of its own: a balance learns from the steps of its run
        words = [lab.app("bench_ampi"), "--ratios", f"{ratio:g}", "--competitors", str(competitors)]
        words += ["--seconds", "0.3", "--settle", "1"] if lab.quick else []
        out = lab.nodes(nodes, part_of(nodes), words + more, load=[f"{nodes - 1}:{competitors}"], seconds=600)
        by_way = {line["way"]: line for line in lines_of(out)}
        result.append(Case(nodes, competitors, ratio, {w: float(by_way[w]["step_s"]) for w in WAYS},
                           {w: int(by_way[w]["rows_of_loaded"]) for w in WAYS},
                           int(by_way["dyngrid"]["processes"]) < nodes))
    return result


def of_cases(cases: List[Case], prefix: str = "") -> Iterable[Row]:
    """Steps of each case, and what A-MPI's thesis says of all of its cases."""
    for case in cases:
        for way in WAYS:
            yield Row(prefix + case.name, f"step, {way}", "ms", 1e3 * case.seconds[way])
        yield Row(prefix + case.name, "naive shares: part of the loaded node", "%", case.rows["naive"] / 10)
        yield Row(prefix + case.name, "shares of the balance: part of the loaded node", "%", case.rows["dyngrid"] / 10)
        yield Row(prefix + case.name, "balance below naive shares", "%",
                  over(case.seconds["dyngrid"], case.seconds["naive"]), 1)
        yield Row(prefix + case.name, "physical below logical removal", "%",
                  over(case.seconds["physical"], case.seconds["logical"]), 1)
    staying = [c for c in cases if not c.removal_is_best]
    leaving = [c for c in cases if c.removal_is_best]
    best = [c for c in cases if c.seconds["dyngrid"] <= 1.03 * min(c.seconds.values())]
    better = [c for c in staying if c.seconds["dyngrid"] < c.seconds["naive"]]
    physical = [c for c in leaving if c.seconds["physical"] < c.seconds["logical"]]
    whole = prefix + "all cases"
    yield Row(whole, "the balance's choice is the best way", "cases", f"{len(best)} of {len(cases)}")
    yield Row(whole, "all nodes remain in the best way", "cases", f"{len(staying)} of {len(cases)}")
    yield Row(whole, "of these: the balance is better than naive shares", "cases", f"{len(better)} of {len(staying)}")
    yield Row(whole, "in these: the balance below naive shares", "%",
              mean(over(c.seconds["dyngrid"], c.seconds["naive"]) for c in better), 1)
    yield Row(whole, "removal is best: physical is better than logical", "cases",
              f"{len(physical)} of {len(leaving)}")
    yield Row(whole, "in these: physical below logical removal", "%",
              mean(over(c.seconds["physical"], c.seconds["logical"]) for c in physical), 1)


def ampi_neighbours(lab: Lab) -> Iterable[Row]:
    cases: List[Case] = []
    for nodes, competitors in lab.pick([(4, 1), (4, 3), (8, 1), (8, 4)], [(2, 2)]):
        cases += synthetic(lab, nodes, competitors, lab.pick([2, 14, 160], [2, 160]), [])
    return of_cases(cases)


def ampi_reduce(lab: Lab) -> Iterable[Row]:
    for where, root in (("root loaded", -1), ("another node loaded", 0)):
        cases: List[Case] = []
        for nodes in lab.pick([4, 8], [2]):
            cases += synthetic(lab, nodes, 1, lab.pick([2, 20, 300], [14]),
                               ["--communication", "reduce", "--root", str(nodes - 1 if root < 0 else 0)])
        yield from of_cases(cases, where + ": ")


def ampi_memory(lab: Lab) -> Iterable[Row]:
    orders = lab.pick(["128", "256"], ["32"])
    words = [lab.app("bench_ampi"), "--memory", ",".join(orders), "--reps", "1" if lab.quick else "3"]
    lines = lines_of(lab.mpirun(2, words))
    names = {"planes": "2-D projection", "contiguous": "all contiguous", "dyngrid": "dyngrid_relayout"}
    for line in lines:
        case = f"{line['n']}, {line['rows']} rows, {names[line['method']]}"
        for phase in ("allocate", "shift", "update"):
            yield Row(case, phase, "s", float(line[f"{phase}_s"]), 4)
    by_method = {(line["n"], line["rows"], line["method"]): line for line in lines}
    for (n, rows, method), line in by_method.items():
        if method != "contiguous":
            continue
        for phase in ("shift", "update"):
            planes_s = float(by_method[n, rows, "planes"][f"{phase}_s"])
            yield Row(f"{n}, {rows} rows", f"{phase}, all contiguous over 2-D projection", "",
                      float(line[f"{phase}_s"]) / max(planes_s, 1e-6), 2)  # seconds are printed with six digits


def ampi_removal(lab: Lab) -> Iterable[Row]:
    orders = lab.pick(["512", "1024", "2048"], ["128"])
    words = [lab.app("bench_ampi"), "--removal", ",".join(orders), "--reps", "1" if lab.quick else "7"]

    def times(out: str) -> Dict[str, float]:
        return {n: statistics.median(float(line["exchange_s"]) for line in lines_of(out) if line["n"] == n)
                for n in orders}

    for nodes in lab.pick([2, 4], [2]):
        free = times(lab.nodes(nodes, part_of(4), words))
        loaded = times(lab.nodes(nodes, part_of(4), words + ["--competitors", "1"], load=[f"{nodes - 1}:1"]))
        links: Dict[str, float] = {}
        try:
            links = times(lab.output([str(ROOT / "scripts/netlab"), "--hosts", str(nodes), "--rate", "100mbit", "--",
                                      "-np", str(nodes), "--map-by", "node"] + words, 300))
        except Skipped as reason:
            print(f"measure: ampi-table-5.2: links of 100 Mbit/s are left out: {reason}", file=sys.stderr)
        for n in orders:
            case = f"{nodes} nodes, n = {n}"
            if n in links:
                yield Row(case, "redistribution, 100 Mbit/s, nothing loaded", "s", links[n], 4)
            yield Row(case, "redistribution in memory, nothing loaded", "s", free[n], 4)
            yield Row(case, "redistribution in memory, node loaded", "s", loaded[n], 4)
            yield Row(case, "loaded over not loaded", "", loaded[n] / free[n], 2)


def ampi_sor(lab: Lab) -> Iterable[Row]:
    nodes = lab.pick(8, 2)
    for n in lab.pick([512, 1024, 2048], [64]):

        def sweep(count: int, speeds: str, load: List[str], steps: int) -> float:
            table = lab.table("sor")
            words = [lab.app("sor"), "--n", str(n), "--nb", "1", "--sweeps", "5", "--steps", str(steps), "--grid",
                     f"{count}x1", "--speeds", speeds, "--csv", str(table)]
            lab.nodes(nodes, part_of(nodes), words, load=load, np=count)
            return steps_of(table) / 5

        steps = lab.pick(30, 8)
        alone, free = sweep(1, "1", [], 8), sweep(nodes, "1", [], steps)
        case = f"{nodes} nodes, n = {n}"
        yield Row(case, "sweep, nothing loaded", "ms", 1e3 * free)
        # computation of all nodes over what a node waits for messages
        yield Row(case, "ratio of computation to communication", "", alone / max(free - alone / nodes, 1e-6), 1)
        for competitors in lab.pick([1, 2, 3], [1]):
            load = [f"{nodes - 1}:{competitors}"]

            def share(part: float) -> str:
                return ",".join(["1"] * (nodes - 1) + [f"{part / (competitors + 1):.6g}"])

            parts = lab.pick([1.0, 0.75, 0.5, 0.25], [1.0])
            included = {part: sweep(nodes, share(part), load, steps) for part in parts}
            removed = sweep(nodes - 1, "1", load, steps)
            case = f"{nodes} nodes, n = {n}, {competitors} competing"
            yield Row(case, "sweep, naive shares", "ms", 1e3 * included[1])
            yield Row(case, "sweep, best of four shares of the loaded node", "ms", 1e3 * min(included.values()))
            yield Row(case, "sweep, loaded node removed", "ms", 1e3 * removed)
            yield Row(case, "removed below included", "%", over(removed, min(included.values())), 1)
            yield Row(case, "removal is best", "", "yes" if removed < min(included.values()) else "no")


def ampi_particles(lab: Lab) -> Iterable[Row]:
    nodes = lab.pick([8], [2])[0]
    n = lab.pick([256], [32])[0]
    for crowd in (50, 10):
        step: Dict[str, float] = {}
        for deal in ("never", "pays"):
            path = lab.table(f"particles-{deal}")
            words = [lab.app("particles"), "--n", str(n), "--grid", f"{nodes}x1", "--crowd", str(crowd), "--deal", deal,
                     "--crowded-rows", str(n // nodes // 2), "--drift", "0", "--wander", "0", "--look", "5",
                     "--steps", "12" if lab.quick else "30", "--csv", str(path)]
            lab.nodes(nodes, part_of(nodes), words)
            step[deal] = steps_of(path, 7)
        case = f"{nodes} nodes, {n} x {n}, {crowd} particles in a cell"
        yield Row(case, "step, equal rows", "ms", 1e3 * step["never"])
        yield Row(case, "step, dealt out anew", "ms", 1e3 * step["pays"])
        yield Row(case, "dealt out anew below equal rows", "%", over(step["pays"], step["never"]), 1)


EXPERIMENTS = [
    Experiment(
        "ampi-5.2", "A-MPI, section 5.2: nearest-neighbour exchange beside competing processes",
        "12 of the 112 cases: 4 and 8 emulated nodes, parts of two cores with real competitors, not machines; three of "
        "the seven ratios; one loaded node (the loads of figure 5.2(c) are in a graph); messages are copied in memory "
        "and their size follows from processor time (at large ratios one element); 8 nodes have 0.22 of a core each. "
        "The best way: within 3 % of the quickest one. A-MPI's figure is beside dyngrid's balance, which may also send "
        "the loaded node to sleep.",
        ("bench_ampi",), ampi_neighbours),
    Experiment(
        "ampi-5.3", "A-MPI, section 5.3: reduction and broadcast beside one competing process",
        "As ampi-5.2. The thesis has graphs only.", ("bench_ampi",), ampi_reduce),
    Experiment(
        "ampi-table-5.1", "A-MPI, table 5.1: allocating, shifting and updating an array of three dimensions",
        "This machine instead of a Pentium III of 550 MHz, so only ratios of the printed seconds are published here. "
        "Order 360, which did not fit into memory there, is left out. dyngrid_relayout has two processes, and the "
        "planes come from the other one.",
        ("bench_ampi",), ampi_memory),
    Experiment(
        "ampi-table-5.2", "A-MPI, table 5.2: redistribution when the loaded node is removed",
        "Hosts of scripts/netlab with links of 100 Mbit/s for the published seconds without load; the rest on parts of "
        "two cores, where data move in memory: there only loaded over not loaded can be compared.",
        ("bench_ampi",), ampi_removal),
    Experiment(
        "ampi-5.5", "A-MPI, section 5.5: red-black SOR with a loaded node, included and removed",
        "8 emulated nodes; 16 would have 0.11 of a core each, and wait for their quota longer than a sweep takes. "
        "Processors and messages are others, so the ratio is compared and not n: published is n = 512, whose ratio is "
        "nearest to that of n = 2048 on two cores of an EPYC. Where the two ratios differ, removal cannot be compared. "
        "Included: the best of four fixed shares instead of successive balancing. The step times are in a graph.",
        ("sor",), ampi_sor),
    Experiment(
        "ampi-5.6", "A-MPI, section 5.6: particles, unbalanced work without competing processes",
        "8 emulated nodes, 256 x 256 cells, our particles, whose crowd stands still here. What 5 instead of 1 cycles "
        "of monitoring bring has no counterpart: dyngrid has no such period.",
        ("particles",), ampi_particles),
]
