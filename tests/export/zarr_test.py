# SPDX-License-Identifier: BSD-3-Clause
"""zarr-python and xarray open what `export` writes as Zarr. Debian's zarr reads format 2; zarr version 3 reads both
formats, which --formats 2,3 tests."""

import json
import sys
import unittest

FORMATS = sys.argv.pop(2).split(",")

import exports  # noqa: E402
from exports import KEPT, STEPS, VARIABLES, export, npy, same  # noqa: E402

sys.modules["dask"] = None  # xarray would use Debian's dask, which does not work with the registry's NumPy
zarr, xarray, numpy = exports.modules_or_skip("zarr", "xarray", "numpy")
NAMES = {"2": "zarr", "3": "zarr3"}
if "3" in FORMATS and int(zarr.__version__.split(".")[0]) < 3:
    print(f"skipped: zarr is {zarr.__version__}, which does not read format 3")
    sys.exit(77)
count = iter(range(1000))


def store(form, *words, pool=exports.POOL):
    return export(f"{next(count)}.zarr", "--format", NAMES[form], *words, pool=pool)


class Zarr(unittest.TestCase):
    def each_format(self):
        for form in FORMATS:
            with self.subTest(format=form):
                yield form

    def test_every_variable_of_every_dtype_has_the_bits_of_the_npy(self):
        for form in self.each_format():
            group = zarr.open_group(str(store(form)), mode="r")
            self.assertEqual(set(group), set(VARIABLES))
            for name in VARIABLES:
                self.assertTrue(same(numpy.asarray(group[name][()]), npy(name)), name)
            self.assertEqual((group.attrs["iteration"], group.attrs["step"]), (STEPS, STEPS - 1))
            self.assertEqual(group.attrs["results"]["solver.sweeps"], 7 * STEPS)
            exact = sum(abs(int(value)) for value in npy("i64"))
            self.assertEqual(group.attrs["results"]["i64.l1"], str(exact))
            self.assertEqual((group["u"].attrs["units"], group["u"].attrs["role"]), ("m s-1", "field"))

    def test_all_kept_steps_lie_along_the_axis_iteration(self):
        for form in self.each_format():
            group = zarr.open_group(str(store(form, "--all")), mode="r")
            self.assertEqual(list(group["@iteration"][:]), KEPT)  # because a variable has the name `iteration`
            self.assertEqual(list(group["solver.sweeps"][:]), [7 * k for k in KEPT])
            self.assertEqual(group.attrs["step"], [k - 1 for k in KEPT])
            for name in VARIABLES:
                for t, k in enumerate(KEPT):
                    self.assertTrue(same(numpy.asarray(group[name][t]), npy(name, k)), (name, k))

    def test_xarray_opens_it_with_the_iterations_as_a_coordinate(self):
        for form in self.each_format():
            path = store(form, "--all", "--variable", "u,f32,i16,alpha", "--every", 3)
            data = xarray.open_zarr(str(path), consolidated=True)
            self.assertEqual(list(data["iteration"].values), KEPT[::3])
            self.assertEqual(data["u"].dims, ("iteration", "axis0_6", "axis1_5", "axis2_4"))
            self.assertEqual(data["u"].dims, data["f32"].dims)
            self.assertEqual(data["u"].attrs["units"], "m s-1")
            for name in ("u", "f32", "i16", "alpha"):
                self.assertTrue(same(numpy.asarray(data[name].sel(iteration=KEPT[3]).values), npy(name, KEPT[3])), name)

    def test_a_large_variable_has_chunks_of_some_megabytes_and_padding(self):
        pool = exports.made_pool("large.pool", "large", 2, 39, slots=3)
        for form in self.each_format():
            path = store(form, "--all", "--slice", ":4871", pool=pool)
            x = zarr.open_group(str(path), mode="r")["x"]
            self.assertEqual(x.chunks, (1, 1664, 1000))  # three chunks of whole pages; the last one is padded
            for t in range(2):
                self.assertTrue(same(x[t], npy("x", t + 1, pool)[:4871]))

    def test_the_store_is_consolidated(self):
        for form in self.each_format():
            path = store(form)
            if form == "2":
                metadata = json.loads((path / ".zmetadata").read_text())["metadata"]
                self.assertEqual(metadata["u/.zarray"], json.loads((path / "u/.zarray").read_text()))
                self.assertEqual(metadata["u/.zattrs"]["_ARRAY_DIMENSIONS"], ["axis0_6", "axis1_5", "axis2_4"])
            else:
                metadata = json.loads((path / "zarr.json").read_text())["consolidated_metadata"]["metadata"]
                self.assertEqual(metadata["u"], json.loads((path / "u/zarr.json").read_text()))
                self.assertEqual(metadata["u"]["dimension_names"], ["axis0_6", "axis1_5", "axis2_4"])


if __name__ == "__main__":
    unittest.main()
