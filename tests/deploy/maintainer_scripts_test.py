# SPDX-License-Identifier: BSD-3-Clause
"""The maintainer scripts of the Debian packages, with stand-ins for the tools of systemd and Python, which record how
they are called. The scripts are run from deploy/debian, so no package is made; package_test.py installs packages with
these scripts."""

import os
import pathlib
import subprocess
import tempfile
import unittest

DEBIAN = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "debian"
STAND_IN = """#!/bin/sh
echo "$(basename "$0") $*" >>"$MACHINE/calls"
"""
GETENT = """#!/bin/sh
echo "ringside:x:990:990::/var/lib/ringside:/usr/sbin/nologin"
"""


def call(*command, check=True, environment):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8", timeout=120, check=check, env={**os.environ, "LC_ALL": "C.UTF-8", **environment})


class Services(unittest.TestCase):
    """The maintainer scripts on a simulated machine that runs systemd."""

    def setUp(self):
        self.machine = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.machine / "state").mkdir()
        (self.machine / "systemd").mkdir()
        (self.machine / "bin").mkdir()
        for name, text in (*((n, STAND_IN) for n in ("systemctl", "deb-systemd-invoke", "systemd-sysusers", "useradd")),
                           ("getent", GETENT)):
            (self.machine / "bin" / name).write_text(text, encoding="utf-8")
            (self.machine / "bin" / name).chmod(0o755)

    def script(self, name, *arguments):
        text = (DEBIAN / name).read_text(encoding="utf-8")
        for path, here in (("/run/systemd/system", "systemd"), ("/var/lib/ringside", "state"), ("/etc/", "etc/"),
                           ("/var/cache/", "cache/")):
            text = text.replace(path, f"{self.machine}/{here}")
        run = call("sh", "-c", text, name, *arguments, check=False,
                   environment={"PATH": f"{self.machine}/bin:{os.environ['PATH']}", "MACHINE": str(self.machine),
                                "DPKG_ROOT": ""})
        self.assertEqual(run.returncode, 0, run.stderr)
        calls = self.machine / "calls"
        return calls.read_text(encoding="utf-8").splitlines() if calls.exists() else []

    def test_installing_starts_and_enables_nothing(self):
        self.assertEqual(self.script("postinst", "configure", ""), ["systemctl --system daemon-reload"])

    def test_an_upgrade_restarts_analyzer_and_page_but_no_producer(self):
        calls = self.script("postinst", "configure", "0.0.9")
        self.assertEqual([call for call in calls if "is-active" not in call],
                         ["systemctl --system daemon-reload",
                          "systemctl reset-failed ringside-analyzer.service",
                          "systemctl reset-failed ringside-serve.service",
                          "deb-systemd-invoke try-restart ringside-analyzer.service ringside-serve.service"])

    def test_an_upgrade_stops_nothing_first(self):
        self.assertEqual(self.script("prerm", "upgrade", "9.0"), [])

    def test_removing_stops_producers_before_their_analyzer(self):
        calls = self.script("prerm", "remove")
        self.assertEqual(calls[0], "deb-systemd-invoke stop ringside-producer@*.service")
        self.assertIn("ringside-analyzer.service", calls[1])

    def test_without_systemd_at_work_nothing_is_asked_of_it(self):
        (self.machine / "systemd").rmdir()
        for script, arguments in (("postinst", ("configure", "0.0.9")), ("prerm", ("remove",)), ("postrm", ("purge",))):
            self.assertEqual(self.script(script, *arguments), [], script)


class Bytecode(unittest.TestCase):
    """The scripts of python3-ringside."""

    def setUp(self):
        self.machine = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_its_bytecode_is_made_at_installation_and_removed_before_the_files_are(self):
        for tool in ("py3compile", "py3clean"):
            (self.machine / tool).write_text(STAND_IN, encoding="utf-8")
            (self.machine / tool).chmod(0o755)
        for root, calls in ((str(self.machine), ""), ("", "py3compile -p python3-ringside\npy3clean -p python3-ringside\n")):
            for script, argument in (("postinst", "configure"), ("prerm", "remove")):
                call(DEBIAN / "python3-ringside" / script, argument, environment={
                    "PATH": f"{self.machine}:{os.environ['PATH']}", "MACHINE": str(self.machine), "DPKG_ROOT": root})
            written = self.machine / "calls"
            self.assertEqual(written.read_text(encoding="utf-8") if written.exists() else "", calls)


if __name__ == "__main__":
    unittest.main()
