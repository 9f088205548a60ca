# SPDX-License-Identifier: BSD-3-Clause
"""SciPy's solvers as kept runs.

`cg` and `solve_ivp` keep all that they need to continue: after a kill, `ringside run --resume` resumes them with the
same bits. `callback` publishes the iterates of any solver that calls back with one; such a run can begin again from the
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

    name: of the variable; the run's only one if it is left out. scalars: makes the run's scalars of an iterate.
    Iterations are counted from run.next_iteration.

        with ringside.publish(variables={"x": x0}, solver="bfgs") as run:
            minimize(f, x0, callback=ringside.scipy.callback(run))
    """
    variable = next(iter(run.variables)) if name is None else name

    def publish_iterate(iterate: Any, *_: Any) -> None:
        iterate = getattr(iterate, "x", iterate)  # OptimizeResult
        if np.ndim(iterate) == 0:
            raise UsageError("the solver's callback has a number instead of an iterate; gmres: give callback_type='x'")
        run.publish(run.next_iteration, {variable: iterate}, scalars(iterate) if scalars else {})

    return publish_iterate


def cg(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None,
       M: Any = None, callback: Callable[[Array], object] | None = None, tol: float | None = None,
       solver: str = "scipy cg", problem: str | None = None, **options: Any) -> tuple[Array, int]:
    """scipy.sparse.linalg.cg as a kept run: the same recurrence, and every iterate is published.

    A, M: a matrix or LinearOperator, symmetric positive definite, real; M approximates the inverse of A. b: n doubles.
    Stops when the residual's norm is at most max(rtol * norm(b), atol). tol: the name that rtol had before SciPy 1.12.
    callback: is called with x after each iteration, when it is published; a resumed run calls it for new ones only.
    options: of ringside.publish. Returns x and 0, or x and the number of iterations if maxiter (10 n) were not enough.
    Raises UsageError for complex numbers, and ArithmeticError, by which the run has failed, unless A and M are positive definite.

    A step has x, the states r and p, and the scalars rho and residual (the norm of r). A resumed run continues from all
    of them. It is the same problem only if A (a matrix: its entries), b, x0, rtol, atol and the name of the problem are
    the same. A LinearOperator has no entries: give it a `problem` that names it.
    """
    operator, precondition = scipy.sparse.linalg.aslinearoperator(A), _operator(M)
    for name, matrix in (("A", operator), ("M", M)):
        _refuse_complex(f"cg: {name}", getattr(matrix, "dtype", None))
    rtol, atol = float(rtol if tol is None else tol), float(atol)
    b = _doubles("cg: b", b).ravel()
    x = np.zeros_like(b) if x0 is None else _doubles("cg: x0", x0).copy().ravel()
    state = Variable("f64", b.shape, role="state")
    parameters = f"rtol={rtol!r} atol={atol!r}" + ("" if M is None else " preconditioned")
    limit = max(rtol * float(np.linalg.norm(b)), atol)
    last = 10 * b.size if maxiter is None else maxiter
    with publish({"x": ("f64", b.shape), "r": state, "p": state}, scalars=["rho", "residual"], solver=solver,
                 problem=problem, parameters=parameters,
                 problem_bytes=_entries(A) + _entries(M) + b.tobytes() + x.tobytes(),
                 work=int(getattr(A, "nnz", 0)), **options) as run:
        if run.kept is None:
            r = b - operator.matvec(x) if x.any() else b.copy()
            p, rho, residual = np.zeros_like(b), 0.0, float(np.linalg.norm(r))
        else:
            x, r, p = (run.kept[name] for name in "xrp")
            rho, residual = run.kept.scalars["rho"], run.kept.scalars["residual"]
        for k in range(run.next_iteration, last + 1):
            if residual <= limit:
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
        if residual <= limit:
            return x, 0
        return x, last


def solve_ivp(fun: Callable[[float, Array], Any], t_span: tuple[float, float], y0: Any, method: str = "RK45", *,
              solver: str | None = None, problem: str | None = None, publishing: dict[str, Any] | None = None,
              **options: Any) -> tuple[float, Array]:
    """scipy.integrate.solve_ivp's explicit methods (RK23, RK45, DOP853) as a kept run. Returns the last t and y.

    A step has y, and the scalars t and h (the size of the next step). Such a method needs no more to continue, so a
    resumed run has the same bits, if fun(t, y) depends on t and y only. options: of the method (rtol, atol,
    max_step). publishing: options of ringside.publish. It is the same problem only if t_span, y0, the method, its
    options and the name of the problem are the same: `problem` names fun.
    """
    methods = {"RK23": scipy.integrate.RK23, "RK45": scipy.integrate.RK45, "DOP853": scipy.integrate.DOP853}
    if method not in methods:
        raise UsageError(f"method {method!r}; expected one of {', '.join(methods)} (others keep more than t, y and h)")
    y = _doubles("solve_ivp: y0", y0).copy()
    arrays = {key: np.asarray(given) for key, given in options.items() if np.ndim(given) > 0}
    for key, array in arrays.items():
        if array.dtype.hasobject:
            raise UsageError(f"solve_ivp: {key} holds objects, which do not tell one run from another; expected numbers")
    start, end = map(float, t_span)
    with publish({"y": ("f64", y.shape)}, scalars=["t", "h"], solver=solver or method, problem=problem,
                 parameters=f"t={start!r}..{end!r} " + " ".join(f"{key}={_shown(options[key])}" for key in sorted(options)),
                 problem_bytes=b"".join((y.tobytes(), *(arrays[key].tobytes() for key in sorted(arrays)))),
                 **(publishing or {})) as run:
        kept = run.kept
        begin = (start, y) if kept is None else (kept.scalars["t"], kept["y"])
        integrator = methods[method](fun, *begin, end, **options)
        if kept is not None:
            integrator.h_abs = kept.scalars["h"]
        while integrator.status == "running" and integrator.t != end:
            message = integrator.step()
            if integrator.status == "failed":
                run.detach("failed")
                raise ArithmeticError(message)
            run.publish(run.next_iteration, {"y": integrator.y}, {"t": integrator.t, "h": integrator.h_abs})
        return integrator.t, integrator.y


def _refuse_complex(what: str, dtype: Any) -> None:
    if dtype is not None and np.issubdtype(dtype, np.complexfloating):
        raise UsageError(f"{what} is of {dtype}; expected real numbers")


def _doubles(what: str, given: Any) -> Array:
    """The array as f64, contiguous."""
    array = array_of(what, given)
    _refuse_complex(what, array.dtype)
    return np.ascontiguousarray(array, np.float64)


def _shown(option: Any) -> str:
    """As every NumPy shows it. Of an array, which may be shown in part, its bytes tell one from another."""
    return f"array{np.shape(option)}" if np.ndim(option) > 0 else repr(option.item() if isinstance(option, np.generic) else option)


def _breakdown(what: str, value: float, operator: str) -> str:
    """As Ringside's own cg says it."""
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


def _entries(A: Any) -> bytes:
    """What the problem's id hashes of a matrix; b"" of a LinearOperator, which has no entries."""
    if A is None or isinstance(A, scipy.sparse.linalg.LinearOperator):
        return b""
    if hasattr(A, "tocsr"):
        csr = A.tocsr()
        return b"".join(np.ascontiguousarray(part).tobytes() for part in (csr.indptr, csr.indices, csr.data))
    return np.ascontiguousarray(array_of("A", A)).tobytes()
