# SPDX-License-Identifier: BSD-3-Clause
"""deploy/provision_pmem.sh on a simulated machine: a folder represents /, with the kernel's files about one region of
persistent memory. Stand-ins for the commands record how they are called, and change this folder as the real commands
would change the machine."""

import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "provision_pmem.sh"
REAL_TOOLS = ("bash", "awk", "cat", "cmp", "flock", "grep", "ls", "mv", "od", "rm", "sed")
UUID = "7f0c1a52-0000-4000-8000-00000000c0de"
UNIT = "etc/systemd/system/var-lib-ringside-pmem.mount"

# Each value is the body of a bash script; $ROOT is the simulated machine. Only commands that change the machine are
# recorded.
STAND_INS = {
    "id": 'echo "${PLAYED_UID:-0}"',
    "getent": '[[ $2 == ringside ]]',
    "wipefs": 'cat "$ROOT"/fs/{TYPE,PTTYPE} 2>/dev/null; true',
    "blkid": 'cat "$ROOT/fs/${@: -2:1}" 2>/dev/null || exit 2',
    "stat": 'cat "$ROOT/owner"',
    "systemd-escape": """case $* in
      *--suffix=mount*) echo var-lib-ringside-pmem.mount ;;
      *systemd-fsck@*) echo "systemd-fsck@dev-disk-by\\x2duuid-${!###*/}.service" ;;
    esac""",
    "mkdir": '[[ ${!#} == "$ROOT"* ]] || { note; set -- -p "$ROOT${!#}"; }; exec "$REAL_MKDIR" "$@"',
    "ndctl": """note
      nd=$ROOT/sys/bus/nd/devices
      rm -rf "$nd"/namespace0.0/block
      "$REAL_MKDIR" -p "$nd"/namespace0.0 "$nd"/pfn0.0/block/pmem0
      echo memory >"$nd"/namespace0.0/mode; echo pfn0.0 >"$nd"/namespace0.0/holder
      cat "$nd"/region0/size >"$nd"/namespace0.0/size; echo nd_namespace_pmem >"$nd"/namespace0.0/devtype
      echo 0a1b-pfn >"$nd"/pfn0.0/uuid
      [[ -e $ROOT/dev/pmem0 ]] || printf '' >"$ROOT/dev/pmem0"
      "$REAL_TRUNCATE" -s 4M "$ROOT/dev/pmem0" """,
    "mkfs.ext4": """note
      printf half >"$ROOT/dev/pmem0"; "$REAL_TRUNCATE" -s 4M "$ROOT/dev/pmem0"
      [[ ! -e $ROOT/cut ]] || { rm "$ROOT/cut"; kill -9 $PPID; exit 1; }
      echo ${0##*.} >"$ROOT/fs/TYPE"; echo ringside >"$ROOT/fs/LABEL"; echo $UUID >"$ROOT/fs/UUID" """,
    "mount": """note
      echo "36 1 259:0 / ${!#} rw,noexec shared:1 - ext4 ${@: -2:1} rw,$MOUNTED_WITH" >>"$ROOT/proc/self/mountinfo" """,
    "systemctl": """case $1 in
      is-enabled) [[ -e $ROOT/enabled ]] ;;
      enable) note
        echo "36 1 259:0 / /var/lib/ringside/pmem rw,noexec shared:1 - ext4 /dev/pmem0 rw,$MOUNTED_WITH" >>"$ROOT/proc/self/mountinfo"
        printf '' >"$ROOT/enabled" ;;
      *) note ;;
    esac""",
    "chown": 'note; echo "$1 755" >"$ROOT/owner"',
    "chmod": 'note; echo "ringside:ringside ${1#0}" >"$ROOT/owner"',
    "udevadm": "note",
    "ringside": 'echo "{\\"dax\\": ${DAX:-true}}"; exit 3',
}
STAND_INS["mkfs.xfs"] = STAND_INS["mkfs.ext4"]

