# SPDX-License-Identifier: BSD-3-Clause
"""The rings of all nodes, read as one: the arrays of the whole run have the bits that the ranks wrote. Messages name,
with the node, what is missing, damaged or from another run, and what is wrong in a ranks file."""

import importlib.util
import json
import os
import pathlib
import pickle
import re
import shutil
import signal
import subprocess
import unittest

import numpy as np

import ringside
from jobs import BIN, DAMAGED, HANG_S, INTERRUPTED, SIDE, SLOTS, SYSTEM, USAGE, Heat, Jobs, blocks, run_tests, wait_until

try:
    import h5py
except ImportError:  # the other formats are tested without it
    h5py = None

STEPS = 12
SHAPE = (6, 5, 7)


def boxes_of(k):
    """The arrays of publish_boxes."""
    index = np.arange(np.prod(SHAPE)).reshape(SHAPE)
    return {"p": (index + np.float32(0.5) * k).astype("<f4"), "id": index * 10**15 + k, "basis": k + np.arange(3.0)}


class Rings(Jobs):
    def say(self, *words, expected=0):
        done = subprocess.run([BIN / "ringside", *map(str, words)], capture_output=True, encoding="utf-8", check=False)
        self.assertEqual(done.returncode, expected, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def run_on(self, count, program, *arguments, placed):
        nodes = self.ended_run(count, program, *arguments, placed=placed)
        return nodes, nodes[-1].pool.with_name("ring.pool.ranks")

    def gathered(self, nodes):
        """A folder with all rings, like a folder on a shared file system."""
        folder = self.folder / f"all{len(list(self.folder.iterdir()))}"
        folder.mkdir()
        for number, node in enumerate(nodes):
            for file in node.folder.glob("ring.pool*"):
                shutil.copy(file, folder / file.name.replace("ring", f"r{number}", 1))
        return folder

    def assert_exports(self, path, expected):
        """expected: {name: array} of an iteration. The file of each export format must contain these bits."""
        k, arrays = expected
        out = self.folder / "out"
        out.mkdir()
        self.say("export", path, "--iteration", k, "-o", out / "a.h5")
        self.say("export", path, "--iteration", k, "-o", out / "a.zarr")
        self.say("export", path, "--iteration", k, "-o", out / "a.npz")
        for name, array in arrays.items():
            self.say("export", path, "--iteration", k, "--variable", name, "-o", out / f"{name}.npy")
            exported = [np.load(out / f"{name}.npy"), np.load(out / "a.npz")[name], zarr_array(out / "a.zarr", name)]
            if h5py:
                with h5py.File(out / "a.h5") as file:
                    exported.append(file[name][()])
                    self.assertEqual(int(file[name].attrs["iteration"]), k)
            for found in exported:
                self.assertEqual((np.shape(found), found.dtype), (array.shape, array.dtype))
                self.assertEqual(np.ascontiguousarray(found).tobytes(), array.tobytes(), name)
        self.assert_read(path, expected)
        shutil.rmtree(out)

    def assert_read(self, path, expected):
        k, arrays = expected
        rings = ringside.open(path)
        with rings[k] as step:
            for name, array in arrays.items():
                self.assertEqual(step[name].tobytes(), array.tobytes())
                self.assertEqual(rings.read(k, name).tobytes(), array.tobytes())

    def test_rows_of_any_nodes_are_one_array(self):
        heat = Heat()
        for ranks, count in ((2, 1), (3, 2), (4, 4)):
            with self.subTest(ranks=ranks, nodes=count):
                nodes, ranks_file = self.run_on(count, "publish_mpi", SIDE, STEPS, placed=blocks(ranks, count))
                self.assert_exports(ranks_file, (STEPS, {"u": heat[STEPS][0]}))
                self.assert_exports(self.gathered(nodes), (STEPS - 1, {"u": heat[STEPS - 1][0]}))

    def test_boxes_and_replicated_variables_are_put_in_their_places(self):
        for placed, spread in ((blocks(8, 2), "cubes"), ([0, 1] * 4, "backwards"), ([0, 1, 0], "rows"), ([0, 1, 2], "rows")):
            with self.subTest(placed=placed, spread=spread):
                nodes, ranks_file = self.run_on(max(placed) + 1, "publish_boxes", STEPS, spread, placed=placed)
                self.assert_exports(ranks_file, (STEPS, boxes_of(STEPS)))

    def test_series_slices_and_tables_are_of_the_whole(self):
        nodes, _ = self.run_on(2, "publish_boxes", STEPS, "cubes", placed=blocks(8, 2))
        folder = self.gathered(nodes)
        out = self.folder
        self.say("export", folder, "--all", "--from", STEPS - 6, "--every", 2, "-o", out / "s.h5")
        self.say("export", folder, "--all", "--slice", "1:6:2,4", "--variable", "p,id", "-o", out / "s.zarr")
        chosen = range(STEPS - 6, STEPS + 1, 2)
        if h5py:
            self.assert_series(out / "s.h5", chosen)
        self.say("export", folder, "--variable", "id", "--slice", "1:6:2,4", "-o", out / "s.npy")
        expected = boxes_of(STEPS)["id"][1:6:2, 4]
        self.assertEqual(np.load(out / "s.npy").tobytes(), np.ascontiguousarray(expected).tobytes())
        self.say("export", folder, "--variable", "id", "--slice", ":,::3,2:7:4", "-o", out / "t.npy")
        self.assertEqual(np.load(out / "t.npy").tolist(), boxes_of(STEPS)["id"][:, ::3, 2:7:4].tolist())
        self.say("export", folder, "--variable", "p", "--slice", ":,1", "-o", out / "s.csv")
        table = np.loadtxt(out / "s.csv", delimiter=",", skiprows=1)
        self.assertEqual(table[:, 2].astype("<f4").tolist(), boxes_of(STEPS)["p"][:, 1].ravel().tolist())
        self.say("export", folder, "--variable", "p", "-o", out / "s.vti")
        self.assertIn("expected csv, hdf5, npy", self.say("export", folder, "--variable", "basis", "-o", out / "s.mtx", expected=USAGE))
        self.assertIn("expected one of their pools", self.say("export", folder, "--records", "-o", out / "s2.csv", expected=USAGE))
        self.assertIn("a new file or folder", self.say("export", folder, "--variable", "basis", "-o", "-", expected=USAGE))
        self.assertIn(f"all rings hold {STEPS - SLOTS + 1} to {STEPS}",
                      self.say("export", folder, "--iteration", 1, "-o", out / "n.h5", expected=USAGE))

    def assert_series(self, path, chosen):
        with h5py.File(path) as file:
            self.assertEqual(list(file["steps/iteration"]), list(chosen))
            for row, k in enumerate(chosen):
                self.assertEqual(file["id"][row].tobytes(), boxes_of(k)["id"].tobytes())

    @unittest.skipUnless(h5py, "there is no h5py")
    def test_a_rank_that_has_equal_rows_is_a_chunk(self):
        nodes, ranks_file = self.run_on(2, "publish_boxes", STEPS, "rows", placed=blocks(3, 2))
        self.say("export", ranks_file, "-o", self.folder / "c.h5")
        with h5py.File(self.folder / "c.h5") as file:
            self.assertEqual(file["p"].chunks, (2, 5, 7))
            self.assertIsNone(file["basis"].chunks)

    def test_info_verify_and_replay_take_all_rings(self):
        nodes, ranks_file = self.run_on(2, "publish_mpi", SIDE, STEPS, placed=blocks(4, 2))
        for path in (ranks_file, self.gathered(nodes)):
            info = json.loads(self.say("info", "--json", path))
            self.assertEqual(info["iterations"], list(range(STEPS - SLOTS + 1, STEPS + 1)))
            self.assertEqual([node["ranks"] for node in info["nodes"]], [[0, 1], [2, 3]])
            self.assertEqual(info["variables"][0]["shape"], [SIDE, SIDE])
            self.assertIn(f"all       hold iterations {STEPS - SLOTS + 1} to {STEPS}", self.say("info", path))
            verified = json.loads(self.say("verify", "--json", path))
            self.assertTrue(verified["intact"])
            self.assertEqual([len(node["slots"]) for node in verified["nodes"]], [SLOTS, SLOTS])
            self.say("replay", path)
            lines = [json.loads(line) for line in self.say("replay", "--json", path).splitlines()]
            self.assertEqual([line["node"] for line in lines if "intact" in line], [0, 1])

    def test_what_reads_one_pool_takes_the_ranks_file_of_one_node(self):
        nodes, ranks_file = self.run_on(1, "publish_mpi", SIDE, STEPS, placed=blocks(2, 1))
        pool = nodes[0].pool
        self.say("compare", ranks_file, pool, "--expect-equal")
        self.say("report", ranks_file, "-o", self.folder / "r.html")
        self.assertIn("expected another file", self.say("report", ranks_file, "-o", ranks_file, expected=USAGE))
        self.assertIn(f"{STEPS} records of {pool}", self.say("export", ranks_file, "--records", "-o", self.folder / "r.csv"))
        self.assertEqual(self.say("tail", "--pool", ranks_file), self.say("tail", "--pool", pool))
        self.assertEqual(self.say("thaw", ranks_file), f"{pool}: is not frozen\n")
        (self.folder / "mean.py").write_text("import ringside\n\n@ringside.reduction\ndef mean(step):\n"
                                             "    return float(step['u'].mean())\n", encoding="utf-8")
        self.assertIn(f"{SLOTS} steps, 0 skipped", self.say("analyze", ranks_file, self.folder / "mean.py"))
        self.assertIn(f"expected the pool beside it, {pool}", self.say("wipe", "--yes", ranks_file, expected=USAGE))

    def test_of_several_nodes_their_pools_are_named_or_the_journal_of_the_whole_run_is_taken(self):
        nodes, ranks_file = self.run_on(2, "publish_mpi", SIDE, STEPS, placed=blocks(4, 2))
        pools = f"expected one of their pools: {nodes[0].pool}, {nodes[1].pool}"
        (self.folder / "none.py").touch()
        self.assertIn(f"found the rings of 2 nodes, {pools}", self.say("analyze", ranks_file, self.folder / "none.py", expected=USAGE))
        self.assertIn(pools, self.say("thaw", ranks_file, expected=USAGE))
        for words in (("compare", ranks_file, nodes[0].pool), ("report", ranks_file, "-o", self.folder / "r.html"),
                      ("tail", "--pool", ranks_file), ("serve", "--pool", ranks_file, "--listen=127.0.0.1:0")):
            self.assertIn(pools, self.say(*words, expected=USAGE))
        for journal in nodes[0].folder.glob("ring.pool.journal*"):  # as if the folder were that of the first node
            shutil.copy(journal, str(journal).replace("ring.pool", "ring.pool.global"))
        self.say("report", ranks_file, "-o", self.folder / "r.html")
        self.assertIn(f"{STEPS} records of {nodes[0].pool}.global", self.say("export", ranks_file, "--records", "-o", self.folder / "r.csv"))

    def test_python_reads_them_as_a_pool(self):
        nodes, _ = self.run_on(2, "publish_boxes", STEPS, "cubes", placed=blocks(8, 2))
        rings = ringside.open(self.gathered(nodes))
        kept = list(range(STEPS - SLOTS + 1, STEPS + 1))
        self.assertEqual((list(rings), len(rings), STEPS in rings, 1 in rings), (kept, SLOTS, True, False))
        self.assertEqual((rings[-3:], rings[kept[1]:kept[4]:2]), (kept[-3:], kept[1:4:2]))
        self.assertEqual(rings.variables["p"], ringside.Variable("f32", SHAPE))
        series = rings.array("id", rings[-2:], part=np.s_[1:4, 0])
        self.assertEqual(series.tolist(), [boxes_of(k)["id"][1:4, 0].tolist() for k in kept[-2:]])
        with rings[-1] as step:
            self.assertEqual((step.iteration, list(step), step.held), (STEPS, ["p", "id", "basis"], True))
            self.assertEqual(step.nodes[1].results["solver.sweeps"], 2 * STEPS)
            step.verify()
            step.check()
        self.assertFalse(step.held)
        self.assertEqual([node.name for node in rings.nodes], ["node 0 (ranks 0 to 3)", "node 1 (ranks 4 to 7)"])
        for node in rings.nodes:
            self.assertEqual(len(node.pool.table()["solver.waited_ns"]), STEPS)
            self.assertEqual(len(set(node.pool.table()["run_id"])), 1)
        for wrong, kind in ((lambda: rings[1], ringside.NotKeptError), (lambda: rings.read(STEPS, "q"), KeyError),
                            (lambda: rings["p"], ringside.UsageError)):
            self.assertRaises(kind, wrong)
        self.assertIn("2 nodes", repr(rings))
        with rings[-1] as step:
            self.assertEqual({name: array.shape for name, array in step.items()}, {name: step[name].shape for name in step})
            self.assertRaisesRegex(KeyError, "'P' is no variable of .*; expected one of p, id, basis", lambda: step["P"])
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(rings)).read(STEPS, "id"), rings.read(STEPS, "id"))
        with ringside.open_rings(rings.path) as other:
            self.assertFalse(other.closed)
        self.assertTrue(other.closed)
        self.assertIn("closed", repr(other))
        self.assertRaisesRegex(ringside.UsageError, "the pool was closed; open it again", len, other)

    @unittest.skipUnless(importlib.util.find_spec("xarray"), "this interpreter has no xarray")
    def test_xarray_opens_them_as_a_pool(self):
        from ringside.xarray import PoolBackend

        nodes, _ = self.run_on(2, "publish_boxes", STEPS, "cubes", placed=blocks(8, 2))
        folder = self.gathered(nodes)
        self.assertTrue(PoolBackend().guess_can_open(folder))
        with PoolBackend().open_dataset(folder, dims={"id": ("a", "b", "c")}) as found:
            self.assertEqual(found["id"].dims, ("iteration", "a", "b", "c"))
            self.assertEqual(found["id"].sel(iteration=STEPS, b=0)[1:4].values.tolist(), boxes_of(STEPS)["id"][1:4, 0].tolist())
            self.assertEqual(found.attrs["run_id"], ringside.open(folder).run_id)
            found["p"].load()

    def test_steps_are_those_that_all_rings_hold(self):
        nodes, ranks_file = self.run_on(2, "publish_mpi", SIDE, STEPS, placed=blocks(4, 2))
        shutil.copy(nodes[1].pool, self.folder / "older")
        self.start_analyzers(nodes)
        self.run_job(nodes, "publish_mpi", SIDE, STEPS + 4, placed=blocks(4, 2), use="resume")
        self.end_analyzers(nodes)
        shutil.copy(self.folder / "older", nodes[1].pool)
        common = list(range(STEPS + 4 - SLOTS + 1, STEPS + 1))
        self.assertEqual(json.loads(self.say("info", "--json", ranks_file))["iterations"], common)
        self.assertEqual(list(ringside.open(ranks_file)), common)
        self.assert_replay_goes_on(ranks_file)
        self.assertIn(f"iteration {STEPS} of", self.say("export", ranks_file, "-o", self.folder / "last.npy"))
        self.assertEqual(np.load(self.folder / "last.npy").tobytes(), Heat()[STEPS][0].tobytes())
        said = self.say("export", ranks_file, "--iteration", STEPS + 1, "-o", self.folder / "no.npy", expected=USAGE)
        self.assertIn(f"all rings hold {common[0]} to {common[-1]}; node 0 (ranks 0 to 1) holds", said)
        self.assertIn(f"node 1 (ranks 2 to 3) holds {STEPS - SLOTS + 1} to {STEPS}", said)

    def assert_replay_goes_on(self, ranks_file):
        """Node 0 holds newer steps than node 1."""
        for words, without in ((("--to", STEPS + 4 - SLOTS), 0), (("--from", STEPS + 1), 1)):
            said = self.say("replay", ranks_file, *words, expected=USAGE)
            self.assertRegex(said, rf"node {without} \(ranks \d to \d\): {words[0]} {words[1]}: none of these iterations is kept")
            lines = [json.loads(line) for line in self.say("replay", "--json", ranks_file, *words, expected=USAGE).splitlines()]
            self.assertEqual([line["node"] for line in lines if "error" in line], [without])
            self.assertEqual([(line["node"], line["iterates"]) for line in lines if "intact" in line], [(1 - without, 4)])

    def test_a_step_is_exported_whole_while_the_run_goes_on(self):
        nodes, heat = self.nodes(2), Heat()
        job = self.start(nodes, "publish_mpi", SIDE, 2000, ranks=4)
        nodes[1].await_steps(job, SLOTS)
        for _ in range(3):
            said = self.say("export", nodes[0].pool.with_name("ring.pool.ranks"), "-o", self.folder / "now.npy")
            k = int(re.search(r"iteration ([\d,]+) of", said)[1].replace(",", ""))
            self.assertEqual(np.load(self.folder / "now.npy").tobytes(), heat[k][0].tobytes(), f"iteration {k}")
        job.kill(0)
        job.ended()

    # Messages name the rings and files.

    def test_a_missing_ring_is_named(self):
        nodes, _ = self.run_on(2, "publish_mpi", SIDE, STEPS, placed=blocks(4, 2))
        folder = self.gathered(nodes)
        for node in nodes:
            node.pool.rename(node.pool.with_suffix(".moved"))
        before = hashes(folder)
        (folder / "r1.pool").rename(self.folder / "elsewhere")
        for command in (["info"], ["verify"], ["replay"], ["export", "-o", self.folder / "m.h5"]):
            said = self.say(command[0], folder, *command[1:], expected=USAGE)
            self.assertRegex(said, r"node 1 \(ranks 2 to 3\).*: there is no such pool")
        with self.assertRaisesRegex(ringside.NoFileError, r"node 1 \(ranks 2 to 3\)"):
            ringside.open(folder)
        (folder / "r1.pool").symlink_to("r1.pool")  # as in an unreadable folder, it is unknown whether the pool exists
        self.assertRegex(self.say("verify", folder, expected=SYSTEM), r"node 1 \(ranks 2 to 3\): .*r1.pool.*symbolic links")
        (folder / "r1.pool").unlink()
        (self.folder / "elsewhere").rename(folder / "r1.pool")
        self.assertEqual(hashes(folder), before)
        self.assertFalse((self.folder / "m.h5").exists())
        self.say("verify", folder)

    def test_a_damaged_ring_is_named_with_its_slot_and_chunk(self):
        nodes, _ = self.run_on(2, "publish_mpi", SIDE, STEPS, placed=blocks(4, 2))
        folder = self.gathered(nodes)
        content = bytearray((folder / "r0.pool").read_bytes())
        content[content.index(Heat()[STEPS][0][1].tobytes())] ^= 1
        (folder / "r0.pool").write_bytes(content)
        said = self.say("verify", folder, expected=DAMAGED)
        self.assertRegex(said, r"node 0 \(ranks 0 to 1\)  slot +\d+  iteration +12  DAMAGED: 1 of \d+ chunks of \d+ bytes differ: \d")
        self.assertNotRegex(said, r"node 1.*DAMAGED")
        said = self.say("export", folder, "-o", self.folder / "d.h5", expected=DAMAGED)
        self.assertRegex(said, r"node 0 \(ranks 0 to 1\): .*r0.pool: iteration 12 in slot \d+ is damaged \(chunk \d+\)")
        self.assertFalse((self.folder / "d.h5").exists())
        self.say("replay", folder, expected=DAMAGED)
        self.say("export", folder, "--iteration", STEPS - 1, "-o", self.folder / "d.h5")
        with self.assertRaisesRegex(ringside.DamagedError, r"node 0 \(ranks 0 to 1\)"):
            ringside.open(folder).read(STEPS, "u")
        (folder / "r1.pool").write_bytes((folder / "r1.pool").read_bytes()[:8192])
        said = self.say("verify", folder, expected=DAMAGED)
        self.assertRegex(said, r"node 1 \(ranks 2 to 3\): .*r1.pool")
        self.assertIn("node 0 (ranks 0 to 1)  slot", said)

    def test_rings_of_different_runs_are_refused(self):
        first, _ = self.run_on(2, "publish_mpi", SIDE, STEPS, placed=blocks(4, 2))
        other, _ = self.run_on(2, "publish_mpi", SIDE, STEPS + 1, placed=blocks(4, 2))
        folder = self.gathered(first)
        shutil.copy(other[1].pool, folder / "r1.pool")
        for command in (["verify"], ["export", "-o", self.folder / "o.h5"]):
            said = self.say(command[0], folder, *command[1:], expected=USAGE)
            self.assertRegex(said, r"node 1 \(ranks 2 to 3\): .*r1.pool: it belongs to run [0-9a-f]{32}, not to run [0-9a-f]{32}")
        shutil.copy(first[0].pool, folder / "r1.pool")
        self.assertRegex(self.say("verify", folder, expected=USAGE), r"r1.pool: it is the ring of node 0 \(ranks 0 to 1\)")
        shutil.copy(other[1].pool.with_name("ring.pool.ranks"), folder / "r1.pool.ranks")
        said = self.say("info", folder, expected=USAGE)
        self.assertRegex(said, "rings of several runs: .*r0.pool.ranks .* and .*r1.pool.ranks")
        with self.assertRaisesRegex(ringside.UsageError, "rings of several runs"):
            ringside.open(folder)

    def test_a_ranks_file_that_lies_is_refused(self):
        nodes, ranks_file = self.run_on(2, "publish_boxes", STEPS, "rows", placed=blocks(4, 2))
        truth = json.loads(ranks_file.read_text(encoding="utf-8"))

        def told(change, line):
            lie = json.loads(json.dumps(truth))
            change(lie)
            ranks_file.write_text(json.dumps(lie), encoding="utf-8")
            self.assertRegex(self.say("info", ranks_file, expected=USAGE), line)
            with self.assertRaises(ringside.UsageError):
                ringside.open(ranks_file)

        def swapped(lie):  # a consistent file, but the rings keep other parts of the whole
            for one, other in zip(lie["nodes"][0]["ranks"], lie["nodes"][1]["ranks"]):
                one["boxes"], other["boxes"] = other["boxes"], one["boxes"]

        def exchanged(lie):  # a consistent file, but the ranks of a node have other parts
            one, other = lie["nodes"][0]["ranks"]
            one["boxes"], other["boxes"] = other["boxes"], one["boxes"]

        def left_empty(lie):  # a consistent file, except that a node has no entry
            offset, extent = [0] * len(SHAPE), list(SHAPE)
            for node in lie["nodes"]:
                for rank in node["ranks"]:
                    rank["boxes"][0] = {"offset": offset, "extent": [0, *extent[1:]]}
            lie["nodes"][1]["ranks"][0]["boxes"][0]["extent"] = extent

        told(lambda lie: lie["nodes"][0]["ranks"][0]["boxes"][0]["extent"].__setitem__(0, 2), "overlap")
        told(left_empty, "no rank of this node has an entry of variable 'p'")
        told(lambda lie: lie["variables"][0]["shape"].__setitem__(1, 0), "expected at least 1 in each dimension")
        told(lambda lie: lie["variables"][0].__setitem__("unit", 5), "expected a text")
        told(lambda lie: lie["nodes"].pop(), "expected a whole number from 0 to 0|once")
        told(lambda lie: lie["variables"][0].__setitem__("shape", [2**40, 2**40, 2**40]), "64-bit")
        told(lambda lie: lie.__setitem__("run_id", "0" * 32), "not to run 0{32}")
        told(swapped, r"it is the ring of node \d \(ranks \d to \d\), not of this node")
        told(exchanged, "keeps other entries than the ranks file lists")
        ranks_file.write_text(json.dumps(truth), encoding="utf-8")
        self.say("info", ranks_file)

    # `gather` with a test program in place of scp.

    def test_gathered_rings_are_one_folder(self):
        nodes, ranks_file = self.run_on(2, "publish_mpi", SIDE, STEPS, placed=blocks(4, 2))
        copy = "sh " + str(self.copying_program())
        self.say("gather", self.folder / "g1", "--copy", copy, "--from", f"a:{nodes[0].pool}", "--from", f"b:{nodes[1].pool}")
        truth = ranks_file.read_text(encoding="utf-8")
        remote = json.loads(truth)
        for node in remote["nodes"]:
            node["host"] = "n" + str(node["node"])
        ranks_file.write_text(json.dumps(remote), encoding="utf-8")
        self.say("gather", self.folder / "g2", "--copy", copy, "--ranks", ranks_file)
        ranks_file.write_text(truth, encoding="utf-8")
        self.say("gather", self.folder / "g3", "--ranks", ranks_file)
        for node in nodes:
            node.pool.rename(node.pool.with_suffix(".moved"))
        for name in ("g1", "g2", "g3"):
            folder = self.folder / name
            self.assertEqual(sorted(path.name for path in folder.iterdir()),
                             ["node0.pool", "node0.pool.ranks", "node1.pool", "node1.pool.ranks"])
            self.assertEqual({path.stat().st_mode & 0o077 for path in folder.iterdir()}, {0})
            for path in (folder, folder / "node1.pool.ranks"):
                self.assert_read(path, (STEPS, {"u": Heat()[STEPS][0]}))

    def test_what_cannot_be_gathered_leaves_nothing(self):
        nodes, ranks_file = self.run_on(2, "publish_mpi", SIDE, STEPS, placed=blocks(4, 2))
        folder = self.folder / "g"
        pools = [node.pool for node in nodes]

        def refused(code, line, *words):
            self.assertRegex(self.say("gather", folder, *words, expected=code), line)
            self.assertEqual([path for path in self.folder.iterdir() if path.name.startswith(("g", ".g"))], [])

        refused(USAGE, r"found no ring of node 1 \(ranks 2 to 3\)", "--from", pools[0])
        refused(USAGE, "second ring of node 0", "--from", pools[0], "--from", pools[0])
        refused(SYSTEM, "ended with exit code 7", "--copy", "exit 7;", "--from", f"h:{pools[0]}")
        refused(SYSTEM, "made no file", "--copy", "true", "--from", f"h:{pools[0]}")
        nodes[0].start_analyzer()
        job = self.start([nodes[0]], "publish_mpi", SIDE, 10**6, ranks=2, use="overwrite")
        nodes[0].await_steps(job, 1)
        refused(SYSTEM, "ring.pool", "--from", pools[0], "--from", pools[1])
        job.process.kill()
        nodes[0].end_analyzer(signal.SIGKILL)
        refused(USAGE, "expected rings of one run", "--from", pools[0], "--from", pools[1])
        lie = json.loads(ranks_file.read_text(encoding="utf-8"))
        lie["nodes"][0]["host"] = "-oProxyCommand=x"
        ranks_file.write_text(json.dumps(lie), encoding="utf-8")
        refused(USAGE, "of plain letters", "--ranks", ranks_file)

    def test_a_stopped_gather_ends_the_program_that_copies(self):
        nodes, _ = self.run_on(1, "publish_mpi", SIDE, STEPS, placed=[0, 0])
        told = self.folder / "told"
        os.mkfifo(told)
        gather = subprocess.Popen([BIN / "ringside", "gather", self.folder / "g", "--from", f"h:{nodes[0].pool}", "--copy",
                                   f"echo $$ > '{told}'; exec tail -f /dev/null;"], stderr=subprocess.PIPE, encoding="utf-8")
        copier = int(told.read_text(encoding="utf-8"))
        gather.terminate()
        said = gather.communicate(timeout=HANG_S)[1]
        self.assertEqual(gather.returncode, INTERRUPTED, said)
        self.assertRaises(ProcessLookupError, os.kill, copier, 0)
        self.assertEqual([path for path in self.folder.iterdir() if path.name.startswith(("g", ".g"))], [])

    def copying_program(self):
        """A program that copies HOST:FILE to a file, and ignores the host."""
        program = self.folder / "copy.sh"
        program.write_text('cp "${1#*:}" "$2"\n', encoding="utf-8")
        return program

    # The process that writes the ranks file.

    def test_an_analyzer_killed_before_the_first_commit_leaves_a_file_of_a_run_without_steps(self):
        nodes = self.nodes(1)
        job = self.start(nodes, "publish_mpi", SIDE, STEPS, ranks=2)
        job.ended()
        ranks_file = nodes[0].pool.with_name("ring.pool.ranks")
        before = json.loads(ranks_file.read_text(encoding="utf-8"))
        nodes[0].end_analyzer()
        lie = {**before, "run_id": "f" * 32}  # as if a later run's analyzer was killed before it cleared the ring
        ranks_file.write_text(json.dumps(lie), encoding="utf-8")
        self.assertRegex(self.say("export", ranks_file, "-o", self.folder / "k.h5", expected=USAGE),
                         f"it belongs to run {before['run_id']}, not to run f{{32}}")
        nodes[0].start_analyzer()
        self.run_job(nodes, "publish_mpi", SIDE, 2 * STEPS, ranks=2, use="resume")
        nodes[0].end_analyzer()
        self.assertEqual(json.loads(ranks_file.read_text(encoding="utf-8")), before, "the run that was resumed")
        self.assert_exports(ranks_file, (2 * STEPS, {"u": Heat()[2 * STEPS][0]}))

    def test_the_successor_of_an_analyzer_that_was_killed_once_the_file_was_there_leaves_the_same(self):
        nodes = self.nodes(2)
        self.run_job(nodes, "publish_mpi", SIDE, STEPS, ranks=4)
        ranks_file = nodes[1].pool.with_name("ring.pool.ranks")
        before = json.loads(ranks_file.read_text(encoding="utf-8"))
        job = self.start(nodes, "publish_mpi", SIDE, 5 * STEPS, ranks=4, use="overwrite")
        wait_until(lambda: json.loads(ranks_file.read_text(encoding="utf-8"))["run_id"] != before["run_id"], job.said)
        nodes[1].end_analyzer(signal.SIGKILL)
        nodes[1].start_analyzer()
        self.assertEqual(job.ended(), (0, job.said()))
        self.end_analyzers(nodes)
        after = json.loads(ranks_file.read_text(encoding="utf-8"))
        self.assertEqual(after["nodes"], before["nodes"])
        self.assertEqual(json.loads(self.say("info", "--json", ranks_file))["iterations"], list(range(5 * STEPS - SLOTS + 1, 5 * STEPS + 1)))

    def test_a_run_without_steps_is_named(self):
        nodes = self.nodes(2)
        self.run_job(nodes, "publish_boxes", 0, "rows", placed=[0, 1])
        self.end_analyzers(nodes)
        ranks_file = nodes[0].pool.with_name("ring.pool.ranks")
        self.assertEqual(json.loads(self.say("info", "--json", ranks_file))["iterations"], [])
        self.assertIn("found no iteration that all rings hold: node 0 (rank 0) holds no step; node 1 (rank 1) holds no step",
                      self.say("export", ranks_file, "-o", self.folder / "e.h5", expected=USAGE))

    def test_the_file_is_the_owners_and_goes_with_the_pool(self):
        node, = self.nodes(1)
        self.run_job([node], "publish_mpi", SIDE, STEPS, ranks=2)
        ranks_file = node.pool.with_name("ring.pool.ranks")
        self.assertEqual(ranks_file.stat().st_mode & 0o777, 0o600)
        described = json.loads(ranks_file.read_text(encoding="utf-8"))["nodes"][0]
        self.assertEqual(described["pool"], str(node.pool))
        self.assertIn("is also POOL", self.say("export", ranks_file, "-o", ranks_file, expected=USAGE))
        self.assertIn("a pool's ranks file", self.say("export", node.pool, "-o", ranks_file, expected=USAGE))
        with ringside.publish(variables={"x": ("f64", (8,))}, socket=str(node.socket), pool_use="overwrite") as run:
            with run.step(1) as step:
                step["x"][:] = 1
        self.assertFalse(ranks_file.exists(), "of a run that was discarded")
        self.run_job([node], "publish_mpi", SIDE, STEPS, ranks=2, use="overwrite")
        self.assertTrue(ranks_file.exists())
        node.end_analyzer(signal.SIGTERM)
        link = self.folder / "link.pool"
        link.symlink_to(node.pool)
        self.say("wipe", "--yes", link)
        self.assertEqual(list(node.folder.glob("ring.pool*")), [])


def hashes(folder):
    return {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}


def zarr_array(store, name):
    """Reads a Zarr array of version 2 according to the format's specification. (The tests of `export` read such stores
    with other programs.)"""
    meta = json.loads((store / name / ".zarray").read_text(encoding="utf-8"))
    made = np.zeros(meta["shape"], meta["dtype"])
    if not meta["shape"]:
        return np.frombuffer((store / name / "0").read_bytes(), meta["dtype"]).reshape(())
    for index in np.ndindex(*(-(-extent // chunk) for extent, chunk in zip(meta["shape"], meta["chunks"]))):
        chunk = np.frombuffer((store / name / ".".join(map(str, index))).read_bytes(), meta["dtype"]).reshape(meta["chunks"])
        place = tuple(slice(i * c, min((i + 1) * c, e)) for i, c, e in zip(index, meta["chunks"], meta["shape"]))
        made[place] = chunk[tuple(slice(0, one.stop - one.start) for one in place)]
    return made


run_tests()
