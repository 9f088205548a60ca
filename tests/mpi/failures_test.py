# SPDX-License-Identifier: BSD-3-Clause
"""What can fail in a run of two nodes, apart from killed processes and broken networks: disks, clocks, plug-ins, files,
ports, releases; and runs that are stopped. The rings keep the right bits. The journal of the whole run records each
step with the bits of a run of one process, or names the step as missing."""

import json
import re
import signal
import socket
import subprocess
import urllib.request

import ringside
from jobs import BIN, HANG_S, INTERRUPTED, ROOT, SYSTEM, USAGE, Heat, Jobs, blocks, run_tests, wait_until
from journals import Follower, missing, records, reductions_of, steps, whole_of

ENDLESS = 1_000_000
ADDRESS = "--node-address=localhost"
PLACED = blocks(4, 2)


class Failures(Jobs):
    def nodes(self, count, *options):
        return super().nodes(count, ADDRESS, *options)

    def heat(self, two, iterations, **more):
        return self.start(two, "publish_mpi", 37, iterations, **{"placed": PLACED, **more})

    def finish(self, two, iterations, resumed_from=None, **more):
        """Makes a run that ends. All steps in both rings and in the journal of the whole run must have the right bits.
        Returns the recorded iterations of this journal, with their records."""
        said = self.run_job(two, "publish_mpi", 37, iterations, placed=PLACED, use="resume", **more)
        if resumed_from is not None:
            self.assertEqual(self.resumed_from(said), resumed_from)
        return self.assert_whole(two, iterations)

    def assert_whole(self, two, iterations):
        self.end_analyzers(two)
        self.assert_heat(two, PLACED, Heat(), newest=iterations)
        enough = -(-iterations // 250) * 250  # rounded up, so that many tests share one run
        alone, = self.ended_run(1, "publish_mpi", 37, enough, placed=[0])
        of_one_process = steps(alone.pool)
        found = {}
        for record in records(whole_of(two[0])):
            if record["event"] == "step":
                iteration = record["iteration"]
                # In the run of one process, records of some steps may be missing, because thousands of steps follow
                # each other quickly.
                self.assertEqual(reductions_of(record), of_one_process.get(iteration, reductions_of(record)))
                found[iteration] = record  # a resumed run may record an iteration again
        named, _ = missing(whole_of(two[0]))
        self.assertEqual(sorted(set(found) | set(named)), list(range(1, max(found) + 1)), "none is lost unnamed")
        return found

    def replace_analyzer(self, node, by=signal.SIGKILL):
        node.end_analyzer(by)
        node.start_analyzer()

    def newest_common(self, two):
        for node in two:
            self.replace_analyzer(node, signal.SIGTERM)
        return max(set.intersection(*(set(node.kept()) for node in two)))


class Disks(Failures):
    def small_disk(self, node):
        """Gives the node's pool and journals a separate file system. Returns a function that fills it to the last
        byte."""
        place = node.folder / "disk"
        place.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "none", place], capture_output=True, check=False).returncode:
            self.skipTest("needs the right to mount a small tmpfs")
        self.addCleanup(subprocess.run, ["umount", "--lazy", place], check=True)
        node.end_analyzer()
        node.pool = place / node.pool.name
        return place / "filler"

    def fill(self, filler):
        with open(filler, "wb", buffering=0) as file:
            for block in (1 << 20, 1 << 12, 1):
                try:
                    while True:
                        file.write(bytes(block))
                except OSError:
                    continue

    def assert_no_room(self, two):
        said = self.run_job(two, "publish_mpi", 37, 40, placed=PLACED, use="resume", expected=SYSTEM)
        self.assertRegex(said, r"(?m)^node 1 \(ranks 2 to 3\): \S*/disk/ring\.pool.*No space left on device")

    def test_a_ring_on_a_full_disk_ends_the_run_before_it_begins(self):
        two = self.nodes(2)
        filler = self.small_disk(two[1])
        two[1].start_analyzer()
        self.fill(filler)
        self.assert_no_room(two)
        filler.unlink()
        self.run_job(two, "publish_mpi", 37, 5, placed=PLACED, use="resume")  # fewer steps than slots
        self.end_analyzers(two)
        sparse = self.folder / "sparse"
        subprocess.run(["cp", "--sparse=always", two[1].pool, sparse], check=True)
        subprocess.run(["cp", "--sparse=always", sparse, two[1].pool], check=True)
        self.start_analyzers(two)
        self.fill(filler)
        self.assert_no_room(two)
        self.assertEqual(sorted(two[0].kept()), [1, 2, 3, 4, 5])
        filler.unlink()
        self.finish(two, 40, resumed_from=5)

    def test_a_sync_that_fails_ends_the_run_and_names_the_node(self):
        two = self.nodes(2, "--durability=power")
        fails = self.folder / "disk fails"
        faults = str(self.compile("tests/mpi/faults.c"))
        two[1].environment = {"LD_PRELOAD": faults, "RINGSIDE_TEST_SYNCS_FAIL_IF": str(fails)}
        self.replace_analyzer(two[1])
        job = self.heat(two, ENDLESS)
        self.assertIsNotNone(two[1].await_steps(job, 20))
        fails.touch()
        said = self.ends(job, SYSTEM)
        self.assertRegex(said, r"(?m)^node 1 \(ranks 2 to 3\): .*Input/output error")
        fails.unlink()
        newest = self.newest_common(two)
        found = self.finish(two, newest + 30, resumed_from=newest)
        persisted = [found[k]["steps_persisted"] for k in range(newest + 1, newest + 31)]
        self.assertEqual(persisted, sorted(persisted))
        self.assertTrue(all(one["steps_persisted"] <= one["steps_committed"] for one in found.values()))
        self.assertEqual(records(whole_of(two[0]))[-1]["steps_persisted"], 30)

    def test_a_full_disk_below_the_journal_of_the_whole_leaves_the_run_and_its_followers_alone(self):
        two = self.nodes(2)
        filler = self.small_disk(two[0])
        two[0].start_analyzer()
        job = self.heat(two, 500)
        self.assertIsNotNone(two[0].await_steps(job, 5))
        with Follower(whole_of(two[0], "socket"), self.environment) as follower:
            with job.stopped():
                serve, url = self.serve(two[0])
                follower.await_step(5)
                self.fill(filler)
            self.ends(job, 0, 3 * HANG_S)
            two[0].await_log(f"event=journal_given_up pool={whole_of(two[0])} ")
            self.assertEqual(follower.await_step(500), list(range(1, 501)), "live")
        newest = b'\nringside_iteration{node="all",ranks="0 to 3"} 500\n'
        wait_until(lambda: newest in self.answer(url + "metrics"), lambda: self.answer(url + "metrics"))
        shown = json.loads(self.answer(url + "api/steps?limit=2000"))["steps"]
        self.assertEqual([step["iteration"] for step in shown], list(range(1, 501)))
        serve.kill()
        filler.unlink()
        self.newest_common(two)
        found = self.finish(two, 520, resumed_from=500)
        self.assertEqual(sorted(found)[-20:], list(range(501, 521)))
        self.assertLess(len(found), 520)

    def answer(self, url):
        with urllib.request.urlopen(url, timeout=HANG_S) as answer:
            return answer.read()

    def start_serve(self, *words, **environment):
        serve = subprocess.Popen([BIN / "ringside", "serve", "--listen=127.0.0.1:0", *words], env=self.environment | environment,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(lambda: (serve.kill(), serve.communicate()))
        return serve

    def serve(self, node):
        """Returns `ringside serve` of the whole run, and its address."""
        serve = self.start_serve("--socket", whole_of(node, "socket"))
        return serve, re.search(r"http://\S+/", serve.stdout.readline())[0]

    def test_the_journal_of_the_whole_is_served_with_the_analyzer_that_writes_it(self):
        two = self.nodes(2)
        job = self.heat(two, 500)
        self.assertIsNotNone(two[0].await_steps(job, 5))
        sockets = self.folder / "ringside-abcdef"  # the folder in which `ringside run` has its sockets
        sockets.mkdir()
        with job.stopped():
            for file in two[0].socket.parent.glob(two[0].socket.name + "*"):
                (sockets / f"analyzer.socket{file.name.removeprefix(two[0].socket.name)}").symlink_to(file)
            for pool, found in ((whole_of(two[0]), ".global"), (two[0].pool, "")):
                serve = self.start_serve("--pool", pool, XDG_RUNTIME_DIR="", TMPDIR=str(self.folder))
                self.assertIn(f"shows the journal of {pool} and the analyzer at {sockets}/analyzer.socket{found};",
                              serve.stdout.readline())
        self.ends(job, 0, 3 * HANG_S)


class Nodes(Failures):
    def test_analyzers_that_are_asked_to_stop_and_a_first_node_that_dies(self):
        two = self.nodes(2)
        job = self.heat(two, ENDLESS)
        for node in two:
            self.assertIsNotNone(node.await_steps(job, 20))
            self.replace_analyzer(node, signal.SIGTERM)
        self.assertIsNotNone(two[0].await_steps(job, 20))
        two[0].end_analyzer(signal.SIGKILL)
        job.kill(0, 1)
        self.assertNotEqual(job.ended()[0], 0)
        two[0].start_analyzer()
        newest = self.newest_common(two)
        found = self.finish(two, newest + 30, resumed_from=newest)
        self.assertLessEqual({*range(newest + 1, newest + 31)}, set(found))
        self.assertGreater(len(found), 60, "also before")

    def test_a_damaged_address_costs_results_of_the_whole_and_nothing_else(self):
        two = self.nodes(2)
        files = [node.socket.with_name(node.socket.name + ".node") for node in two]
        job = self.heat(two, ENDLESS)
        self.assertIsNotNone(two[0].await_steps(job, 20))
        for content in (b"\xff" * 300, files[1].read_bytes()[:30], b"", files[0].read_bytes(), None):
            two[1].end_analyzer(signal.SIGKILL)
            before = two[1].log().count("event=node_address")
            with socket.socket() as stranger:
                if content is None:
                    address, _ = files[1].read_text().split("\n", 1)
                    stranger.bind(("", int(address.rsplit(":", 1)[1])))
                    stranger.listen()
                else:
                    files[1].write_bytes(content)
                two[1].start_analyzer()
            self.assertEqual(two[1].log().count("event=node_address"), before + 1, content)
            self.assertIsNotNone(two[1].await_steps(job, 10))
        job.die()
        newest = self.newest_common(two)
        found = self.finish(two, newest + 30, resumed_from=newest)
        self.assertLessEqual({*range(newest + 1, newest + 31)}, set(found), "the next attachment has an address that is known")
        self.assertNotIn(newest, found)

    def test_a_plug_in_that_dies_leaves_the_other_node_and_the_whole_alone(self):
        plug_in = self.compile("tests/plug_ins/faulty.c", f"-I{ROOT / 'include'}")
        two = self.nodes(1) + self.nodes(1, f"--reduce-with={plug_in}:faulty:do=crash")
        job = self.start(two, "publish_mpi", 64, 60, ranks=2)
        for _ in range(2):
            self.assertEqual(two[1].analyzer.wait(HANG_S), -signal.SIGSEGV)
            two[1].start_analyzer()
        self.ends(job, 0)
        self.assertIn("it is left out", two[1].log())
        self.end_analyzers(two)
        self.assert_heat(two, [0, 1], Heat(64), newest=60, side=64)
        found, (named, _) = steps(whole_of(two[0])), missing(whole_of(two[0]))
        self.assertEqual(sorted([*found, *named]), list(range(1, 61)))
        self.assertTrue(all(len(results) == len(found[60]) for k, results in found.items() if k > 1))
        self.assertEqual(len(steps(two[0].pool)), 60)

    def test_a_trigger_that_stops_one_node_ends_the_job_which_can_be_resumed(self):
        two = self.nodes(1) + self.nodes(1, "--trigger=u.max > 0.001: stop")
        said = self.ends(self.heat(two, ENDLESS), INTERRUPTED)
        self.assertRegex(said, r"(?m)^node 1 \(ranks 2 to 3\): .*u\.max")
        two[1].options = two[0].options
        newest = self.newest_common(two)
        self.finish(two, newest + 30, resumed_from=newest)

    def test_two_releases_in_one_job_are_refused_and_the_rank_is_named(self):
        version = ringside.__version__.encode()
        other = self.folder / "libringside_mpi.so.0"
        content = (BIN.parent / "lib" / other.name).read_bytes()
        self.assertIn(version + b"\0", content)
        other.write_bytes(content.replace(version + b"\0", b"9" + version[1:] + b"\0"))
        two = self.nodes(2)
        said = self.run_job(two, "publish_mpi", 37, 40, placed=PLACED, expected=USAGE,
                            of_rank={2: [f"LD_LIBRARY_PATH={self.folder}"]})
        found = f"rank 2: found libringside_mpi 9{version[1:].decode()}, and {version.decode()} on rank 0; expected one release"
        self.assertIn(found, said)
        self.assertEqual([node.kept() for node in two], [{}, {}])

    def test_clocks_that_differ_by_years_change_neither_results_nor_their_order(self):
        two = self.nodes(2)
        faults = str(self.compile("tests/mpi/faults.c"))
        ten_years_s = 10 * 365 * 86400
        for iterations, ahead_s in ((30, (0, ten_years_s)), (60, (-ten_years_s, 0))):
            for node, by in zip(two, ahead_s, strict=True):
                node.environment = {"LD_PRELOAD": faults, "RINGSIDE_TEST_CLOCK_S": str(by)} if by else {}
                self.replace_analyzer(node, signal.SIGTERM) if node.analyzer else node.start_analyzer()
            found = self.finish(two, iterations)
        self.assertEqual(sorted(found), list(range(1, 61)), "none is missing")
        order = [record["iteration"] for record in records(whole_of(two[0])) if record["event"] == "step"]
        self.assertEqual(order, list(range(1, 61)))
        for record in found.values():
            for name, value in record.items():
                if name.endswith("_ns") and name not in ("unix_ns", "published_at_ns"):
                    self.assertTrue(0 <= value < HANG_S * 10**9, (name, value))


run_tests()
