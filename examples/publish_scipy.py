# SPDX-License-Identifier: BSD-3-Clause
"""A solver of SciPy that keeps every step. With the package `ringside` installed, in any folder:
    RINGSIDE_POOL=diffusion.pool python3 publish_scipy.py 20
    RINGSIDE_POOL=diffusion.pool python3 publish_scipy.py 20       # continues
The solver integrates the diffusion and decay of a substance in a tube up to a given time. ringside.scipy.solve_ivp replaces
SciPy's function, and has the same arguments and the same result. A run that is killed and resumed gives the same bits as
an uninterrupted run.
"""

import sys

import numpy as np
from ringside.scipy import solve_ivp  # instead of scipy.integrate

end = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
y = np.zeros(200)
y[90:110] = 1  # mol/l


def rate(t, y, diffusivity, decay):
    return diffusivity * np.convolve(y, [1, -2, 1], "same") - decay * y


result = solve_ivp(rate, (0, end), y, "DOP853", rtol=1e-8, args=(2.0, 0.01), problem="diffusion and decay")
print(f"{result.message} {result.y[:, -1].sum():.6f} mol/l are left")
