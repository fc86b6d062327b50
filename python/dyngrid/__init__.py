# SPDX-License-Identifier: BSD-3-Clause
"""Process grids that grow and shrink while a Python program runs, and matrices that follow.

A program joins the application, makes matrices, and lets the grid change at a resize point::

    import dyngrid

    with dyngrid.Application(2, 2) as app:
        a = dyngrid.Matrix("A", 1000, 1000)
        state = app.share("state", {"step": 0})
        while app.resize_point() != dyngrid.Outcome.LEAVE and state.value["step"] < 10:
            a.local[:] += 1
            state.value["step"] += 1

"Collective" means: all processes of the current grid call it, with the same arguments unless stated otherwise. A
collective call that fails raises the same :class:`Error` on all of them.
"""

from . import linalg
from ._application import Application, Grid, Outcome, Placement, Shared, main, pool
from ._launch import launch
from ._library import Error, Status, library, version
from ._matrix import Matrix, Window

__all__ = [
    "Application",
    "Error",
    "Grid",
    "Matrix",
    "Outcome",
    "Placement",
    "Shared",
    "Status",
    "Window",
    "launch",
    "linalg",
    "library",
    "main",
    "pool",
    "version",
]
__version__ = "0.2.0"
