# SPDX-License-Identifier: BSD-3-Clause
import dyngrid

with dyngrid.Application(2, 2) as app:  # a process that joins comes here too
    a = dyngrid.Matrix("A", 60, 60, mb=8)  # lives on the grid and follows it
    b = dyngrid.Matrix("B", 60, 60, mb=8)
    c = dyngrid.Matrix("C", 60, 60, mb=8)
    step = app.share("step", 0)  # processes that join get it

    while step.value < 4 and app.resize_point() != dyngrid.Outcome.LEAVE:  # the grid may change here
        i, j = a.indices  # global indices of the local part
        a.local[:] = (i == j) + 1 / (1 + i + 2 * j + step.value)
        b.local[:] = i - j
        dyngrid.linalg.matmul(a, b, c)  # PDGEMM
        corner = c[59:, 59:].to_array()  # on process 0
        if app.is_first:
            print(f"step {step.value} on {app.grid.nprow} x {app.grid.npcol}: c(n, n) = {corner[0, 0]:.6f}")
        step.value += 1
