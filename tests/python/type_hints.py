# SPDX-License-Identifier: BSD-3-Clause
"""The type hints pass mypy. Usage: type_hints.py PACKAGE"""

import subprocess
import sys
import tempfile

try:
    import mypy  # noqa: F401
except ImportError:
    print("skipped: no mypy (Debian: mypy)")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    sys.exit(subprocess.call([sys.executable, "-m", "mypy", "--strict", "--cache-dir", folder, sys.argv[1]]))
