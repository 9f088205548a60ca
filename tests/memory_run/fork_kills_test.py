# SPDX-License-Identifier: BSD-3-Clause
"""Kills processes under `ringside-memory run` that share memory through fork: the other processes keep the content of
their memory, and far memory is given back. Far memory is a tmpfs that only this test uses, or a folder on a disk. The
test is skipped (77) if this is not permitted."""

import os
import signal
import subprocess
import sys
import tempfile
import time

RUN, PROGRAM = sys.argv[1:3]


def own_tmpfs(folder):
    """Runs this script again in a separate mount namespace, with a tmpfs at `folder`."""
    names = ["unshare", "--mount"] + ([] if os.getuid() == 0 else ["--user", "--map-root-user"])
    mount = names + ["sh", "-c", 'mount -t tmpfs -o size=256m tmpfs "$0" && exec "$@"', folder]
    try:
        probe = subprocess.run([*mount, "true"], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        probe = subprocess.CompletedProcess([], 1, "", str(error))
    if probe.returncode != 0:
        print("a mount namespace is not permitted:", probe.stderr.strip())
        return 77
    return subprocess.run([*mount, sys.executable, __file__, *sys.argv[1:], folder, "own"], check=False).returncode


def free_bytes(folder):
    system = os.statvfs(folder)
    return system.f_bfree * system.f_frsize


def expect(condition, what):
    if not condition:
        print(what)
        sys.exit(1)


def run(folder, faults, *arguments):
    command = [RUN, "run", "--dram=4M", f"--far={folder}", "--far-limit=200M", f"--faults={faults}", "--quiet", "--",
               PROGRAM, *map(str, arguments)]
    # The output ends when all processes that have it open have ended.
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=110)
    if done.returncode == 3 and "userfaultfd is not permitted" in done.stderr:
        print(done.stderr.strip())
        sys.exit(77)
    return done


def check_folder(folder, before):
    deadline = time.monotonic() + 60  # the kernel may release files a little later
    while before is not None and free_bytes(folder) < before and time.monotonic() < deadline:
        time.sleep(0.01)
    if before is not None:
        expect(free_bytes(folder) >= before, f"{before - free_bytes(folder)} bytes were not given back")
    expect(os.listdir(folder) == [], f"left in the folder: {os.listdir(folder)}")


def test(folder, own, rounds, first_seed):
    before = free_bytes(folder) if own else None
    for seed in range(first_seed, first_seed + rounds):
        faults = ("signal", "thread")[seed % 2]
        for mode, rounds_in_it, code, printed in (("child", 3, 0, ""), ("parent", 0, 128 + signal.SIGKILL, "same\n"),
                                                  ("fork", 0, 128 + signal.SIGKILL, ""), ("late", 2, 0, "")):
            done = run(folder, faults, mode, rounds_in_it, seed)
            expect((done.returncode, done.stdout, done.stderr) == (code, printed, ""), f"{mode}, seed {seed}: {done}")
            check_folder(folder, before)
    if own:  # the separate tmpfs has 256 MiB
        done = run(folder, "signal", "full", 0, 0)
        expect(done.returncode == 0 and done.stderr.count("\n") == 1 and "of which it has no copy" in done.stderr,
               f"no room for a copy: {done}")
        check_folder(folder, before)
    print(f"{rounds} rounds in {folder}")


if len(sys.argv) == 3:
    with tempfile.TemporaryDirectory(prefix="ringside-kills-", dir="/var/tmp") as disk:
        test(disk, False, 1, 1)
    with tempfile.TemporaryDirectory(prefix="ringside-kills-") as holder:
        sys.exit(own_tmpfs(holder))
test(sys.argv[3], sys.argv[4] == "own", int(os.environ.get("RINGSIDE_KILL_ROUNDS", "2")),
     int(os.environ.get("RINGSIDE_KILL_SEED", "1")))
