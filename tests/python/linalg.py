# SPDX-License-Identifier: BSD-3-Clause
"""dyngrid.linalg on numpy arrays against numpy, with workers that grow and shrink. No MPI here."""

import concurrent.futures
import contextlib
import errno
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
from refusals import refused

from dyngrid import Error, Status, _workers, linalg

random = np.random.default_rng(7)


def matrix(m, n, kind):
    a = random.standard_normal((m, n))
    return (a + 1j * random.standard_normal((m, n)) if kind.startswith("c") else a).astype(kind)


def near(a, b, kind):
    bound = 1e-3 if kind in ("f4", "c8") else 1e-10
    return a.shape == b.shape and a.dtype == b.dtype and np.abs(a - b).max() <= bound * max(1, np.abs(b).max())


def check(kind, workers, n=97):
    a, b, c = matrix(n, n, kind), matrix(n, 5, kind), matrix(n, n + 8, kind)
    assert near(a @ linalg.solve(a, b, workers), b, kind)
    assert near(a @ linalg.solve(a, b[:, 0], workers), b[:, 0], kind)
    assert near(linalg.matmul(a, c, workers=workers), a @ c, kind)
    assert near(linalg.matmul(c.T, np.ascontiguousarray(a), workers=workers), c.T @ a, kind)
    h = a @ a.conj().T + n * np.eye(n, dtype=kind)
    assert near(linalg.cholesky(h, workers), np.linalg.cholesky(h), kind)
    factors, pivots = linalg.lu(c, workers)
    permuted = c.copy()
    for i, other in enumerate(pivots):
        permuted[[i, other]] = permuted[[other, i]]
    assert near((np.tril(factors, -1)[:, :n] + np.eye(n, dtype=kind)) @ np.triu(factors), permuted, kind)
    values, vectors = linalg.eigh(h, workers)
    assert np.all(np.diff(values) >= 0) and near(h @ vectors, vectors * values, kind)
    assert near(vectors.conj().T @ vectors, np.eye(n, dtype=kind), kind)


for kind, workers in ("f8", 4), ("c16", 6), ("f4", 2), ("c8", 9), ("f8", 1):
    check(kind, workers)
assert linalg.solve(np.array([[2, 0], [0, 4]]), np.array([2, 2])).tolist() == [1, 0.5]
refused(np.linalg.LinAlgError, "a is singular", lambda: linalg.solve(np.zeros((9, 9)), np.ones(9)))
refused(np.linalg.LinAlgError, "leading minor of order 1", lambda: linalg.cholesky(-np.eye(9)))
refused(ValueError, "a is 3 x 4, expected a square", lambda: linalg.solve(np.ones((3, 4)), np.ones(3)))
refused(ValueError, "b has 4 rows, expected 3", lambda: linalg.solve(np.eye(3), np.ones(4)))
refused(ValueError, "a has 3 dimensions", lambda: linalg.cholesky(np.ones((2, 2, 2))))
refused(TypeError, "dtype is float16", lambda: linalg.cholesky(np.eye(2, dtype="f2")))
refused(ValueError, "workers is 0", lambda: linalg.cholesky(np.eye(2), workers=0))

assert linalg.matmul(np.eye(4), np.ones((4, 0))).shape == (4, 0)

# no room for the arguments, and then for the result, which process 0 of the workers writes
def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def limit_workers(size):
    for process in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{process}/cmdline") as line:
            words = line.read().split("\0")
            if words[0] == sys.executable and _workers._pool.folder in words:
                hard = resource.prlimit(int(process), resource.RLIMIT_FSIZE)[1]
                resource.prlimit(int(process), resource.RLIMIT_FSIZE, (size, hard))


column, product = np.ones((1000, 1)), np.ones((1000, 1000))
assert np.array_equal(linalg.matmul(column, column.T, workers=4), product)
reserve, os.posix_fallocate = os.posix_fallocate, full
error = refused(Error, "cannot reserve 8000 bytes", lambda: linalg.matmul(column, column.T, workers=4))
assert error.status == Status.MEMORY and "bytes are free there: No space left" in str(error), error
os.posix_fallocate = reserve
limit_workers(1 << 20)
error = refused(Error, "cannot reserve 8000000 bytes", lambda: linalg.matmul(column, column.T, workers=4))
assert error.status == Status.MEMORY, error
limit_workers(resource.RLIM_INFINITY)
assert np.array_equal(linalg.matmul(column, column.T, workers=4), product)

