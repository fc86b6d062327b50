# SPDX-License-Identifier: BSD-3-Clause
"""Worker processes of dyngrid.linalg: an application of its own, which the program talks to over a socket.

The program writes the arrays into files of a folder in memory and sends each worker the name of the function. Workers
that have nothing to do sleep until the socket has something. Process 0 of the workers reads and writes the files.
"""

import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from multiprocessing.connection import Client, Connection, wait
from typing import Any, List, NoReturn, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from ._application import Application, Outcome
from ._library import Error, Status


def shape_of(workers: int) -> Tuple[int, int]:
    """The most square grid of that number of processes, with at most as many rows as columns."""
    rows = int(workers**0.5)
    while workers % rows:
        rows -= 1
    return rows, workers // rows


class _Progress:
    """A line on standard error: what is done, and for how long."""

    def __init__(self, is_on: Optional[bool], what: str) -> None:
        self._is_on = sys.stderr.isatty() if is_on is None else is_on
        self._what, self._begun, self._step = what, time.monotonic(), ""

    def step(self, name: str) -> None:
        self._step = name
        self.again()

    def again(self) -> None:
        if self._is_on:
            seconds = time.monotonic() - self._begun
            print(f"\r{self._what}: {self._step}, {seconds:.1f} s \033[K", end="", file=sys.stderr, flush=True)

    def done(self) -> None:
        self.step("done")
        if self._is_on:
            print(file=sys.stderr)


class _Pool:
    """The workers of this program. When one fails in any way, all are ended."""

    def __init__(self, grid: Tuple[int, int]) -> None:
        """Starts them; await_start() comes next."""
        command = shutil.which("dyngrid")
        if command is None:
            raise FileNotFoundError(
                "dyngrid is not in PATH; install it with its command (scripts/install DIR --with-command) and set "
                "PATH=DIR/bin:$PATH"
            )
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.mkdtemp(prefix="dyngrid-python-", dir=memory)  # of this user alone
        self.grid = grid
        self.is_busy = True  # answers are to come
        self._connections: List[Connection] = []
        self._in_grid: List[Connection] = []  # the others sleep
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(os.path.join(self.folder, "socket"))
        self._listener.listen(1024)
        self._errors = open(os.path.join(self.folder, "errors"), "w+")
        words = [command, "run", "-np", str(grid[0] * grid[1]), "--grid", f"{grid[0]}x{grid[1]}", "--"]
        self._process = subprocess.Popen(
            [*words, sys.executable, "-m", "dyngrid._workers", self.folder],
            stdin=subprocess.DEVNULL,
            stdout=self._errors,
            stderr=self._errors,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # an interrupt of a notebook's cell is for the notebook
        )

    def await_start(self, progress: _Progress) -> None:
        self._answers(self.grid[0] * self.grid[1], progress)

    def resize(self, grid: Tuple[int, int], progress: _Progress) -> None:
        """Raises Error where the change is refused; the workers are on their old grid then."""
        self._send(("resize", grid))
        self._answers(grid[0] * grid[1], progress)
        self.grid = grid

    def compute(self, message: Tuple[Any, ...], progress: _Progress) -> Any:
        self._send(message)
        return self._answers(len(self._in_grid), progress)

    def _send(self, message: Tuple[Any, ...]) -> None:
        self.is_busy = True
        try:
            for connection in self._in_grid:
                connection.send(message)
        except OSError:
            self.fail("a worker ended")

    def _answers(self, count: int, progress: _Progress) -> Any:
        """Waits for the answers of `count` workers, which are the grid from then on; returns that of process 0.

        An error of one worker, or of all workers of the present grid, is raised when all have answered.
        """
        done: List[Connection] = []
        result = None
        errors: List[BaseException] = []
        while len(done) < count and (not errors or len(done) + len(errors) < len(self._in_grid)):
            for ready in wait([self._listener, *self._connections], 0.5):
                if ready is self._listener:
                    self._connections.append(Connection(self._listener.accept()[0].detach()))
                    continue
                assert isinstance(ready, Connection)
                try:
                    kind, value = ready.recv()
                except (EOFError, OSError):
                    self.fail("a worker ended")
                if kind == "left":
                    self._connections.remove(ready)
                elif kind == "error":
                    errors.append(value)
                else:
                    done.append(ready)
                    result = result or value
            if self._process.poll() is not None:
                self.fail("the workers ended")
            progress.again()
        if not errors:
            self._in_grid = done
        self.is_busy = False  # last: an exception of a signal handler before it ends the workers
        if errors:
            raise errors[0]
        return result

    def fail(self, what: str) -> NoReturn:
        global _pool
        _pool = None
        text = self.end()
        raise Error(Status.SPAWN, f"{what}; they printed: {text[-2000:].strip() or 'nothing'}")

    def end(self) -> str:
        """Returns what the workers printed."""
        for connection in self._connections:
            connection.close()  # a worker whose connection ends, ends
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.terminate()  # dyngrid run ends the others
            self._process.wait()
        self._listener.close()
        self._errors.seek(0)
        text = self._errors.read()
        self._errors.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        return text


_pool: Optional[_Pool] = None
_turn = threading.RLock()  # the workers do one thing at a time; a handler of a signal may be in a call already


