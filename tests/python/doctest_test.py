# SPDX-License-Identifier: BSD-3-Clause
"""The examples in the package's docstrings must give what they show. They use the pool of made_pool.py: the object
`pool`, or its file made.pool."""

import doctest
import importlib
import os
import pkgutil
import shutil

import pipelines
from made_pool import OfAPool

import numpy as np
import ringside

NEED_MORE = {"scipy", "petsc", "analyze", "xarray"}  # these need other modules, or a separate process


class Examples(OfAPool):
    def test_every_example_gives_what_it_shows(self):
        shutil.copy(self.pool_path, self.path("made.pool"))
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        names = ["ringside", *(f"ringside.{found.name}" for found in pkgutil.iter_modules(ringside.__path__) if found.name not in NEED_MORE)]
        if pipelines.has_module("xarray"):
            names.append("ringside.xarray")
        tried = 0
        with np.printoptions(legacy=False):
            for name in names:
                results = doctest.testmod(importlib.import_module(name), extraglobs={"pool": self.pool, "ringside": ringside, "np": np},
                                          optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
                self.assertEqual(results.failed, 0, name)
                tried += results.attempted
        self.assertGreater(tried, 10)


if __name__ == "__main__":
    pipelines.run_tests()
