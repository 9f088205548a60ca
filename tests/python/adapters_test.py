# SPDX-License-Identifier: BSD-3-Clause
"""ringside.scipy and ringside.petsc with the real libraries: the steps that they keep, and runs that are killed and
resumed."""

import glob
import os
import textwrap

import pipelines

pipelines.modules_or_skip("numpy", "scipy")
import numpy as np  # noqa: E402
import ringside  # noqa: E402

# In Debian, petsc4py is in PETSc's folder, and is found through PETSC_DIR unless PETSc's headers are installed.
if "PETSC_DIR" not in os.environ:
    for place in sorted(glob.glob("/usr/lib/petscdir/petsc*/*-real")):
        os.environ["PETSC_DIR"] = place
PETSC = ("import sys, os; sys.path.append(os.environ.get('PETSC_DIR', '') + '/lib/python3/dist-packages'); "
         "from petsc4py import PETSc\n")

# The matrix of a rod, with one row for each point. b is not an eigenvector, so that cg needs many iterations.
PROBLEM = """
import os, signal, sys, numpy as np, scipy.sparse
A = scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(400, 400), format="csr")
b = np.sin(np.arange(400.0)) + 1
"""


# A replacement for ringside.publish, for programs that solve many problems: its runs need no analyzer, and continue
# from `kept`.
UNPUBLISHED = """
import contextlib, types, numpy as np, ringside.scipy
kept, steps = None, []
class Run:
    @property
    def kept(self): return kept
    @property
    def next_iteration(self): return len(steps) + 1 + (kept.iteration if kept else 0)
    def publish(self, k, arrays, scalars):
        assert k == self.next_iteration
        steps.append(({name: array.copy() for name, array in arrays.items()}, scalars))
    def detach(self, outcome): pass
@contextlib.contextmanager
def unpublished(*arguments, **options):
    steps.clear()
    yield Run()
class Kept(dict):
    def __init__(self, iteration, step):
        super().__init__(step[0])
        self.iteration, self.scalars = iteration, step[1]
ringside.scipy.publish = unpublished
"""