def stop() -> None:
    global _pool
    pool, _pool = _pool, None
    if pool:
        pool.end()


atexit.register(stop)


def _let_go() -> None:
    """In a fork of the program: workers, folder and what is under way are its parent's."""
    global _pool, _turn
    pool, _pool, _turn = _pool, None, threading.RLock()
    if pool:
        for connection in pool._connections:
            connection.close()  # or the workers would not notice the end of the parent


os.register_at_fork(after_in_child=_let_go)


def run(
    name: str, workers: int, progress: Optional[bool], arrays: Tuple[NDArray[Any], ...]
) -> Tuple[NDArray[Any], ...]:
    """A function of linalg on this number of workers. Threads take turns."""
    with _turn:
        return _run(name, workers, progress, arrays)


def _run(
    name: str, workers: int, progress: Optional[bool], arrays: Tuple[NDArray[Any], ...]
) -> Tuple[NDArray[Any], ...]:
    global _pool
    if workers < 1:
        raise ValueError(f"workers is {workers}, expected at least 1")
    if _pool is not None and _pool.is_busy:  # in this thread
        raise RuntimeError(f"{name}: a signal handler calls it while the workers compute; call it after that")
    grid = shape_of(workers)
    shapes = tuple(array.shape for array in arrays)
    line = _Progress(progress, f"dyngrid: {name}, {' and '.join('x'.join(map(str, shape)) for shape in shapes)}")
    try:
        if _pool is None:
            line.step(f"starting {workers} workers")
            _pool = _Pool(grid)
            _pool.await_start(line)
        if _pool.grid != grid:
            line.step(f"from {_pool.grid[0]}x{_pool.grid[1]} to {grid[0]}x{grid[1]} workers")
            _pool.resize(grid, line)
        line.step("writing")
        for at, array in enumerate(arrays):
            _write(_pool.folder, f"argument{at}", array)
        line.step(f"computing on {grid[0]}x{grid[1]} workers")
        forms = _pool.compute(("compute", name, shapes, arrays[0].dtype.str), line)
    except BaseException as error:  # any, where a signal handler raises one
        if isinstance(error, KeyboardInterrupt) or (_pool is not None and _pool.is_busy):
            stop()  # what they do cannot be interrupted, and the next call must not get the results of this one
        raise
    line.step("reading")
    results = tuple(_read(_pool.folder, f"result{at}", *form).copy(order="K") for at, form in enumerate(forms))
    line.done()
    return results


def _write(folder: str, name: str, array: NDArray[Any]) -> None:
    """Column-major, as ScaLAPACK has it."""
    if not array.size:
        return
    path = os.path.join(folder, name)
    with open(path, "w+b") as file:
        try:
            os.posix_fallocate(file.fileno(), 0, array.nbytes)  # without it writing to a full disk is a SIGBUS
        except OSError as error:
            disk = os.statvfs(folder)
            raise Error(
                Status.MEMORY,
                f"cannot reserve {array.nbytes} bytes for an array in {folder}, {disk.f_bavail * disk.f_frsize} bytes "
                f"are free there: {error.strerror}; free some, or enlarge its file system (docker run --shm-size)",
            ) from None
    memory = np.memmap(path, array.dtype, "r+", shape=array.shape, order="F")
    memory[:] = array


def _read(folder: str, name: str, shape: Tuple[int, int], dtype: str) -> NDArray[Any]:
    if 0 in shape:
        return np.empty(shape, dtype, order="F")
    return np.memmap(os.path.join(folder, name), dtype, "r", shape=shape, order="F")


# ---- in a worker


def _compute(folder: str, name: str, shapes: Tuple[Tuple[int, int], ...], dtype: str, is_first: bool) -> Any:
    from . import linalg

    arrays = tuple(
        np.asarray(_read(folder, f"argument{at}", shape, dtype)) if is_first else None
        for at, shape in enumerate(shapes)
    )
    try:
        results = linalg._on_grid(name, arrays, shapes, np.dtype(dtype))
        forms = []
        for at, result in enumerate(results):
            if is_first and result is not None:
                _write(folder, f"result{at}", result)
                forms.append((result.shape, result.dtype.str))
    except (Error, ValueError, MemoryError, np.linalg.LinAlgError) as error:  # of _write on one worker, else on all
        return ("error", error)
    return ("done", forms)


def _obey(folder: str, app: Application) -> None:
    """Does what the program sends. Raises EOFError or ConnectionError when the program has ended."""
    outcome = app.resize(1, 1) if app.is_newcomer else Outcome.SAME
    with Client(os.path.join(folder, "socket"), "AF_UNIX") as connection:
        connection.send(("done", None))
        while outcome != Outcome.LEAVE:
            message = connection.recv()
            if message[0] == "compute":
                name, shapes, dtype = message[1:]
                connection.send(_compute(folder, name, shapes, dtype, app.is_first))
                continue
            try:
                outcome = app.resize(*message[1])
                connection.send(("left" if outcome == Outcome.LEAVE else "done", None))
            except Error as error:
                connection.send(("error", error))


def _serve(folder: str) -> None:
    with Application() as app:
        try:
            _obey(folder, app)
        except (EOFError, ConnectionError):
            if app.is_first:  # a program that a signal ended has left its arrays
                shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    _serve(sys.argv[1])
