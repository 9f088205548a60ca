# SPDX-License-Identifier: BSD-3-Clause
"""deploy/packages.sh on a simulated machine: stand-ins for apt-get, dpkg-query and sudo record how they are called."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
SCRIPTS = sorted([*DEPLOY.glob("*.sh"), *DEPLOY.glob("debian/p*[mt]"), *DEPLOY.glob("debian/*/p*"),
                  *DEPLOY.glob("slurm/*.sbatch"), *ROOT.glob("tests/node/*.sh"), *ROOT.glob("examples/*/*.sh"), ROOT / ".ci" / "run"])

# `installed` lists one package per line. `apt-get install` adds lines if `lists` exists; `apt-get update` makes
# `lists`.
DPKG_QUERY = """#!/bin/bash
grep -qx -- "${@: -1}" "$MACHINE/installed" && echo installed
"""
APT_GET = """#!/bin/bash
echo "apt-get $*" >>"$MACHINE/calls"
[[ -e $MACHINE/offline ]] && { echo "Could not resolve host" >&2; exit 100; }
case " $* " in
  *" update "*) touch "$MACHINE/lists" ;;
  *" install "*)
    [[ -e $MACHINE/lists ]] || { echo "Unable to locate package" >&2; exit 100; }
    for word in "$@"; do [[ $word == pkg-* ]] && echo "$word" >>"$MACHINE/installed"; done ;;
esac
exit 0
"""
SUDO = """#!/bin/bash
echo "sudo $*" >>"$MACHINE/calls"
[[ -e $MACHINE/no-sudo ]] && exit 1
[[ $1 == -n ]] && shift
exec "$@"
"""
TOOLS = ("bash", "grep", "mktemp", "tail", "sed", "rm", "env", "sort", "tr", "true", "cat", "touch", "stat", "printf")


class Packages(unittest.TestCase):
    def setUp(self):
        self.machine = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.bin = self.machine / "bin"
        self.bin.mkdir()
        for tool in TOOLS:
            if shutil.which(tool):
                (self.bin / tool).symlink_to(shutil.which(tool))
        for name, text in (("dpkg-query", DPKG_QUERY), ("apt-get", APT_GET), ("sudo", SUDO)):
            (self.bin / name).write_text(text, encoding="utf-8")
            (self.bin / name).chmod(0o755)
        (self.machine / "installed").write_text("pkg-one\n", encoding="utf-8")

    def install(self, *packages, user="root", expected=0, **environment):
        """Runs install_packages; returns its standard error."""
        # bash does not allow EUID to be set. Therefore a copy of the script reads the user id from another variable.
        script = (DEPLOY / "packages.sh").read_text(encoding="utf-8")
        script = script.replace("EUID", "PLAYED_UID")
        (self.machine / "packages.sh").write_text(script, encoding="utf-8")
        command = f'set -euo pipefail; source "$MACHINE/packages.sh"; install_packages {" ".join(packages)}'
        run = subprocess.run([shutil.which("bash"), "-c", command], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False,
                             env={"PATH": str(self.bin), "MACHINE": str(self.machine), "TMPDIR": str(self.machine),
                                  "PLAYED_UID": "0" if user == "root" else "1000", **environment})
        self.assertEqual(run.returncode, expected, run.stderr)
        return run.stderr

    def calls(self):
        path = self.machine / "calls"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def test_nothing_is_called_when_all_is_installed(self):
        self.install("pkg-one", user="someone")
        self.assertEqual(self.calls(), [])

    def test_only_what_is_missing_is_installed_and_no_lists_are_fetched_when_they_are_there(self):
        (self.machine / "lists").touch()
        self.install("pkg-one", "pkg-two", "pkg-two", "pkg-three")
        self.assertEqual(len(self.calls()), 1)
        self.assertTrue(self.calls()[0].endswith("--no-install-recommends pkg-two pkg-three"), self.calls())

    def test_lists_are_fetched_when_there_are_none(self):
        self.install("pkg-two")
        self.assertEqual([call.split("-q ")[1].split()[0] for call in self.calls()], ["install", "update", "install"])

    def test_the_second_run_does_nothing(self):
        self.install("pkg-two")
        before = self.calls()
        self.install("pkg-two")
        self.assertEqual(self.calls(), before)

    def test_a_user_installs_through_sudo(self):
        (self.machine / "lists").touch()
        self.install("pkg-two", user="someone")
        self.assertTrue(any(call.startswith("sudo env") for call in self.calls()), self.calls())

    def test_a_user_without_sudo_is_told_what_is_missing_and_what_to_run(self):
        (self.machine / "no-sudo").touch()
        said = self.install("pkg-one", "pkg-two", "pkg-three", user="someone", expected=3)
        self.assertIn("missing: pkg-two pkg-three\n", said)
        self.assertIn("apt-get install -y --no-install-recommends pkg-two pkg-three", said)

    def test_a_failing_apt_shows_its_last_words(self):
        (self.machine / "offline").touch()
        said = self.install("pkg-two", expected=3)
        self.assertIn("Could not resolve host", said)
        self.assertIn("Still missing: pkg-two", said)

    def test_another_distribution_is_told_the_names(self):
        (self.bin / "apt-get").unlink()
        said = self.install("pkg-two", "pkg-one", expected=3)
        self.assertIn("pkg-one pkg-two", said)
        self.assertIn("RINGSIDE_SKIP_PACKAGES=1", said)
        self.install("pkg-two", RINGSIDE_SKIP_PACKAGES="1")


class Scripts(unittest.TestCase):
    def test_every_script_parses(self):
        for script in SCRIPTS:
            with self.subTest(script.name):
                run = subprocess.run(["bash", "-n", str(script)], stderr=subprocess.PIPE, encoding="utf-8", check=False)
                self.assertEqual(run.returncode, 0, run.stderr)

    @unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not installed")
    def test_shellcheck_has_nothing_to_say(self):
        run = subprocess.run(["shellcheck", "-x", *map(str, SCRIPTS)], cwd=ROOT, stdout=subprocess.PIPE,
                             encoding="utf-8", check=False)
        self.assertEqual(run.returncode, 0, run.stdout)

    def test_an_unknown_option_is_refused_before_anything_is_done(self):
        for script in ("test.sh", "quickstart.sh", "package.sh"):
            with self.subTest(script):
                run = subprocess.run([str(DEPLOY / script), "--wrong"], cwd="/", stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False)
                self.assertEqual(run.returncode, 2, run.stdout)
                self.assertIn("usage:", run.stdout)

    def test_every_listed_package_is_known_to_the_distribution(self):
        if not shutil.which("apt-cache"):
            self.skipTest("apt-cache is not here")
        lists = subprocess.run(["bash", "-c", f'source "{DEPLOY}/packages.sh"; printf "%s\\n" "${{packages_build[@]}}" '
                                '"${packages_python[@]}" "${packages_mpi[@]}" "${packages_python_test[@]}" "${packages_test[@]}" '
                                '"${packages_all[@]}" "${packages_package[@]}" "${packages_mpich[@]}"'],
                               stdout=subprocess.PIPE, encoding="utf-8", check=True)
        names = sorted(set(lists.stdout.split()))
        self.assertIn("libpmemobj-dev", names)
        known = subprocess.run(["apt-cache", "pkgnames"], stdout=subprocess.PIPE, encoding="utf-8", check=True,
                               env={**os.environ, "LC_ALL": "C"}).stdout.split()
        if len(known) < 10000:
            self.skipTest("apt has no package lists here")
        self.assertEqual([name for name in names if name not in set(known)], [])


if __name__ == "__main__":
    unittest.main()