class OfScipy(pipelines.Pipelines):
    def test_cg_continues_with_the_same_bits_after_a_kill(self):
        pool, output = self.killed_and_resumed(PROBLEM + """
import ringside.scipy
calls = []
def half(r):                        # a preconditioner that dies; each iteration calls it once
    calls.append(1)
    if len(calls) == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)
    return r / 2.0
M = scipy.sparse.linalg.LinearOperator(A.shape, half, dtype=float)
x, info = ringside.scipy.cg(A, b, rtol=1e-10, M=M)
print(info, x.tobytes().hex())
""")
        names = {}
        exec(PROBLEM, names)
        x = np.frombuffer(bytes.fromhex(output.split()[1]))
        self.assertEqual(output.split()[0], "0")
        residual = np.linalg.norm(names["b"] - names["A"] @ x)
        self.assertLess(residual, 1e-9 * np.linalg.norm(names["b"]))
        self.assertEqual({name: variable.role for name, variable in pool.variables.items()},
                         {"x": "field", "r": "state", "p": "state"})

    def test_cg_takes_the_steps_of_scipys_cg(self):
        output = self.kept(PROBLEM + """
import ringside.scipy, scipy.sparse.linalg
iterates = []
scipy.sparse.linalg.cg(A, b, maxiter=40, callback=lambda x: iterates.append(x.copy()))
x, info = ringside.scipy.cg(A, b, maxiter=40)
print(info, len(iterates), max(abs(x - iterates[-1])) < 1e-9 * max(abs(x)))
""")
        self.assertEqual(output, "40 40 True\n")
        self.assertEqual(self.outcome(), "finished")

    def test_cg_of_another_matrix_is_not_resumed(self):
        program = PROBLEM + "import ringside.scipy\nringside.scipy.cg({} * A, b, maxiter=5)\n"
        self.kept(program.format("1"))
        self.failing(2, program.format("2"), "--resume")

    def test_another_function_is_another_problem(self):
        for first, other in (("solve_ivp(lambda t, y: -y, (0, 1), [1.0])", "solve_ivp(lambda t, y: -5 * y, (0, 1), [1.0])"),
                             ("cg(LinearOperator((4, 4), matvec=lambda v: 2 * v), np.ones(4))",
                              "cg(LinearOperator((4, 4), matvec=lambda v: 4 * v), np.ones(4))")):
            program = ("import numpy as np\nfrom scipy.sparse.linalg import LinearOperator\n"
                       "from ringside.scipy import cg, solve_ivp\n")
            with self.subTest(first):
                self.kept(program + first, pool=f"{first[:2]}.pool")
                error = self.failing(2, program + other, "--resume", pool=f"{first[:2]}.pool")
                self.assertIn("another problem", error)
                self.kept(program + first, "--resume", pool=f"{first[:2]}.pool")

    def test_a_function_is_the_same_problem_in_every_process(self):
        program = """
            from ringside.scipy import solve_ivp
            def fun(t, y):
                return -y if "a" in {"alpha", "beta", "gamma", "delta", "epsilon"} else -2 * y
            print(solve_ivp(fun, (0, 1), [1.0], pool="i.pool", run_options="--quiet").success)
            """
        for seed in range(4):
            self.environment["PYTHONHASHSEED"] = str(seed)
            self.assertEqual(self.printed(program), "True\n")

    def test_cg_of_a_right_hand_side_of_zeros_needs_no_iteration(self):
        output = self.kept(PROBLEM + "import ringside.scipy\nx, info = ringside.scipy.cg(A, 0 * b)\n"
                                     "print(info, x.any())\n")
        self.assertEqual(output, "0 False\n")

    def test_cg_stops_where_scipys_does(self):
        self.assertEqual(self.printed(UNPUBLISHED + textwrap.dedent("""
            import inspect, numpy as np, scipy.sparse.linalg, ringside.scipy
            rtol_of_scipy = "rtol" if "rtol" in inspect.signature(scipy.sparse.linalg.cg).parameters else "tol"
            rng, different = np.random.default_rng(5), 0
            for number in range(40):
                n = int(rng.integers(2, 30))
                B = rng.standard_normal((n, n))
                A, b = B @ B.T + n * np.eye(n), rng.standard_normal(n)
                M = [None, np.diag(1 / np.diag(A))][number % 2]
                x0 = [None, rng.standard_normal(n), np.linalg.solve(A, b), "Mb"][number % 4]
                b = b.reshape(n, 1) if number % 5 == 0 else b
                for rtol, atol, maxiter in ((1.0, 0.0, None), (1e-5, 0.0, None), (0.5, 0.1, 2), (1e-12, 1e-3, None), (1e-8, 0.0, 3)):
                    calls = [], []
                    expected = scipy.sparse.linalg.cg(A, b, x0, **{rtol_of_scipy: rtol}, atol=atol, maxiter=maxiter, M=M,
                                                      callback=lambda x: calls[0].append(x.copy()))
                    found = ringside.scipy.cg(A, b, x0, rtol=rtol, atol=atol, maxiter=maxiter, M=M, callback=calls[1].append,
                                              problem=f"{number}")
                    assert len(steps) == len(calls[1])
                    assert found[0].shape == expected[0].shape, (found, expected)
                    # Before SciPy 1.12, cg was Fortran, and always made an iteration.
                    same = rtol_of_scipy == "tol" or (len(calls[0]) == len(calls[1]) and
                                                      np.allclose(found[0], expected[0], rtol=1e-6, atol=1e-9))
                    # SciPy from 1.12 does not look again after the last iteration, and says that it has not converged.
                    same &= found[1] == expected[1] or (found[1] == 0 and expected[1] == maxiter)
                    if not same:
                        different += 1
                        print(number, rtol, atol, maxiter, len(calls[0]), len(calls[1]), found[1], expected[1])
            print(different)
            """)), "0\n")

    def test_cg_refuses_other_shapes_and_tolerances(self):
        import ringside.scipy
        A, b = np.eye(3), np.ones(3)
        for arguments, options, line in (
                ((A[:2], b), {}, r"cg: A: found the shape \(2, 3\); expected \(2, 2\)"),
                ((A, np.ones(4)), {}, r"cg: b: found the shape \(4,\); expected \(3,\) or \(3, 1\)"),
                ((A, b, np.ones(2)), {}, r"cg: x0: found the shape \(2,\)"), ((A, b, "b"), {}, "cg: x0: found 'b'; expected 3 numbers, or 'Mb'"),
                ((A, b), {"M": np.eye(2)}, r"cg: M: found the shape \(2, 2\); expected \(3, 3\)"),
                ((A, b), {"atol": None}, "cg: atol: found None; expected a number"),
                ((A, b), {"atol": "legacy"}, "cg: atol: found 'legacy'; expected a number"),
                ((A, b), {"rtol": -1}, "cg: rtol: found -1.0; expected 0 or more")):
            with self.assertRaisesRegex(ringside.UsageError, line):
                ringside.scipy.cg(*arguments, **options)

    def test_cg_takes_tol_and_a_callback_as_scipy_does(self):
        program = PROBLEM + """
import ringside.scipy
iterates = []
x, info = ringside.scipy.cg(A, b, {}=1e-3, maxiter=1000, callback=lambda x: iterates.append(x))
print(info, (iterates[-1] == x).all(), len(iterates), x.tobytes().hex())
"""
        outputs = [self.kept(program.format(name), "--overwrite") for name in ("tol", "rtol")]
        self.assertEqual(outputs[0], outputs[1])
        last = ringside.open(self.path("run.pool"))[-1].iteration
        self.assertEqual(outputs[0].split()[:3], ["0", "True", str(last)])

    def test_solve_ivp_of_complex_numbers_is_refused(self):
        import ringside.scipy
        with self.assertRaisesRegex(ringside.UsageError, "solve_ivp: y0 is of complex128; expected real numbers"):
            ringside.scipy.solve_ivp(lambda t, y: y, (0, 1), [1j])

    def test_cg_of_complex_numbers_is_refused(self):
        import ringside.scipy
        A, b = np.eye(2), np.ones(2)
        for name, arguments in {"A": (1j * A, b), "b": (A, 1j * b), "x0": (A, b, 1j * b)}.items():
            with self.assertRaisesRegex(ringside.UsageError, f"cg: {name} is of complex128; expected real numbers"):
                ringside.scipy.cg(*arguments)

    def test_cg_ends_as_failed_where_the_matrix_is_not_positive_definite(self):
        for number, matrix, right, line in (
                (1, "[[1.0, 2.0], [2.0, 1.0]]", "[1.0, -1.0]",
                 "found p.Ap = -2, expected a number above 0: the matrix is not positive definite"),
                (1, "[[1.0, 1.0], [1.0, 1.0]]", "[1.0, -1.0]",
                 "found p.Ap = 0, expected a number above 0: the matrix is singular, or its entries are too small"),
                (1, "np.eye(2)", "[1.0, 1.0], M=-np.eye(2)",
                 "found r.Mr = -2, expected a number above 0: M is not positive definite"),
                (1, "np.eye(2)", "[1.0, float('nan')]", "found r.Mr = nan, expected a finite number"),
                (2, "[[1.0, 2.0], [2.0, 1.0]]", "[1.0, 0.0]", "the matrix is not positive definite")):
            code, _, error = self.run_program(f"""
                import numpy as np, ringside.scipy
                ringside.scipy.cg(np.array({matrix}), {right})
                """, "--overwrite")
            self.assertNotEqual(code, 0)
            self.assertRegex(error, rf"ArithmeticError: scipy cg broke down in iteration {number}: .*")
            self.assertIn(line, error)
            self.assertEqual(self.outcome(), "failed")

    def test_solve_ivp_continues_with_the_same_bits_after_a_kill(self):
        for method in ("RK45", "DOP853"):
            with self.subTest(method):
                for pool in ("run.pool", "undisturbed.pool"):
                    for path in glob.glob(self.path(pool) + "*"):
                        os.unlink(path)
                _, output = self.killed_and_resumed(f"""
import os, signal, numpy as np, ringside, ringside.scipy
def fun(t, y):                      # a pendulum
    if kill_at and t > 2 * kill_at:
        os.kill(os.getpid(), signal.SIGKILL)
    return np.array([y[1], -np.sin(y[0])])
found = ringside.scipy.solve_ivp(fun, (0.0, 200.0), [1.0, 0.0], "{method}", rtol=1e-7, first_step=0.5, problem="pendulum")
print(found.t[-1], found.y[:, -1].tobytes().hex(), found.status)
""")
                self.assertEqual(output.split()[0], "200.0")

    def test_what_solve_ivp_cannot_keep_is_refused(self):
        import scipy.integrate

        import ringside.scipy

        class Own(scipy.integrate.RK45):
            pass

        def event(t, y):
            return y[0]

        event.terminal = 2
        for options, line in (({"method": "BDF"}, "method 'BDF'; expected one of RK23, RK45, DOP853"),
                              ({"method": scipy.integrate.Radau}, "method 'Radau'; expected one of"),
                              ({"method": Own}, "method 'Own'; expected one of"), ({"method": 3}, "method 3; expected one of"),
                              ({"events": [event]}, r"solve_ivp: events\[0\].terminal: found 2; expected True or False")):
            with self.assertRaisesRegex(ValueError, line):
                ringside.scipy.solve_ivp(lambda t, y: y, (0, 1), [1.0], **options)

    def test_solve_ivp_gives_the_result_of_scipys_with_each_of_its_arguments(self):
        self.printed(UNPUBLISHED + textwrap.dedent("""
            import numpy as np, scipy.integrate, ringside.scipy
            def fun(t, y, *args):
                return np.array([y[1], -np.sin(y[0]) - (args[0] * y[1] if args else 0)])
            def down(t, y, *args): return y[0]
            def fast(t, y, *args): return y[1] + 1.2
            fast.terminal, fast.direction, down.direction = True, -1, -1
            vectorized = lambda t, y: np.array([y[1], -np.sin(y[0])])
            span, y0, times = (0.0, 9.0), [1.0, 0.5], np.linspace(0, 9, 20)
            for number, (arguments, options) in enumerate((
                    ((fun, span, y0), {}), ((fun, span, y0, "RK23"), {}), ((fun, span, y0, scipy.integrate.DOP853), {"rtol": 1e-9}),
                    ((fun, span, y0, "RK45", times), {}), ((fun, span, y0, "RK45", times, True), {}), ((fun, span, y0), {"dense_output": True}),
                    ((fun, span, y0), {"events": down}), ((fun, span, [1.5, 1.5]), {"events": [down, fast]}),
                    ((fun, span, [1.5, 1.5]), {"events": (fast, down), "t_eval": times, "dense_output": True}),
                    ((vectorized, span, y0), {"vectorized": True}), ((fun, span, y0), {"args": (0.3,), "events": down}),
                    ((fun, span, y0), {"first_step": 0.01, "max_step": 0.1, "rtol": [1e-3, 1e-6], "atol": 1e-9}),
                    ((fun, (9.0, 0.0), y0), {"t_eval": times[::-1]}), ((fun, (1.0, 1.0), y0), {}), ((fun, span, [1, 0]), {}),
                    ((lambda t, y: y * y, (0, 2), [1.0]), {}))):
                expected = scipy.integrate.solve_ivp(*arguments, **options)
                found = ringside.scipy.solve_ivp(*arguments, **options)
                all_steps = list(steps)
                for k in (1, len(all_steps) - 1) if len(all_steps) > 3 else ():  # resumed from there
                    kept = Kept(k, all_steps[k - 1])
                    rest = ringside.scipy.solve_ivp(*arguments, **options)
                    assert all(a[0]["y"].tobytes() == b[0]["y"].tobytes() and a[1] == b[1] for a, b in zip(all_steps[k:], steps)), number
                    assert len(steps) == len(all_steps) - k and (rest.status, rest.message) == (found.status, found.message)
                    assert np.array_equal(rest.y[:, -1:], found.y[:, -1:]) or "t_eval" in options and rest.t.size == 0, (number, rest)
                    kept = None
                assert type(found) is type(expected) and list(found) == list(expected), found
                for key in expected:
                    if key in ("t_events", "y_events") and expected[key] is not None:
                        assert all(np.array_equal(a, b) for a, b in zip(expected[key], found[key])), (number, key, found)
                    elif key == "sol":
                        assert (found.sol is None) == (expected.sol is None)
                        assert found.sol is None or np.array_equal(found.sol(times[1:5]), expected.sol(times[1:5]))
                    else:
                        assert np.array_equal(found[key], expected[key]), (number, key, found[key], expected[key])
            """))

    def test_a_run_that_an_event_ends_is_ended_there_also_after_a_kill(self):
        pool, output = self.killed_and_resumed("""
import os, signal, numpy as np, ringside.scipy
def fun(t, y):                      # a damped pendulum, until it is slow
    if kill_at and t > 0.5 * kill_at:
        os.kill(os.getpid(), signal.SIGKILL)
    return np.array([y[1], -np.sin(y[0]) - 0.05 * y[1]])
def energy(t, y): return y[1]**2 / 2 - np.cos(y[0]) + 0.999
def down(t, y): return y[0]
energy.terminal = True
times = np.linspace(0, 500, 1000)
found = ringside.scipy.solve_ivp(fun, (0.0, 500.0), [1.0, 0.0], t_eval=times, events=[down, energy], rtol=1e-7)
print(found.status, found.t_events[1].tobytes().hex(), found.y_events[1].tobytes().hex(), found.t[-1], found.y[:, -1].tobytes().hex())
""")
        status, t, y, *_ = output.split()
        self.assertEqual(status, "1")
        with pool[-1] as step:
            self.assertEqual((step.results["solver.event"], step["y"].tobytes().hex()), (1, y))
            self.assertEqual(step.results["solver.t"], np.frombuffer(bytes.fromhex(t))[0])

    def test_a_run_that_an_event_has_ended_is_not_continued_beyond_it(self):
        program = """
            import ringside.scipy
            def event(t, y): return y[0] - 2
            event.terminal = True
            found = ringside.scipy.solve_ivp(lambda t, y: y, (0.0, 5.0), [1.0], events=event, problem="e")
            print(found.status, found.success, found.message, found.t[-1], found.y[:, -1], found.t_events, found.y_events)
            """
        self.assertEqual(self.kept(program), self.kept(program, "--resume"))

    def test_two_lines_keep_the_iterates_of_minimize_and_gmres(self):
        output = self.kept("""
            import numpy as np, ringside, ringside.scipy
            from scipy.optimize import OptimizeResult, minimize, rosen
            x0 = np.array([-1.2, 1.0])
            with ringside.publish({"x": x0}, scalars=["f"]) as run:
                callback = ringside.scipy.callback(run, scalars=lambda x: {"f": rosen(x)})
                callback(OptimizeResult(x=x0, fun=rosen(x0)))  # as linprog calls it
                found = minimize(rosen, x0, method="BFGS", callback=callback)
            print(found.nit, found.x.tobytes().hex(), found.fun)
            """)
        count, x, f = output.split()
        pool = ringside.open(self.path("run.pool"))
        with pool[-1] as step:
            self.assertEqual((step.iteration, step["x"].tobytes().hex()), (1 + int(count), x))
            self.assertEqual(step.results["solver.f"], float(f))
        output = self.kept(PROBLEM + """
import ringside, ringside.scipy
from scipy.sparse.linalg import gmres
with ringside.publish({"x": b}) as run:
    x, _ = gmres(A, b, maxiter=4, restart=10, callback=ringside.scipy.callback(run), callback_type="x")
print(x.tobytes().hex())
""", pool="gmres.pool")
        self.assertEqual(ringside.open(self.path("gmres.pool")).read(-1, "x").tobytes().hex(), output.strip())

    def test_a_callback_with_a_norm_instead_of_an_iterate_is_refused(self):
        error = self.failing(2, PROBLEM + """
import ringside, ringside.scipy
from scipy.sparse.linalg import gmres
with ringside.publish({"x": b}) as run:
    gmres(A, b, maxiter=4, callback=ringside.scipy.callback(run), callback_type="pr_norm")
""")
        self.assertIn("for gmres, give callback_type='x'", error)


