# SPDX-License-Identifier: BSD-3-Clause
"""A program that starts itself under MPI."""

import os
import shutil
import sys
from typing import Sequence

_STARTED = ("OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "DYNGRID_NEWCOMER")


def launch(np: int, *options: str, command: Sequence[str] = ("dyngrid", "run")) -> None:
    """Makes ``python app.py`` start again as ``dyngrid run -np N -- python app.py``.

    Args:
        np: processes of the first grid.
        options: further options of ``dyngrid run``, such as ``"--grid", "2x2"``.
        command: what starts the processes.

    Returns at once under mpirun. Otherwise the present process becomes the launcher, and this never returns: call it
    first. What the program did before is done again by each process.

    Raises:
        FileNotFoundError: there is no such command.
        ValueError: np is below 1.
    """
    if any(name in os.environ for name in _STARTED):
        return
    if np < 1:
        raise ValueError(f"np is {np}, expected at least 1")
    program = shutil.which(command[0])
    if program is None:
        raise FileNotFoundError(
            f"{command[0]} is not in PATH; install dyngrid with its command (scripts/install DIR --with-command) and "
            "set PATH=DIR/bin:$PATH"
        )
    sys.stdout.flush()
    sys.stderr.flush()
    words = [*command, "-np", str(np), *options, "--", sys.executable, *sys.orig_argv[1:]]
    os.execv(program, words)
