# SPDX-License-Identifier: BSD-3-Clause
"""The built-in solvers as several ranks: the parts in the rings of the nodes, one after another, have the bits of a run
of one process."""

import itertools
import pathlib
import random
import shutil
import subprocess
import tarfile
import tempfile

import numpy as np

from jobs import BIN, HANG_S, SLOTS, USAGE, Jobs, blocks, kept_steps, run_tests

PROGRAM = "ringside-producer-mpi"
ITERATIONS = 12
# Pairs of the number of ranks and the number of nodes. Other tests use (2, 1) and (4, 2).
MANY_SHARES = ((1, 1), (3, 1), (4, 1), (8, 1), (2, 2), (3, 2), (8, 2))
SOME_SHARES = ((3, 1), (8, 2))


def write_mtx(path, rows, entries, symmetry="general"):
    lines = [f"{row + 1} {column + 1} {value!r}" for (row, column), value in entries.items()]
    path.write_text("\n".join([f"%%MatrixMarket matrix coordinate real {symmetry}", f"{rows} {rows} {len(lines)}", *lines, ""]))


def weighted_graph(path, rows=5000):
    """Writes a graph with long rows and with dangling nodes (each seventh node)."""
    draw = random.Random(1)
    links = {}
    for _ in range(6 * rows):
        source, target = draw.randrange(rows), draw.randrange(rows) // draw.choice((1, 2, 3, 500))
        if source % 7 != 0:
            links[source, target] = round(draw.random() * 3, 3) + 0.001
    write_mtx(path, rows, links)


def laplacian(path, rows=5000):
    """Writes a symmetric positive definite, diagonally dominant matrix: the Laplacian of a random weighted graph, with
    1.5 added on the diagonal."""
    draw = random.Random(2)
    lower, degree = {}, [1.5] * rows
    for _ in range(4 * rows):
        row, column = draw.randrange(rows), draw.randrange(rows)
        if column < row and (row, column) not in lower:
            weight = draw.random()
            lower[row, column] = -weight
            degree[row] += weight
            degree[column] += weight
    write_mtx(path, rows, lower | {(row, row): value for row, value in enumerate(degree)}, "symmetric")


