# SPDX-License-Identifier: BSD-3-Clause
"""Makes the Debian packages that package_test.py tests, once for all of these tests. Arguments: the build folder, and
the folder for the packages."""

import os
import pathlib
import shutil
import subprocess
import sys

BUILD, MADE = (pathlib.Path(word).resolve() for word in sys.argv[1:])

if __name__ == "__main__":
    shutil.rmtree(MADE, ignore_errors=True)
    MADE.mkdir(parents=True)
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    environment.pop("DESTDIR", None)
    # The umask of the user who builds the packages must not affect them.
    sys.exit(subprocess.run(["sh", "-c", 'umask 077 && exec cpack -G DEB --config "$1" -B "$2"', "sh",
                             BUILD / "CPackConfig.cmake", MADE], cwd=MADE, env=environment, check=False).returncode)
