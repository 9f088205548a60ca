# SPDX-License-Identifier: BSD-3-Clause
"""What `export` refuses; a refused export must leave no file. Bad input, full disks, damage, pools that change during
the export, kills."""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import exports
from exports import BIN, KEPT, POOL, WORK, call

(numpy,) = exports.modules_or_skip("numpy")


class Refusals(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=WORK))

    def refused(self, code, parts, *words, pool=POOL, output="x.h5", **options):
        """Expects this exit code, one line with these parts, and no change in the output's folder."""
        before = sorted(path.name for path in self.folder.iterdir())
        path = output if output == "-" or "/" in str(output) else self.folder / output
        done = call("export", pool, "-o", path, *words, **options)
        line = done.stderr.decode()
        self.assertEqual((done.returncode, line.count("\n")), (code, 1), line)
        for part in parts:
            self.assertIn(part, line)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), before)
        return done

    def test_slices_out_of_range_name_dimension_and_limit(self):
        for text, parts in {"6": ["'6' for dimension 0 of 'u'", "from 0 to 5"], "0:7": ["'0:7'", "up to 6"],
                            ":,5": ["'5' for dimension 1", "from 0 to 4"], "3:3": ["'3:3'", "start < stop"],
                            "4:2": ["'4:2'"], "0,0,0,0": ["found 4 dimensions, 'u' has 3"], "-1": ["'-1'", "from 0"],
                            "0:4:0": ["'0:4:0'", "at least 1"], "a": ["'a'"], ",": ["''"], "1:2:3:4": ["'1:2:3:4'"],
                            "99999999999999999999": ["whole numbers"], "18446744073709551615": ["from 0 to 5"]}.items():
            with self.subTest(text):
                self.refused(2, ["--slice", *parts], "--variable", "u", f"--slice={text}")
        self.refused(2, ["'alpha' has 0"], "--slice=0")

    def test_unknown_variables_steps_and_combinations(self):
        self.refused(2, ["--variable", "'w'", "u, f32"], "--variable", "w")
        self.refused(2, ["'u' twice"], "--variable", "u,u")
        self.refused(2, ["--iteration", "2 is not kept", f"{KEPT[0]} to {KEPT[-1]}"], "--iteration", 2)
        self.refused(2, ["no iteration from 1 to 2 is kept"], "--all", "--from", 1, "--to", 2)
        self.refused(2, ["--from 9 --to 8"], "--all", "--from", 9, "--to", 8)
        self.refused(2, ["--from", "--all and --records"], "--from", 9)
        self.refused(2, ["--every", "at least 1"], "--all", "--every", 0)
        self.refused(2, ["--iteration", "--all"], "--all", "--iteration", 9)
        self.refused(2, ["--slice", "--records"], "--records", "--slice", "0", output="r.csv")
        self.refused(2, ["--format", "'hdf5' with --records"], "--records", "--format", "hdf5")
        self.refused(2, ["--format", "'feather' without --records"], "--format", "feather")
        self.refused(2, ["--all", "npy, which holds one step"], "--all", output="x.npy")

    def test_outputs_that_cannot_be(self):
        for form in ("hdf5", "zarr", "zarr3"):
            self.refused(2, ["standard output", form, "npy, npz, csv, mtx or vtk"], "--format", form, output="-")
        self.refused(2, ["--output", "NAME.pvd"], "--all", "--format", "vtk", output="-")
        self.refused(2, ["POOL"], "--format", "hdf5", output=str(POOL))
        self.refused(2, ["POOL"], "--format", "zarr", output=str(POOL))
        other = exports.made_pool("other.pool", "typed", 2)
        self.refused(2, ["pool"], "--format", "hdf5", output=str(other))
        self.assertEqual(call("verify", POOL).returncode, 0)
        for name in ("x.zarr", "x"):
            (self.folder / name).mkdir()
            (self.folder / name / "mine").write_text("mine")
        self.refused(2, ["x.zarr' exists"], output="x.zarr")
        self.refused(2, ["x' exists"], "--all", output="x.pvd")
        self.assertEqual((self.folder / "x.zarr/mine").read_text(), "mine")
        self.refused(2, [".vti"], output="x.vtu")
        self.refused(2, [".pvd"], "--all", output="x.vti")
        self.refused(3, ["/nowhere"], output="/nowhere/x.zarr")
        self.refused(3, ["/nowhere"], output="/nowhere/x.h5")

    def test_vtk_takes_what_lies_on_one_grid(self):
        self.refused(2, ["one shape", "u f64[6,5,4]", "i16 i16[9]"], "--variable", "u,i16", output="x.vti")
        self.refused(2, ["'u8'", "--slice or --points"], "--variable", "u8", output="x.vti")
        self.refused(2, ["'alpha'"], "--variable", "alpha", output="x.vti")

    def test_points_of_another_number_or_form(self):
        def points(content, parts, code=2):
            file = self.folder / "points"
            file.write_bytes(content)
            self.refused(code, ["--points", *parts], "--variable", "i16", "--points", file, output="x.vtu")

        points(b"1,2\n" * 8, ["found 8 points", "each of the 9 entries of i16"])
        points(b"", ["found no point"])
        points(b"1,2\nx,y\n", ["line 2: found 'x,y'"])
        points(b"1,2,\n1,2\n", ["found 1 points"])  # the first line counts as a header line
        for array in (numpy.zeros((9, 4)), numpy.zeros(9), numpy.zeros((9, 2), int), numpy.asfortranarray(numpy.ones((9, 2)))):
            numpy.save(self.folder / "points.npy", array)
            points((self.folder / "points.npy").read_bytes(), ["expected an npy"])
        numpy.save(self.folder / "points.npy", numpy.zeros((9, 2)))
        points((self.folder / "points.npy").read_bytes()[:-1], ["length does not match"])
        self.refused(3, ["--points", "No such file"], "--variable", "i16", "--points", "/nowhere", output="x.vtu")
        self.refused(2, ["--points", "expected vtk"], "--variable", "i16", "--points", self.folder / "points")

    def test_a_damaged_step_is_named_and_nothing_written(self):
        pool = WORK / "damaged.pool"
        shutil.copy(POOL, pool)
        u = exports.npy("u", KEPT[3]).tobytes()
        content = bytearray(pool.read_bytes())
        at = content.index(u)
        content[at + 5] ^= 1
        pool.write_bytes(content)
        for words, output in (((), "x.h5"), ((), "x.zarr"), ((), "x.vti"), (("--all",), "x.h5"), (("--all",), "x.zarr"),
                              (("--all",), "x.pvd"), ((), "-")):
            if "--all" not in words:
                words = ("--iteration", KEPT[3])
            done = self.refused(5, [f"iteration {KEPT[3]} in slot", "is damaged (chunk 0)"], *words, pool=pool, output=output)
            self.assertEqual(done.stdout, b"")

    def test_a_full_disk_leaves_nothing(self):
        pool = exports.made_pool("large.pool", "large", 2, 40, slots=3)
        if os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", self.folder],
                                                check=False, capture_output=True).returncode == 0:
            self.addCleanup(subprocess.run, ["umount", self.folder], check=False)
            for words, output in (((), "x.h5"), ((), "x.zarr"), ((), "x.vti"), ((), "x.npz"), (("--all",), "x.h5"),
                                  (("--all",), "x.zarr"), (("--all",), "x.pvd")):
                self.refused(3, [output[:2], "No space left on device"], *words, pool=pool, output=output)
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))  # noqa: E731
        for words, output in (((), "x.h5"), ((), "x.zarr"), ((), "x.vti"), (("--all",), "x.h5"), (("--all",), "x.pvd")):
            self.refused(3, [output[:2], "File too large"], *words, pool=pool, output=output, preexec_fn=limit)

    def test_signals_leave_no_output_and_a_kill_only_what_the_next_export_removes(self):
        pool = exports.made_pool("wide.pool", "large", 2, 400, slots=3)
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)):
            with subprocess.Popen([BIN / "ringside", "export", pool, "--all", "-o", self.folder / "x.zarr"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
                while process.poll() is None and not list(self.folder.glob(".x.zarr.ringside-*/x/*")):
                    time.sleep(0.001)
                process.send_signal(number)
                process.wait()
                self.assertEqual(process.returncode, code, process.stderr.read())
            self.assertFalse((self.folder / "x.zarr").exists())
            left = list(self.folder.iterdir())
            self.assertEqual(len(left), 1 if number == signal.SIGKILL else 0, left)
        self.assertEqual(call("export", pool, "-o", self.folder / "x.zarr", "--slice", "0:1").returncode, 0)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["x.zarr"])

    def test_a_pool_that_changes_meanwhile_gives_whole_steps_or_a_line(self):
        pool = WORK / "endless.pool"
        with subprocess.Popen(exports.run_of(pool, "endless", slots=3), stdin=subprocess.DEVNULL, cwd=WORK) as run:
            try:
                whole = 0
                while not pool.exists() or call("export", pool, "-o", WORK / "first.npy").returncode != 0:
                    self.assertIsNone(run.poll())
                for attempt in range(24):
                    words, output = (((), f"{attempt}.npy"), ((), f"{attempt}.h5"), (("--all",), f"{attempt}.zarr"))[attempt % 3]
                    done = call("export", pool, "-o", self.folder / output, *words)
                    self.assertIn(done.returncode, (0, 3), done.stderr)
                    self.assertEqual((self.folder / output).exists(), done.returncode == 0)
                    if done.returncode == 3:
                        self.assertRegex(done.stderr.decode(), "overwritten .*while")
                        continue
                    said = done.stdout.decode()
                    if output.endswith(".npy"):
                        iteration = int(re.search(r"iteration ([\d,]+)", said).group(1).replace(",", ""))
                        self.assert_published(numpy.load(self.folder / output), iteration)
                        whole += 1
                    if output.endswith(".zarr"):
                        shape = (250, 1000)
                        axis = json.loads((self.folder / output / "iteration/.zarray").read_text())["shape"][0]
                        iterations = numpy.fromfile(self.folder / output / "iteration/0", "<u8")
                        self.assertEqual(len(iterations), axis)
                        chunks = sorted((self.folder / output / "x").glob("[0-9]*"))
                        self.assertEqual(len(chunks), axis)
                        for t, k in enumerate(iterations):
                            data = numpy.fromfile(self.folder / output / f"x/{t}.0.0", "<f8").reshape(shape)
                            self.assert_published(data, int(k))
                            whole += 1
                self.assertGreater(whole, 0)
            finally:
                run.send_signal(signal.SIGINT)

    def assert_published(self, found, iteration):
        """Computes the bits that publish_typed.cpp publishes, and compares them."""
        count = numpy.arange(1, found.size + 1, dtype=numpy.uint64)
        with numpy.errstate(over="ignore"):
            z = numpy.uint64(1000 * iteration) + count * numpy.uint64(0x9e3779b97f4a7c15)
            z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xbf58476d1ce4e5b9)
            z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94d049bb133111eb)
            z = z ^ (z >> numpy.uint64(31))
        self.assertTrue(found.tobytes() == z.tobytes(), f"iteration {iteration} has other bits")


if __name__ == "__main__":
    unittest.main()
