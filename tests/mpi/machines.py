# SPDX-License-Identifier: BSD-3-Clause
"""Simulated machines for tests: each has a name, network addresses, and a folder that no other machine sees; all other
folders are shared. Two networks connect the machines: `mpi` for the ranks, `rings` for the analyzers. The machines are
namespaces of this machine's kernel, in a user namespace that any user may make. A test program calls `enter` first."""

import contextlib
import os
import pathlib
import shlex
import signal
import subprocess
import sys

ENTERED = "RINGSIDE_TEST_MACHINES"
OUTER = ["unshare", "--user", "--map-root-user", "--net", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"]
NETWORKS = {"mpi": "10.77.0", "rings": "10.78.0"}


def enter():
    """Starts the program again in a namespace in which machines can be made. Returns the reason if this is not
    possible, otherwise None."""
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    if ENTERED in os.environ:
        return None
    script = "ip link add test type bridge && mount -t tmpfs tmpfs /mnt"
    tried = subprocess.run([*OUTER, "sh", "-c", script], capture_output=True, encoding="utf-8", check=False)
    if tried.returncode != 0:
        return f"no namespaces can be made here: {tried.stderr.strip()}"
    os.environ[ENTERED] = "1"
    sys.stdout.flush()
    os.execvp(OUTER[0], [*OUTER, sys.executable, "-B", *sys.argv])


def run(*words):
    subprocess.run([str(word) for word in words], check=True)


class Machine:
    """`folder` is shared by all machines. `own` is a separate folder of each machine, under the same path on all."""

    def __init__(self, folder, number):
        self.folder, self.number, self.name = folder, number, f"m{number}"
        self.own = folder / "own"
        self.process = None

    def boot(self):
        setup = [f"hostname {self.name}", f"mount --bind {self.folder}/addresses /etc/hosts", f"mount -t tmpfs tmpfs {self.own}",
                 "ip link set lo up", "echo", "exec sleep infinity"]
        self.process = subprocess.Popen(["unshare", "--net", "--uts", "--mount", "sh", "-e", "-c", "; ".join(setup)],
                                        stdout=subprocess.PIPE)
        self.first = self.process.pid
        if self.process.stdout.readline() != b"\n":
            self.end()
            raise AssertionError(f"{self.name} cannot be made")
        (self.folder / f"{self.name}.first").write_text(f"{self.first}\n", encoding="utf-8")
        for network, prefix in NETWORKS.items():
            end = f"{network}{self.number}"
            run("ip", "link", "add", end, "master", network, "up", "type", "veth", "peer", "name", network, "netns", self.first)
            run(*self.inside("ip", "address", "add", f"{prefix}.{self.number + 1}/24", "dev", network))
            run(*self.inside("ip", "link", "set", network, "up"))

    def inside(self, *words):
        """The words of a command that runs the given words on this machine."""
        return ["nsenter", f"--target={self.first}", "--net", "--uts", "--mount", f"--wd={self.folder}", *words]

    def set_network(self, network, up):
        """Simulates that a network cable is pulled out, or put in again: no connection is closed."""
        run("ip", "link", "set", f"{network}{self.number}", "up" if up else "down")

    def die(self):
        """Kills all processes of the machine, and deletes all that its own folder contains. Has no effect if the
        machine is dead."""
        if self.process is None:
            return
        name = os.readlink(f"/proc/{self.first}/ns/uts")
        found = True
        while found:  # repeat for processes that were started meanwhile
            found = False
            for process in pathlib.Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError):
                    if os.readlink(process / "ns/uts") == name:
                        os.kill(int(process.name), signal.SIGKILL)
                        found = True
        self.end()
        for network in NETWORKS:  # the kernel would do this only later, perhaps after the machine boots again
            subprocess.run(["ip", "link", "delete", f"{network}{self.number}"], capture_output=True, check=False)

    def end(self):
        """Call this when the machine's first process has ended or was killed."""
        self.process.wait()
        self.process.stdout.close()
        self.process = None


def make_machines(folder, count, at_end):
    """Makes the machines m0, m1, ...; their names on the network of the analyzers are m0-rings, m1-rings, ...
    `folder/on HOST WORD...` runs a command on a machine, as `ssh` would. at_end(function, *arguments) registers
    functions that must be called at the end, in reverse order, even if a machine cannot be made."""
    (folder / "own").mkdir()
    hosts = ["127.0.0.1 localhost"]
    hosts += [f"{NETWORKS['mpi']}.{n + 1} m{n}\n{NETWORKS['rings']}.{n + 1} m{n}-rings" for n in range(count)]
    (folder / "addresses").write_text("\n".join([*hosts, ""]), encoding="utf-8")
    for network in NETWORKS:
        run("ip", "link", "add", network, "type", "bridge")
        at_end(run, "ip", "link", "delete", network)
        run("ip", "link", "set", network, "up")
    run("ip", "link", "set", "lo", "up")
    path = shlex.quote(str(folder))
    on = folder / "on"
    on.write_text(f"""#!/bin/sh
host=$1
shift
exec nsenter --target="$(cat {path}/"$host".first)" --net --uts --mount --wd={path} sh -c "$*"
""", encoding="utf-8")
    on.chmod(0o755)
    machines = [Machine(folder, number) for number in range(count)]
    for machine in machines:
        at_end(machine.die)
        machine.boot()
    return machines
