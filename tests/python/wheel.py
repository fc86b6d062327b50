# SPDX-License-Identifier: BSD-3-Clause
"""The wheel has no compiled code and works from where pip puts it. Usage: wheel.py PACKAGE-SOURCE"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile

missing = [name for name in ("pip", "setuptools", "wheel") if importlib.util.find_spec(name) is None]
if missing:
    print(f"skipped: no {', '.join(missing)} (Debian: python3-pip, python3-setuptools, python3-wheel)")
    sys.exit(77)

PROGRAM = """
import importlib.metadata, os, sys
import numpy as np
import dyngrid
assert dyngrid.__file__.startswith(sys.argv[1]), dyngrid.__file__
assert dyngrid.__version__ == dyngrid.version() == importlib.metadata.version("dyngrid")
a = np.arange(12.0).reshape(3, 4)
assert np.array_equal(dyngrid.linalg.matmul(a, a.T, workers=2), a @ a.T)
"""

with tempfile.TemporaryDirectory() as folder:
    source, target = os.path.join(folder, "source"), os.path.join(folder, "target")
    shutil.copytree(sys.argv[1], source)  # pip builds in it
    run = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    offline = ["--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.check_call([*run, "wheel", *offline, "--wheel-dir", folder, source])
    (name,) = (name for name in os.listdir(folder) if name.endswith(".whl"))
    assert name.endswith("-py3-none-any.whl"), name
    subprocess.check_call([*run, "install", *offline, "--target", target, os.path.join(folder, name)])
    files = [name for _, _, names in os.walk(os.path.join(target, "dyngrid")) for name in names]
    assert "py.typed" in files and all(name.endswith((".py", ".typed", ".pyc")) for name in files), files
    environment = {**os.environ, "PYTHONPATH": target}
    subprocess.check_call([sys.executable, "-c", PROGRAM, target], env=environment, cwd=folder)
print("the wheel works")
