# SPDX-License-Identifier: BSD-3-Clause
"""Packages from the registry, for tests that need other packages or releases than the system has. These packages are
kept in the build folder."""

import os
import shutil
import subprocess
import sys


def call(*command, environment=None):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8", timeout=1500, check=False,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "PIP_DISABLE_PIP_VERSION_CHECK": "1", **(environment or {})})


def packages(folder, *wanted):
    """Installs packages, which are named as for `pip install`. Returns their folder, for PYTHONPATH. If pip is missing
    or the registry does not answer, ends the test as skipped."""
    if (folder / "complete").exists():
        return folder
    if call(sys.executable, "-m", "pip", "--version").returncode != 0:
        print(f"skipped: {sys.executable} has no pip (python3-pip)")
        sys.exit(77)
    shutil.rmtree(folder, ignore_errors=True)
    run = call(sys.executable, "-m", "pip", "install", "--quiet", "--retries", "1", "--timeout", "15", "--target", folder, *wanted)
    if run.returncode != 0:
        print(f"skipped: no {', '.join(wanted)} from the registry: {(run.stderr.strip().splitlines() or ['?'])[-1]}")
        sys.exit(77)
    (folder / "complete").touch()
    return folder


def other_numpy(build):
    """The folder of NumPy 2 if the system has NumPy 1, and the reverse."""
    import numpy as np

    has_1 = np.__version__.startswith("1.")
    # Only a wheel is used, because a build takes too long. NumPy 1 has no wheel for Python 3.13.
    return packages(build / ("numpy2" if has_1 else "numpy1"), "--only-binary=numpy", "numpy>=2" if has_1 else "numpy<2")
