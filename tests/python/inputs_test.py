# SPDX-License-Identifier: BSD-3-Clause
"""Which objects may be given as an array or as a number: each input is published with its bits, or refused in one line.
The table in docs/publish/python.md must say the same. This test runs with the system's NumPy, and (in numpy_test.py)
with the other NumPy."""

import json

import pipelines

pipelines.modules_or_skip("numpy")
import ringside  # noqa: E402

# For each name: (1) an expression; (2) the result of publishing it as a variable f64 (2, 3): "right" if the variable
# then has the values of x, otherwise a part of the error's line; (3) the result of declaring a variable from it: the
# variable's dtype, "packed", or a part of the error's line.
NUMPY = {
    "plain": ("x", "right", "f64"),
    "read_only": ("np.frombuffer(x.tobytes()).reshape(2, 3)", "right", "f64"),
    "subclass": ("x.view(Subclass)", "right", "f64"),
    "matrix": ("np.asmatrix(x)", "right", "f64"),
    "list": ("x.tolist()", "right", "f64"),
    "tuple": ("tuple(map(tuple, x.tolist()))", "right", "f64"),
    "memoryview": ("memoryview(x)", "right", "f64"),
    "dlpack": ("OnlyDlpack(x)", "right", "f64"),
    "gpu_cupy": ("OfCupy(x)", "right", "f64"),
    "gpu_jax": ("OfJax(x)", "right", "f64"),
    "gpu_other": ("OnGpu(x)", "found a OnGpu on a device (type 2 of DLPack); expected an array in main memory", "found a OnGpu on a device"),
    "fortran": ("np.asfortranarray(x)", "right", "f64"),
    "strided": ("np.repeat(x, 2, axis=1)[:, ::2]", "right", "f64"),
    "transposed": ("x.T", "found an array of float64, shape (3, 2); expected f64, shape (2, 3)", "f64"),
    "big_endian": ("x.astype('>f8')", "found an array of >f8, shape (2, 3)", "packed"),
    "f16": ("x.astype('f2')", "found an array of float16", "packed"),
    "bool": ("x > 2", "found an array of bool", "packed"),
    "longdouble": ("x.astype(np.longdouble)", "found an array of float128", "packed"),
    "datetime64": ("x.astype('M8[s]')", "found an array of datetime64[s]", "packed"),
    "structured": ("np.zeros((2, 3), [('a', 'f8'), ('b', 'i4')])", "found an array of [('a', '<f8'), ('b', '<i4')]", "packed"),
    "texts": ("np.array([['a'] * 3] * 2)", "found an array of <U1", "packed"),
    "bytes": ("b'abc'", "found an array of |S3", "packed"),
    "empty": ("np.zeros((2, 0))", "found an array of float64, shape (2, 0)", "found no array with entries in a dict of length 1"),
    "zero_d": ("np.array(3.0)", "found an array of float64, shape ()", "f64"),
    "number": ("3.0", "found an array of float64, shape ()", "f64"),
    "array_array": ("array.array('d', [1, 2])", "found an array of float64, shape (2,)", "f64"),
    "bytearray": ("bytearray(b'abc')", "found an array of uint8, shape (3,)", "u8"),
    "nine_dimensions": ("np.zeros([1] * 9)", "shape (1, 1, 1, 1, 1, 1, 1, 1, 1)", "packed"),
    "masked": ("np.ma.masked_array(x, x > 2)", "found a masked array, whose mask would be lost; expected a plain one: x.filled(VALUE)",
               "found a masked array, whose mask would be lost"),
    "objects": ("np.array([[1, None, 3]] * 2)", "found an array of object", "found an array of objects; expected numbers of one dtype"),
    "ragged": ("[[1.0, 2.0], [3.0]]", "found a list that NumPy cannot convert", "found a list that NumPy cannot convert"),
    "text": ("'heat'", "found an array of <U4", "found no array with entries in a dict of length 1"),
    "none": ("None", "found a NoneType that NumPy converts to an array of objects",
             "found no array with entries in a dict of length 1"),
    "generator": ("(i for i in range(3))", "found a generator that NumPy converts to an array of objects",
                  "found a generator; expected an array, a number"),
    "set": ("{1.0, 2.0}", "found a set that NumPy converts to an array of objects", "found a set"),
}
PANDAS = {
    "frame": ("pd.DataFrame(x)", "right", "f64"),
    "frame_of_columns": ("pd.DataFrame({n: x[:, n] for n in range(3)})", "right", "f64"),
    "nullable": ("pd.DataFrame(x, dtype='Float64')", "right", "f64"),
    "mixed_frame": ("pd.DataFrame({'a': [1, 2], 'b': [0.5, 1.0]})", "found columns of int64, float64; expected one dtype",
                    "found columns of int64, float64"),
    "missing": ("pd.Series([1, None], dtype='Int64')", "found missing entries (Int64); expected a value in each: x.fillna(VALUE)",
                "found missing entries (Int64)"),
    "series": ("pd.Series([1.0, 2.0])", "found an array of float64, shape (2,)", "f64"),
    "nullable_series": ("pd.Series([1, 2], dtype='Int32')", "found an array of int32, shape (2,)", "i32"),
    "nullable_bools": ("pd.Series([True, False], dtype='boolean')", "found an array of bool", "packed"),
    "texts_of_pandas": ("pd.Series(['a', 'b'], dtype=object)", "found a Series that NumPy converts to an array of objects", "found a Series"),
    "time_zone": ("pd.Series(pd.date_range('2020', periods=2, tz='UTC'))", "found a Series that NumPy converts to an array of objects",
                  "found a Series"),
    "dates": ("pd.Series(pd.date_range('2020', periods=2))", "found an array of datetime64", "packed"),
    "categories": ("pd.Series(['a', 'b'], dtype='category')", "found a Series that NumPy converts to an array of objects", "found a Series"),
}
SCALARS = {
    "float": ("0.5", 0.5), "int": ("2", 2.0), "float32": ("np.float32(0.5)", 0.5), "zero_d": ("np.array(0.5)", 0.5),
    "bool": ("True", 1.0), "fraction": ("fractions.Fraction(1, 2)", 0.5),
    "text": ("'0.5'", "scalar r: found '0.5', expected a number"), "none": ("None", "scalar r: found None, expected a number"),
    "complex": ("0.5j", "scalar r: found 0.5j, expected a number"), "array": ("np.zeros(2)", "scalar r: found array([0., 0.]), expected a number"),
    "list": ("[0.5]", "scalar r: found [0.5], expected a number"),
}
PRELUDE = """
import array, fractions, json, numpy as np, ringside, sys, warnings
x = np.arange(6.0).reshape(2, 3)
class Subclass(np.ndarray): pass
class Held:
    def __init__(self, array): self.array = array
class OnlyDlpack(Held):                       # a tensor that has no other protocol
    def __dlpack_device__(self): return (1, 0)
    def __dlpack__(self, **options): return self.array.copy().__dlpack__()
class OnGpu(Held):                            # 2 is CUDA; there is no GPU here, and nothing of it may be touched
    def __dlpack_device__(self): return (2, 0)
    def __dlpack__(self, **options): raise RuntimeError("memory of a GPU")
class OfCupy(OnGpu):
    def __array__(self, dtype=None, copy=None): raise TypeError("Implicit conversion to a NumPy array is not allowed")
    def get(self): return self.array
class OfJax(OnGpu):
    def __array__(self, dtype=None, copy=None): return self.array
def called(call, *arguments, **options):
    "What a call returns, or the line with which it refuses."
    try:
        return call(*arguments, **options)
    except ringside.UsageError as error:
        assert "\\n" not in str(error) and len(str(error)) < 300, error
        return str(error)
"""


