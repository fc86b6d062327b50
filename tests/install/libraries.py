# SPDX-License-Identifier: BSD-3-Clause
"""libraries NAME SOURCE TREE WORK [TIMES]: the program of examples/libraries that uses a library of others.

It is built by the command in its first comment, against the installed TREE. It runs on a fixed grid, and TIMES times
(once) on 2x2 -> 3x3 -> 2x3 -> 1x2 -> 2x2. Each step must have run on the grid that was asked for. All figures must be
those of the fixed grid, and the known answer where there is one, to 1e-12. Ends with 77 where the library is missing.
"""
import os
import re
import subprocess
import sys
from math import cos, hypot, pi, sqrt

import numpy as np

GRIDS = ["2 x 2"] * 2 + ["3 x 3"] * 2 + ["2 x 3"] * 2 + ["1 x 2"] * 2 + ["2 x 2"] * 2
RESIZE_AT = "2:3x3,4:2x3,6:1x2,8:2x2"
TOLERANCE = 1e-12
MOST_LINES, MOST_LINES_OF_DYNGRID = 100, 12


def pzheevd_answers():
    """The lowest nine energies of a ring of 90 sites whose flux rises by 0.1 a step."""
    energies = ([2 - 2 * cos((2 * pi * k + 0.1 * (step + 1)) / 90) for k in range(90)] for step in range(10))
    return [[sum(sorted(e)[:9]), 0] for e in energies]


def elpa_answers():
    """The self-consistent loop of elpa.f90, by LAPACK."""
    n, occ, u, mixing = 120, 12, 0.8, 0.6
    position, density, answers = np.arange(1, n + 1) - (n + 1) / 2, np.zeros(n), []
    for _ in range(10):
        h = np.diag(2 + 0.001 * position**2 + u * density) - np.eye(n, k=1) - np.eye(n, k=-1)
        w, q = np.linalg.eigh(h)
        fresh = 2 * (q[:, :occ] ** 2).sum(axis=1)
        answers.append([2 * w[:occ].sum() - u / 2 * (fresh * density).sum()])
        density += mixing * (fresh - density)
    return answers


def deal_ii_answers():
    """Newton's method for the square root, on each eigenvalue of A by itself."""
    eigenvalues = [2.5 - 2 * cos(k * pi / 91) for k in range(1, 91)]
    x, answers = [1.0] * 90, []
    for _ in range(10):
        x = [(y + a / y) / 2 for y, a in zip(x, eigenvalues)]
        answers.append([hypot(*x), hypot(*(y * y - a for y, a in zip(x, eigenvalues)))])
    return answers


def mumps_answers():
    """Two waves on a square of 47 by 47 points, each of which an implicit step of the heat equation makes smaller."""
    lam = [2 - 2 * cos(k * pi / 48) for k in range(4)]
    factors = [1 + 2 * lam[1], 1 + lam[2] + lam[3]]
    return [[24 * hypot(*(f ** -(step + 1) for f in factors)), 0] for step in range(10)]


def petsc_answers():
    """Norms of cos(s + i/90), of this step and of the one before."""
    norms = [sqrt(sum(cos(step + i / 90) ** 2 for i in range(90))) for step in range(10)]
    return [[norm, before, 0] for norm, before in zip(norms, [0] + norms)]


def slepc_answers():
    """The four lowest eigenvalues, and how far the lowest eigenvector turns, by LAPACK."""
    i = np.arange(90)
    h, before, answers = 0.8 ** abs(i[:, None] - i), np.ones(90) / sqrt(90), []
    for _ in range(10):
        h *= 0.9
        np.fill_diagonal(h, i)
        w, v = np.linalg.eigh(h)
        answers.append([w[:4].sum(), 4, abs(before @ v[:, 0])])
        before = v[:, 0]
    return answers


