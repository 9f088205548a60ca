# SPDX-License-Identifier: BSD-3-Clause
"""SciPy's solvers as runs whose iterates are kept.

`cg` and `solve_ivp` keep everything that they need to continue: after a kill, `ringside run --resume` resumes them with the
same bits. `callback` publishes the iterates of any solver that passes them to a callback; such a run can restart from the
kept iterate, but its solver's own state is not kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.integrate
import scipy.sparse.linalg

from .arguments import array_of
from .errors import UsageError
from .variables import Variable
from .writing import Writer, publish

__all__ = ["callback", "cg", "solve_ivp"]

Array = npt.NDArray[np.float64]


def callback(run: Writer, name: str | None = None,
             scalars: Callable[[Array], dict[str, float]] | None = None) -> Callable[..., None]:
    """A callback for cg, gmres (with callback_type="x"), minimize and others: publishes the iterate as a variable.

    name: the variable's name; by default that of the run's first variable. scalars: a function that computes the run's
    scalars from an iterate. Iterations are numbered from run.next_iteration on.

        with ringside.publish(variables={"x": x0}, solver="bfgs") as run:
            minimize(f, x0, callback=ringside.scipy.callback(run))
    """
    variable = next(iter(run.variables)) if name is None else name

    def publish_iterate(iterate: Any, *_: Any) -> None:
        iterate = getattr(iterate, "x", iterate)  # OptimizeResult
        if np.ndim(iterate) == 0:
            raise UsageError("the solver passes a number to its callback instead of an iterate; for gmres, give callback_type='x'")
        run.publish(run.next_iteration, {variable: iterate}, scalars(iterate) if scalars else {})

    return publish_iterate


def cg(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None,
       M: Any = None, callback: Callable[[Array], object] | None = None, tol: float | None = None,
       solver: str = "scipy cg", problem: str | None = None, **options: Any) -> tuple[Array, int]:
    """scipy.sparse.linalg.cg as a kept run: computes the same recurrence, and publishes every iterate.

    A, M: a matrix or LinearOperator, symmetric positive definite, real; M approximates the inverse of A. b: n doubles.
    x0: n doubles, or "Mb" for M times b. Stops when the residual's norm is below max(rtol * norm(b), atol), or is 0. tol: the
    name that rtol had before SciPy 1.12.
    callback: called with x after each iteration is published; a resumed run calls it only for new iterations.
    options: passed to ringside.publish. Returns x and 0, or x and the number of iterations if maxiter iterations (by default
    10 n) were not enough. Raises UsageError for complex numbers. Raises ArithmeticError, and the run's outcome is "failed", if
    A or M is not positive definite.

    A step has x, the states r and p, and the scalars rho and residual (the norm of r). A resumed run continues from all
    of them. The problem is the same only if A (a matrix: its entries), b, x0, rtol, atol and the name of the problem are
    the same. A LinearOperator has no entries: it is identified by its code, but not by the values that the code takes from
    elsewhere; identify these values with `problem`.
    """
    operator, precondition = scipy.sparse.linalg.aslinearoperator(A), _operator(M)
    for name, matrix in (("A", operator), ("M", M)):
        _refuse_complex(f"cg: {name}", getattr(matrix, "dtype", None))
    n = operator.shape[0]
    for name, shape in (("A", operator.shape), ("M", getattr(M, "shape", (n, n)))):
        if shape != (n, n):
            raise UsageError(f"cg: {name}: found the shape {shape}; expected ({n}, {n})")
    rtol = _tolerance("rtol", rtol) if tol is None else _tolerance("tol", tol)
    atol = _tolerance("atol", atol)
    b = _vector("cg: b", b, n)
    if isinstance(x0, str):
        if x0 != "Mb":
            raise UsageError(f"cg: x0: found {x0!r}; expected {n} numbers, or 'Mb'")
        x = precondition(b).copy()
    else:
        x = np.zeros_like(b) if x0 is None else _vector("cg: x0", x0, n).copy()
    state = Variable("f64", b.shape, role="state")
    parameters = f"rtol={rtol!r} atol={atol!r}" + ("" if M is None else " preconditioned")
    limit = max(rtol * float(np.linalg.norm(b)), atol)
    last = 10 * n if maxiter is None else maxiter
    with publish({"x": ("f64", b.shape), "r": state, "p": state}, scalars=["rho", "residual"], solver=solver,
                 problem=problem, parameters=parameters,
                 problem_bytes=_entries(A) + _entries(M) + b.tobytes() + x.tobytes(),
                 work=int(getattr(A, "nnz", 0)), **options) as run:
        if not b.any():
            return b.copy(), 0
        if run.kept is None:
            r = b - operator.matvec(x) if x.any() else b.copy()
            p, rho, residual = np.zeros_like(b), 0.0, float(np.linalg.norm(r))
        else:
            x, r, p = (run.kept[name] for name in "xrp")
            rho, residual = run.kept.scalars["rho"], run.kept.scalars["residual"]
        for k in range(run.next_iteration, last + 1):
            if residual < limit or residual == 0:
                return x, 0
            z = precondition(r)
            rho, before = float(np.dot(r, z)), rho
            if not (rho > 0 and math.isfinite(rho)):
                raise ArithmeticError(f"{solver} broke down in iteration {k}: {_breakdown('r.Mr', rho, 'M')}")
            p = z.copy() if k == 1 else z + (rho / before) * p
            q = operator.matvec(p)
            curvature = float(np.dot(p, q))
            if not (curvature > 0 and math.isfinite(curvature)):
                raise ArithmeticError(f"{solver} broke down in iteration {k}: {_breakdown('p.Ap', curvature, 'the matrix')}")
            alpha = rho / curvature
            x = x + alpha * p
            r = r - alpha * q
            residual = float(np.linalg.norm(r))
            run.publish(k, {"x": x, "r": r, "p": p}, {"rho": rho, "residual": residual})
            if callback is not None:
                callback(x)
        return x, 0 if residual < limit or residual == 0 else last


def solve_ivp(fun: Callable[..., Any], t_span: tuple[float, float], y0: Any, method: Any = "RK45", t_eval: Any = None,
              dense_output: bool = False, events: Any = None, vectorized: bool = False, args: tuple[Any, ...] | None = None, *,
              solver: str | None = None, problem: str | None = None, pool: Any = None, run_options: Any = None,
              publishing: dict[str, Any] | None = None,
              **options: Any) -> Any:
    """scipy.integrate.solve_ivp as a run whose steps are kept, with the arguments and the result (an OdeResult) of
    solve_ivp.

    method: the name or the class of RK23, RK45 or DOP853. These methods need only the last t and y and the size of the next
    step, so a resumed run has the same bits if fun(t, y) depends only on t and y. The other methods need more and are refused.
    Also refused are complex numbers, and an event that is terminal at its second occurrence or later, because the number of
    occurrences is not kept.

    A step has y, and the scalars t and h (the size of the next step); with events, it also has the scalar event, the index of
    the event that ended the run, or -1. The result of a resumed run begins at the kept step: t, y, sol and events of earlier
    steps are only in the earlier run's result. pool, run_options: options of ringside.publish; `publishing` has its other
    options. The problem is the same only if t_span, y0, the method, rtol, atol, max_step, first_step, args (numbers, texts and
    arrays), the name of the problem and the code of fun are the same. Values that fun takes from elsewhere are not compared:
    identify them with `problem`.
    """
    methods = {"RK23": scipy.integrate.RK23, "RK45": scipy.integrate.RK45, "DOP853": scipy.integrate.DOP853}
    name = method if isinstance(method, str) else getattr(method, "__name__", method)
    if name not in methods or method not in (name, methods[name]):
        raise UsageError(f"method {name!r}; expected one of {', '.join(methods)} (other methods need more than t, y and h)")
    watched = [] if events is None else list(events) if isinstance(events, (list, tuple)) else [events]
    for place, event in enumerate(watched):
        if getattr(event, "terminal", None) not in (None, False, True):
            raise UsageError(f"solve_ivp: events[{place}].terminal: found {event.terminal!r}; expected True or False: the "
                             "number of occurrences is not kept")
    start, end = map(float, t_span)
    y = _doubles("solve_ivp: y0", y0).copy()
    given: dict[str, Any] = {key: options[key] for key in ("atol", "first_step", "max_step", "rtol") if key in options}
    given.update({f"args[{place}]": value for place, value in enumerate(args or ())
                  if isinstance(value, (str, int, float, complex, np.generic)) or np.ndim(value) > 0})
    arrays = {key: np.asarray(value) for key, value in given.items() if np.ndim(value) > 0}
    for key, array in arrays.items():
        if array.dtype.hasobject:
            raise UsageError(f"solve_ivp: {key} holds objects, which do not identify a run; expected numbers")
    with publish({"y": ("f64", y.shape)}, scalars={"t": "f64", "h": "f64", **({"event": "i64"} if watched else {})},
                 solver=solver or name, problem=problem,
                 parameters=f"t={start!r}..{end!r} " + " ".join(f"{key}={_shown(value)}" for key, value in given.items()),
                 problem_bytes=b"".join((_code_of(fun), y.tobytes(), *(array.tobytes() for array in arrays.values()))),
                 **{"pool": pool, "run_options": run_options, **(publishing or {})}) as run:
        begin = start
        if run.kept is not None:
            begin, y = run.kept.scalars["t"], run.kept["y"]
            if run.kept.scalars.get("event", -1) >= 0:
                return _ended_by_event(begin, y, int(run.kept.scalars["event"]), len(watched))
            if t_eval is not None:
                t_eval = np.asarray(t_eval)
                t_eval = t_eval[(t_eval - begin) * math.copysign(1, end - start) > 0]
            if begin != end:  # any valid value, which the kept step size replaces
                options["first_step"] = abs(end - begin)
        integrator = _publishing(methods[name], run, bool(watched))
        found = scipy.integrate.solve_ivp(fun, (begin, end), y, integrator, t_eval, dense_output, events, vectorized, args, **options)
        last = integrator.made[-1]
        if found.status == 1:  # the event itself is published, in place of the step across the event
            terminal = [place for place, event in enumerate(watched) if getattr(event, "terminal", False) and len(found.t_events[place])]
            place = max(terminal, key=lambda place: (found.t_events[place][-1] - begin) * (end - begin))
            run.publish(run.next_iteration, {"y": found.y_events[place][-1]},
                        {"t": found.t_events[place][-1], "h": last.h_abs, "event": place})
            return found
        last.publish_pending()
        if found.status < 0:
            run.detach("failed")
        return found


def _publishing(method: type[Any], run: Writer, waits: bool) -> Any:
    """A subclass of the method that begins with the kept step's size, and publishes its steps. waits: whether a step is published
    only when the next one begins, because only then is it known that no event ended the run within the step."""

    class Publishing(method):  # type: ignore[misc]
        made: list[Any] = []

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            if run.kept is not None:
                self.h_abs = run.kept.scalars["h"]
            self.pending: tuple[dict[str, Any], dict[str, float]] | None = None
            self.made.append(self)

        def step(self) -> Any:
            self.publish_pending()
            before = self.t
            message = super().step()
            if self.status != "failed" and self.t != before:
                self.pending = {"y": self.y}, {"t": self.t, "h": self.h_abs, **({"event": -1} if waits else {})}
            if not waits:
                self.publish_pending()
            return message

        def publish_pending(self) -> None:
            if self.pending is not None:
                run.publish(run.next_iteration, *self.pending)
                self.pending = None

    return Publishing


def _ended_by_event(t: float, y: Array, event: int, count: int) -> Any:
    """The result of resuming a run that an event had already ended."""
    found = scipy.integrate.solve_ivp(lambda t, y: np.zeros_like(y), (t, t), y)  # OdeResult has no public name
    found.update(t=np.array([t]), y=y[:, np.newaxis], nfev=0, status=1, message="A termination event occurred.", success=True,
                 t_events=[np.array([t] if place == event else []) for place in range(count)],
                 y_events=[np.array([y] if place == event else []) for place in range(count)])
    return found


def _refuse_complex(what: str, dtype: Any) -> None:
    if dtype is not None and np.issubdtype(dtype, np.complexfloating):
        raise UsageError(f"{what} is of {dtype}; expected real numbers")


def _doubles(what: str, given: Any) -> Array:
    """The array as f64, contiguous."""
    array = array_of(what, given)
    _refuse_complex(what, array.dtype)
    return np.ascontiguousarray(array, np.float64)


def _vector(what: str, given: Any, n: int) -> Array:
    vector = _doubles(what, given)
    if vector.shape not in ((n,), (n, 1)):
        raise UsageError(f"{what}: found the shape {vector.shape}; expected ({n},) or ({n}, 1)")
    return vector.ravel()


def _tolerance(name: str, given: Any) -> float:
    try:
        found = float(given)
    except (TypeError, ValueError):
        raise UsageError(f"cg: {name}: found {given!r}; expected a number") from None
    if not found >= 0:
        raise UsageError(f"cg: {name}: found {found!r}; expected 0 or more")
    return found


def _shown(option: Any) -> str:
    """An option, as every version of NumPy shows it. Arrays are shown by their shapes; problem_bytes has their entries."""
    return f"array{np.shape(option)}" if np.ndim(option) > 0 else repr(option.item() if isinstance(option, np.generic) else option)


def _breakdown(what: str, value: float, operator: str) -> str:
    """The reason, in the words of Ringside's own cg."""
    found = f"found {what} = {value:g}, expected a "
    if not math.isfinite(value):
        return found + "finite number: the entries of the matrix or of the right-hand side are too large or too small"
    return found + (f"number above 0: {operator} is "
                    + ("not positive definite" if value < 0 else "singular, or its entries are too small"))


