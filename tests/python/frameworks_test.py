# SPDX-License-Identifier: BSD-3-Clause
"""Tensors of Torch and JAX, and the examples that keep the state of SciPy, Torch and scikit-learn: each example is
killed, and resumed with the same bits. If this interpreter does not have a framework, its tests are skipped. With
RINGSIDE_TEST_FRAMEWORKS=yes in the environment (deploy/test.sh --frameworks), missing frameworks are installed from the
registry, and kept in the build folder."""

import os
import pathlib
import sys

import pipelines
import registry

if os.environ.pop("RINGSIDE_TEST_FRAMEWORKS", ""):
    found = registry.packages(pathlib.Path(sys.argv[1]).resolve().parent / "frameworks", "torch", "jax", "ml_dtypes", "scikit-learn", "scipy",
                              "pandas")  # scikit-learn imports it if it exists; Debian's pandas needs NumPy 1
    paths = [str(found), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    os.execve(sys.executable, [sys.executable, "-B", *sys.argv], {**os.environ, "PYTHONPATH": os.pathsep.join(paths),
                                                                    "RINGSIDE_TEST_HAS_FRAMEWORKS": "yes"})

pipelines.modules_or_skip("numpy")
import numpy as np  # noqa: E402
import ringside  # noqa: E402

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


class Frameworks(pipelines.Pipelines):
    def needs(self, *names):
        for name in names:
            if not pipelines.has_module(name):
                (self.fail if os.environ.get("RINGSIDE_TEST_HAS_FRAMEWORKS") else self.skipTest)(f"this interpreter has no {name}")

    def keeps(self, example, argument, names):
        """Runs an example undisturbed, and once more with a kill in its 30th step and a resume. Both must have the same
        last step, with these names."""
        program = f"""
            import os, runpy, signal, sys, ringside
            publish, calls = ringside.Writer.publish, []
            def killing(*arguments, **options):
                calls.append(1)
                if len(calls) == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)
                return publish(*arguments, **options)
            ringside.Writer.publish = killing
            sys.argv = [{str(EXAMPLES / example)!r}, "{argument}"]
            runpy.run_path(sys.argv[0], run_name="__main__")
            """
        pool, _ = self.killed_and_resumed(program, kept_in=range(20, 30))
        self.assertGreater(pool[-1].iteration, 50)
        self.assertEqual(set(pool[-1].tree()), names)

    def test_the_example_of_scipy_is_resumed_with_the_same_bits(self):
        self.needs("scipy")
        self.keeps("publish_scipy.py", 200, {"y"})

    def test_the_example_of_torch_is_resumed_with_the_same_bits(self):
        self.needs("torch")
        self.keeps("publish_torch.py", 80, {"net", "adam", "random"})

    def test_the_example_of_scikit_learn_is_resumed_with_the_same_bits(self):
        self.needs("sklearn")
        self.keeps("publish_sklearn.py", 80, {"n_features_in_", "coef_", "intercept_", "n_iter_", "t_"})

    def test_tensors_of_torch_come_back_as_tensors(self):
        self.needs("torch")
        program = """
            import torch, ringside
            torch.manual_seed(0)
            t = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)
            state = {"own": t.clone().requires_grad_(), "transposed": t.T, "nested": {
                "bf16": t.bfloat16().T, "bool": t > 2, "half": t.half(), "conjugate": (1j * t).conj(), "f8": t.to(torch.float8_e4m3fn),
                "channels": torch.rand(2, 3, 4, 4).to(memory_format=torch.channels_last), "zero_d": torch.tensor(3),
                "parameter": torch.nn.Parameter(t), "rng": torch.get_rng_state()}}
            with ringside.publish(state, problem="tensors") as run:
                if run.kept is not None:
                    for kept, was in [*zip(run.kept["nested"].values(), state["nested"].values())]:
                        assert isinstance(kept, torch.Tensor) and kept.dtype is was.dtype and kept.shape == was.shape, kept
                        bits = lambda x: x.detach().contiguous().resolve_conj().reshape(-1).view(torch.uint8)
                        assert torch.equal(bits(kept), bits(was)), (kept, was)
                    assert torch.equal(run.kept["own"], t) and torch.equal(run.kept["transposed"], t.T)
                run.publish(run.next_iteration, state, {})
                with run.step(run.next_iteration) as step:
                    for name in state:
                        step[name] = state[name]
                for wrong in (t.float(), t[:1], t.to_sparse(), t.to("meta")):
                    try:
                        run.publish(9, {**state, "nested": {**state["nested"], "bf16": wrong}})
                        raise AssertionError("not refused")
                    except ringside.UsageError as error:
                        assert "\\n" not in str(error) and str(error).startswith('iteration 9: nested["bf16"]: found a'), error
            """
        self.kept(program)
        self.kept(program, "--resume")
        with ringside.open(self.path("run.pool"))[-1] as step:
            self.assertEqual(step["transposed"].tolist(), np.arange(6.0).reshape(2, 3).T.tolist())
            self.assertEqual(step["nested"]["bf16"].view("u2").tolist()[1], [0x3F80, 0x4080])
            self.assertEqual(str(step["nested"]["bf16"].dtype), "bfloat16" if pipelines.has_module("ml_dtypes") else "uint16")

    def test_a_flat_state_dict_has_a_variable_for_each_tensor_and_comes_back_as_tensors(self):
        self.needs("torch")
        program = """
            import torch, ringside
            model = torch.nn.Sequential()
            model.add_module("one", torch.nn.Linear(3, 2))
            with ringside.publish(model.state_dict(), problem="flat") as run:
                if run.kept is not None:
                    model.load_state_dict(run.kept)
                    assert (model.one.weight == 1).all()
                torch.nn.init.ones_(model.one.weight)
                run.publish(run.next_iteration, model.state_dict())
                with run.step(run.next_iteration) as step:
                    step["one.weight"], step["one.bias"] = model.one.weight, model.one.bias
            """
        self.kept(program)
        self.kept(program, "--resume")
        self.assertEqual(list(ringside.open(self.path("run.pool")).variables), ["one.weight", "one.bias"])

    def test_arrays_of_jax_come_back_as_such(self):
        self.needs("jax")
        program = """
            import jax, jax.numpy as jnp, ringside
            x = jnp.arange(6.0).reshape(2, 3)
            state = {"own": x, "transposed": x.T, "nested": {"bf16": x.astype(jnp.bfloat16), "bool": x > 2, "key": jax.random.PRNGKey(3)}}
            with ringside.publish(state, problem="jax") as run:
                if run.kept is not None:
                    for kept, was in zip(run.kept["nested"].values(), state["nested"].values()):
                        assert isinstance(kept, jax.Array) and kept.dtype == was.dtype and (kept == was).all(), (kept, was)
                run.publish(run.next_iteration, state)
            """
        self.kept(program)
        self.kept(program, "--resume")

    def test_a_view_of_a_tensor_is_no_copy(self):
        from ringside.arguments import array_of
        for name, made in {"torch": "torch.zeros(1000)", "jax": "jax.numpy.zeros(1000)"}.items():
            if pipelines.has_module(name):
                given = eval(made, {name: __import__(name)})
                self.assertTrue(np.shares_memory(array_of("x", given), array_of("x", given)), name)


if __name__ == "__main__":
    pipelines.run_tests()