class OfPetsc(pipelines.Pipelines):
    def setUp(self):
        super().setUp()
        code, _, error = self.python(PETSC)
        if code != 0:
            reason = f"this interpreter has no petsc4py: {error.strip().splitlines()[-1]}"
            (self.fail if pipelines.IN_CI else self.skipTest)(reason)

    def test_the_iterates_of_a_ksp_are_kept_and_a_resumed_one_begins_with_the_kept(self):
        program = PETSC + """
import ringside, ringside.petsc
n = 200
A = PETSc.Mat().createAIJ([n, n], nnz=3, comm=PETSc.COMM_SELF)
for i in range(n):
    A.setValue(i, i, 2.0)
    if i: A.setValue(i, i - 1, -1.0); A.setValue(i - 1, i, -1.0)
A.assemble()
x, b = A.createVecs()
b.set(1.0)
ksp = PETSc.KSP().create(PETSc.COMM_SELF)
ksp.setOperators(A)
ksp.setType("cg")
ksp.getPC().setType("none")
ksp.setTolerances(rtol=1e-12, max_it=30)
with ringside.publish(**ringside.petsc.described(x, solver="ksp cg")) as run:
    publish_iterate, vectors = ringside.petsc.monitor(run), set()
    class Solver:                      # notes the vectors that it builds
        def buildSolution(self, given):
            built = ksp.buildSolution(given)
            vectors.add(built.handle)
            return built
    ksp.setMonitor(lambda ksp, iteration, norm: publish_iterate(Solver(), iteration, norm))
    ringside.petsc.restore(run, x)
    ksp.setInitialGuessNonzero(run.kept is not None)
    before = x.norm()
    ksp.solve(b, x)
print(ksp.getIterationNumber(), ksp.getResidualNorm(), before, x.norm(), len(vectors))
"""
        count, residual, before, norm, built = map(float, self.kept(program).split())
        self.assertEqual((count, before, built), (30, 0, 1))
        pool = ringside.open(self.path("run.pool"))
        with pool[30] as step:
            self.assertAlmostEqual(step.results["solver.residual"], residual)
            self.assertAlmostEqual(float(np.linalg.norm(step["x"])), norm)
        count, _, before, _, _ = map(float, self.kept(program, "--resume").split())
        self.assertEqual(before, norm)
        self.assertEqual(ringside.open(self.path("run.pool"))[-1].iteration, 30 + count)

    def test_the_iterates_of_an_snes_and_the_times_of_a_ts_are_kept(self):
        self.kept(PETSC + """
import ringside, ringside.petsc
x, f = PETSc.Vec().createSeq(2), PETSc.Vec().createSeq(2)
J = PETSc.Mat().createDense([2, 2], comm=PETSc.COMM_SELF)
J.setUp()
def function(snes, x, f):
    f.setArray([x[0] ** 2 + x[1] - 3, x[0] - x[1] ** 2 + 1])
def jacobian(snes, x, J, P):
    P.setValues([0, 1], [0, 1], [2 * x[0], 1, 1, -2 * x[1]]); P.assemble()
snes = PETSc.SNES().create(PETSc.COMM_SELF)
snes.setFunction(function, f)
snes.setJacobian(jacobian, J)
x.setArray([2.0, 2.0])
with ringside.publish(**ringside.petsc.described(x, solver="snes")) as run:
    snes.setMonitor(ringside.petsc.monitor(run))
    snes.solve(None, x)
    assert run.next_iteration == snes.getIterationNumber() + 1
""", pool="snes.pool")
        with ringside.open(self.path("snes.pool"))[-1] as step:
            self.assertLess(step.results["solver.residual"], 1e-6)
            self.assertNotIn("solver.time", step.results)
            x, y = step["x"]
            np.testing.assert_allclose([x**2 + y, x - y**2], [3, -1], 1e-6)
        self.kept(PETSC + """
import ringside, ringside.petsc
u, f = PETSc.Vec().createSeq(1), PETSc.Vec().createSeq(1)
ts = PETSc.TS().create(PETSc.COMM_SELF)
ts.setType("rk")
ts.setRHSFunction(lambda ts, t, u, f: f.setArray([-u[0]]), f)
ts.setTimeStep(0.1)
ts.setMaxTime(1.0)
ts.setExactFinalTime(PETSc.TS.ExactFinalTime.MATCHSTEP)
u.setArray([1.0])
with ringside.publish(**ringside.petsc.described(u, "u", times=True, solver="ts")) as run:
    try:
        ringside.petsc.monitor(run)(PETSc.KSP(), 1, 0.5)
        raise AssertionError("a norm was taken as a time")
    except ringside.UsageError as error:
        assert "a KSP monitors a residual, and the run has the scalars time; expected" in str(error)
    ts.setMonitor(ringside.petsc.monitor(run))
    ts.solve(u)
""", pool="ts.pool")
        with ringside.open(self.path("ts.pool"))[-1] as step:
            self.assertAlmostEqual(step.results["solver.time"], 1.0)
            self.assertNotIn("solver.residual", step.results)
            self.assertAlmostEqual(step["u"][0], np.exp(-1), 3)


if __name__ == "__main__":
    pipelines.run_tests()
