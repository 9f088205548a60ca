# SPDX-License-Identifier: BSD-3-Clause
"""VTK's own readers, which ParaView uses, open what `export` writes: grids, points, series."""

import unittest
import xml.etree.ElementTree

import exports
from exports import KEPT, WORK, export, npy

vtk, numpy, support = exports.modules_or_skip("vtk", "numpy", "vtk.util.numpy_support")


def read(path):
    reader = vtk.vtkXMLImageDataReader() if path.suffix == ".vti" else vtk.vtkXMLUnstructuredGridReader()
    errors = []
    reader.AddObserver("ErrorEvent", lambda *_: errors.append("error"))
    assert reader.CanReadFile(str(path)), path
    reader.SetFileName(str(path))
    reader.Update()
    assert not errors, path
    return reader.GetOutput()


def array_of(data, name):
    array = data.GetPointData().GetArray(name)
    assert array is not None, name
    return support.vtk_to_numpy(array)


def components(values):
    """The values in the form in which VTK returns them: all entries in one row, and two components for each complex
    number."""
    flat = numpy.ascontiguousarray(values).reshape(-1)
    if flat.dtype.kind != "c":
        return flat
    part = {8: numpy.float32, 16: numpy.float64}[flat.dtype.itemsize]
    return flat.view(part).reshape(-1, 2)


class Vtk(unittest.TestCase):
    def assert_same(self, found, expected, what=""):
        expected = components(expected)
        self.assertEqual((found.shape, found.dtype), (expected.shape, expected.dtype), what)
        self.assertEqual(found.tobytes(), expected.tobytes(), what)

    def test_the_variables_of_one_shape_are_on_a_grid_whose_x_is_the_last_dimension(self):
        image = read(export("one.vti"))
        self.assertEqual(image.GetDimensions(), (4, 5, 6))
        self.assertEqual(image.GetPointData().GetNumberOfArrays(), 3)
        for name in ("u", "f32", "c64"):
            self.assert_same(array_of(image, name), npy(name), name)
        self.assertEqual(image.GetPointData().GetArray("c64").GetComponentName(1), "imag")
        unit = image.GetPointData().GetArray("u").GetInformation().Get(vtk.vtkDataArray.UNITS_LABEL())
        self.assertEqual(unit, "m s-1")

    def test_every_dtype_can_be_read(self):
        for name in ("c128", "i8", "i16", "i32", "i64", "u16", "u32", "u64"):
            self.assert_same(array_of(read(export("one.vti", "--variable", name)), name), npy(name), name)
        self.assert_same(array_of(read(export("one.vti", "--variable", "u8", "--slice", "1")), "u8"), npy("u8")[1])

    def test_iteration_run_and_results_are_field_data(self):
        fields = read(export("one.vti", "--iteration", KEPT[1])).GetFieldData()
        self.assertEqual(fields.GetArray("iteration").GetTuple1(0), KEPT[1])
        self.assertEqual(fields.GetArray("TimeValue").GetTuple1(0), KEPT[1])
        self.assertEqual(fields.GetArray("solver.rho").GetTuple1(0), 1 / KEPT[1])
        self.assertEqual(len(fields.GetAbstractArray("run_id").GetValue(0)), 32)

    def test_a_slice_lies_where_it_was(self):
        image = read(export("slice.vti", "--variable", "u", "--slice", "1:6:2,3,2:"))
        self.assertEqual(image.GetDimensions(), (2, 1, 3))
        self.assertEqual((image.GetOrigin(), image.GetSpacing()), ((2, 3, 1), (1, 1, 2)))
        self.assert_same(array_of(image, "u"), npy("u")[1:6:2, 3, 2:])

    def test_points_of_the_users_from_csv_and_npy(self):
        points = numpy.random.default_rng(1).random((9, 3))
        numpy.save(WORK / "p.npy", points)
        (WORK / "p.csv").write_text("x,y,z\n" + "".join(f"{x!r}, {y!r} ,{z!r}\r\n" for x, y, z in points.tolist()))
        numpy.save(WORK / "p2.npy", points[:, :2].astype(numpy.float32).copy())
        flat = points.astype(numpy.float32).astype(float) * (1, 1, 0)
        for file, expected in (("p.npy", points), ("p.csv", points), ("p2.npy", flat)):
            grid = read(export("points.vtu", "--points", WORK / file, "--variable", "i16,u64"))
            self.assertEqual(grid.GetNumberOfPoints(), 9)
            self.assertEqual((grid.GetNumberOfCells(), grid.GetCellType(8)), (9, vtk.VTK_VERTEX))
            self.assertEqual(grid.GetCell(8).GetPointId(0), 8)
            self.assert_same(support.vtk_to_numpy(grid.GetPoints().GetData()).reshape(-1), expected, file)
            for name in ("i16", "u64"):
                self.assert_same(array_of(grid, name), npy(name), name)
        grid = read(export("points.vtu", "--points", WORK / "p.npy", "--variable", "i16", "--slice", "1::3"))
        self.assert_same(support.vtk_to_numpy(grid.GetPoints().GetData()).reshape(-1), points[1::3])
        self.assert_same(array_of(grid, "i16"), npy("i16")[1::3])

    def test_a_series_names_its_files_with_their_iterations(self):
        path = export("series.pvd", "--all", "--every", 3)
        parts = xml.etree.ElementTree.parse(path).getroot().findall("Collection/DataSet")
        self.assertEqual([float(part.get("timestep")) for part in parts], KEPT[::3])
        for part in parts:
            image = read(path.parent / part.get("file"))
            self.assert_same(array_of(image, "u"), npy("u", part.get("timestep")))


if __name__ == "__main__":
    unittest.main()
