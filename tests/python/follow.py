# SPDX-License-Identifier: BSD-3-Clause
"""Matrices of five types, shared objects and arrays follow 2x2 -> 3x3 -> 2x3 -> 1x2 -> 2x2, every element exact."""

import numpy as np

import dyngrid
from dyngrid import Outcome

GRIDS = [(2, 2), (3, 3), (2, 3), (1, 2), (2, 2)]
TYPES = ["f4", "f8", "c8", "c16", "i4"]
M, N = 53, 37


def element(i, j, kind, step):
    """A value of its own for each element, type and step, exact in every type."""
    value = 1.0 * i + 64 * j + step
    return value + 1j * (i - j) if kind.startswith("c") else value


app = dyngrid.Application(*GRIDS[0])
matrices = [dyngrid.Matrix("A" + kind, M, N, kind, 5, 3 + at) for at, kind in enumerate(TYPES)]
transposes = [dyngrid.Matrix("T" + kind, N, M, kind, 4) for kind in TYPES]
state = app.share("state", {"step": 0, "words": ["one"]})
table = app.share("table", np.zeros((3, 4)))
count = app.share("count", 0)
seen = []
app.on_change(lambda: seen.append("before"), lambda: seen.append("after"))


@dyngrid.main
def begin():
    for a, kind in zip(matrices, TYPES):
        a.local[:] = element(*a.indices, kind, 0)
    return "begun"


newcomer = app.is_newcomer
assert begin() == (None if newcomer else "begun")
while state.value["step"] + 1 < len(GRIDS):
    if app.is_first:
        app.request(*GRIDS[state.value["step"] + 1])
    seen.clear()
    outcome = app.resize_point()
    if outcome == Outcome.LEAVE:
        break
    assert outcome == Outcome.RESIZED, (outcome, app.message)
    step = state.value["step"]
    assert seen == (["after"] if newcomer else ["before", "after"]), seen
    newcomer = False
    assert state.value == {"step": step, "words": ["one"] + ["more"] * step}, state.value
    assert count.value == 10 * step and (table.value == step).all(), (count.value, table.value)
    g = app.grid
    assert (g.nprow, g.npcol) == GRIDS[step + 1], g
    last = g.nprow * g.npcol - 1
    is_last = g.myrow * g.npcol + g.mycol == last
    i, j = np.ogrid[:M, :N]
    for a, t, kind in zip(matrices, transposes, TYPES):
        local = a.local
        assert local.dtype == np.dtype(kind) and local.strides[0] == local.itemsize, local.strides
        assert np.array_equal(local, np.broadcast_to(element(*a.indices, kind, step), local.shape)), a
        right = element(i, j, kind, step).astype(kind)
        whole, part, row = a.to_array(last), a[7:20, 3:9].to_array(last), a[-1, :].to_array()
        if is_last:
            assert np.array_equal(whole, right) and np.array_equal(part, right[7:20, 3:9]), a
        else:
            assert whole is None and part is None
        assert np.array_equal(row, right[-1:, :]) if app.is_first else row is None
        # a rectangle from an array in row-major order, and a rectangle without elements
        a[7:20, 3:9].from_array(np.ascontiguousarray(right[7:20, 3:9] * 2) if is_last else None, last)
        a[5:5, :].from_array(np.empty((0, N), kind) if app.is_first else None)
        doubled = a.to_array()
        right[7:20, 3:9] *= 2
        assert doubled is None or np.array_equal(doubled, right), a
        # sums with its transpose, exact in every type
        t.add(2, a, 0, "T")
        a.add(-1, t, beta=3, op="C")
        turned, summed = t.to_array(), a.to_array()
        assert turned is None or np.array_equal(turned, 2 * right.T), a
        assert summed is None or np.array_equal(summed, 3 * right - 2 * right.conj()), a
        # the whole for the next step
        a.from_array(element(i, j, kind, step + 1).astype(kind) if app.is_first else None)
    state.value["step"] += 1
    state.value["words"].append("more")
    count.value += 10
    table.value += 1
if app.is_first:
    print("all elements are right")
app.finalize()
