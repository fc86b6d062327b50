# SPDX-License-Identifier: BSD-3-Clause
"""The application that a process belongs to, and state that all processes have."""

import ctypes
import enum
import functools
import os
import pickle
import sys
import traceback
from types import TracebackType
from typing import Any, Callable, Dict, Generic, List, NamedTuple, Optional, Type, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _library
from ._library import Error, Report, Status, check, encoded, library

T = TypeVar("T")


class Outcome(enum.IntEnum):
    """What a call that may change the grid did."""

    SAME = 0  #: nothing changed; a change that was refused or failed included
    RESIZED = 1  #: on a new grid, or a checkpoint was restored: local arrays and shared objects are new
    LEAVE = 2  #: this process is no longer part of the application
    REDIRECT = 3  #: the others wait at another resize point


class Placement(enum.IntEnum):
    """Positions of the old processes in a new grid."""

    OPTIMAL = 0  #: the most elements stay where they are
    GLOBAL = 1
    LOCAL1 = 2
    LOCAL2 = 3


class Grid(NamedTuple):
    """Shape of the current grid and the position of this process; -1 outside the grid."""

    nprow: int
    npcol: int
    myrow: int
    mycol: int


class Shared(Generic[T]):
    """An object that is equal on all processes; processes that join get it.

    Attributes:
        value: the object. A numpy array stays the same array. Any other object is a new one after a change of the grid
            or a restored checkpoint.
    """

    def __init__(self, name: str, value: T, capacity: int) -> None:
        self.name = name
        self.value = value
        self._array: Optional[NDArray[Any]] = None
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            if not value.flags.c_contiguous and not value.flags.f_contiguous:
                raise ValueError(f'shared "{name}" is an array with gaps, expected a contiguous one: copy it')
            if not value.flags.writeable:
                raise ValueError(f'shared "{name}" is a read-only array, expected one that can be written')
            self._array = value
            address, size = value.ctypes.data, value.nbytes
        else:
            self._memory = ctypes.create_string_buffer(capacity + 8)  # length, pickle
            self._written = b""
            self._write()
            address, size = ctypes.addressof(self._memory), len(self._memory)
        check(library.dyngrid_share(encoded(name, "the name of a shared object"), address, size))
        self._read()  # a process that joined has the others' value

    def _write(self) -> None:
        """The object becomes the bytes that a change sends."""
        if self._array is not None:
            return
        text = pickle.dumps(self.value, protocol=4)
        if len(text) + 8 > len(self._memory):
            raise ValueError(
                f'shared "{self.name}" takes {len(text)} bytes as a pickle, expected at most '
                f"{len(self._memory) - 8}: share it with capacity={2 * len(text)}, or keep large data in a Matrix"
            )
        self._written = len(text).to_bytes(8, "little") + text
        ctypes.memmove(self._memory, self._written, len(self._written))

    def _read(self) -> None:
        """And back, where a change or a checkpoint brought other bytes."""
        if self._array is not None:
            return
        memory = self._memory.raw
        size = int.from_bytes(memory[:8], "little")
        if size and memory[: size + 8] != self._written:
            self._written = memory[: size + 8]
            self.value = pickle.loads(self._written[8:])


def pool() -> str:
    """Name of this process's pool, "" where it is in none; on a new process also before its Application. Local."""
    return str(library.dyngrid_pool().decode())


