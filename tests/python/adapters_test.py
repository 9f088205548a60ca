# SPDX-License-Identifier: BSD-3-Clause
"""ringside.scipy and ringside.petsc with the real libraries: what they keep, and runs that are killed and resumed."""

import glob
import os

import pipelines

pipelines.modules_or_skip("numpy", "scipy")
import numpy as np  # noqa: E402
import ringside  # noqa: E402

# Debian keeps petsc4py in PETSc's folder, and finds it through PETSC_DIR unless PETSc's headers are installed.
if "PETSC_DIR" not in os.environ:
    for place in sorted(glob.glob("/usr/lib/petscdir/petsc*/*-real")):
        os.environ["PETSC_DIR"] = place
PETSC = ("import sys, os; sys.path.append(os.environ.get('PETSC_DIR', '') + '/lib/python3/dist-packages'); "
         "from petsc4py import PETSc\n")

# The matrix of a rod, one row for each point; b is not an eigenvector, so cg needs many iterations.
PROBLEM = """
import os, signal, sys, numpy as np, scipy.sparse
A = scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(400, 400), format="csr")
b = np.sin(np.arange(400.0)) + 1
"""


class OfScipy(pipelines.Pipelines):
    def kill_and_resume(self, program):
        """Runs the program undisturbed, and killed in the middle and resumed. Both print their result."""
        undisturbed = self.kept("kill_at = None\n" + program, pool="undisturbed.pool")
        code, output, _ = self.run_program("kill_at = 30\n" + program)
        self.assertEqual((code, output), (4, ""))
        kept = ringside.open(self.path("run.pool"))[-1].iteration
        self.assertGreaterEqual(kept, 25)
        resumed = self.kept("kill_at = None\n" + program, "--resume")
        self.assertEqual(resumed, undisturbed)
        pools = [ringside.open(self.path(name)) for name in ("undisturbed.pool", "run.pool")]
        with pools[0][-1] as expected, pools[1][-1] as found:
            self.assertEqual(found.iteration, expected.iteration)
            self.assertGreater(found.iteration, kept + 10)
            for name in expected:
                self.assertEqual(found[name].tobytes(), expected[name].tobytes(), name)
            self.assertEqual(found.results["solver." + self.scalar], expected.results["solver." + self.scalar])
        return pools[1], undisturbed

    def test_cg_continues_with_the_same_bits_after_a_kill(self):
        self.scalar = "rho"
        pool, output = self.kill_and_resume(PROBLEM + """
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
        code, _, error = self.run_program(program.format("2"), "--resume")
        self.assertEqual(code, 2, error)

    def test_cg_of_a_right_hand_side_of_zeros_needs_no_iteration(self):
        output = self.kept(PROBLEM + "import ringside.scipy\nx, info = ringside.scipy.cg(A, 0 * b)\n"
                                     "print(info, x.any())\n")
        self.assertEqual(output, "0 False\n")

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
        self.scalar = "t"
        for method in ("RK45", "DOP853"):
            with self.subTest(method):
                for pool in ("run.pool", "undisturbed.pool"):
                    for path in glob.glob(self.path(pool) + "*"):
                        os.unlink(path)
                _, output = self.kill_and_resume(f"""
import os, signal, numpy as np, ringside, ringside.scipy
def fun(t, y):                      # a pendulum
    if kill_at and t > 2 * kill_at:
        os.kill(os.getpid(), signal.SIGKILL)
    return np.array([y[1], -np.sin(y[0])])
t, y = ringside.scipy.solve_ivp(fun, (0.0, 200.0), [1.0, 0.0], "{method}", rtol=1e-7, problem="pendulum")
print(t, y.tobytes().hex())
""")
                self.assertEqual(output.split()[0], "200.0")

    def test_an_implicit_method_is_refused(self):
        import ringside.scipy
        with self.assertRaisesRegex(ValueError, "method 'BDF'; expected one of RK23, RK45, DOP853"):
            ringside.scipy.solve_ivp(lambda t, y: y, (0, 1), [1.0], "BDF")

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
        code, _, error = self.run_program(PROBLEM + """
import ringside, ringside.scipy
from scipy.sparse.linalg import gmres
with ringside.publish({"x": b}) as run:
    gmres(A, b, maxiter=4, callback=ringside.scipy.callback(run), callback_type="pr_norm")
""")
        self.assertEqual(code, 2, error)
        self.assertIn("gmres: give callback_type='x'", error)


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