def _operator(M: Any) -> Callable[[Array], Array]:
    if M is None:
        return lambda r: r
    matvec: Callable[[Array], Array] = scipy.sparse.linalg.aslinearoperator(M).matvec
    return matvec


def _code_of(function: Any) -> bytes:
    """What the problem's id hashes for a function: its code, but not the values that the code takes from elsewhere. For a
    callable object: its type."""
    code = getattr(function, "__code__", None)
    if code is None:
        return f"{type(function).__module__}.{type(function).__qualname__}".encode()
    parts, codes = [function.__qualname__.encode()], [code]
    for one in codes:  # includes the code of inner functions
        codes += [const for const in one.co_consts if hasattr(const, "co_code")]
        parts += [one.co_code, *(_text_of(const).encode() for const in one.co_consts if not hasattr(const, "co_code")),
                  *(name.encode() for name in one.co_names)]
    return b" ".join(parts)


def _text_of(const: Any) -> str:
    """A constant as a text that is the same in every process. (The order of a set differs between processes.)"""
    if isinstance(const, (tuple, frozenset)):
        texts = [_text_of(entry) for entry in const]
        return f"{type(const).__name__}({', '.join(texts if isinstance(const, tuple) else sorted(texts))})"
    return repr(const)


def _entries(A: Any) -> bytes:
    """What the problem's id hashes: the entries of a matrix, or the code of a LinearOperator, which has no entries."""
    if A is None:
        return b""
    if isinstance(A, scipy.sparse.linalg.LinearOperator):
        return _code_of(getattr(A, "_CustomLinearOperator__matvec_impl", A))
    if hasattr(A, "tocsr"):
        csr = A.tocsr()
        return b"".join(np.ascontiguousarray(part).tobytes() for part in (csr.indptr, csr.indices, csr.data))
    return np.ascontiguousarray(array_of("A", A)).tobytes()