# threads take turns
with concurrent.futures.ThreadPoolExecutor(4) as threads:
    ones = np.ones((200, 200))
    factors = range(1, 13)
    products = list(threads.map(lambda factor: linalg.matmul(factor * ones, np.eye(200)), factors))
    assert all(np.array_equal(product, factor * ones) for product, factor in zip(products, factors))

# workers that are killed: the call says so, and the next one starts others
pool = _workers._pool
os.killpg(pool._process.pid, signal.SIGKILL)  # a session of its own
for connection in pool._connections:  # mpirun is gone, and they notice it
    while not connection.poll(1):
        pass
refused(Error, "ended", lambda: linalg.cholesky(np.eye(40)))
assert np.array_equal(linalg.cholesky(np.eye(40)), np.eye(40))

# a cell that is interrupted while workers start, change their grid or compute: they end, and the next call starts
# others. So do those of a call that another exception of a signal handler ends
@contextlib.contextmanager
def signalled(at, number):
    """Sends this program a signal whenever it waits for workers in a step of that name."""
    again = _workers._Progress.again

    def send(line):
        again(line)
        if line._step.startswith(at) and sys._getframe(1).f_code.co_name == "_answers":
            os.kill(os.getpid(), number)

    _workers._Progress.again = send
    try:
        yield
    finally:
        _workers._Progress.again = again


def interrupted(at, call, number=signal.SIGINT, error=KeyboardInterrupt):
    try:
        with signalled(at, number):
            call()
    except error:
        pass
    else:
        raise AssertionError(f"not interrupted: {at}")
    assert _workers._pool is None
    assert not folders(), at
    assert np.array_equal(linalg.cholesky(np.eye(40), workers=2), np.eye(40))


class TooLong(Exception):
    pass


def too_long(*_):
    raise TooLong


def call_again(*_):
    refused(RuntimeError, "cholesky: a signal handler calls it", lambda: linalg.cholesky(np.eye(40)))


# a fork of the program ends: the workers are its parent's
pool = _workers._pool
child = os.fork()
if child == 0:
    sys.exit(0 if _workers._pool is None else 1)  # with its exit handlers
assert os.waitpid(child, 0)[1] == 0
assert np.array_equal(linalg.cholesky(np.eye(40), workers=2), np.eye(40))
assert _workers._pool is pool and pool._process.poll() is None


made, make_folder = [], tempfile.mkdtemp


def note_folder(*words, **options):
    made.append(make_folder(*words, **options))
    return made[-1]


def folders():
    """Those of this program's workers that are there: other programs have theirs beside them."""
    return {name for name in made if os.path.exists(name)}


linalg.stop_workers()
tempfile.mkdtemp = note_folder
interrupted("starting", lambda: linalg.cholesky(np.eye(40), workers=2))
interrupted("from", lambda: linalg.cholesky(np.eye(40), workers=4))
interrupted("computing", lambda: linalg.solve(matrix(700, 700, "f8"), matrix(700, 700, "f8"), workers=2))
signal.signal(signal.SIGUSR1, too_long)
interrupted("from", lambda: linalg.cholesky(np.eye(40), workers=4), signal.SIGUSR1, TooLong)
interrupted("computing", lambda: linalg.cholesky(4 * np.eye(40), workers=2), signal.SIGUSR1, TooLong)
signal.signal(signal.SIGUSR1, call_again)
with signalled("computing", signal.SIGUSR1):
    assert np.array_equal(linalg.cholesky(4 * np.eye(40), workers=2), 2 * np.eye(40))

linalg.stop_workers()
linalg.stop_workers()
assert made and not folders()

# a program that a signal ends, between two calls and while the workers compute: its arrays are removed
for number, ending in (
    (signal.SIGTERM, "os.kill(os.getpid(), signal.SIGTERM)"),
    (signal.SIGKILL, "_workers._Pool._answers = lambda *_: os.kill(os.getpid(), signal.SIGKILL); solve()"),
):
    program = f"""
import os, signal
import numpy as np
from dyngrid import _workers, linalg

def solve():
    linalg.solve(np.eye(300), np.ones(300), workers=2)

solve()
print(_workers._pool.folder, flush=True)
{ending}
"""
    ended = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert ended.returncode == -number and "dyngrid-python" in ended.stdout, ended
    deadline = time.monotonic() + 60
    while os.path.exists(ended.stdout.strip()):
        assert time.monotonic() < deadline, f"{ended.stdout.strip()} was left by a program that ended by {number.name}"
        time.sleep(0.05)
print("all results are right")
