# SPDX-License-Identifier: BSD-3-Clause
"""The units, read by systemd, and the drop-ins that ringside-generator makes from configurations on simulated machines.
Argument: the build folder."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1))
GENERATOR = BUILD / "bin" / "ringside-generator"
UNITS = "usr/lib/systemd/system"
SERVICES = ("ringside-analyzer.service", "ringside-producer@.service", "ringside-serve.service")
# The highest permitted exposure on a scale to 100. systemd rates an exposure of up to about 40 as OK.
MOST_EXPOSED = {"ringside-analyzer.service": 10, "ringside-producer@.service": 10, "ringside-serve.service": 20}


def read(path):
    return path.read_text(encoding="utf-8")


def words_of(unit, key):
    """All values of a key, as one list of words."""
    return " ".join(re.findall(rf"(?m)^{re.escape(key)}=(.*)$", unit)).split()


def help_of(program, *subcommand):
    return subprocess.run([BUILD / "bin" / program, *subcommand, "--help"], capture_output=True, text=True, check=True).stdout


class Units(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        installed = subprocess.run(["cmake", "--install", BUILD / "deploy/systemd", "--prefix", "/usr"],
                                   capture_output=True, text=True, check=False,
                                   env={**os.environ, "DESTDIR": str(cls.root)})
        if installed.returncode != 0:
            raise RuntimeError(installed.stdout + installed.stderr)

    def unit(self, name):
        return read(self.root / UNITS / name)

    def analyze(self, *arguments):
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd-analyze is not installed")
        return subprocess.run(["systemd-analyze", "--no-pager", *arguments], capture_output=True, text=True, check=False)

    def test_systemd_finds_nothing_wrong_with_the_units(self):
        # Stand-ins for systemd's units to which Ringside's units refer by default.
        for name in ("sysinit.target", "basic.target", "shutdown.target", "multi-user.target", "system.slice"):
            (self.root / UNITS / name).write_text("[Unit]\n", encoding="utf-8")
        (self.root / "etc/ringside/jobs").mkdir(parents=True, exist_ok=True)
        (self.root / "usr/bin").mkdir()
        for program in ("ringside", "ringside-analyzer", "ringside-producer"):
            shutil.copy(BUILD / "bin" / program, self.root / "usr/bin" / program)
        for name in ("ringside.target", *SERVICES):
            of_job = name.replace("@.", "@web.")
            verified = self.analyze("verify", f"--root={self.root}", "--man=no", "--recursive-errors=no", of_job)
            self.assertEqual((verified.returncode, verified.stderr), (0, ""), name)

    def test_no_service_is_more_exposed_than_it_need_be(self):
        for name in SERVICES:
            secure = self.analyze("security", "--offline=true", f"--threshold={MOST_EXPOSED[name]}",
                                  str(self.root / UNITS / name))
            self.assertEqual(secure.returncode, 0, secure.stdout)

    def test_no_service_leaves_iterates_in_a_core_dump(self):  # `systemd-analyze security` does not check this
        for name in SERVICES:
            self.assertEqual(words_of(self.unit(name), "LimitCORE"), ["0"], name)

    def test_every_option_of_a_unit_is_one_of_its_program(self):
        for name in SERVICES:
            for command in re.findall(r"(?m)^ExecStart=(.*)$", self.unit(name)):
                program, *arguments = command.split()
                subcommand = [word for word in arguments[:1] if not word.startswith("-")]
                shown = help_of(pathlib.Path(program).name, *subcommand)
                options = [word for word in arguments if word.startswith("--")]
                self.assertIn("--config", options)
                for option in options:
                    self.assertRegex(shown, rf"(?m)^\s+(-\w,\s*)?{option}\b", command)

    def test_keys_the_generator_reads_are_options_of_the_programs(self):
        source = read(pathlib.Path(__file__).resolve().parents[2] / "deploy/systemd/generator.cpp")
        functions = re.findall(r"(?ms)^DropIn for_(\w+)\(.*?^}", source)
        self.assertEqual(functions, ["analyzer", "producer", "serve"])
        for program in functions:
            body = re.search(rf"(?ms)^DropIn for_{program}\(.*?^}}", source)[0]
            keys = re.findall(r'settings\.(?:value|is_on)\("([\w-]+)"\)', body)
            self.assertTrue(keys)
            shown = help_of(*(["ringside", "serve"] if program == "serve" else [f"ringside-{program}"]))
            for key in keys:
                self.assertIn(f"--{key} ", shown)

    def test_an_analyzer_that_restarts_or_fails_takes_no_producer_with_it(self):
        producer = self.unit("ringside-producer@.service")
        self.assertEqual(words_of(producer, "Wants"), ["ringside-analyzer.service"])
        self.assertIn("ringside-analyzer.service", words_of(producer, "After"))
        for key in ("Requires", "Requisite", "BindsTo"):
            self.assertEqual(words_of(producer, key), [])
        self.assertEqual(words_of(producer, "PartOf"), ["ringside.target"])

    def test_stopping_the_target_stops_whoever_depends_on_the_analyzer_before_it(self):
        for name in SERVICES:
            self.assertEqual(words_of(self.unit(name), "PartOf"), ["ringside.target"])
        for name in SERVICES[1:]:
            self.assertIn("ringside-analyzer.service", words_of(self.unit(name), "After"))
        self.assertEqual(words_of(self.unit("ringside-analyzer.service"), "After"), [])

    def test_only_the_analyzer_owns_the_folder_of_the_sockets_and_keeps_it(self):
        owners = [name for name in SERVICES if words_of(self.unit(name), "RuntimeDirectory")]
        self.assertEqual(owners, ["ringside-analyzer.service"])
        self.assertEqual(words_of(self.unit(owners[0]), "RuntimeDirectoryPreserve"), ["yes"])

    def test_what_a_restart_does_not_mend_is_not_restarted_and_an_interrupted_job_is_none_that_failed(self):
        for name in SERVICES:
            unit = self.unit(name)
            self.assertEqual(words_of(unit, "Restart"), ["on-failure"])
            self.assertEqual(words_of(unit, "RestartPreventExitStatus"), ["2", "5"])
            self.assertEqual(words_of(unit, "SuccessExitStatus"), ["130"])

    def test_nothing_is_enabled_by_being_installed(self):
        self.assertEqual(list(self.root.rglob("*.wants")), [])

    def test_what_an_administrator_enables_hangs_on_its_target(self):
        self.assertEqual(words_of(self.unit("ringside-producer@.service"), "WantedBy"), ["ringside.target"])
        self.assertEqual(words_of(self.unit("ringside.target"), "WantedBy"), ["multi-user.target"])

    def test_the_user_is_made(self):
        if not shutil.which("systemd-sysusers"):
            self.skipTest("systemd-sysusers is not installed")
        with tempfile.TemporaryDirectory() as root:
            (pathlib.Path(root) / "etc").mkdir()
            subprocess.run(["systemd-sysusers", f"--root={root}", self.root / "usr/lib/sysusers.d/ringside.conf"],
                           check=True, capture_output=True)
            self.assertRegex(read(pathlib.Path(root) / "etc/passwd"),
                             r"(?m)^ringside:\w*:\d+:\d+:Ringside:/var/lib/ringside:/usr/sbin/nologin$")
            self.assertRegex(read(pathlib.Path(root) / "etc/group"), r"(?m)^ringside:")


class Generator(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.root = folder / "root"
        self.made = folder / "made"
        # Two sockets of four cores, each with memory, and a NUMA node that has only memory.
        self.machine({0: "0-3", 1: "4-7", 2: ""})

    def put(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def machine(self, nodes, with_memory=None):
        system = self.root / "sys/devices/system"
        shutil.rmtree(system, ignore_errors=True)
        cpus = ",".join(cpulist for cpulist in nodes.values() if cpulist)
        self.put("sys/devices/system/cpu/online", cpus + "\n")
        has_memory = nodes if with_memory is None else with_memory
        self.put("sys/devices/system/node/has_memory", ",".join(map(str, has_memory)) + "\n")
        for node, cpulist in nodes.items():
            self.put(f"sys/devices/system/node/node{node}/cpulist", cpulist + "\n")

    def generate(self):
        """Runs the generator. Returns all drop-ins by unit; self.said has the generator's messages."""
        shutil.rmtree(self.made, ignore_errors=True)
        self.made.mkdir()
        ran = subprocess.run([GENERATOR, self.made, "early", "late", f"--root={self.root}"], capture_output=True,
                             text=True, check=True, timeout=60)
        self.assertEqual(ran.stdout, "")
        self.said = ran.stderr.splitlines()
        return {path.parent.name.removesuffix(".d"): [line for line in read(path).splitlines() if line[0] != "#"]
                for path in self.made.glob("*.d/10-ringside.conf")}

    def of_analyzer(self, config):
        self.put("etc/ringside/analyzer.toml", config)
        return self.generate().get("ringside-analyzer.service", [])

    def of_web(self, config):
        self.put("etc/ringside/jobs/web.toml", config)
        return self.generate()["ringside-producer@web.service"]

    def test_without_a_configuration_nothing_is_made_and_nothing_said(self):
        self.assertEqual((self.generate(), self.said), ({}, []))

    def test_cores_of_one_node_prefer_its_memory(self):
        self.assertEqual(self.of_analyzer('slots = 8\ncores = "6-7"\n'),
                         ["[Service]", "CPUAffinity=6-7", "NUMAPolicy=preferred", "NUMAMask=1"])

    def test_cores_of_some_nodes_are_bound_to_their_memory(self):
        self.machine({0: "0-3", 1: "4-7", 2: "8-11"})
        self.assertEqual(self.of_analyzer('cores = "3,8,9"\n'),
                         ["[Service]", "CPUAffinity=3,8-9", "NUMAPolicy=bind", "NUMAMask=0,2"])

    def test_where_no_node_is_nearer_than_another_memory_comes_from_where_it_comes(self):
        for nodes, with_memory in (({0: "0-7"}, None), ({0: "0-3", 1: "4-7"}, None), ({0: "0-3", 1: "4-7"}, [0])):
            self.machine(nodes, with_memory)
            self.assertEqual(self.of_analyzer('cores = "2-5"\n'), ["[Service]", "CPUAffinity=2-5"], nodes)
        shutil.rmtree(self.root / "sys")
        self.assertEqual(self.of_analyzer('cores = "2-5"\n'), ["[Service]", "CPUAffinity=2-5"])
        self.assertEqual(self.said, [])

    def test_each_job_has_its_own(self):
        self.put("etc/ringside/jobs/web.toml", 'matrix = "grid:100"\ncores = "0-1"\n')
        self.put("etc/ringside/jobs/web-2.toml", 'cores = "4"\n')
        self.put("etc/ringside/jobs/plain.toml", 'matrix = "grid:100"\n')
        self.put("etc/ringside/jobs/web.toml~", 'cores = "2"\n')
        self.put("etc/ringside/jobs/two words.toml", 'cores = "2"\n')
        made = self.generate()
        self.assertEqual(sorted(made), ["ringside-producer@web-2.service", "ringside-producer@web.service"])
        self.assertIn("CPUAffinity=0-1", made["ringside-producer@web.service"])
        self.assertIn("NUMAMask=1", made["ringside-producer@web-2.service"])
        self.assertEqual(len(self.said), 1)
        self.assertIn("two words.toml", self.said[0])

    def test_a_broken_configuration_is_said_in_one_line_and_breaks_nothing_else(self):
        self.put("etc/ringside/jobs/good.toml", 'cores = "1"\n')
        for broken in ('cores = "5-2"', 'cores = "x"', 'cores = "0-99"', 'cores = "12"',
                       'cores = "1"\npool = "/mnt/\x07/ringside.pool"'):
            self.put("etc/ringside/analyzer.toml", broken + "\n")
            self.assertEqual(list(self.generate()), ["ringside-producer@good.service"], broken)
            self.assertEqual(len(self.said), 1, self.said)
            self.assertIn("/etc/ringside/analyzer.toml: ", self.said[0])

    def test_a_file_that_is_no_configuration_makes_nothing(self):
        for content in ("]][[ = = \n{", "\x00\x01\x02", "cores\n", "[section]\ncores = 1\n", "cores = [", "a" * 100_000):
            self.assertEqual(self.of_analyzer(content), [], content[:20])
        (self.root / "etc/ringside/analyzer.toml").unlink()
        (self.root / "etc/ringside/analyzer.toml").mkdir()
        self.assertEqual(self.generate(), {})

    def test_a_pool_elsewhere_is_mounted_first_and_may_be_written(self):
        self.assertEqual(self.of_analyzer('pool = "/mnt/pmem 0/100%/ringside.pool"\n'),
                         ["[Unit]", 'RequiresMountsFor="/mnt/pmem 0/100%%"',
                          "[Service]", 'ReadWritePaths="-/mnt/pmem 0/100%%"'])
        for pool in ("/var/lib/ringside/ringside.pool", "/var/lib/ringside/pmem/ringside.pool"):
            self.assertEqual(self.of_analyzer(f'pool = "{pool}"\n'), [], "the unit has it")
        self.assertEqual(self.of_analyzer('pool = "/var/lib/ringside/pmem1/ringside.pool"\n'),
                         ["[Unit]", 'RequiresMountsFor="/var/lib/ringside/pmem1"'], "the unit may write it")
        self.assertEqual(self.of_analyzer('pool = "/var/lib/ringside/../mail/ringside.pool"\n')[-1],
                         'ReadWritePaths="-/var/lib/mail"')

    def test_the_whole_file_system_is_never_opened(self):
        for pool in ("/ringside.pool", "/mnt/../ringside.pool"):
            self.assertEqual(self.of_analyzer(f'pool = "{pool}"\n'), [])
            self.assertEqual(len(self.said), 1, self.said)
            self.assertIn("'/'", self.said[0])

    def test_a_job_waits_for_its_matrix_and_may_write_its_cache(self):
        self.assertEqual(self.of_web('matrix = "/data/web.mtx"\ncache = true\n'),
                         ["[Unit]", 'RequiresMountsFor="/data/web.mtx"', 'RequiresMountsFor="/data"',
                          "[Service]", 'ReadWritePaths="-/data"'])
        self.assertEqual(self.of_web('matrix = "grid:100"\ncache = true\ncache-dir = "/cache"\n'),
                         ["[Unit]", 'RequiresMountsFor="/cache"', "[Service]", 'ReadWritePaths="-/cache"'])
        self.assertEqual(self.of_web('matrix = "grid:100"\nmatrix-memory = "far:/pmem/"\ndram-limit = "1G"\n'),
                         ["[Unit]", 'RequiresMountsFor="/pmem/"', "[Service]", 'ReadWritePaths="-/pmem/"'])
        self.assertEqual(self.of_web('matrix = "/data/a.mtx"\nsolver = "jacobi"\nrhs = "/input/b.mtx"\n'),
                         ["[Unit]", 'RequiresMountsFor="/data/a.mtx"', 'RequiresMountsFor="/input/b.mtx"'])

    def test_a_flag_is_on_by_the_word_that_switches_it_on_for_the_program(self):
        for word, on in (("true", True), ("false", False), ('"true"', False), ('"on"', False), ("1", False), ("7", False)):
            self.assertEqual("[Service]" in self.of_web(f'matrix = "/data/web.mtx"\ncache = {word}\n'), on, word)

    def test_the_network_is_opened_only_where_it_is_asked_for(self):
        self.assertEqual(self.of_analyzer('telemetry-tcp = "0.0.0.0:9500"\n'),
                         ["[Service]", "PrivateNetwork=no", "RestrictAddressFamilies=AF_INET AF_INET6",
                          "IPAddressAllow=any"])
        for listen, opened in (("127.0.0.1:9464", False), ("[::1]:9464", False), ("localhost:1", False),
                               ("0.0.0.0:9464", True), ("[::]:9464", True), ("192.0.2.7:9464", True)):
            self.put("etc/ringside/serve.toml", f'listen = "{listen}"\n')
            self.assertEqual(self.generate().get("ringside-serve.service", []),
                             ["[Service]", "IPAddressAllow=any"] if opened else [], listen)

    def test_systemd_understands_what_is_made(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd-analyze is not installed")
        made = self.of_analyzer('cores = "6-7"\npool = "/mnt/pmem 0/x.pool"\ntelemetry-tcp = "0.0.0.0:9500"\n')
        unit = self.root / "made.service"
        unit.write_text("\n".join(made) + "\nExecStart=/bin/true\n", encoding="utf-8")
        verified = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True,
                                  check=False)
        self.assertNotIn("made.service", verified.stderr)


if __name__ == "__main__":
    unittest.main()
