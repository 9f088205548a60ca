# SPDX-License-Identifier: BSD-3-Clause
"""Installs once, into the given folder, the readers of exported files that Debian does not have: zarr version 3,
pyarrow, and the packages that they use. Ends as skipped if pip is missing or the registry does not answer."""

import pathlib
import shutil
import subprocess
import sys

FOLDER = pathlib.Path(sys.argv[1])
WANTED = ("zarr>=3", "xarray", "pandas", "pyarrow")

if not (FOLDER / "complete").exists():
    shutil.rmtree(FOLDER, ignore_errors=True)
    run = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--retries", "1", "--timeout", "15",
                          "--disable-pip-version-check", "--target", str(FOLDER), *WANTED], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", timeout=850, check=False)
    if run.returncode != 0:
        print(f"skipped: no {', '.join(WANTED)} from the registry: {(run.stdout.strip().splitlines() or ['?'])[-1]}")
        sys.exit(77)
    (FOLDER / "complete").touch()
