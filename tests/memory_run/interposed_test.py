# SPDX-License-Identifier: BSD-3-Clause
"""Runs memory_interposed_test under `ringside-memory run`. The test is skipped (77) if userfaultfd is not permitted."""

import subprocess
import sys

FAULTS, RUN, TEST = sys.argv[1:]
command = [RUN, "run", "--dram=4M", "--far=/dev/shm", "--far-limit=64M", "--min-size=64K", f"--faults={FAULTS}", "--quiet", "--", TEST]
done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, timeout=100)
sys.stderr.write(done.stderr)
sys.exit(77 if done.returncode == 3 and "userfaultfd is not permitted" in done.stderr else done.returncode)
