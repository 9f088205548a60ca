# SPDX-License-Identifier: BSD-3-Clause
"""A model of scikit-learn that is fitted in parts and keeps every part. With the packages `ringside` and `scikit-learn`
installed, in any folder:
    RINGSIDE_POOL=fit.pool python3 publish_sklearn.py 200
    RINGSIDE_POOL=fit.pool python3 publish_sklearn.py 300       # continues
A step has what scikit-learn has fitted: the attributes whose names end with "_". A model whose fit is killed and resumed
has the same bits as one whose fit was not interrupted. Only the lines with "run" are added to keep each part.
"""

import sys

import numpy as np
import ringside
from sklearn.linear_model import SGDRegressor

iterations = int(sys.argv[1]) if len(sys.argv) > 1 else 100
weights = np.random.default_rng(0).standard_normal(50)


def part(k):  # of the data, in place of your files
    X = np.random.default_rng(k).standard_normal((200, 50))
    return X, X @ weights


def fitted():
    return {name: value for name, value in vars(model).items() if name[-1] == "_" and name[0] != "_"}


model = SGDRegressor(random_state=0).partial_fit(*part(0))
with ringside.publish(fitted(), scalars=["score"], problem="linear, 50 weights") as run:
    if run.kept is not None:                             # killed and started again
        vars(model).update(run.kept)
    for k in range(run.next_iteration, iterations + 1):  # your loop
        model.partial_fit(*part(k))                      # your model
        run.publish(k, fitted(), {"score": model.score(*part(0))})