# the file, a command that fails where the library is missing, its Debian package, the known figures of each step
LIBRARIES = {
    "deal_ii": ("deal_ii.cpp", "test -e /usr/include/deal.II/lac/scalapack.h", "libdeal.ii-dev", deal_ii_answers),
    "elpa": ("elpa.f90", "pkg-config --exists elpa", "libelpa-dev", elpa_answers),
    "mumps": ("mumps.c", "test -e /usr/include/dmumps_c.h", "libmumps-dev", mumps_answers),
    "petsc": ("petsc.c", "pkg-config --exists petsc", "libpetsc-real-dev", petsc_answers),
    "pzheevd": ("pzheevd.f90", None, None, pzheevd_answers),
    "slepc": ("slepc.c", "pkg-config --exists slepc", "libslepc-real-dev", slepc_answers),
}


def fail(text):
    sys.exit(f"libraries: {text}")


def run(command, **options):
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options)
    if result.returncode != 0:
        fail(f"{command} ended with status {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


def steps_of(output):
    """[(grid, [figures])] of the lines of steps."""
    lines = re.findall(r"^step (\d+) on (\d+ x \d+): (.*)$", output, re.MULTILINE)
    if [int(step) for step, _, _ in lines] != list(range(10)):
        fail(f"expected steps 0 to 9, got:\n{output}")
    return [(grid, [float(x) for x in re.findall(r" (-?\d\S*)", " " + text)]) for _, grid, text in lines]


def compare(steps, expected, what, output):
    for step, ((_, figures), known) in enumerate(zip(steps, expected)):
        if len(figures) != len(known) or not figures or any(
            not abs(x - y) <= TOLERANCE * max(1, abs(y)) for x, y in zip(figures, known)
        ):
            fail(f"step {step}: {figures}, expected {known} ({what}):\n{output}")


def main():
    name, source_dir, tree, work = sys.argv[1:5]
    file, needed, package, answers = LIBRARIES[name]
    if os.environ.get("TEST_MPI", "openmpi") != "openmpi":
        print("skipped: Debian's libraries are those of Open MPI")
        sys.exit(77)
    if needed and subprocess.run(needed, shell=True, check=False).returncode != 0:
        print(f"skipped: '{needed}' fails (scripts/setup --libraries installs {package})")
        sys.exit(77)
    folder = os.path.join(source_dir, "examples", "libraries")
    with open(os.path.join(folder, file), encoding="utf-8") as opened:
        text = opened.read()
    lines = text.splitlines()
    ours = [line for line in lines if re.search(r"dyngrid|\bapp\.|_follows", line, re.IGNORECASE)
            and not re.match(r"\s*(!|//|/\*|\*)", line)]
    if len(lines) >= MOST_LINES or len(ours) > MOST_LINES_OF_DYNGRID:
        fail(f"{file} has {len(lines)} lines, {len(ours)} of them of dyngrid; "
             f"expected fewer than {MOST_LINES}, at most {MOST_LINES_OF_DYNGRID}")
    os.makedirs(work, exist_ok=True)
    command = re.search(r"^(?:!|//| \*) +(mpi(?:cc|cxx|fort) .*(?:\n// .*)*-o \S+)$", text, re.MULTILINE)
    command = command.group(1).replace("\n//", " ").replace(file, os.path.join(folder, file))
    run(command, shell=True, cwd=work)

    program = ["./" + command.split()[-1]]
    dyngrid = [os.path.join(tree, "bin", "dyngrid"), "run", "-np", "4"]
    output = run(dyngrid + ["--"] + program, cwd=work)
    fixed = steps_of(output)
    if any(grid != "2 x 2" for grid, _ in fixed):
        fail(f"expected 2 x 2 in all steps:\n{output}")
    compare(fixed, answers(), "the known answer", output)
    for _ in range(int(sys.argv[5]) if len(sys.argv) > 5 else 1):
        output = run(dyngrid + ["--wait", "--resize-at", RESIZE_AT, "--"] + program, cwd=work)
        steps = steps_of(output)
        if [grid for grid, _ in steps] != GRIDS:
            fail(f"expected the grids {GRIDS}:\n{output}")
        compare(steps, [figures for _, figures in fixed], "on the fixed grid", output)
    print(output, end="")


main()
