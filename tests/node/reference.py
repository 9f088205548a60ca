# SPDX-License-Identifier: BSD-3-Clause
"""The same job on this machine, without power cuts. The iterates of the virtual machine must be bit-equal to those of
this job."""

import subprocess


class Reference:
    """The iterates of a job on `matrix`, computed by the programs of the package."""

    def __init__(self, folder, package, matrix):
        self._folder, self._matrix, self._iterates = folder, matrix, {}
        subprocess.run(["dpkg-deb", "--extract", package, folder], check=True)

    def iterate(self, iteration):
        """x_k as the bytes of an .npy file."""
        if iteration not in self._iterates:
            pool, output = self._folder / "reference.pool", self._folder / "reference.npy"
            # Only the last iterate is published: its bits do not depend on which other iterates are published.
            self._ringside("run", "--matrix", self._matrix, "--iterations", iteration, "--every", iteration, "--pool", pool,
                           "--overwrite", "--durability", "process", "--quiet")
            self._ringside("export", pool, "--iteration", "last", "--output", output)
            self._iterates[iteration] = output.read_bytes()
        return self._iterates[iteration]

    def _ringside(self, *arguments):
        subprocess.run([self._folder / "usr" / "bin" / "ringside", *map(str, arguments)], check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL)
