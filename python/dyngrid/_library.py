# SPDX-License-Identifier: BSD-3-Clause
"""libdyngrid through ctypes: which file it is, the routines in use, statuses as exceptions."""

import ctypes
import enum
import os
from ctypes import POINTER, c_char, c_char_p, c_int, c_int64, c_size_t, c_void_p
from typing import Any, List, Optional, Tuple

_SERIES = "0.2"  # of the interface that is used here: the first numbers of dyngrid_version(), and the library's suffix


class Status(enum.IntEnum):
    """Statuses of dyngrid/status.h; 0 is success."""

    SUCCESS = 0
    ARGUMENT = -1
    NULL = -2
    TYPE = -3
    SHAPE = -4
    DESCRIPTOR = -5
    MISMATCH = -6
    STATE = -7
    NOT_FOUND = -8
    UNSUPPORTED = -9
    MEMORY = -10
    IO = -11
    SLOTS = -12
    SPAWN = -13
    TIMEOUT = -14
    MPI = -15
    INTERNAL = -16


class Error(RuntimeError):
    """A call of dyngrid failed; the text says what, the value, the expected value and what to do.

    Attributes:
        status: the :class:`Status`.
    """

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = Status(status)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Error, (self.status, str(self))


class Report(ctypes.Structure):
    """dyngrid_resize_report of dyngrid.h."""

    _fields_ = (
        [(name, c_int) for name in ("from_nprow", "from_npcol", "to_nprow", "to_npcol")]
        + [(name, c_int) for name in ("spawned", "woken", "released", "parked")]
        + [(name, ctypes.c_double) for name in ("spawn_s", "merge_s", "plan_s", "exchange_s", "total_s")]
        + [(name, c_int64) for name in ("moved_bytes", "kept_bytes", "asked_at_step", "changed_at_step")]
    )


class Transfer(ctypes.Structure):
    """dyngrid_transfer of dyngrid/redist.h."""

    _fields_ = [
        ("plan", c_void_p),
        ("source", c_void_p),
        ("lld_source", c_int64),
        ("target", c_void_p),
        ("lld_target", c_int64),
        ("type", c_char),
    ]


ChangeRoutine = ctypes.CFUNCTYPE(None, c_void_p)

# Arguments of the routines in use. All return an int, unless _RESULTS says otherwise.
_ARGUMENTS = {
    "dyngrid_init": [],
    "dyngrid_init_grid": [c_int, c_int],
    "dyngrid_init_on_f": [c_int, c_char_p],
    "dyngrid_pool": [],
    "dyngrid_finalize": [],
    "dyngrid_is_newcomer": [],
    "dyngrid_is_first": [],
    "dyngrid_is_restarted": [],
    "dyngrid_context": [],
    "dyngrid_grid": [POINTER(c_int)] * 4,
    "dyngrid_comm_f": [],
    "dyngrid_resize_point_in": [c_char_p, c_int],
    "dyngrid_was_refused": [],
    "dyngrid_on_change": [c_void_p, c_void_p, c_void_p],
    "dyngrid_request": [c_int, c_int],
    "dyngrid_resize": [c_int, c_int, c_int],
    "dyngrid_last_resize": [POINTER(Report)],
    "dyngrid_matrix_create": [c_char_p, c_char, c_int64, c_int64, c_int64, c_int64, POINTER(c_void_p)],
    "dyngrid_local": [c_void_p],
    "dyngrid_desc": [c_void_p],
    "dyngrid_matrix_shape": [c_void_p] + [POINTER(c_int64)] * 3,
    "dyngrid_matrix_free": [POINTER(c_void_p)],
    "dyngrid_share": [c_char_p, c_void_p, c_size_t],
    "dyngrid_unshare": [c_char_p],
    "dyngrid_checkpoint": [c_char_p],
    "dyngrid_restore": [c_char_p],
    "dyngrid_version": [],
    "dyngrid_last_message": [],
    "dyngrid_allow": [c_char_p],
    "dyngrid_set_steps": [c_int64],
    "dyngrid_job": [],
    "dyngrid_add": [c_char, c_void_p, c_void_p, c_void_p, c_void_p],
    "dyngrid_layout_create": [c_void_p, c_int, c_int, c_void_p, POINTER(c_void_p)],
    "dyngrid_layout_create_block_list": [c_int64, c_int64, c_int, c_void_p, c_void_p, c_int, c_void_p, c_void_p]
    + [c_int, c_int, c_void_p, POINTER(c_void_p)],
    "dyngrid_layout_destroy": [POINTER(c_void_p)],
    "dyngrid_plan_create_window": [c_void_p, c_int64, c_int64, c_void_p, c_int64, c_int64, c_int64, c_int64]
    + [c_char, c_int, c_int, POINTER(c_void_p)],
    "dyngrid_plan_destroy": [POINTER(c_void_p)],
    "dyngrid_executor_create_f": [c_int, c_void_p, POINTER(c_void_p)],
    "dyngrid_execute": [c_void_p, c_int, POINTER(Transfer), c_void_p],
    "dyngrid_executor_destroy": [POINTER(c_void_p)],
}
_RESULTS = {
    "dyngrid_local": c_void_p,
    "dyngrid_desc": POINTER(c_int),
    "dyngrid_version": c_char_p,
    "dyngrid_last_message": c_char_p,
    "dyngrid_job": c_char_p,
    "dyngrid_pool": c_char_p,
}


