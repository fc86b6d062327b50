#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two pools in Python, of which the second grows, and what Application refuses."""
import ctypes
from ctypes import byref, c_int, c_void_p

import numpy

import dyngrid

mpi = dyngrid.library  # which is linked with it: mpi4py may not be there
mpi.MPI_Comm_c2f.argtypes = [c_void_p]
mpi.MPI_Init(None, None)


def of_mpi(name):
    """A communicator of Open MPI."""
    return c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, name)))


nothing = mpi.MPI_Comm_c2f(of_mpi("ompi_mpi_comm_null"))
pool = dyngrid.pool()
comm = nothing  # what a new process passes does not matter
if not pool:
    world, half = of_mpi("ompi_mpi_comm_world"), c_void_p()
    rank, size = c_int(), c_int()
    mpi.MPI_Comm_rank(world, byref(rank))
    mpi.MPI_Comm_size(world, byref(size))
    pool = str(2 * rank.value // size.value)
    mpi.MPI_Comm_split(world, int(pool), rank, byref(half))
    comm = mpi.MPI_Comm_c2f(half)
    for wrong, name in ((nothing, "a"), (comm, "a/b"), (comm, "")):
        try:
            dyngrid.Application(comm=wrong, pool=name)
            raise SystemExit(f"{name!r} was taken")
        except dyngrid.Error as error:
            assert error.status == dyngrid.Status.ARGUMENT, error
with dyngrid.Application(comm=comm, pool=pool) as app:
    assert dyngrid.pool() == pool
    a = dyngrid.Matrix("a", 9, 7, mb=2, nb=2)
    expected = numpy.arange(63.0).reshape(9, 7) + int(pool)
    if not app.is_newcomer:
        a.from_array(expected)
    for step in range(1 if app.is_newcomer else 0, 2):
        app.resize_point()
        grid = app.grid
        assert grid.nprow * grid.npcol == (4 if step == 1 and pool == "1" else 2), (pool, grid)
        if step == 0 and pool == "1":
            app.request(2, 2)
    found = a.to_array()
    if app.is_first:
        assert (found == expected).all()
        print(f"pool {pool}: right")
mpi.MPI_Finalize()