CREATE = "ndctl create-namespace --region=region0 --mode=fsdax"
CONVERT = "ndctl create-namespace --force --reconfig=namespace0.0 --mode=fsdax"
EXT4 = "mkfs.ext4 -q -L ringside -b 4096 -m 0 -E stride=512,stripe_width=512 /dev/pmem0"
AFTER = ["mkdir -p /var/lib/ringside/pmem", "systemctl daemon-reload",
         "udevadm trigger --action=change --settle /dev/pmem0",
         "systemctl enable --now var-lib-ringside-pmem.mount",
         "chown ringside:ringside /var/lib/ringside/pmem", "chmod 0700 /var/lib/ringside/pmem"]


class Provision(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.bin = folder / "bin"
        self.calls = folder / "calls"
        self.root = folder / "machine"
        self.nd = self.root / "sys/bus/nd/devices"
        for path in ("sys/class/block/pmem0/holders", "proc/self", "dev", "fs", "run/systemd/system", "var/lib"):
            (self.root / path).mkdir(parents=True)
        self.bin.mkdir()
        for tool in REAL_TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        for name, body in STAND_INS.items():
            path = self.bin / name
            path.write_text(f'#!/bin/bash\ncall="${{0##*/}} $*"\nnote() {{ echo "$call" >>"$CALLS"; }}\n{body}\n',
                            encoding="utf-8")
            path.chmod(0o755)
        self.write("proc/swaps", "Filename Type Size Used Priority")
        self.write("proc/self/mountinfo", "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw")
        self.write("sys/class/block/pmem0/dev", "259:0")
        self.write("sys/class/block/pmem0/size", "8192")
        self.write("owner", "root:root 755")
        self.region("region0", nstype=5)

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")

    def region(self, name, nstype, available=None):
        size = 1 << 30
        for key, value in {"nstype": nstype, "size": size, "read_only": 0,
                           "available_size": size if available is None else available}.items():
            self.write(f"sys/bus/nd/devices/{name}/{key}", str(value))
        (self.nd / name / "driver").mkdir()

    def namespace(self, mode, devtype="nd_namespace_pmem", name="namespace0.0", holder=None):
        """Makes a namespace of the region; its device contains only zeros."""
        for key, value in {"mode": mode, "devtype": devtype, "size": 1 << 30, "holder": holder or ""}.items():
            self.write(f"sys/bus/nd/devices/{name}/{key}", str(value))
        (self.nd / (holder or name) / "block/pmem0").mkdir(parents=True)
        if holder:
            self.write(f"sys/bus/nd/devices/{holder}/uuid", "0a1b-pfn")
        self.put(0, b"")

    def file_system(self, kind="ext4", label="ringside"):
        """Sets what blkid finds on the device."""
        for key, value in (("TYPE", kind), ("LABEL", label), ("UUID", UUID)):
            self.write(f"fs/{key}", value)

    def put(self, offset, data):
        with open(self.root / "dev/pmem0", "a+b") as device:
            device.truncate(4 << 20)
        with open(self.root / "dev/pmem0", "r+b") as device:
            device.seek(offset)
            device.write(data)

    def provision(self, *arguments, **environment):
        self.calls.unlink(missing_ok=True)
        return subprocess.run(
            [SCRIPT, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            encoding="utf-8", check=False, timeout=60,
            env={"PATH": str(self.bin), "RINGSIDE_PROVISION_ROOT": str(self.root), "ROOT": str(self.root),
                 "CALLS": str(self.calls), "UUID": UUID, "MOUNTED_WITH": "dax=always", "REAL_MKDIR": shutil.which("mkdir"),
                 "REAL_TRUNCATE": shutil.which("truncate"), **environment})

    def called(self):
        return self.calls.read_text(encoding="utf-8").splitlines() if self.calls.exists() else []

    def everything(self):
        """The bytes of each file of the machine, by its path."""
        return {str(path): path.read_bytes() for path in self.root.rglob("*") if path.is_file()}

    def done(self, *arguments):
        """Runs the script, which must succeed; returns its standard output."""
        result = self.provision(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout + result.stderr)
        return result.stdout

    def failed(self, line, **environment):
        result = self.provision("--yes", **environment)
        self.assertEqual(result.returncode, 3)
        self.assertIn(line, result.stderr)

    def assert_refused(self, *fragments, arguments=("--yes",), status=3, **environment):
        before = self.everything()
        result = self.provision(*arguments, **environment)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        for fragment in fragments:
            self.assertIn(fragment, result.stderr)
        self.assertEqual(self.called(), [])
        self.assertEqual(self.everything(), before)

    # What the script does

    def test_without_yes_the_commands_are_shown_in_order_and_nothing_is_changed(self):
        before = self.everything()
        said = self.done()
        self.assertEqual(self.everything(), before)
        self.assertEqual(self.called(), [])
        shown = [line[4:] for line in said.splitlines() if line.startswith("  + ")]
        unit = f"write /{UNIT}:"
        self.assertEqual(shown, [CREATE, EXT4, AFTER[0], unit, *AFTER[1:]])
        self.assertIn("Nothing was changed", said)

    def test_with_yes_the_commands_shown_are_run_in_that_order(self):
        said = self.done("--yes")
        self.assertEqual(self.called(), [CREATE, EXT4, *AFTER])
        self.assertIn('pool = "/var/lib/ringside/pmem/ringside.pool"\nrequire-dax = true\n', said)

    def test_the_unit_mounts_by_uuid_with_dax_before_the_analyzer_that_requires_it(self):
        self.done("--yes")
        unit = (self.root / UNIT).read_text(encoding="utf-8").splitlines()
        check = f"systemd-fsck@dev-disk-by\\x2duuid-{UUID}.service"
        for line in (f"What=/dev/disk/by-uuid/{UUID}", "Where=/var/lib/ringside/pmem", "Type=ext4",
                     "Options=dax=always,nodev,nosuid,noexec,nofail", "Before=ringside-analyzer.service",
                     "RequiredBy=ringside-analyzer.service", f"Requires={check}", f"After={check}"):
            self.assertIn(line, unit)

    def test_run_again_everything_is_in_place_and_nothing_is_changed(self):
        self.done("--yes")
        before = self.everything()
        for arguments in (("--yes",), ()):
            said = self.done(*arguments)
            self.assertIn("Everything is in place; nothing was changed.", said)
            self.assertEqual(self.called(), [])
            self.assertEqual(self.everything(), before)

    def test_a_namespace_that_is_made_again_may_hold_what_it_held_and_is_then_not_made_empty(self):
        self.file_system()
        self.done("--yes")
        self.assertEqual(self.called(), [CREATE, *AFTER])

    def test_an_interrupted_mkfs_is_begun_again_though_the_device_is_no_longer_empty(self):
        self.write("cut", "")
        self.assertEqual(self.provision("--yes").returncode, -signal.SIGKILL)
        self.assertEqual(self.called(), [CREATE, EXT4])
        self.done("--yes")
        self.assertEqual(self.called(), [EXT4.replace("-q", "-q -F"), *AFTER])
        self.assertEqual(list((self.root / "var/lib/misc").iterdir()), [])

    def test_what_an_interrupted_mkfs_left_counts_for_that_namespace_only(self):
        self.write("cut", "")
        self.provision("--yes")
        self.write("sys/bus/nd/devices/pfn0.0/uuid", "another")
        self.assert_refused("holds data in its first MiB")

    def test_what_was_made_since_an_interrupted_mkfs_is_refused_though_it_is_no_file_system(self):
        self.write("cut", "")
        self.provision("--yes")
        self.write("fs/PTTYPE", "gpt")
        self.assert_refused("holds a signature (gpt)")

    def test_a_device_that_cannot_be_looked_at_is_refused_also_after_an_interrupted_mkfs(self):
        self.write("cut", "")
        self.provision("--yes")
        (self.bin / "wipefs").write_text("#!/bin/bash\nexit 1\n", encoding="utf-8")
        self.assert_refused("wipefs cannot read /dev/pmem0")

    def test_an_xfs_whose_mkfs_did_not_end_is_made_again(self):
        self.namespace("memory", holder="pfn0.0")
        self.put(126, b"\x01")
        self.file_system("xfs")
        self.done("--yes", "--file-system", "xfs")
        self.assertTrue(self.called()[0].startswith("mkfs.xfs -q -f -L ringside"), self.called())

    def test_a_command_that_fails_ends_it_and_the_next_run_continues_there(self):
        chown = self.bin / "chown"
        text = chown.read_text(encoding="utf-8")
        chown.write_text("#!/bin/bash\nexit 1\n", encoding="utf-8")
        self.failed("'chown ringside:ringside /var/lib/ringside/pmem' ended with status 1")
        chown.write_text(text, encoding="utf-8")
        self.done("--yes")
        self.assertEqual(self.called(), AFTER[-2:])

    def test_a_region_without_labels_is_converted_where_its_raw_namespace_is_empty(self):
        self.region_without_labels()
        said = self.done("--yes")
        self.assertEqual(self.called(), [CONVERT, EXT4, *AFTER])
        self.assertIn("/dev/pmem0 is empty", said)

    def test_xfs_is_made_without_reflink(self):
        self.done("--yes", "--file-system", "xfs")
        self.assertEqual(self.called()[1], "mkfs.xfs -q -L ringside -b size=4096 -m reflink=0 "
                         "-d su=2m,sw=1,extszinherit=512 /dev/pmem0")
        unit = (self.root / UNIT).read_text(encoding="utf-8")
        self.assertIn("Type=xfs\n", unit)
        self.assertNotIn("systemd-fsck", unit)

    def test_without_systemd_it_mounts_and_prints_a_line_for_fstab(self):
        (self.root / "run/systemd/system").rmdir()
        said = self.done("--yes")
        self.assertIn("mount -t ext4 -o dax=always,nodev,nosuid,noexec /dev/pmem0 /var/lib/ringside/pmem", self.called())
        self.assertIn(f"UUID={UUID} /var/lib/ringside/pmem ext4 dax=always,nodev,nosuid,noexec,nofail 0 2", said)
        self.assertFalse((self.root / UNIT).exists())
        self.done("--yes")
        self.assertEqual(self.called(), [])

    def test_a_mount_that_came_without_dax_is_no_success(self):
        self.failed("without dax=always", MOUNTED_WITH="dax=never")

    def test_what_doctor_says_of_the_folder_decides_in_the_end(self):
        self.failed("'ringside doctor /var/lib/ringside/pmem' reports that", DAX="false")

    # What the script refuses

    def region_without_labels(self):
        shutil.rmtree(self.nd / "region0")
        self.region("region0", nstype=4, available=0)
        self.namespace("raw", "nd_namespace_io")

    def test_a_machine_without_a_region_is_refused(self):
        shutil.rmtree(self.nd / "region0")
        self.assert_refused("found no region of persistent memory")

    def test_of_two_regions_one_has_to_be_named(self):
        self.region("region1", nstype=5)
        self.assert_refused("expected --region with one of: region0 (1024 MiB) region1 (1024 MiB)", status=2)
        self.assert_refused("--region: found 'region7'", arguments=("--yes", "--region", "region7"), status=2)
        self.done("--yes", "--region", "region0")

    def test_two_at_once_are_refused(self):
        region = os.open(self.nd / "region0", os.O_RDONLY)
        self.addCleanup(os.close, region)
        fcntl.flock(region, fcntl.LOCK_EX)
        self.assert_refused("another ringside-provision-pmem is at work on region0")
        self.done()

    def test_only_root_may(self):
        self.assert_refused("this needs root", PLAYED_UID="1000")
        self.assert_refused("this needs root", arguments=(), PLAYED_UID="1000")

    def test_what_is_not_installed_is_named_with_its_package(self):
        (self.bin / "ndctl").unlink()
        self.assert_refused("ndctl is not installed; as root: apt-get install ndctl")

    def test_an_owner_that_does_not_exist_is_refused(self):
        self.assert_refused("'nobody:here'", arguments=("--yes", "--owner", "nobody:here"))

    def test_wrong_options_are_refused(self):
        for arguments, fragment in ((("--force",), "unknown option '--force'"),
                                    (("--file-system=btrfs",), "found 'btrfs', expected ext4 or xfs"),
                                    (("--mount-point", "../x"), "--mount-point: found '../x'"),
                                    (("--mount-point", "/var/../etc"), "--mount-point: found '/var/../etc'"),
                                    (("--owner=me",), "--owner: found 'me'"), (("--region",), "found nothing after it")):
            self.assert_refused(fragment, arguments=arguments, status=2)

    def test_namespaces_in_other_modes_are_refused_with_the_command_that_would_destroy_them(self):
        for mode, called in (("raw", "raw"), ("safe", "sector"), ("dax", "devdax")):
            self.namespace(mode)
            self.assert_refused(f"is in {called} mode", f"'{CONVERT}'", "destroy")
            shutil.rmtree(self.nd / "namespace0.0")

    def test_two_namespaces_are_refused(self):
        self.namespace("memory", holder="pfn0.0")
        self.namespace("memory", name="namespace0.1", holder="pfn0.1")
        self.assert_refused("holds 2 namespaces (namespace0.0 namespace0.1)")

    def test_labels_of_namespaces_that_the_kernel_does_not_show_are_refused(self):
        self.write("sys/bus/nd/devices/region0/available_size", str(1 << 29))
        self.assert_refused("its labels assign 512 MiB of it")

    def test_a_disabled_namespace_or_region_is_named_with_the_command_that_enables_it(self):
        self.namespace("memory", holder="pfn0.0")
        shutil.rmtree(self.nd / "pfn0.0/block")
        self.assert_refused("'ndctl enable-namespace namespace0.0' enables it")
        (self.nd / "region0/driver").rmdir()
        self.assert_refused("'ndctl enable-region region0' enables it")

    def test_signatures_and_data_are_refused_in_either_kind_of_namespace(self):
        for make in (self.region_without_labels, lambda: self.namespace("memory", holder="pfn0.0")):
            make()
            self.write("fs/TYPE", "LVM2_member")
            self.assert_refused("holds a signature (LVM2_member)")
            (self.root / "fs/TYPE").unlink()
            for offset, place in (((1 << 20) - 1, "first"), (3 << 20, "last")):
                self.put(offset, b"\x01")
                self.assert_refused(f"holds data in its {place} MiB")
                self.put(offset, b"\x00")
            shutil.rmtree(self.nd / "namespace0.0")

    def test_data_between_the_first_and_the_last_mib_is_not_looked_for(self):
        self.namespace("memory", holder="pfn0.0")
        self.put(1 << 20, b"\x01")
        self.put((3 << 20) - 1, b"\x01")
        self.done("--yes")

    def test_a_file_system_with_another_label_is_refused(self):
        self.namespace("memory", holder="pfn0.0")
        self.file_system(label="mine")
        self.assert_refused("holds a signature (ext4)")

    def test_the_other_kind_of_file_system_of_an_earlier_run_is_refused(self):
        self.done("--yes")
        self.assert_refused("--file-system ext4 would be accepted", arguments=("--yes", "--file-system=xfs"))

    def test_a_device_in_use_is_refused(self):
        self.namespace("memory", holder="pfn0.0")
        for path, text, fragment in (
                ("proc/swaps", "Filename Type\n/dev/pmem0 partition", "is swap"),
                ("proc/self/mountinfo", "36 1 259:0 / /data rw - ext4 /dev/pmem0 rw,dax=always", "is mounted at /data"),
                ("sys/class/block/pmem0/holders/md0", "", "is part of md0")):
            kept = (self.root / path).read_text(encoding="utf-8") if (self.root / path).exists() else None
            self.write(path, text)
            self.assert_refused(fragment)
            (self.root / path).unlink()
            if kept:
                self.write(path, kept.strip())

    def test_a_mount_point_with_files_or_another_mount_is_refused(self):
        self.namespace("memory", holder="pfn0.0")
        self.file_system()
        self.write("var/lib/ringside/pmem/ringside.pool", "")
        self.assert_refused("holds files, which the mount would hide")
        self.write("proc/self/mountinfo", "36 1 8:1 / /var/lib/ringside/pmem rw - ext4 /dev/sda1 rw")
        self.assert_refused("/dev/sda1 is mounted there")

    def test_a_mount_unit_of_somebody_else_is_refused(self):
        self.namespace("memory", holder="pfn0.0")
        self.file_system()
        (self.root / "var/lib/ringside/pmem").mkdir(parents=True)
        self.write(UNIT, "[Mount]")
        self.assert_refused("was not made by ringside-provision-pmem")


if __name__ == "__main__":
    unittest.main()
