# SPDX-License-Identifier: BSD-3-Clause
"""Nested structures of arrays: they are published and read; runs with them are killed, and resumed with the same bits.
Also: which structures are refused."""

import gc
import multiprocessing
import pickle

import pipelines

pipelines.modules_or_skip("numpy")
import numpy as np  # noqa: E402
import ringside  # noqa: E402

# A state with every kind of leaf. state(k) has the same structure for every k.
STATE = """
import collections, os, signal, sys, numpy as np, ringside
Point = collections.namedtuple("Point", "x y")
def state(k):
    rng = np.random.default_rng(k)
    return collections.OrderedDict(
        u=np.full(5, k / 3), levels=[rng.standard_normal(n) for n in (4, 2, 0)],
        flow={"v": rng.standard_normal((2, 3)).astype("f4"), 1: rng.integers(9, size=(2, 2)), "z": 1j * rng.standard_normal(3)},
        points=(Point(np.array([k % 2 == 0, True]), np.float16([k, 0.1])), collections.OrderedDict(b=np.arange(3.0), a=[])),
        plain={"lr": 0.1 / k, "n": -k, "on": k % 2 == 1, "c": complex(k, 1), "kind": "adam", "none": None, "betas": (0.9, 0.99)},
        rng=rng.bit_generator.state, raw=bytes([k % 256, 0, 255]), when=np.datetime64("2020-01-01", "s") + k,
        other=[np.array([k, 2.5], ">f8"), np.array([(k, [1, 2])], [("a", "f8"), ("b", "i2", (2,))]), np.longdouble([1]) / k,
               np.array(["ab", "c"]), np.float32(k)], **{"layers/0 w": np.arange(4, dtype="u1") + k % 9})
def same(one, other, path=""):
    "That both have the same structure, types, dtypes, shapes and bits."
    assert type(one).__name__ == type(other).__name__, (path, type(one), type(other))
    if isinstance(one, dict):
        assert list(one) == list(other), (path, list(one), list(other))
        for key in one: same(one[key], other[key], f"{path}[{key!r}]")
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other) and getattr(one, "_fields", 0) == getattr(other, "_fields", 0), path
        for n, (a, b) in enumerate(zip(one, other)): same(a, b, f"{path}[{n}]")
    elif isinstance(one, (np.ndarray, np.generic)):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), (path, one, other)
        value = (lambda a: a.tolist()) if one.dtype == np.longdouble else lambda a: a.tobytes()  # which has padding
        assert value(one) == value(other), (path, one, other)
    else:
        assert one == other, (path, one, other)
"""


NAMES = {}
exec(STATE, NAMES)
state, same = NAMES["state"], NAMES["same"]


def read_flow(pool, iteration):
    """Runs in worker processes."""
    return pool.read(iteration, "flow"), pool[iteration]["levels"]