class Inputs(pipelines.Pipelines):
    maxDiff = None

    def inputs(self, table, imports=""):
        """Checks a table. For each name, `found` has the results of publishing, of an assignment to a step, and of a
        declaration."""
        found = json.loads(self.kept(PRELUDE + imports + f"""
given = {json.dumps({name: expression for name, (expression, _, _) in table.items()})}
found = {{name: [] for name in given}}
with ringside.publish({{"x": ("f64", (2, 3))}}) as run:
    for name, expression in given.items():
        made = called(run.publish, run.next_iteration, {{"x": eval(expression)}})
        with run.step(run.next_iteration) as step:
            found[name].append("right" if made is True and (step.previous("x") == x).all() else made)
            step["x"][:] = 7
        with run.step(run.next_iteration) as step:
            step["x"][:] = 7
            made = called(step.__setitem__, "x", eval(expression))
            found[name].append("right" if made is None and (step["x"] == x).all() else made)
for name, expression in given.items():
    from ringside.trees import packed
    made = called(packed, {{"x": eval(expression)}})
    found[name].append(made if isinstance(made, str) else "packed" if made[1] else made[0]["x"].dtype)
print(json.dumps(found))
"""))
        for name, (expression, published, declared) in table.items():
            with self.subTest(name, given=expression):
                for made in found[name][:2]:
                    (self.assertEqual if published == "right" else self.assertIn)(published, made)
                self.assertIn(declared, found[name][2])

    def test_an_array_is_published_or_refused_in_one_line(self):
        self.inputs(NUMPY)

    def test_what_pandas_has_is_published_or_refused_in_one_line(self):
        if not pipelines.has_module("pandas"):
            self.skipTest("this interpreter has no pandas for its NumPy")
        self.inputs(PANDAS, "import pandas as pd\n")

    def test_what_cannot_be_a_variable_comes_back_with_its_dtype_and_bits(self):
        names = [name for name, (_, _, declared) in NUMPY.items() if declared == "packed" and name != "longdouble"]
        self.kept(PRELUDE + f"""
state = {{name: eval(expression) for name, expression in {[(name, NUMPY[name][0]) for name in names]}}}
state["strided"] = [np.repeat(x, 2, axis=1)[:, ::2], np.asfortranarray(x), x.T, OfCupy(x)]
with ringside.publish(state) as run:
    run.publish(1, state)
    for name, array in state.items():
        if isinstance(array, np.ndarray):
            np.save(name + ".npy", array)
""")
        import numpy as np
        with ringside.open(self.path("run.pool"))[-1] as step:
            for name in names:
                if name == "bytes":
                    self.assertEqual(step[name], b"abc")
                    continue
                expected = np.load(self.path(name + ".npy"))
                self.assertEqual((step[name].dtype, step[name].shape, step[name].tobytes()),
                                 (expected.dtype, expected.shape, expected.tobytes()), name)
            x = np.arange(6.0).reshape(2, 3)
            for found, expected in zip(step["strided"], (x, x, x.T, x)):
                np.testing.assert_array_equal(found, expected)

    def test_a_scalar_is_a_number(self):
        found = json.loads(self.kept(PRELUDE + f"""
given = {json.dumps({name: expression for name, (expression, _) in SCALARS.items()})}
with ringside.publish({{"x": x}}, scalars=["r"]) as run:
    print(json.dumps({{name: called(run.publish, run.next_iteration, {{"x": x}}, {{"r": eval(expression)}})
                      for name, expression in given.items()}}))
"""))
        pool = ringside.open(self.path("run.pool"))
        values = iter([pool.results(step)["solver.r"] for step in pool.steps])
        accepted = [name for name in SCALARS if found[name] is True]
        self.assertEqual(accepted, [name for name, (_, expected) in SCALARS.items() if not isinstance(expected, str)])
        kept = list(values)
        self.assertEqual(kept, [SCALARS[name][1] for name in accepted][-len(kept):])
        for name, (_, expected) in SCALARS.items():
            if isinstance(expected, str):
                self.assertIn(expected, found[name])

    def test_a_name_that_no_variable_can_have_is_packed_or_refused_with_what_it_may_be(self):
        program = PRELUDE + """
for name in ("1x", "a b", "solver.r", "x" * 64, ""):
    print(called(ringside.publish, {name: ("f64", (2,))}))
names = ["1x", "a/b", "solver.r", "x" * 64, "", "tree.f64", "\\u03b8", "a\\0b"]
with ringside.publish({name: np.full(2, float(n)) for n, name in enumerate(names)}) as run:
    run.publish(1, {name: np.full(2, float(n)) for n, name in enumerate(names)})
"""
        lines = self.kept(program).splitlines()
        self.assertEqual(len(lines), 5)
        for line in lines[:2]:
            self.assertIn("expected 1 to 63 of A-Z a-z 0-9 _ . -, beginning with a letter or _", line)
        with ringside.open(self.path("run.pool"))[-1] as step:
            self.assertEqual([value.tolist() for value in step.tree().values()], [[n, n] for n in range(8)])
            self.assertEqual(list(step.tree()), ["1x", "a/b", "solver.r", "x" * 64, "", "tree.f64", "\u03b8", "a\0b"])


if __name__ == "__main__":
    pipelines.run_tests()
