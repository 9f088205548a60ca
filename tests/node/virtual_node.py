# SPDX-License-Identifier: BSD-3-Clause
"""A virtual machine with an NVDIMM: it boots, runs commands, and is killed in the same way as by a power cut.

QEMU runs in software emulation, and needs only a processor of its host. The NVDIMM is a file that is mapped shared,
without a label area, because with one, the region would be misaligned for fsdax. The root file system is a raw file
written through the host's page cache: after QEMU is killed, the file contains the data that the guest's disk
acknowledged, but not the data that the guest's kernel had not yet written. Commands are run by QEMU's guest agent.
"""

import base64
import json
import mmap
import pathlib
import shlex
import socket
import subprocess
import tarfile
import time

NVDIMM_BYTES = 1 << 30
BOOT_SECONDS = 900  # about 15 s on an idle machine, longer if other processes use it
COMMAND_SECONDS = 900
ENVIRONMENT = ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8",
               "DEBIAN_FRONTEND=noninteractive"]


class NodeError(Exception):
    """The message says what did not happen, and contains the end of the console, because the machine cannot be examined
    afterwards."""


class Ended:
    """How a command ended."""

    def __init__(self, command, status, output, errors):
        self.command, self.status, self.output, self.errors = command, status, output, errors

    def __repr__(self):
        return f"`{self.command}` ended with {self.status}\n{self.output}{self.errors}"


class GuestAgent:
    """The connection to QEMU's guest agent, which runs in the machine, through the socket of its virtual serial
    port."""

    def __init__(self, path, is_alive):
        self._path, self._is_alive, self._socket, self._stream = path, is_alive, None, None

    def wait_until_there(self, seconds):
        """Waits until the agent answers; then returns True. The request is repeated every second, because requests that
        are sent before the agent runs are dropped."""
        deadline = time.monotonic() + seconds
        serial = 0
        while time.monotonic() < deadline and self._is_alive():
            serial += 1
            try:
                self.close()
                self._socket = socket.socket(socket.AF_UNIX)
                self._socket.settimeout(1)
                self._socket.connect(str(self._path))
                self._stream = self._socket.makefile("rwb")
                # This byte ends a request that an earlier connection left incomplete. The answer has the number of its
                # request.
                self._stream.write(b"\xff" + self._line("guest-sync-delimited", id=serial))
                self._stream.flush()
                while True:
                    line = self._stream.readline()
                    if not line:
                        break
                    if json.loads(line.lstrip(b"\xff")).get("return") == serial:
                        self._socket.settimeout(60)
                        return True
            except (OSError, ValueError):
                time.sleep(0.1)
        return False

    @staticmethod
    def _line(what, **arguments):
        return json.dumps({"execute": what, "arguments": arguments}).encode() + b"\n"

    def ask(self, what, **arguments):
        self._stream.write(self._line(what, **arguments))
        self._stream.flush()
        answer = json.loads(self._stream.readline() or b"{}")
        if "return" not in answer:
            raise NodeError(f"the guest agent, asked {what}, said {answer or 'nothing'}")
        return answer["return"]

    def close(self):
        if self._socket is not None:
            self._socket.close()
        self._socket = self._stream = None