class Trees(pipelines.Pipelines):
    maxDiff = None

    def lines(self, program):
        """Runs a program that may use `refused` and `state`; returns the lines that it prints."""
        return self.kept(STATE + """
from refusal import refused
""" + program).splitlines()

    def test_a_state_comes_back_as_it_was_also_after_a_kill(self):
        program = STATE + """
with ringside.publish(state(1), problem="state") as run:
    if run.kept is not None:
        assert run.kept.iteration >= 8 and list(run.kept) == list(state(1)), run.kept
        same(state(run.kept.iteration), collections.OrderedDict(run.kept))
        run.kept["levels"][0][:] = 7      # a copy, which the program may change
    for k in range(run.next_iteration, 21):
        if k == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        run.publish(k, state(k))
print(run.next_iteration)
"""
        code, output, _ = self.run_program("kill_at = 10\n" + program)
        self.assertEqual((code, output), (4, ""))
        self.assertEqual(self.kept("kill_at = 0\n" + program, "--resume"), "21\n")
        pool = ringside.open(self.path("run.pool"))
        for k in list(pool):
            with pool[k] as step:
                same(dict(state(k)), step.tree())
                same(state(k)["levels"], step["levels"])
                self.assertFalse(step["levels"][0].flags.writeable)
                self.assertFalse(step["levels"][0].flags.owndata)
            same(state(k)["flow"], pool.read(k, "flow"))

    def published(self, expression, *options, pool="run.pool", before="", count=1):
        """The pool of a run that publishes the value of `expression` at k = 1 ... `count`."""
        self.kept(f"import numpy as np, ringside\n{before}\nmade = lambda k: {expression}\nwith ringside.publish(made(1)) as run:\n"
                  f"    for k in range(1, {count + 1}): run.publish(k, made(k))\n", *options, pool=pool)
        return ringside.open(self.path(pool))

    def pool_of_states(self, count):
        return self.published("state(k)", before=STATE, count=count)

    def test_a_step_is_a_mapping_of_what_was_published(self):
        pool = self.pool_of_states(2)
        names = list(state(1))
        with pool[2] as step:
            self.assertEqual((list(step), list(step.keys()), len(step)), (names, names, len(names)))
            same(dict(state(2)), dict(step.items()))
            self.assertTrue("levels" in step and "u" in step and "level" not in step)
            same(state(2)["points"], step.get("points"))
            self.assertIsNone(step.get("point"))
            self.assertEqual(step._ipython_key_completions_(), names)
            with self.assertRaisesRegex(ringside.UsageError, rf"iteration 2 has {len(names)} variables; expected one of them: step\['u'\]"):
                np.asarray(step)
            self.assertTrue(np.shares_memory(step.view("levels")[0], step["tree.f64"]))
            self.assertIn("tree.f64", step)  # every variable can be read, but packed ones are not entries
        self.assertEqual(list(step), names)
        for call, where in ((lambda: pool[2]["level"], "iteration 2"), (lambda: pool.read(2, "level"), pool.path),
                            (lambda: pool[2].view("level"), "iteration 2")):
            with self.assertRaisesRegex(ringside.UnknownNameError, f"^'level' is no variable of {where}; did you mean 'levels'[?] "
                                                                   f"expected one of {', '.join(names)}$"):
                call()
        with self.assertRaisesRegex(ringside.UnknownNameError, r"'levels' is no variable of .*; expected one of u, tree.bits.*[.] "
                                                               r"Packed arrays can be read from one step only: "
                                                               r"pool\.read\(ITERATION, 'levels'\)$"):
            pool.array("levels")

    def test_what_a_loop_that_follows_has_collected_of_structures_stays_what_it_is(self):
        output = self.kept(STATE + """
with ringside.publish(state(1)) as run:
    run.publish(1, state(1))
    pool, collected, steps = ringside.open("run.pool"), [], []
    for step in pool.follow(timeout=5):
        collected.append((step.iteration, step["levels"], dict(step)))
        steps.append(step)
        if step.iteration == 30:
            break
        run.publish(step.iteration + 1, state(step.iteration + 1))
    assert [k for k, _, _ in collected] == list(range(1, 31))
    for k, levels, whole in collected:
        same(state(k)["levels"], levels)
        same(dict(state(k)), whole)
        assert not levels[0].flags.writeable
    for name in ("levels", "u"):
        try:
            steps[0][name]
        except ringside.UsageError as error:
            print(error)
""", "--slots=3")
        self.assertEqual(output, "iteration 1: the step was released; hold it again\n" * 2)

    def test_a_structure_in_place_keeps_its_step_held_when_its_block_has_ended(self):
        pool = self.pool_of_states(1)
        with pool[1] as step:
            levels, number = step["levels"], step["plain"]["n"]
            owner = step.view("tree.f64").base.owner
        gc.collect()
        self.assertFalse(step.held)
        self.assertTrue(owner.held)
        same(state(1)["levels"], levels)
        with pool[1] as step:
            owner = step.view("tree.f64").base.owner
            same(number, step["plain"]["n"])  # a Python number does not keep a step held
        self.assertFalse(owner.held)
        copies = pool[1]["levels"]  # outside of a block
        self.assertFalse(np.shares_memory(copies[0], levels[0]))
        same(levels, copies)

    def test_structures_are_read_by_workers_pickled_and_left_when_the_pool_is_closed(self):
        pool = self.pool_of_states(2)
        pool.read(1, "raw")  # the table has been read before the pickling
        for way in ("fork", "spawn"):
            with self.subTest(way), multiprocessing.get_context(way).Pool(2) as workers:
                for k, found in zip((1, 2), workers.starmap(read_flow, [(pool, 1), (pool, 2)])):
                    same((state(k)["flow"], state(k)["levels"]), found)
        with pool[2] as step:
            whole = pickle.loads(pickle.dumps(dict(step), 5))  # protocol 4 would make big-endian numbers native
            levels = step["levels"]
            pool.close()
            same(dict(state(2)), dict(step))
        same(dict(state(2)), whole)
        self.assertIs(type(whole["points"][0]), type(ringside.open(pool.path)[1]["points"][0]))
        same(state(2)["levels"], levels)
        for call in (lambda: pool.read(2, "levels"), lambda: pool[2]):
            with self.assertRaisesRegex(ringside.UsageError, "the pool was closed; open it again$"):
                call()

    def test_a_name_of_a_structure_that_is_spelt_wrongly_is_named_as_the_cause(self):
        self.assertEqual(self.lines("""
state = {"levels": [np.zeros(2)], "u": np.zeros(3)}
with ringside.publish(state, scalars=["r"], problem="spelt") as run:
    refused(run.publish, 1, {"level": [np.zeros(2)], "u": np.zeros(3)}, {"r": 1})
    with run.step(1) as step:
        refused(step.__getitem__, "level")
        refused(step.__setitem__, "level", [np.zeros(2)])
        refused(step.previous, "level")
        refused(step.__getitem__, "r")
        step.scalars["r"] = 1
"""), ["iteration 1: found no 'levels', but 'level'; expected the keys 'levels', 'u'",
       *["'level' is no variable of this run; did you mean 'levels'? expected one of levels, u"] * 3,
       "'r' is no variable of this run; expected one of levels, u. "
       "It is a scalar: use step.scalars['r'], or pass it in publish(k, arrays, scalars)"])
        self.assertEqual(self.kept("""
            import numpy as np, pickle, ringside
            state = {"levels": [np.zeros(2)], "u": np.zeros(3)}
            with ringside.publish(state, scalars=["r"], problem="spelt") as run:
                print(list(run.kept), len(run.kept), "levels" in run.kept, "level" in run.kept, run.kept.get("level"), run.kept)
                print(pickle.loads(pickle.dumps(run.kept.tree())))
                try:
                    run.kept["level"]
                except KeyError as error:
                    print(error)
            """, "--resume").splitlines(), [
                "['levels', 'u'] 2 True False None <ringside.KeptStep of iteration 1: levels, u>",
                "{'levels': [array([0., 0.])], 'u': array([0., 0., 0.])}",
                "'level' is no variable of iteration 1; did you mean 'levels'? expected one of levels, u"])

    def test_an_entry_may_have_the_name_of_a_packed_variable_and_a_key_may_be_a_number(self):
        pool = self.pool_of("""
            import numpy as np, ringside
            state = lambda k: {"tree.f64": [np.full(2, k)], 7: np.full(3, k), "tree.table": k}
            with ringside.publish(state(1.0)) as run:
                run.publish(1, state(1.0))
                with run.step(2) as step:
                    for name, value in state(2.0).items():
                        step[name] = value
            """)
        for k in (1, 2):
            with pool[k] as step:
                self.assertEqual((list(step), repr(dict(step))),
                                 (["tree.f64", 7, "tree.table"], f"{{'tree.f64': [array([{k}., {k}.])], 7: array([{k}., {k}., {k}.]), "
                                                                 f"'tree.table': {k}.0}}"))
            self.assertEqual((pool.read(k, "tree.f64")[0].tolist(), pool.read(k, 7).tolist()), ([k] * 2, [k] * 3))
        with self.assertRaisesRegex(ringside.UnknownNameError, "'tree' is no variable .*expected one of tree.f64, 7, tree.table"):
            pool[1]["tree"]
        with self.published("{'levels': [np.zeros(2)]}", pool="one.pool")[1] as step:
            with self.assertRaisesRegex(ringside.UsageError, r"^iteration 1: step\['levels'\] is a list; expected one of its arrays$"):
                np.asarray(step)

    def test_arrays_without_entries_are_read_back_also_if_their_dtype_has_no_others(self):
        with self.published("{'y': np.arange(3.0), 'm': np.zeros((0, 2), 'f4'), "
                            "'in': {'b': np.zeros(0, bool), 'e': b'', 'i': np.zeros(0, 'i8')}}") as pool:
            step = pool[1]
            self.assertEqual(sorted(step), ["in", "m", "y"])
            self.assertEqual((step["m"].dtype, step["m"].shape), (np.dtype("f4"), (0, 2)))
            self.assertEqual(step["in"]["e"], b"")
            self.assertEqual([step["in"][name].dtype for name in "bi"], [np.dtype(bool), np.dtype("i8")])

    def test_texts_of_any_class_and_the_names_of_packed_variables_come_back(self):
        with self.published("{'tree.table': np.ones(3), 'opt': {'kind': kind.A, 'name': np.str_('n')}}", count=2,
                            before="import enum; kind = enum.Enum('kind', {'A': 'adam'}, type=str)")[2] as step:
            self.assertEqual(sorted(step), ["opt", "tree.table"])
            self.assertEqual(step["opt"], {"kind": "adam", "name": "n"})
            self.assertEqual(step["tree.table"].tolist(), [1.0] * 3)
        with self.published("{'tree.table': np.ones(3)}", pool="alone.pool")[1] as step:
            self.assertEqual({name: step[name].tolist() for name in step}, {"tree.table": [1.0] * 3})

    def test_what_can_be_a_variable_is_one_and_the_rest_is_packed_by_dtype(self):
        pool = self.pool_of_states(1)
        self.assertEqual({name: (variable.dtype, variable.role) for name, variable in pool.variables.items()},
                         {"u": ("f64", "field"), "tree.bits": ("u8", "state"), "tree.f64": ("f64", "state"),
                          "tree.f32": ("f32", "state"), "tree.i64": ("i64", "state"), "tree.c128": ("c128", "state"),
                          "tree.u8": ("u8", "state"), "tree.table": ("u8", "state")})
        with pool[-1] as step:
            self.assertTrue(all(name.split(".")[0] in ("u", "solver") for name in step.results))

    def test_a_flat_mapping_has_a_variable_for_each_array_as_long_as_there_are_at_most_256(self):
        for count, expected in ((256, 256), (257, 2)):
            pool = self.published(f"{{f'x{{n}}': np.full(2, float(n)) for n in range({count})}}", "--overwrite")
            self.assertEqual(len(pool.variables), expected)
            self.assertEqual(pool.read(-1, "x255").tolist(), [255.0, 255.0])

    def test_descriptions_and_arrays_at_the_top_stay_variables_beside_what_is_packed(self):
        pool = self.pool_of("""
            import numpy as np, ringside
            arrays = {f"x{n}": np.full(2, float(n)) for n in range(300)}
            with ringside.publish({**arrays, "y": ringside.Variable("f64", (2,), unit="K"), "name": "heat"}) as run:
                run.publish(1, {**arrays, "y": np.ones(2), "name": "heat"})
            """)
        self.assertEqual(list(pool.variables), ["y", "tree.f64", "tree.table"])
        with pool[-1] as step:
            tree = step.tree()
            self.assertEqual((len(tree), tree["x299"].tolist(), tree["y"].tolist(), tree["name"]), (302, [299] * 2, [1, 1], "heat"))
            self.assertEqual((len(step), list(step)), (302, list(tree)))  # a mapping of the published structure
            self.assertTrue("x299" in step and "tree.f64" in step and "x300" not in step)
            with self.assertRaisesRegex(KeyError, "'x300' is no variable of iteration 1; did you mean 'x[0-9]+'[?]"):
                step["x300"]
        first, second = pool[-1]["x1"], pool[-1]["x2"]  # these are copies, which remain valid
        self.assertEqual((first.tolist(), second.tolist(), first.flags.writeable), ([1, 1], [2, 2], False))

    def test_a_structure_can_be_declared_without_arrays_and_published_by_several_threads(self):
        output = self.kept("""
            import collections, threading, numpy as np, ringside
            Empty = collections.namedtuple("Empty", "")
            f64 = ringside.Variable("f64", (3,))
            with ringside.publish({"levels": [f64, {"x": ringside.Variable(np.int8, (2, 2))}, Empty()], "n": 0}) as run:
                lock, numbers = threading.Lock(), iter(range(1, 21))
                def publish():
                    for _ in range(5):
                        with lock:
                            k = next(numbers)
                            run.publish(k, {"levels": [np.full(3, float(k)), {"x": np.full((2, 2), k, np.int8)}, Empty()], "n": k})
                threads = [threading.Thread(target=publish) for _ in range(4)]
                for thread in threads: thread.start()
                for thread in threads: thread.join()
                print(run)
            """)
        self.assertEqual(output, "<ringside.Writer of n, tree.f64, tree.i8, tree.table, at iteration 20>\n")
        with ringside.open(self.path("run.pool"))[20] as step:
            levels = step["levels"]
            self.assertEqual((levels[0].tolist(), levels[1]["x"].tolist(), len(levels[2]), step["n"].item()), ([20.0] * 3, [[20] * 2] * 2, 0, 20))

    def test_ten_thousand_arrays_are_one_state(self):
        program = """
            import numpy as np, ringside
            state = lambda k: {"layers": {f"layer/{n}": np.full((2, 3), n + k) for n in range(10000)}}
            with ringside.publish(state(0), problem="many") as run:
                if run.kept is not None:
                    assert all((run.kept["layers"][name] == a).all() for name, a in state(run.kept.iteration)["layers"].items())
                for k in range(run.next_iteration, run.next_iteration + 3):
                    run.publish(k, state(k))
            """
        self.kept(program)
        self.kept(program, "--resume")
        with ringside.open(self.path("run.pool"))[6] as step:
            layers = step["layers"]
            self.assertEqual((len(layers), layers["layer/9999"].tolist()), (10000, [[10005] * 3] * 2))

    def test_a_structure_is_written_in_place_in_a_block(self):
        self.kept("""
            import numpy as np, ringside
            state = {"levels": [np.zeros((2, 2)), np.zeros(3)], "x": np.zeros(4), "n": {"k": 0}}
            with ringside.publish(state, scalars=["r"]) as run:
                with run.step(1) as step:
                    assert step.previous("levels") is None and not step.skipped and step.iteration == 1
                    step["levels"][0][:] = 1
                    step["levels"][1][:] = 2
                    step["x"][:] = 3
                    step["n"]["k"][...] = 4
                    step.scalars["r"] = 0.5
                with run.step(2) as step:
                    step["levels"] = [2 * array for array in step.previous("levels")]
                    step["x"] = 2 * step.previous("x")
                    step["n"] = {"k": 2 * step.previous("n")["k"]}
                    try:
                        step["levels"] = [np.zeros((2, 2)), np.zeros(4)]
                    except ringside.UsageError as error:
                        print(error)
                    step.scalars = {"r": 0.25}
            """)
        with ringside.open(self.path("run.pool"))[2] as step:
            self.assertEqual(repr(step.tree()), "{'levels': [array([[2., 2.],\n       [2., 2.]]), array([4., 4., 4.])], "
                                                "'x': array([6., 6., 6., 6.]), 'n': {'k': 8}}")

    def test_a_leaf_that_changes_is_refused_with_its_path_and_the_run_continues(self):
        self.assertEqual(self.lines("""
with ringside.publish(state(1)) as run:
    def changed(path, value, k=1):
        made = state(k)
        at = made
        for key in path[:-1]: at = at[key]
        if value is None: del at[path[-1]]
        else: at[path[-1]] = value
        refused(run.publish, k, made)
    changed(["levels", 1], np.zeros(3))
    changed(["levels", 0], np.zeros(4, "f4"))
    changed(["levels"], [np.zeros(4)])
    changed(["levels"], (np.zeros(4),) * 3)
    changed(["levels"], np.zeros((3, 4)))
    changed(["flow", 1], None)
    changed(["flow", "w"], 1.0)
    changed(["flow", "v"], [1.0])
    changed(["points"], (Point(np.zeros(2, bool), np.zeros(3, "f2")), state(1)["points"][1]))
    changed(["plain", "lr"], 1)
    changed(["plain", "n"], True)
    changed(["plain", "n"], 2**63)
    changed(["plain", "kind"], "sgd")
    changed(["plain", "none"], 3)
    changed(["raw"], b"four")
    changed(["u"], np.ma.masked_array(np.zeros(5), 1))
    changed(["levels", 0], np.ma.masked_array(np.zeros(4), 1))
    changed(["v"], np.zeros(4))
    changed(["u"], None)
    run.publish(1, state(1))
"""), [
            "iteration 1: levels[1]: found an array of float64, shape (3,); expected float64, shape (2,), as declared",
            "iteration 1: levels[0]: found an array of float32, shape (4,); expected float64, shape (4,), as declared",
            "iteration 1: levels: found a list of length 1; expected length 3",
            "iteration 1: levels: found a tuple of length 3; expected a list",
            "iteration 1: levels: found an array of float64, shape (3, 4); expected a list",
            "iteration 1: flow: found no 1; expected the keys 'v', 1, 'z'",
            "iteration 1: flow: found 'w', which was not declared; expected the keys 'v', 1, 'z'",
            "iteration 1: flow[\"v\"]: found a list of length 1; expected float32, shape (2, 3), as declared",
            "iteration 1: points[0].y: found an array of float16, shape (3,); expected float16, shape (2,), as declared",
            "iteration 1: plain[\"lr\"]: found 1; expected a float",
            "iteration 1: plain[\"n\"]: found True; expected a whole number of 64 bits",
            "iteration 1: plain[\"n\"]: found 9223372036854775808; expected a whole number of 64 bits",
            "iteration 1: plain[\"kind\"]: found 'sgd'; expected 'adam', which is a part of the structure, the same in every step",
            "iteration 1: plain[\"none\"]: found 3; expected None, which is a part of the structure, the same in every step",
            "iteration 1: raw: found b'four'; expected 3 bytes",
            "iteration 1: u: found a masked array, whose mask would be lost; expected a plain one: x.filled(VALUE)",
            "iteration 1: levels[0]: found a masked array, whose mask would be lost; expected a plain one: x.filled(VALUE)",
            "iteration 1: found 'v', which was not declared; expected the keys 'u', 'levels', 'flow', 'points', 'plain', 'rng', 'raw', "
            "'when' and 2 more",
            "iteration 1: found no 'u'; expected the keys 'u', 'levels', 'flow', 'points', 'plain', 'rng', 'raw', 'when' and 2 more",
        ])

    def test_a_run_of_another_structure_is_not_resumed(self):
        program = "import numpy as np, ringside\nx = {}\nwith ringside.publish(x) as run: run.publish(run.next_iteration, x)\n"
        self.kept(program.format('{"a": [np.zeros(2), np.zeros(3)]}'))
        error = self.failing(2, program.format('{"a": [np.zeros(3), np.zeros(2)]}'), "--resume")
        self.assertIn("RefusedError", error)

    def test_what_cannot_be_a_structure_is_refused_when_it_is_declared(self):
        def refused(variables, line):
            self.assertEqual(self.refusal(variables), line)

        x = np.zeros(3)
        cycle = [x]
        cycle.append(cycle)
        refused({"a": [x, {"b": {1, 2}}]}, 'variables: a[1]["b"]: found a set; expected an array, a number, a text, None, or a dict, '
                                           'list or tuple of these')
        refused({"a": [x], "tree.f64": ("f64", (3,))},
                "variable 'tree.f64': found the name of a variable of packed arrays; expected another name")
        refused({"a": [x, np.array([None])]}, "variables: a[1]: found an array of objects; expected numbers of one dtype")
        refused({"a": {2.5: x}}, "variables: a: found the key 2.5; expected keys that are texts or whole numbers")
        refused({"a": {True: x}}, "variables: a: found the key True; expected keys that are texts or whole numbers")
        for key, shown in ((2.5, "2.5"), (True, "True"), (None, "None"), ((1, 2), "a tuple of length 2")):
            refused({key: x}, f"variables: found the key {shown}; expected keys that are texts or whole numbers")
        refused({"a": None}, "variables: found no array with entries in a dict of length 1; expected at least one")
        refused({"a": "f64"}, "variable 'a': found the dtype 'f64' without a shape; expected a pair: ('f64', (1000,))")
        refused({"a": [x, ringside.Variable("f64", (3,), unit="K")]},
                "variables: a[1]: found the unit 'K'; expected no unit: only a variable of its own, at the top, can have one")
        self.assertIn("a structure that contains itself", self.refusal({"a": cycle}))

    def test_a_table_that_is_none_is_refused_in_one_line(self):
        for number, table in enumerate((b"nothing", b"{}", b'{"dict":[["a",{"in":"x","at":0,"shape":[9]}]]}', b"[" * 10000,
                                        b'{"dict":[["a",{"in":"x","at":0,"shape":[1],"dtype":"O"}]]}',
                                        b'{"dict":[["a",{"in":"x","at":0,"shape":[2],"as":"int"}]]}',
                                        b'{"dict":[["a",{"in":"x","at":0,"shape":[],"as":"text"}]]}')):
            self.kept(f"""
                import numpy as np, ringside
                table = np.frombuffer({table!r}, np.uint8)
                with ringside.publish({{"x": np.zeros(4), "tree.table": ringside.Variable("u8", table.shape)}}) as run:
                    run.publish(1, {{"x": np.zeros(4), "tree.table": table}})
                """, pool=f"{number}.pool")
            with ringside.open(self.path(f"{number}.pool"))[-1] as step:
                self.assertEqual(step["x"].tolist(), [0] * 4)
                with self.assertRaisesRegex(ringside.UsageError, "tree.table is not a table of packed arrays") as raised:
                    step.tree()
                self.assertNotIn("\n", str(raised.exception))


if __name__ == "__main__":
    pipelines.run_tests()