class Application:
    """The application that this process belongs to, one at a time.

    Args:
        nprow, npcol: the first grid, with at most as many processes as there are. Without them the grid of
            DYNGRID_GRID, otherwise the most square one of all processes. New processes ignore it.
        comm, pool: an application on the processes of this communicator (mpi4py's, or a Fortran handle), one of
            several in a program: a pool of this name, which the command finds as JOB/pool. New processes ignore both.
            Not with nprow, npcol.

    Collective over MPI_COMM_WORLD, or comm. Initializes MPI when mpi4py has not done so. Use it in a ``with``
    statement, which ends it. An exception that leaves a process of a larger grid ends the whole job, since the other
    processes would wait for it for ever.

    Raises:
        Error: the grid needs more processes than there are, or another application is open.
    """

    _current: Optional["Application"] = None

    def __init__(self, nprow: int = 0, npcol: int = 0, *, comm: Any = None, pool: Optional[str] = None) -> None:
        if Application._current is not None:
            raise Error(Status.STATE, "an application is open already; expected one at a time: end it first")
        if (comm is None) != (pool is None) or (pool is not None and (nprow or npcol)):
            raise Error(Status.ARGUMENT, "expected comm and pool together, and no nprow and npcol with them")
        if pool is not None:
            handle = comm if isinstance(comm, int) else comm.py2f()
            check(library.dyngrid_init_on_f(handle, pool.encode()))
        elif nprow or npcol:
            check(library.dyngrid_init_grid(nprow, npcol))
        else:
            check(library.dyngrid_init())
        self._shared: Dict[str, Shared[Any]] = {}
        self._routines: List[Any] = []  # ctypes holds no reference
        self._executor = ctypes.c_void_p()
        Application._current = self
        self._pid = os.getpid()
        self._hook = sys.excepthook
        sys.excepthook = self._ended_by
        self._register(self._forget_executor, None)

    # ---- end

    def finalize(self) -> None:
        """Ends the application; local arrays are freed. Collective; processes that left call it alone."""
        if not self._is_here():
            return
        Application._current = None
        sys.excepthook = self._hook
        self._forget_executor()
        check(library.dyngrid_finalize())

    def _is_here(self) -> bool:
        """False when it has ended, and in a fork of the program, which has no part in it."""
        return Application._current is self and os.getpid() == self._pid

    def __enter__(self) -> "Application":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if not self._is_here():
            return
        if value is None or (isinstance(value, SystemExit) and not value.code):
            self.finalize()
        elif kind is not None:
            self._ended_by(kind, value, trace)

    def _ended_by(self, kind: Type[BaseException], value: BaseException, trace: Optional[TracebackType]) -> None:
        """An exception ends the job where other processes would wait for this one."""
        grid = self.grid
        if grid.nprow * grid.npcol <= 1 or not self._is_here():
            self._hook(kind, value, trace)
            return
        text = "".join(traceback.format_exception(kind, value, trace))
        where = f"process ({grid.myrow}, {grid.mycol}) of the {grid.nprow} x {grid.npcol} grid"
        print(f"dyngrid: an exception on {where} ends the job:\n{text}", file=sys.stderr, flush=True)
        sys.stdout.flush()
        os._exit(1)  # mpirun ends the others

    # ---- the current grid

    @property
    def is_newcomer(self) -> bool:
        """True on a process that was started for a growth, until its first resize point. Local."""
        return bool(library.dyngrid_is_newcomer())

    @property
    def is_first(self) -> bool:
        """True on the process at (0, 0), the same one on every grid: it prints and has files open. Local."""
        return bool(library.dyngrid_is_first())

    @property
    def is_restarted(self) -> bool:
        """True until the first resize point of a run that continues from a checkpoint. Local."""
        return bool(library.dyngrid_is_restarted())

    @property
    def grid(self) -> Grid:
        """Shape of the current grid and the position of this process. Local."""
        values = [ctypes.c_int() for _ in range(4)]
        check(library.dyngrid_grid(*(ctypes.byref(value) for value in values)))
        return Grid(*(value.value for value in values))

    @property
    def context(self) -> int:
        """BLACS context of the current grid, -1 outside it; new after every change. Local."""
        return int(library.dyngrid_context())

    @property
    def comm(self) -> Any:
        """Communicator of the current grid as mpi4py has it, ranks row by row; good until the next change. Local.

        Raises:
            ImportError: mpi4py is not installed (Debian: python3-mpi4py).
        """
        from mpi4py import MPI

        return MPI.Comm.f2py(library.dyngrid_comm_f())

    @property
    def job(self) -> str:
        """Name by which ``dyngrid resize JOB 3x3`` finds this application; "" but on process 0. Local."""
        return str(library.dyngrid_job().decode())

    # ---- changing the grid

    def resize_point(self) -> Outcome:
        """The place where the grid may change: the line of the call. Collective.

        A change that is refused or fails is Outcome.SAME: the grid is the old one with all its data, `was_refused` is
        true and `message` gives the reason.

        Raises:
            Error: a mistake of the program: processes at different resize points, another shared state.
        """
        caller = sys._getframe(1)
        try:
            return self._changed_by(
                library.dyngrid_resize_point_in, caller.f_code.co_filename.encode(), caller.f_lineno
            )
        except Error:
            if not self.was_refused:
                raise
            return Outcome.SAME

    @property
    def was_refused(self) -> bool:
        """True when a change was refused or failed at the last resize point. Local."""
        return bool(library.dyngrid_was_refused())

    @property
    def message(self) -> str:
        """The text of the last error or refusal. Local."""
        return str(library.dyngrid_last_message().decode(errors="replace"))

    def request(self, nprow: int, npcol: int) -> None:
        """Asks for a change at the next resize point. Local; of several the one of the lowest process counts.

        Raises:
            Error: no such grid.
        """
        check(library.dyngrid_request(nprow, npcol))

    def resize(self, nprow: int, npcol: int, placement: Placement = Placement.OPTIMAL) -> Outcome:
        """Changes the grid now. Collective.

        Raises:
            Error: the change was refused or failed; the grid is the old one with all its data.
        """
        return self._changed_by(library.dyngrid_resize, nprow, npcol, int(placement))

    @property
    def last_resize(self) -> Report:
        """What the last change took: grids, numbers of processes, seconds, bytes (dyngrid_resize_report). Local."""
        report = Report()
        check(library.dyngrid_last_resize(ctypes.byref(report)))
        return report

    def on_change(
        self, before: Optional[Callable[[], None]] = None, after: Optional[Callable[[], None]] = None
    ) -> None:
        """Routines that are called at each change. Local; the same on every process.

        `before` runs on every process of the old grid, while that is whole, `after` on every process of the new one.
        An exception that leaves one is printed, and the change goes on.
        """
        self._register(before, after)

    def allow(self, grids: str) -> None:
        """The grids that requests from outside may ask for, as in dyngrid_allow: "4:32:*2", "2x2,2x3". Local."""
        check(library.dyngrid_allow(encoded(grids, "the list of grids")))

    def set_steps(self, steps: int) -> None:
        """Steps of the whole run, one between two resize points, so that it is known what saves time. Local."""
        check(library.dyngrid_set_steps(steps))

    # ---- state, checkpoints

    def share(self, name: str, value: T, capacity: int = 4096) -> Shared[T]:
        """An object with the same value on all processes, which those that join get. Collective.

        Args:
            name: at most 63 characters.
            value: any object that can be pickled, or a contiguous numpy array, whose memory is shared as it is.
            capacity: the bytes that the pickle may take, now and later; the same on all processes.

        Raises:
            ValueError: the pickle is larger than `capacity`, or the array has gaps.
            Error: another object has that name, or processes differ.
        """
        shared = Shared(name, value, capacity)
        self._shared[name] = shared
        return shared

    def unshare(self, name: str) -> None:
        """Ends the sharing; the object stays. Collective.

        Raises:
            Error: nothing is shared under that name.
        """
        check(library.dyngrid_unshare(encoded(name, "the name of a shared object")))
        self._shared.pop(name, None)

    def checkpoint(self, path: Optional[str] = None) -> None:
        """Writes all matrices and shared objects to one file. Collective; None: DYNGRID_CHECKPOINT's path.

        Raises:
            Error: the file cannot be written; an older file of that name is as it was.
        """
        self._write_shared()
        check(library.dyngrid_checkpoint(None if path is None else os.fsencode(path)))

    def restore(self, path: Optional[str] = None) -> None:
        """Reads a checkpoint on the current grid. Collective; None: DYNGRID_RESTORE's path.

        Raises:
            Error: the file does not fit or cannot be read; nothing was changed.
        """
        self._changed_by(library.dyngrid_restore, None if path is None else os.fsencode(path))
        self._read_shared()  # its outcome is a status

    # ---- for the package

    @staticmethod
    def current() -> "Application":
        """The application that is open. Raises Error when there is none."""
        if Application._current is None:
            raise Error(Status.STATE, "no application is open; expected dyngrid.Application() before this call")
        return Application._current

    def _changed_by(self, routine: Any, *arguments: Any) -> Outcome:
        self._write_shared()
        outcome = Outcome(check(routine(*arguments)))
        if outcome == Outcome.RESIZED:
            self._read_shared()
        return outcome

    def _write_shared(self) -> None:
        for shared in self._shared.values():
            shared._write()

    def _read_shared(self) -> None:
        for shared in self._shared.values():
            shared._read()

    def _register(self, before: Optional[Callable[[], None]], after: Optional[Callable[[], None]]) -> None:
        pair = [_routine(before), _routine(after)]
        self._routines.append(pair)
        check(library.dyngrid_on_change(*(ctypes.cast(one, ctypes.c_void_p) if one else None for one in pair), None))

    def _agree(self, error: Optional[str]) -> None:
        """Raises the same ValueError on all processes where one of them has an error. Collective."""
        agreed = _library.agreed_error(error, self.context)
        if agreed is not None:
            raise ValueError(agreed)

    def _exchange(self, transfer: _library.Transfer) -> None:
        """Moves one matrix. Collective over the current grid."""
        if not self._executor:
            check(library.dyngrid_executor_create_f(library.dyngrid_comm_f(), None, ctypes.byref(self._executor)))
        check(library.dyngrid_execute(self._executor, 1, ctypes.byref(transfer), None))

    def _forget_executor(self) -> None:
        """It is of one grid. Collective."""
        if self._executor:
            check(library.dyngrid_executor_destroy(ctypes.byref(self._executor)))


def _routine(action: Optional[Callable[[], None]]) -> Any:
    if action is None:
        return None
    routine = action

    def call(_: Any) -> None:
        try:
            routine()
        except BaseException:  # nothing may leave towards C
            traceback.print_exc()

    return _library.ChangeRoutine(call)


def main(action: Callable[..., T]) -> Callable[..., Optional[T]]:
    """A function that only the first processes carry out, such as one that reads input.

    On a process outside the grid, such as one that joins, its call does nothing and returns None: matrices and shared
    objects come with the growth. The same holds in a run that continues from a checkpoint.
    """

    @functools.wraps(action)
    def call(*arguments: Any, **named: Any) -> Optional[T]:
        app = Application.current()
        return None if app.context < 0 or app.is_restarted else action(*arguments, **named)

    return call