def _candidates() -> List[str]:
    """Files that may be the library: beside an installation of this package, then where the loader looks."""
    name = "libdyngrid.so." + _SERIES
    folder = os.path.dirname(os.path.abspath(__file__))
    try:
        with open(os.path.join(folder, "library_folder"), encoding="utf-8") as file:  # cmake --install has written it
            return [os.path.join(folder, file.read().strip(), name), name]
    except OSError:
        pass
    while folder != os.path.dirname(folder):  # PREFIX/lib/python3.13/site-packages/dyngrid
        folder = os.path.dirname(folder)
        if os.path.basename(folder) in ("lib", "lib64"):
            return [os.path.join(os.path.dirname(folder), lib, name) for lib in ("lib", "lib64")] + [name]
    return [name]


def _load() -> ctypes.CDLL:
    candidates = _candidates()
    errors = []
    for path in candidates:
        try:
            # global: Open MPI's components look for its symbols in the whole process
            found = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            errors.append(str(error))
            continue
        for name, arguments in _ARGUMENTS.items():
            routine = getattr(found, name)
            routine.argtypes = arguments
            routine.restype = _RESULTS.get(name, c_int)
        version = found.dyngrid_version().decode()
        if not version.startswith(_SERIES + "."):
            raise ImportError(f"{path} is version {version}, expected {_SERIES}: install that of this package")
        return found
    raise ImportError(
        f"cannot load {os.path.basename(candidates[0])} ({'; '.join(errors)}); install dyngrid (scripts/install DIR) "
        "and set the LD_LIBRARY_PATH that it prints, or install its Debian package"
    )


#: The library, a ctypes.CDLL. ScaLAPACK's routines are found in it too: ``dyngrid.library.pdgetrf_``.
library: Any = _load()


def version() -> str:
    """Version of the library. Local."""
    return str(library.dyngrid_version().decode())


def check(status: int) -> int:
    """Returns a status or outcome of at least 0. Raises Error with the library's text for others."""
    if status < 0:
        raise Error(status, library.dyngrid_last_message().decode(errors="replace"))
    return status


def encoded(name: str, what: str) -> bytes:
    """A name for the C interface."""
    if not isinstance(name, str):
        raise TypeError(f"{what} is a {type(name).__name__}, expected a str")
    return name.encode()


def agreed_error(error: Optional[str], context: int) -> Optional[str]:
    """Agreement on an error. Collective over the grid of the BLACS context.

    Returns the text of the process with the lowest number that has one, with that process, and None when none has one.
    The BLACS are Fortran, so that this is independent of the MPI.
    """
    mine = ctypes.create_string_buffer((error or "").encode()[:1000])
    text = mine.value
    nprow, npcol, row, col = (c_int() for _ in range(4))
    library.blacs_gridinfo_(ctypes.byref(c_int(context)), *(ctypes.byref(x) for x in (nprow, npcol, row, col)))
    count = nprow.value * npcol.value
    rank = row.value * npcol.value + col.value
    worst = c_int(count - rank if text else 0)  # the lowest rank has the largest number
    unused, one = c_int(-1), c_int(1)
    ctxt = ctypes.byref(c_int(context))
    library.igamx2d_(
        ctxt, b"All", b" ", ctypes.byref(one), ctypes.byref(one), ctypes.byref(worst), ctypes.byref(one),
        ctypes.byref(unused), ctypes.byref(unused), ctypes.byref(unused), ctypes.byref(unused), ctypes.byref(unused),
        c_size_t(3), c_size_t(1),
    )  # fmt: skip
    if worst.value == 0:
        return None
    source = count - worst.value
    words = (c_int * 251)()  # 1000 bytes and their end
    shape = (ctxt, b"All", b" ", ctypes.byref(c_int(251)), ctypes.byref(one), words, ctypes.byref(c_int(251)))
    if rank == source:
        ctypes.memmove(words, text + b"\0", len(text) + 1)
        library.igebs2d_(*shape, c_size_t(3), c_size_t(1))
    else:
        at = (ctypes.byref(c_int(source // npcol.value)), ctypes.byref(c_int(source % npcol.value)))
        library.igebr2d_(*shape, *at, c_size_t(3), c_size_t(1))
    message = bytes(words).split(b"\0")[0].decode(errors="replace")
    return f"process {source}: {message}"