class VirtualNode:
    """One machine. Its disk and its NVDIMM are files in `folder`, and keep their content from boot to boot."""

    def __init__(self, folder, image, log=lambda text: None):
        self.folder, self._image, self._log = pathlib.Path(folder), pathlib.Path(image), log
        self._process = self._agent = None
        self.boots = self.kills = 0
        self.console = self.folder / "console.log"
        self._delivery = self.folder / "delivery.tar"
        self._nvdimm = self.folder / "nvdimm.img"
        self._root = self.folder / "root.img"
        subprocess.run(["cp", "--sparse=always", self._image / "root.img", self._root], check=True)
        with open(self._nvdimm, "wb") as nvdimm:
            nvdimm.truncate(NVDIMM_BYTES)
        self.deliver([])

    def deliver(self, files):
        """Writes the files to a tar archive, which the next boot finds as the disk /dev/vdb."""
        with tarfile.open(self._delivery, "w") as archive:
            for file in files:
                archive.add(file, pathlib.Path(file).name)

    def boot(self, *kernel_arguments):
        """Boots, and waits until systemd has started all units. Returns the seconds that this took."""
        assert self._process is None
        for name in ("agent.socket", "follow.socket"):
            (self.folder / name).unlink(missing_ok=True)
        begun = time.monotonic()
        self._process = subprocess.Popen(self._command(kernel_arguments), stdin=subprocess.DEVNULL,
                                         stdout=open(self.folder / "qemu.log", "ab"), stderr=subprocess.STDOUT)
        self.boots += 1
        self._agent = GuestAgent(self.folder / "agent.socket", lambda: self._process.poll() is None)
        if not self._agent.wait_until_there(BOOT_SECONDS):
            raise NodeError(f"the machine did not boot within {BOOT_SECONDS} s\n{self._last_words()}")
        # "degraded" means that a unit failed; the test decides whether it may fail.
        self.run("systemctl is-system-running --wait")
        seconds = time.monotonic() - begun
        self._log(f"boot {self.boots}: {seconds:.0f} s")
        return seconds

    def _command(self, kernel_arguments):
        folder, image = self.folder, self._image
        return [
            "qemu-system-x86_64", "-machine", "q35,nvdimm=on,nvdimm-persistence=mem-ctrl", "-accel", "tcg,thread=multi",
            "-cpu", "max", "-smp", "2", "-m", "2G,slots=2,maxmem=4G", "-nodefaults", "-no-user-config", "-no-reboot",
            "-display", "none", "-serial", f"file:{self.console}",
            "-object", f"memory-backend-file,id=nvdimm,share=on,mem-path={self._nvdimm},size={NVDIMM_BYTES}",
            "-device", "nvdimm,memdev=nvdimm",
            "-drive", f"file={self._root},format=raw,if=none,id=root,cache=unsafe", "-device", "virtio-blk-pci,drive=root",
            "-drive", f"file={self._delivery},format=raw,if=none,id=delivery,readonly=on",
            "-device", "virtio-blk-pci,drive=delivery", "-device", "virtio-serial-pci",
            "-chardev", f"socket,id=agent,path={folder}/agent.socket,server=on,wait=off",
            "-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0",
            "-chardev", f"socket,id=follow,path={folder}/follow.socket,server=on,wait=off",
            "-device", "virtserialport,chardev=follow,name=ringside.follow",
            "-kernel", str(image / "kernel"), "-initrd", str(image / "initrd"),
            "-append", " ".join(["console=ttyS0", "root=/dev/vda", "rw", "quiet", "systemd.show_status=1", *kernel_arguments]),
        ]

    def run(self, command, seconds=COMMAND_SECONDS):
        """Runs a shell command as root. Returns how it ended, even if it failed."""
        pid = self._agent.ask("guest-exec", path="/bin/bash", arg=["-c", command], env=ENVIRONMENT,
                              **{"capture-output": True})["pid"]
        deadline = time.monotonic() + seconds
        pause = 0.02
        while True:
            status = self._agent.ask("guest-exec-status", pid=pid)
            if status["exited"]:
                break
            if time.monotonic() > deadline:
                raise NodeError(f"`{command}` did not end within {seconds} s\n{self._last_words()}")
            time.sleep(pause)
            pause = min(0.5, pause * 1.5)
        text = [base64.b64decode(status.get(key, "")).decode(errors="replace") for key in ("out-data", "err-data")]
        return Ended(command, status.get("exitcode", 128 + status.get("signal", 0)), *text)

    def must(self, command, seconds=COMMAND_SECONDS):
        """The same as run, for a command that must succeed. Returns its standard output."""
        ended = self.run(command, seconds)
        if ended.status != 0:
            raise NodeError(f"{ended}{self._last_words()}")
        return ended.output

    def read(self, path):
        """The bytes of a file in the machine."""
        return base64.b64decode(self.must(f"base64 {shlex.quote(path)}"))

    def nvdimm_holds(self, pattern):
        """Whether the persistent memory contains these bytes anywhere. A person who removes the module could read
        them."""
        with open(self._nvdimm, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as memory:
            return memory.find(pattern) >= 0

    def follow(self):
        """The host's end of the port that is /dev/virtio-ports/ringside.follow in the guest."""
        stream = socket.socket(socket.AF_UNIX)
        stream.connect(str(self.folder / "follow.socket"))
        return stream

    def kill(self):
        """Cuts the power: no process, no cache of the guest's kernel and no register survives."""
        self._process.kill()
        self._process.wait()
        self._agent.close()
        self._process = None
        self.kills += 1

    def close(self):
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _last_words(self):
        text = self.console.read_text(errors="replace").splitlines() if self.console.exists() else []
        return "--- the end of the console:\n" + "\n".join(text[-40:])
