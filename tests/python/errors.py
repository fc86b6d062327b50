# SPDX-License-Identifier: BSD-3-Clause
"""Wrong input: the same clear error on every process, and the application goes on. Two processes."""

import numpy as np
from refusals import refused

import dyngrid


refused(dyngrid.Error, "no application is open", lambda: dyngrid.Matrix("A", 4, 4))
with dyngrid.Application(1, 2) as app:
    refused(dyngrid.Error, "an application is open already", lambda: dyngrid.Application(1, 2))
    refused(TypeError, "dtype is float16, expected float32", lambda: dyngrid.Matrix("A", 4, 4, np.float16))
    refused(TypeError, "dtype is >f8", lambda: dyngrid.Matrix("A", 4, 4, ">f8"))
    refused(TypeError, "the name of a matrix is a int", lambda: dyngrid.Matrix(7, 4, 4))
    error = refused(dyngrid.Error, "m", lambda: dyngrid.Matrix("A", -4, 4))
    assert error.status == dyngrid.Status.ARGUMENT, error.status
    a = dyngrid.Matrix("A", 8, 6, mb=2)
    assert refused(dyngrid.Error, '"A"', lambda: dyngrid.Matrix("A", 8, 6)).status < 0
    a.local[:] = 3

    # what process 0 gives is wrong: both processes get the same text
    first = app.is_first
    square = "array is 8 x 8, expected 8 x 6 as Matrix('A', 8, 6, float64) has"
    assert str(refused(ValueError, square, lambda: a.from_array(np.ones((8, 8)) if first else None))).startswith(
        "process 0: "
    )
    refused(ValueError, "astype('float64')", lambda: a.from_array(np.ones((8, 6), np.float32) if first else None))
    refused(ValueError, "is a NoneType, expected a numpy array", lambda: a.from_array(None))

    def no_memory(_):
        raise MemoryError

    by_columns, np.asfortranarray = np.asfortranarray, no_memory
    refused(ValueError, "process 0: no memory for a copy of 8 x 6", lambda: a.from_array(np.ones((8, 6))))
    np.asfortranarray = by_columns
    refused(ValueError, "root is 2, expected 0 to 1", lambda: a.to_array(2))
    refused(IndexError, "rows 0:9 are outside the matrix, which has 8", lambda: a[0:9, :])
    refused(IndexError, "columns 6 is outside", lambda: a[0, 6])
    refused(IndexError, "expected one for rows and one for columns", lambda: a[3])
    refused(ValueError, "step of the rows is 2", lambda: a[::2, :])
    oblong = dyngrid.Matrix("oblong blocks", 8, 8, mb=2, nb=4)
    for _ in range(2):  # the vectors of the first call are gone
        refused(ValueError, "pdsyevd: argument", lambda: dyngrid.linalg.eigh(oblong))
    b = dyngrid.Matrix("B", 8, 6, mb=3)
    k = dyngrid.Matrix("K", 8, 6, np.int32)
    refused(TypeError, "alpha is 1j, expected a number of dtype float64", lambda: b.add(1j, a))
    refused(TypeError, "beta is 0.5, expected a number of dtype int32", lambda: k.add(1, k, 0.5))
    refused(TypeError, "alpha is 'x', expected a number", lambda: b.add("x", a))
    refused(ValueError, "op is 'TT', expected 'N', 'T' or 'C'", lambda: b.add(1, a, op="TT"))
    refused(dyngrid.Error, "transpose is 'X', expected N, T or C", lambda: b.add(1, a, op="X"))
    refused(dyngrid.Error, '"A" is 8 x 6 and "B" 8 x 6, expected 6 x 8', lambda: b.add(1, a, op="T"))
    refused(dyngrid.Error, '"A" is added to itself', lambda: a.add(1, a))
    refused(dyngrid.Error, "of type 'i'", lambda: a.add(1, k))
    refused(dyngrid.Error, "alpha or beta differ", lambda: b.add(1 if first else 2, a))
    assert (b.local == 0).all()
    refused(ValueError, "array with gaps", lambda: app.share("gaps", np.zeros((4, 4))[:, ::2]))
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    refused(ValueError, "read-only array", lambda: app.share("frozen", frozen))
    large = app.share("large", "", capacity=64)
    large.value = "x" * 100
    refused(ValueError, "share it with capacity=", app.resize_point)
    large.value = ""
    refused(dyngrid.Error, "other", lambda: app.unshare("other"))
    refused(dyngrid.Error, "1000", lambda: app.resize(1000, 1000))

    # a change that was requested and is refused: the program goes on
    assert not app.was_refused
    if first:
        app.request(1000, 1000)
    assert app.resize_point() == dyngrid.Outcome.SAME
    assert app.was_refused and "1000" in app.message, app.message
    assert (app.grid.nprow, app.grid.npcol) == (1, 2)
    assert app.resize_point() == dyngrid.Outcome.SAME and not app.was_refused

    # an exception inside a routine of a change is printed, and the change goes on
    app.on_change(before=lambda: 1 / 0)
    assert app.resize(2, 1) == dyngrid.Outcome.RESIZED
    assert (a.local == 3).all() and a.local.size == 24
    a.free()
    a.free()
    refused(dyngrid.Error, "", lambda: a.local)
    if app.is_first:
        print("all errors are right")
