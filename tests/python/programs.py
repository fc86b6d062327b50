# SPDX-License-Identifier: BSD-3-Clause
"""Small programs, each run as a user would run it: what it prints and how it ends.

Usage: programs.py MPIRUN WORDS... : mpirun and its options.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile

MPIRUN = sys.argv[1:]


def run(text, processes=2, words=None, status=0, **variables):
    """Runs a program by mpirun, or by the words given; returns what it printed."""
    with tempfile.NamedTemporaryFile("w", suffix=".py", dir=folder, delete=False) as file:
        file.write(text)
    words = [*MPIRUN, "-np", str(processes), sys.executable] if words is None else words
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [*words, file.name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )
    assert (done.returncode == 0) == (status == 0), f"status {done.returncode}: {done.stdout}"
    return done.stdout


def expect(text, *words):
    for word in words:
        assert word in text, f"expected {word!r} in:\n{text}"


def exceptions():
    """One that leaves one process only ends all, with its text and its place."""
    expect(
        run(
            """
import dyngrid
with dyngrid.Application(1, 2) as app:
    if app.grid.mycol == 1:
        raise KeyError("only here")
    app.resize_point()
""",
            status=1,
        ),
        "an exception on process (0, 1) of the 1 x 2 grid ends the job",
        "KeyError: 'only here'",
    )
    expect(
        run("import dyngrid\napp = dyngrid.Application(1, 2)\nif not app.is_first: 1 / 0\napp.finalize()", status=1),
        "ends the job",
        "ZeroDivisionError",
    )
    # sys.exit(0) is an ordinary end, and an exception on a grid of one is Python's own
    run("import sys, dyngrid\nwith dyngrid.Application() as app: sys.exit(0)")
    expect(run("import dyngrid\nwith dyngrid.Application() as app: 1 / 0", 1, status=1), "ZeroDivisionError")


def checkpoints():
    """One is written and restored, and another run continues from it on another grid."""
    program = """
import os, dyngrid
with dyngrid.Application() as app:
    a = dyngrid.Matrix("A", 9, 7, mb=2)
    state = app.share("state", {"step": 0})
    @dyngrid.main
    def begin():
        a.local[:] = 10 * a.indices[0] + a.indices[1]
    begin()
    app.resize_point()
    i, j = a.indices
    assert (a.local == 10 * i + j + state.value["step"]).all(), a.local
    a.local[:] += 1
    state.value["step"] += 1
    app.checkpoint(os.environ["FILE"])
    if app.is_first: print("step", state.value["step"], "on", app.grid[:2])
    a.local[:] = -1
    state.value = None
    app.restore(os.environ["FILE"])
    assert (a.local == 10 * i + j + state.value["step"]).all(), a.local
"""
    path = os.path.join(folder, "state.h5")
    expect(run(program, 2, FILE=path), "step 1 on (1, 2)")
    expect(run(program, 4, FILE=path, DYNGRID_RESTORE=path), "step 2 on (2, 2)")


def outside():
    """A process of mpirun beyond the first grid begins like one that joins later."""
    program = """
import dyngrid, numpy
with dyngrid.Application(1, 2) as app:
    a = dyngrid.Matrix("A", 9, 7, mb=2)
    @dyngrid.main
    def begin():
        a.from_array(numpy.arange(63.0).reshape(9, 7) if app.is_first else None)
        return "begun"
    assert not app.is_newcomer
    assert begin() == (None if app.context < 0 else "begun")
    if app.is_first: app.request(1, 3)
    assert app.resize_point() == dyngrid.Outcome.RESIZED, app.message
    assert app.grid[:2] == (1, 3) and (a.local == 7 * a.indices[0] + a.indices[1]).all(), a.local
    if app.is_first: print("followed")
"""
    expect(run(program, 3), "followed")


def one_block():
    """Eigenvalues of a matrix of one block reach the processes that have nothing of it."""
    program = """
import dyngrid, numpy
with dyngrid.Application(1, 2) as app:
    a = dyngrid.Matrix("A", 16, 16, mb=16)
    a.local[:] = numpy.minimum(*a.indices) + 1
    values, vectors = dyngrid.linalg.eigh(a)
    whole = numpy.minimum.outer(numpy.arange(16), numpy.arange(16)) + 1.0
    assert numpy.allclose(values, numpy.linalg.eigvalsh(whole)), values
    if app.is_first: print("everywhere")
"""
    expect(run(program), "everywhere")


def communicator():
    """That of mpi4py, where it is installed."""
    program = """
import sys, dyngrid
try:
    from mpi4py import MPI
except ImportError:
    print("sum 10"); sys.exit(0)
with dyngrid.Application(2, 2) as app:
    total = app.comm.allreduce(app.comm.rank + 1)
    if app.is_first: print("sum", total)
"""
    expect(run(program, 4), "sum 10")


def launch():
    """A program that starts itself."""
    program = """
import dyngrid
dyngrid.launch(2)
with dyngrid.Application() as app:
    if app.is_first: print("on", app.grid[:2], app.job != "")
"""
    python = [sys.executable]
    expect(run(program, words=python), "on (1, 2) True")
    expect(
        run("import dyngrid\ndyngrid.launch(2)", words=python, status=1, PATH="/nonexistent"),
        "dyngrid is not in PATH; install dyngrid with its command",
    )
    expect(run("import dyngrid\ndyngrid.launch(0)", words=python, status=1), "np is 0, expected at least 1")


def no_library():
    expect(
        run("import dyngrid", words=[sys.executable], status=1, LD_LIBRARY_PATH="/nonexistent"),
        "ImportError: cannot load libdyngrid.so.0.2",
        "scripts/install DIR",
    )


def library_elsewhere():
    source = os.path.dirname(importlib.util.find_spec("dyngrid").origin)
    for name, written in ("lib64", None), ("some/where", "../../../../some/where"):
        tree = os.path.join(folder, "tree_of_" + name.replace("/", "_"))
        package = os.path.join(tree, "lib", "python3", "dist-packages", "dyngrid")
        shutil.copytree(source, package)
        os.makedirs(os.path.join(tree, name))
        os.symlink(
            os.path.join(os.environ["LD_LIBRARY_PATH"].split(":")[0], "libdyngrid.so.0.2"),
            os.path.join(tree, name, "libdyngrid.so.0.2"),
        )
        if written:
            with open(os.path.join(package, "library_folder"), "w") as file:
                print(written, file=file)
        expect(
            run(
                "import dyngrid; print(dyngrid.library._name, dyngrid.__file__)",
                words=[sys.executable],
                PYTHONPATH=os.path.dirname(package),
                LD_LIBRARY_PATH="/nonexistent",
            ),
            f"{name}/libdyngrid.so.0.2 {package}",
        )


with tempfile.TemporaryDirectory() as folder:
    for part in exceptions, checkpoints, outside, one_block, communicator, launch, no_library, library_elsewhere:
        part()
print("all programs are right")
