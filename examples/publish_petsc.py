# SPDX-License-Identifier: BSD-3-Clause
"""A solver of PETSc that keeps every iterate, through petsc4py. With the package `ringside` installed, in any folder:
    ringside run --pool rod.pool -- python3 publish_petsc.py 2000
    ringside run --pool rod.pool --resume -- python3 publish_petsc.py 3000
The solver is Richardson's iteration with Jacobi's preconditioner, for the temperatures of a rod at rest. This method
is stationary: each iterate depends only on the previous one, so a resumed run gives the same bits as an uninterrupted
run. A Krylov method would start again from the kept iterate. Only the lines with "run" are added to keep each iterate.
"""

import sys

import ringside.petsc
from petsc4py import PETSc

iterations = int(sys.argv[1]) if len(sys.argv) > 1 else 200
points = 10000
A = PETSc.Mat().createAIJ([points, points], nnz=3, comm=PETSc.COMM_SELF)
for i in range(points):
    A.setValue(i, i, 2)
    if i > 0:
        A.setValue(i, i - 1, -1)
        A.setValue(i - 1, i, -1)
A.assemble()
x, b = A.createVecs()
b.setValue(0, 100)  # K: what heats the left end
b.assemble()

ksp = PETSc.KSP().create(PETSc.COMM_SELF)
ksp.setOperators(A)
ksp.setType("richardson")
ksp.getPC().setType("jacobi")
ksp.setTolerances(rtol=1e-14)

with ringside.publish(**ringside.petsc.described(x, solver="richardson")) as run:
    ringside.petsc.restore(run, x)                 # the kept iterate, if there is one
    ksp.setInitialGuessNonzero(run.kept is not None)
    ksp.setTolerances(max_it=max(0, iterations + 1 - run.next_iteration))
    ksp.setMonitor(ringside.petsc.monitor(run))
    ksp.solve(b, x)                                # your solver
