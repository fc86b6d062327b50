#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What Python costs: a resize point, and a numpy array to and from a matrix on all processes.

    dyngrid run -np 4 --grid 2x2 -- python3 studies/python/bench_array.py [N]

from_array and to_array stand beside PDELSET and PDELGET for each element, and beside PDGEMR2D between the matrix and a
matrix of process 0, through ctypes and in turns; medians.
"""
import ctypes
import statistics
import sys
import time
from typing import Any, Callable, Dict, List

import dyngrid
import numpy as np

Words = ctypes.c_int * 9
scalapack = dyngrid.library


def by(value: int) -> Any:
    return ctypes.byref(ctypes.c_int(value))


class Beside:
    """The same matrix by ScaLAPACK's routines."""

    def __init__(self, a: dyngrid.Matrix, context: int, n: int, is_root: bool) -> None:
        self.n = n
        self.desc = Words(*[int(word) for word in a.desc[:9]])
        self.local = a.local.ctypes.data_as(ctypes.c_void_p)
        self.all_of_it = context
        rank = (ctypes.c_int * 1)(0)
        one = ctypes.c_int(0)
        scalapack.Cblacs_get(-1, 0, ctypes.byref(one))
        scalapack.Cblacs_gridmap(ctypes.byref(one), rank, 1, 1, 1)
        self.root_desc = Words(1, one.value if is_root else -1, n, n, n, n, 0, 0, n)

    def set_elements(self, array: np.ndarray) -> None:
        for i in range(1, self.n + 1):
            for j in range(1, self.n + 1):
                value = ctypes.c_double(array[i - 1, j - 1])
                scalapack.pdelset_(self.local, by(i), by(j), self.desc, ctypes.byref(value))

    def get_elements(self, array: np.ndarray) -> None:
        value = ctypes.c_double()
        for i in range(1, self.n + 1):
            for j in range(1, self.n + 1):
                scalapack.pdelget_(b"A", b" ", ctypes.byref(value), self.local, by(i), by(j), self.desc)
                array[i - 1, j - 1] = value.value

    def move(self, array: np.ndarray, is_out: bool) -> None:
        there = array.ctypes.data_as(ctypes.c_void_p)
        here = (self.local, by(1), by(1), self.desc)
        root = (there, by(1), by(1), self.root_desc)
        source, target = (here, root) if is_out else (root, here)
        scalapack.pdgemr2d_(by(self.n), by(self.n), *source, *target, by(self.all_of_it))


def median_us(action: Callable[[], Any], times: int) -> float:
    taken: List[float] = []
    for _ in range(times):
        begun = time.perf_counter()
        action()
        taken.append(time.perf_counter() - begun)
    return 1e6 * statistics.median(taken)


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    with dyngrid.Application() as app:
        a = dyngrid.Matrix("A", n, n, np.float64, 64, 64)
        array = np.asfortranarray(np.random.default_rng(1).standard_normal((n, n)))
        copy = np.zeros((n, n), order="F")
        in_python = median_us(app.resize_point, 2000)
        in_c = median_us(scalapack.dyngrid_resize_point, 2000)
        beside = Beside(a, app.context, n, app.is_first)
        rounds: Dict[str, List[float]] = {}
        for _ in range(7):
            for name, action in (
                ("from_array", lambda: a.from_array(array)),
                ("PDGEMR2D to it", lambda: beside.move(array, False)),
                ("to_array", a.to_array),
                ("PDGEMR2D from it", lambda: beside.move(copy, True)),
            ):
                rounds.setdefault(name, []).append(median_us(action, 5))
        rounds["PDELSET"] = [median_us(lambda: beside.set_elements(array), 1)]
        rounds["PDELGET"] = [median_us(lambda: beside.get_elements(copy), 1)]
        is_right = np.array_equal(copy, array)
        if app.is_first:
            print(f"resize point: {in_python:.1f} us in Python, {in_c:.1f} us of it the library's")
            for name, taken in rounds.items():
                print(f"{name}, n = {n}: {statistics.median(taken) / 1000:.3f} ms")
            print("every element is right" if is_right else "WRONG")


main()
