#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes expected.json: the results of PageRank and Jacobi for real files, by an implementation that shares no code with
Ringside.

    python3 tests/reference/make_expected.py [DATA_FOLDER] > tests/reference/expected.json

DATA_FOLDER (default ../shared/data) contains graphs/ and matrices/. Needs numpy and scipy (Debian: python3-numpy,
python3-scipy). This script parses the files with numpy, computes products with scipy.sparse, and computes sums with
numpy's pairwise summation.

Rows are counted from 0. `probe` is sum_i x_i * ((i * 2654435761) mod 2^32) / 2^32: an error in any entry changes this
number. Numbers are written with the fewest digits that give the same double.
"""

import json
import lzma
import pathlib
import re
import sys

import numpy as np
import scipy.sparse as sparse

DAMPING = 0.85
TOLERANCE = 1e-10  # bounds the L1 change
GRAPHS = [
    "cnr-2000-llp.txt.xz", "cnr-2000-url.txt.xz", "cit-HepPh.txt.xz", "wb-cs-stanford.mtx", "wiki-Vote.txt",
    "p2p-Gnutella31.txt", "email-Enron.mtx.xz", "luxembourg_osm.mtx"
]
JACOBI_ITERATIONS = 200
MATRICES = [
    "cage8.mtx", "cage10.mtx.xz", "ct2010_sddm.mtx.xz", "add32.mtx", "lap3D_7pt_n20.mtx", "lap2D_5pt_n100.mtx"
]


def text_of(path):
    return (lzma.open(path) if path.suffix == ".xz" else open(path, "rb")).read()


def numbers_of(lines):
    return np.array(b" ".join(lines).split(), dtype=np.float64)


def read_matrix_market(text):
    """The entries (row, column, value), counted from 0, and the number of rows. Symmetric files are expanded."""
    lines = text.splitlines()
    kind = lines[0].decode().lower().split()
    body = [line for line in lines[1:] if line.strip() and not line.startswith(b"%")]
    rows, columns, _ = (int(word) for word in body[0].split())
    assert rows == columns and kind[2] == "coordinate"
    width = 2 if kind[3] == "pattern" else 3
    table = numbers_of(body[1:]).reshape(-1, width)
    row = table[:, 0].astype(np.int64) - 1
    column = table[:, 1].astype(np.int64) - 1
    value = np.ones(len(row)) if width == 2 else table[:, 2]
    if kind[4] == "symmetric":
        off = row != column
        row, column = np.concatenate([row, column[off]]), np.concatenate([column, row[off]])
        value = np.concatenate([value, value[off]])
    return row, column, value, rows


def read_edge_list(text):
    """If the file gives the number of nodes and all ids fit (counted from 0 or from 1), ids keep their places.
    Otherwise ids are renumbered without gaps."""
    lines = text.splitlines()
    comments = b"\n".join(line for line in lines if line[:1] in b"#%").decode()
    body = [line for line in lines if line.strip() and line[:1] not in b"#%"]
    said = re.search(r"Nodes:\s*(\d+)", comments)
    nodes = int(said.group(1)) if said else None
    edges = numbers_of(body).astype(np.int64).reshape(-1, 2)
    if nodes is None and edges[0, 1] == len(edges) - 1:
        nodes, edges = int(edges[0, 0]), edges[1:]
    if nodes is not None and edges.max() < nodes:
        pass
    elif nodes is not None and edges.min() >= 1 and edges.max() <= nodes:
        edges = edges - 1
    else:
        ids, edges = np.unique(edges, return_inverse=True)
        nodes, edges = len(ids), edges.reshape(-1, 2)
    return edges[:, 0], edges[:, 1], nodes


def pagerank(source, target, nodes):
    """Power iteration from 1/n, until the L1 change is at most TOLERANCE."""
    links = sparse.coo_matrix((np.ones(len(source)), (target, source)), shape=(nodes, nodes)).tocsr()
    links.data[:] = 1.0  # duplicate links count once
    leaving = np.asarray(links.sum(axis=0)).ravel()
    dangling = leaving == 0
    share = np.where(dangling, 0.0, 1.0 / np.where(dangling, 1.0, leaving))
    x = np.full(nodes, 1.0 / nodes)
    for iteration in range(1, 10000):
        old = x
        x = (1 - DAMPING) / nodes + DAMPING * old[dangling].sum() / nodes + DAMPING * (links @ (old * share))
        change = np.abs(x - old).sum()
        if change <= TOLERANCE:
            return x, iteration, change, links.nnz, int(dangling.sum())
    raise SystemExit("no convergence")


def jacobi(row, column, value, rows):
    """JACOBI_ITERATIONS iterations from 0 with b = 1."""
    matrix = sparse.coo_matrix((value, (row, column)), shape=(rows, rows)).tocsr()
    matrix.eliminate_zeros()
    diagonal = matrix.diagonal()
    rest = (matrix - sparse.diags(diagonal)).tocsr()
    x = np.zeros(rows)
    for _ in range(JACOBI_ITERATIONS):
        old = x
        x = (1.0 - rest @ old) / diagonal
    return x, np.abs(x - old).sum(), matrix.nnz


def probe(x):
    weights = (np.arange(len(x), dtype=np.uint64) * np.uint64(2654435761)) % np.uint64(2**32)
    return float((x * (weights.astype(np.float64) / 2.0**32)).sum())


def norms(x):
    return {
        "l1": float(np.abs(x).sum()),
        "l2": float(np.sqrt((x * x).sum())),
        "linf": float(np.abs(x).max()),
        "probe": probe(x)
    }


def main():
    data = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data")
    out = {
        "about": "Made by tests/reference/make_expected.py, which says what the fields are; do not edit.",
        "pagerank": {"damping": DAMPING, "tolerance": TOLERANCE, "graphs": {}},
        "jacobi": {"iterations": JACOBI_ITERATIONS, "matrices": {}}
    }
    for name in GRAPHS:
        text = text_of(data / "graphs" / name)
        if ".mtx" in name:
            source, target, _, nodes = read_matrix_market(text)
        else:
            source, target, nodes = read_edge_list(text)
        x, iterations, change, links, dangling = pagerank(source, target, nodes)
        top = np.lexsort((np.arange(nodes), -x))[:10]
        out["pagerank"]["graphs"][name] = {
            "rows": nodes, "nonzeros": links, "dangling": dangling, "iterations": iterations,
            "residual_l1": float(change), **norms(x),
            "top": [{"row": int(i), "rank": float(x[i])} for i in top],
            "some": [{"row": i, "rank": float(x[i])} for i in (0, nodes // 3, nodes // 2, nodes - 1)]
        }
    for name in MATRICES:
        x, change, nonzeros = jacobi(*read_matrix_market(text_of(data / "matrices" / name)))
        rows = len(x)
        out["jacobi"]["matrices"][name] = {
            "rows": rows, "nonzeros": nonzeros, "residual_l1": float(change), **norms(x),
            "some": [{"row": i, "value": float(x[i])} for i in (0, rows // 3, rows // 2, rows - 1)]
        }
    # Each row of a vector is written on one line.
    print(re.sub(r'\{\s+("row": \d+),\s+("\w+": \S+)\s+\}', r"{\1, \2}", json.dumps(out, indent=1)))


if __name__ == "__main__":
    main()
