# SPDX-License-Identifier: BSD-3-Clause
"""Pools as datasets of xarray: from a pool object, and with the engine "ringside", which xarray finds by its entry
point. Also with dask, if this interpreter has it."""

import pickle
import shutil
import unittest
import warnings

import pipelines
from made_pool import KEPT, STEPS, OfAPool

pipelines.modules_or_skip("xarray")

import numpy as np  # noqa: E402
import ringside  # noqa: E402
import xarray as xr  # noqa: E402

ITERATIONS = list(range(STEPS - KEPT + 1, STEPS + 1))


class Datasets(OfAPool):
    def opened(self, **options):
        found = xr.open_dataset(self.pool_path, engine="ringside", **options)
        self.addCleanup(found.close)
        return found

    def test_it_has_the_variables_along_the_iterations_with_units_and_the_recorded_numbers(self):
        made = self.pool.to_xarray()
        self.assertEqual(dict(made.sizes), {"iteration": KEPT, "x_0": 1000, "n_0": 4})
        self.assertEqual(made["iteration"].values.tolist(), ITERATIONS)
        self.assertEqual(made["run"].values.tolist(), [1] * KEPT)
        self.assertEqual(made["commit_seq"].dims, ("iteration",))
        self.assertEqual(made["x"].attrs["units"], "K")
        self.assertEqual(made["x.max"].attrs["units"], "K")
        self.assertEqual((made.attrs["solver"], made.attrs["problem"], made.attrs["run_id"]), ("made", "a<b", self.pool.runs[0].run_id))
        self.assertEqual(made["solver.residual"].sel(iteration=9).item(), 1e-9)
        np.testing.assert_array_equal(made["x.max"], made["x"].max("x_0"))
        np.testing.assert_array_equal(made["n"].sel(iteration=9), [2**64 - 9] * 4)
        self.assertEqual(made["n"].dtype, np.uint64)
        self.assertNotIn("transfer_ns", made)
        with self.assertRaises(ringside.UnknownNameError):
            self.pool.to_xarray(dims={"nope": ["place"]})
        self.assertIn("place", self.pool.to_xarray(dims={"x": "place"})["x"].dims)
        named = self.pool.to_xarray(dims={"x": ["place"]})
        self.assertEqual(named["x"].dims, ("iteration", "place"))
        with self.assertRaisesRegex(ringside.UsageError, r"dims: found \['a', 'b'\] for variable 'x' of shape \(1000,\)"):
            self.pool.to_xarray(dims={"x": ["a", "b"]})

    def test_only_what_is_indexed_is_read(self):
        asked = []
        array = self.pool.array

        def noted(name, steps, *, part=()):
            asked.append((name, [step.iteration for step in steps], part))
            return array(name, steps, part=part)

        self.pool.array = noted
        made = self.pool.to_xarray()
        repr(made)
        self.assertEqual(asked, [])
        self.assertEqual(float(made["x"].sel(iteration=7)[3]), 10.0)
        self.assertEqual(asked, [("x", [7], (3,))])
        whole = array("x")
        for index in (np.s_[1:3, 5:9], np.s_[::-2, ::-1], np.s_[2, [5, 1, 3]], np.s_[[0, 3], [1, 2, 900]], np.s_[..., -1]):
            found = self.pool.to_xarray()["x"][index]
            expected = xr.DataArray(whole, dims=found.dims if found.ndim == 2 else ("iteration", "x_0"))[index]
            np.testing.assert_array_equal(found, expected, str(index))

    def test_the_engine_opens_a_pool_also_without_its_name_and_closes_it(self):
        with self.opened() as found:
            self.assertTrue(found.identical(self.pool.to_xarray()) or found.equals(self.pool.to_xarray()))
            self.assertIn("ringside", xr.backends.list_engines())
        fresh = self.opened(drop_variables=["n"])
        self.assertNotIn("n", fresh)
        fresh.close()
        with self.assertRaisesRegex(ringside.UsageError, "the pool was closed; open it again"):
            fresh["x"].load()
        xr.open_dataset(self.pool_path, engine="ringside", mask_and_scale=False, decode_times=False).close()
        with xr.open_dataset(self.pool_path) as guessed:
            self.assertEqual(guessed["x"].shape, (KEPT, 1000))
        with self.assertRaises(FileNotFoundError):
            xr.open_dataset(self.path("none.pool"), engine="ringside")

    def test_a_dataset_is_pickled_and_reads_the_file_where_it_arrives(self):
        found = pickle.loads(pickle.dumps(self.opened()))
        np.testing.assert_array_equal(found["x"].sel(iteration=12), 12 + np.arange(1000.0))

    @unittest.skipUnless(pipelines.has_module("dask"), "this interpreter has no dask")
    def test_dask_reads_chunks_in_threads_and_in_processes(self):
        import dask

        chunked = self.opened(chunks={})
        self.assertEqual(chunked["x"].chunks, ((1,) * KEPT, (1000,)))
        for scheduler in ("threads", "processes"):
            with self.subTest(scheduler), dask.config.set(scheduler=scheduler, num_workers=2):
                np.testing.assert_array_equal(chunked["x"].mean("x_0"), np.array(ITERATIONS) + 499.5)
        pool = self.pool
        first = dask.delayed(lambda pool, k: float(pool.read(k, "x")[0]))
        with dask.config.set(scheduler="processes", num_workers=2):
            self.assertEqual(dask.compute(*(first(pool, k) for k in pool)), tuple(map(float, ITERATIONS)))

    def test_a_run_can_be_chosen_and_an_integer_that_is_absent_is_nan(self):
        program = """
            import numpy as np, ringside
            with ringside.publish({"x": ("f64", (2, 3)), "m": ("i64", (2,))}, parameters="%s") as run:
                for k in (1, 2):
                    run.publish(k, {"x": np.full((2, 3), k + %s), "m": np.full(2, k)})
            """
        pool = self.pool_of(program % ("a", 0.0))
        self.assertTrue(np.isnan(pool.to_xarray()["m.change_l1"][0]))  # an absent integer
        self.assertEqual(pool.to_xarray()["x"].dims, ("iteration", "x_0", "x_1"))
        with self.assertRaisesRegex(ringside.UsageError, "run: found '0+'; expected one of "):
            pool.to_xarray(run="0" * 32)
        self.assertEqual(len(pool.to_xarray(run=pool.runs[0])["iteration"]), 2)

    def test_a_step_that_was_overwritten_is_one_clear_error(self):
        output = self.kept(pipelines.publishing('{"x": ("f64", (4,))}', """
            run.publish(1, {"x": np.ones(4)})
            pool = ringside.open("run.pool")
            made = pool.to_xarray()
            for k in range(2, 20):
                run.publish(k, {"x": np.ones(4)})
            while pool.steps[-1].iteration != 19:
                pass                             # until it is committed
            for kind in (LookupError, ringside.NotKeptError):
                try:
                    made["x"].load()
                except kind as error:
                    print(error)
            """))
        for line in output.splitlines():
            self.assertRegex(line, r"^run.pool: x: a step was overwritten after this dataset was made \(.*\); make the "
                                   r"dataset again, load it earlier \(ds.load\(\)\), or give the pool more --slots$")
        self.assertEqual(len(output.splitlines()), 2)

    def test_a_variable_that_has_the_name_of_a_coordinate_is_refused_or_left_out(self):
        self.kept(pipelines.publishing('{"run": ("f64", (4,)), "x": ("f64", ())}', """
            run.publish(1, {"run": [1.0] * 4, "x": 1.0})
            """))
        with self.assertRaisesRegex(ringside.UsageError, r"'run' has the name of a coordinate; .*drop_variables=\['run'\]"):
            ringside.open(self.path("run.pool")).to_xarray()
        with xr.open_dataset(self.path("run.pool"), engine="ringside", drop_variables="run") as found:
            self.assertEqual(found["x"].values.tolist(), [1.0])

    def test_other_files_are_left_to_other_engines(self):
        from ringside.xarray import PoolBackend

        guess = PoolBackend().guess_can_open
        (self.folder / "text").write_text("text")
        shutil.copy(self.pool_path, self.path("a copy"))
        self.assertEqual([guess(self.path(name)) for name in ("text", "none", "a copy")] + [guess(self.folder), guess(3), guess(b"\x89HDF")],
                         [False, False, True, False, False, False])


if __name__ == "__main__":
    warnings.simplefilter("error", RuntimeWarning)
    pipelines.run_tests()