class Solvers(Jobs):
    matrices = None  # a folder with matrices

    def alone(self, *arguments, expected=0):
        """The steps of a run of one process, or its message if it fails."""
        pool = self.folder / "alone.pool"
        environment = {key: value for key, value in self.environment.items() if key != "RINGSIDE_PEER_TIMEOUT"}
        run = subprocess.run([BIN / "ringside", "run", "--quiet", f"--pool={pool}", f"--slots={SLOTS}", "--durability=process",
                              "--overwrite", *map(str, arguments)], env=environment, cwd=self.folder, capture_output=True,
                             encoding="utf-8", timeout=HANG_S, check=False)
        self.assertEqual(run.returncode, expected, run.stderr)
        return kept_steps(pool) if expected == 0 else run.stderr

    def ranks_keep(self, expected, ranks, nodes, *arguments):
        made = self.nodes(nodes)
        self.run_job(made, PROGRAM, *arguments, placed=blocks(ranks, nodes), OMP_NUM_THREADS="1")
        self.end_analyzers(made)
        self.assert_steps([node.kept() for node in made], expected)

    def assert_steps(self, kept, expected):
        solver_scalars = {name for step in expected.values() for name in step if name.startswith("solver.")}
        self.assertTrue(solver_scalars)
        variables = [name for name in next(iter(expected.values())) if "." not in name]
        for steps in kept:
            self.assertEqual(sorted(steps), sorted(expected))
        for iteration, whole in expected.items():
            for name in variables:
                joined = np.concatenate([steps[iteration][name] for steps in kept])
                self.assertEqual(joined.tobytes(), whole[name].tobytes(), f"{name} of iteration {iteration}")
            for steps, name in itertools.product(kept, solver_scalars):
                self.assertEqual(steps[iteration][name], whole[name], f"{name} of iteration {iteration}")

    def has_the_bits_of_one_process(self, *arguments, shares=SOME_SHARES):
        arguments = [*arguments, f"--iterations={ITERATIONS}"]
        expected = self.alone(*arguments)
        for ranks, nodes in shares:
            with self.subTest(arguments=arguments, ranks=ranks, nodes=nodes):
                self.ranks_keep(expected, ranks, nodes, *arguments)

    def test_any_number_of_ranks_and_nodes_has_the_bits_of_one_process(self):
        self.has_the_bits_of_one_process(f"--matrix={self.matrices / 'laplacian.mtx'}", "--solver=cg", shares=MANY_SHARES)

    def test_each_solver_and_kind_of_matrix(self):
        laplacian, rhs = f"--matrix={self.matrices / 'laplacian.mtx'}", f"--rhs={self.matrices / 'b.mtx'}"
        for arguments, shares in ((["--matrix=grid:120"], SOME_SHARES), (["--matrix=rmat:13:4"], SOME_SHARES),  # with dangling nodes
                                  ([f"--matrix={self.matrices / 'links.mtx'}"], ((2, 1), (4, 2))),
                                  ([laplacian, rhs, "--solver=jacobi"], SOME_SHARES),
                                  ([laplacian, rhs, "--solver=cg", "--every=5"], ((4, 2),)),
                                  (["--matrix=grid:2"], ((8, 1),))):  # fewer rows than ranks
            self.has_the_bits_of_one_process(*arguments, shares=shares)

    def test_pagerank_of_an_edge_list_with_gaps_in_its_ids(self):
        draw = random.Random(4)
        lines = [f"{draw.randrange(4000) * 3 + 5} {draw.randrange(4000) * 3 + 5}" for _ in range(20000)]
        path = self.folder / "edges.txt"
        path.write_text("\n".join(["# a comment", *lines, ""]))
        self.has_the_bits_of_one_process(f"--matrix={path}", shares=((3, 1),))

    def test_a_matrix_in_an_archive(self):
        path = self.folder / "archive.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            for name in ("laplacian.mtx", "b.mtx"):
                archive.add(self.matrices / name, f"folder/{name}")
        self.has_the_bits_of_one_process(f"--matrix={path}:laplacian.mtx", "--solver=cg", f"--rhs={path}:folder/b.mtx", shares=((3, 1),))

    def test_jacobi_of_an_array(self):
        rows = 60
        values = [repr(100.0 + row if row == column else (row * 7 + column * 3) % 11 / 7) for column in range(rows) for row in range(rows)]
        path = self.folder / "array.mtx"
        path.write_text("\n".join(["%%MatrixMarket matrix array real general", f"{rows} {rows}", *values, ""]))
        self.has_the_bits_of_one_process(f"--matrix={path}", "--solver=jacobi", shares=((3, 1),))

    def test_each_storage_format(self):
        arguments = ["--matrix=rmat:13:4", f"--iterations={ITERATIONS}"]
        expected = self.alone(*arguments)  # the bits are the same for all formats
        for form in ("csr", "bands", "packed", "ranked"):
            with self.subTest(format=form):
                self.ranks_keep(expected, 3, 1, *arguments, f"--matrix-format={form}")

    def test_several_threads_in_a_rank(self):
        expected = self.alone("--matrix=grid:120", f"--iterations={ITERATIONS}")
        node, = self.nodes(1)
        self.run_job([node], PROGRAM, "--matrix=grid:120", f"--iterations={ITERATIONS}", placed=[0, 0], OMP_NUM_THREADS="3")
        node.end_analyzer()
        self.assert_steps([node.kept()], expected)

    # If one rank finds an error, all ranks end with this error. One rank prints the message, as a single process would.

    def is_refused(self, *arguments, ranks=3):
        line = self.alone(*arguments, expected=USAGE).splitlines()[-1]
        node, = self.nodes(1)
        said = self.run_job([node], PROGRAM, *arguments, placed=[0] * ranks, expected=USAGE, OMP_NUM_THREADS="1")
        self.assertEqual(said.count(line), 1, f"{line}\n{said}")
        return line

    def refused_matrix(self, rows, entries):
        path = self.folder / "refused.mtx"
        write_mtx(path, rows, entries)
        return f"--matrix={path}"

    def test_a_matrix_that_only_one_rank_finds_wrong_is_refused_with_the_line(self):
        rows = 4000
        ring, diagonal = ({(row, (row + by) % rows): value for row in range(rows)} for by, value in ((1, 1.0), (0, 2.0)))
        first = {(row, row): 1.0 for row in range(rows) if row not in (1500, 3999)}  # of several wrong rows, the first is told
        for entries, *solver in ((ring | {(17, rows - 5): -2.0},), (first, "--solver=jacobi"), (diagonal | {(3, 3000): 0.5}, "--solver=cg")):
            self.is_refused(self.refused_matrix(rows, entries), *solver)

    def test_a_matrix_that_is_not_definite_ends_all_ranks(self):
        rows = 3000
        entries = {(row, row): 1.0 for row in range(rows)} | {(0, 2500): 5.0, (2500, 0): 5.0}
        self.is_refused(self.refused_matrix(rows, entries), "--solver=cg", f"--rhs={self.right_side(rows)}")

    def test_a_run_that_diverges_ends_all_ranks(self):
        rows = 3000
        entries = {(row, row): 1.0 for row in range(rows)} | {(row, (row + 1) % rows): 1e40 for row in range(rows)}
        line = self.is_refused(self.refused_matrix(rows, entries), "--solver=jacobi", f"--rhs={self.right_side(rows)}")
        self.assertRegex(line, "jacobi (diverges: after|exceeded a double's range: )")

    def right_side(self, rows, last="1"):
        path = self.folder / "rhs.mtx"
        values = ["-1", *["1"] * (rows - 2), last]
        path.write_text("\n".join(["%%MatrixMarket matrix array real general", f"{rows} 1", *values, ""]))
        return path

    def test_a_right_hand_side_that_no_solver_can_take_is_refused(self):
        laplacian = self.matrices / "laplacian.mtx"
        for matrix, solver, side in (("grid:60", "jacobi", (3599,)), ("grid:60", "cg", (3599,)),  # another length
                                     (laplacian, "jacobi", (5000, "nan")), (laplacian, "cg", (5000, "1e200"))):
            self.is_refused(f"--matrix={matrix}", f"--solver={solver}", f"--rhs={self.right_side(*side)}")

    # The nodes have no shared file system.

    def refused_on_two_nodes(self, nodes, *arguments):
        return self.run_job(nodes, PROGRAM, "--matrix=edges.txt", *arguments, placed=[0, 0, 1], expected=USAGE, OMP_NUM_THREADS="1")

    def test_a_matrix_that_differs_between_nodes_is_refused(self):
        text = "".join(f"{source} {source * 5 % 3000}\n" for source in range(3000))
        for other in (text + "3 4\n", text.replace("2999 ", "2998 ")):
            with self.subTest(length=len(other)):
                nodes = self.nodes(2)
                for node, own in zip(nodes, (text, other), strict=True):
                    (node.folder / "edges.txt").write_text(own)
                said = self.refused_on_two_nodes(nodes)
                self.assertEqual(said.count("edges.txt differs between rank 0 and rank 2: found "), 1, said)

    def test_a_cache_that_differs_between_nodes_is_refused(self):
        nodes = self.nodes(2)
        for node, factor in zip(nodes, (5, 7), strict=True):
            (node.folder / "edges.txt").write_text("".join(f"{source} {source * factor % 3000}\n" for source in range(3000)))
            subprocess.run([BIN / "ringside", "cache", "edges.txt"], cwd=node.folder, check=True, stdout=subprocess.DEVNULL)
        shutil.copyfile(nodes[0].folder / "edges.txt", nodes[1].folder / "edges.txt")
        said = self.refused_on_two_nodes(nodes, "--cache")
        self.assertEqual(said.count("the cache of edges.txt differs between rank 0 and rank 2: found "), 1, said)

    def test_a_broken_file_is_refused(self):
        path = self.folder / "broken.mtx"
        lines = [f"{row} {row} 1" for row in range(1, 2001)]
        lines[1900] = "1901 x 1"
        path.write_text("\n".join(["%%MatrixMarket matrix coordinate real general", "2000 2000 2000", *lines, ""]))
        self.is_refused(f"--matrix={path}")
        path.write_text("\n".join(["0 1 0.5", *["1 0 0.5"] * 2000, "1 2"]))
        self.is_refused(f"--matrix={path}")


def write_matrices(folder):
    weighted_graph(folder / "links.mtx")
    laplacian(folder / "laplacian.mtx")
    draw = random.Random(3)
    values = [repr(draw.uniform(-1, 1)) for _ in range(5000)]
    (folder / "b.mtx").write_text("\n".join(["%%MatrixMarket matrix array real general", "5000 1", *values, ""]))


with tempfile.TemporaryDirectory(prefix="rs-mpi-") as made:
    Solvers.matrices = pathlib.Path(made)
    write_matrices(Solvers.matrices)
    run_tests()
