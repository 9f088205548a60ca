# SPDX-License-Identifier: BSD-3-Clause
"""h5py opens what `export` writes as HDF5: every dtype, one step and several steps, slices, attributes, results by
name."""

import unittest

import exports
from exports import KEPT, VARIABLES, export, npy, same

h5py, numpy = exports.modules_or_skip("h5py", "numpy")


class OneStep(unittest.TestCase):
    def test_every_variable_of_every_dtype_has_the_bits_of_the_npy(self):
        with h5py.File(export("one.h5"), "r") as file:
            self.assertEqual(set(file), set(VARIABLES) | {"@results"})
            for name, shape in VARIABLES.items():
                self.assertEqual(file[name].shape, shape)
                self.assertTrue(same(file[name][()] if shape else numpy.asarray(file[name][()]), npy(name)), name)

    def test_units_dtypes_roles_and_the_step_are_attributes(self):
        with h5py.File(export("one.h5", "--iteration", KEPT[2]), "r") as file:
            u = file["u"].attrs
            self.assertEqual((u["unit"], u["dtype"], u["role"], u["iteration"], u["step"]),
                             ("m s-1", "f64", "field", KEPT[2], KEPT[2] - 1))
            self.assertEqual(file["i32"].attrs["unit"], '<&">')
            self.assertEqual(file["c128"].attrs["role"], "state")
            self.assertEqual(len(file.attrs["run_id"]), 32)
            self.assertEqual((file.attrs["iteration"], file.attrs["run_id"]), (KEPT[2], u["run_id"]))

    def test_results_are_data_sets_by_name(self):
        with h5py.File(export("one.h5"), "r") as file:
            results = file["@results"]  # because a variable has the name `results`
            self.assertEqual(results["solver.rho"][()], 1 / KEPT[-1])
            self.assertEqual((results["solver.sweeps"][()], results["solver.sweeps"].dtype), (7 * KEPT[-1], numpy.int64))
            i16 = npy("i16").astype(int)
            self.assertEqual((results["i16.sum"][()], results["i16.sum"].dtype), (i16.sum(), numpy.int64))
            u8 = npy("u8").astype(float)
            self.assertEqual(results["u8.l2"][()], numpy.sqrt((u8**2).sum()))

    def test_a_sum_beyond_64_bits_is_a_double(self):
        with h5py.File(export("one.h5"), "r") as file:
            exact = sum(abs(int(value)) for value in npy("i64"))
            self.assertGreater(exact, 2**63)
            self.assertEqual(file["@results/i64.l1"][()], float(exact))


class Series(unittest.TestCase):
    def test_all_kept_steps_lie_along_the_first_axis(self):
        with h5py.File(export("all.h5", "--all"), "r") as file:
            self.assertEqual(list(file["steps/iteration"]), KEPT)
            self.assertEqual(list(file["steps/step"]), [k - 1 for k in KEPT])
            self.assertEqual({len(run) for run in file["steps/run_id"]}, {32})
            self.assertEqual(list(file["@results/solver.sweeps"]), [7 * k for k in KEPT])
            for name, shape in VARIABLES.items():
                self.assertEqual(file[name].shape, (len(KEPT), *shape))
                for t, k in enumerate(KEPT):
                    self.assertTrue(same(numpy.asarray(file[name][t]), npy(name, k)), (name, k))

    def test_every_from_and_to_choose_steps(self):
        path = export("some.h5", "--all", "--from", KEPT[1], "--to", KEPT[6], "--every", 2, "--variable", "u")
        with h5py.File(path, "r") as file:
            self.assertEqual(list(file["steps/iteration"]), [KEPT[1], KEPT[3], KEPT[5]])
            self.assertTrue(same(file["u"][2], npy("u", KEPT[5])))

    def test_a_large_variable_is_cut_into_chunks_and_whole(self):
        pool = exports.made_pool("large.pool", "large", 3, 40, slots=3)
        with h5py.File(export("large.h5", "--all", pool=pool), "r") as file:
            self.assertLess(file["x"].chunks[1], file["x"].shape[1])
            for t, k in enumerate(file["steps/iteration"]):
                self.assertTrue(same(file["x"][t], npy("x", k, pool)))


class Slices(unittest.TestCase):
    def test_slices_are_numpys(self):
        for text, index in {"0": numpy.s_[0], "1:3": numpy.s_[1:3], "::2,3": numpy.s_[::2, 3], ":,1:5:3,2:": numpy.s_[:, 1:5:3, 2:],
                            "5,4,3": numpy.s_[5, 4, 3], "2:3,:2": numpy.s_[2:3, :2], "4,1:": numpy.s_[4, 1:]}.items():
            with h5py.File(export("slice.h5", "--slice", text, "--variable", "u,c64"), "r") as file:
                for name in ("u", "c64"):
                    self.assertTrue(same(numpy.asarray(file[name][()]), numpy.asarray(npy(name)[index])), (name, text))
        self.assertTrue(same(npy("c64", "last", exports.POOL, "--slice", "::5,2"), npy("c64")[::5, 2].copy()))


if __name__ == "__main__":
    unittest.main()
