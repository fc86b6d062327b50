# SPDX-License-Identifier: BSD-3-Clause
"""The examples in examples/ and docs/python.md print what they say. Usage: example.py SOURCE"""

import json
import os
import re
import subprocess
import sys

import numpy as np

source = sys.argv[1]
page = open(os.path.join(source, "docs/python.md"), encoding="utf-8").read()
product = open(os.path.join(source, "examples/product.py"), encoding="utf-8").read()


def run(words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return done.stdout


# the program of the page is the one in examples/, and prints what the page has
program, printed = re.search(r"```python\n(.*?)```\n.*?\n((?:    step [^\n]*\n)+)", page, re.DOTALL).groups()
assert product.endswith(program), "docs/python.md and examples/product.py differ"
words = ["dyngrid", "run", "-np", "4", "--resize-at", "1:3x3,3:1x2", "--", sys.executable]
lines = [line for line in run(words + [os.path.join(source, "examples/product.py")]).splitlines() if "step" in line]
assert lines == [line.strip() for line in printed.splitlines()], lines
i, j = np.ogrid[:60, :60]
for step, (line, grid) in enumerate(zip(lines, ["2 x 2", "3 x 3", "3 x 3", "1 x 2"])):
    product = ((i == j) + 1 / (1 + i + 2 * j + step)) @ (i - j)
    assert line == f"step {step} on {grid}: c(n, n) = {product[59, 59]:.6f}", line

# the page's two pools, each of which prints its lines in order; for each k the elements k + i - j add up to k n n
section = page[page.index("## Several grids") :]
program, printed = re.search(r"```python\n(.*?)```\n.*?\n((?:    pool [^\n]*\n)+)", section, re.DOTALL).groups()
expected = [f"pool {k} on 1 x {q}: sum = {3600 * k}" for k in (0, 1) for q in (2, 3)]
assert [line.strip() for line in printed.splitlines()] == expected, printed
try:
    import mpi4py  # noqa: F401
except ImportError:
    print("the program of two pools did not run: no mpi4py (Debian: python3-mpi4py)")
else:
    words = ["dyngrid", "run", "-np", "4", "--resize-at", "1:1x3", "--", sys.executable, "-c", program]
    lines = [line for line in run(words).splitlines() if line.startswith("pool")]
    assert sorted(lines) == expected, lines

# the cells of the notebook, in order, and what they print
notebook = json.load(open(os.path.join(source, "examples/solve.ipynb"), encoding="utf-8"))
cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
printed = "".join("".join(output.get("text", [])) for cell in cells for output in cell["outputs"])
code = "\n".join("".join(cell["source"]) for cell in cells)
assert run([sys.executable, "-c", code]) == printed, "the notebook prints something else"
try:
    import nbclient
    import nbformat
except ImportError:
    print("the notebook ran without its kernel: no nbclient (Debian: python3-nbclient, python3-ipykernel)")
    sys.exit(0)
nbclient.execute(nbformat.read(os.path.join(source, "examples/solve.ipynb"), as_version=4))
