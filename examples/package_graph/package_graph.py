#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the dependency graph of the distribution's packages from the local package lists.

An edge "u v" says that package u needs package v (Depends and Pre-Depends). The rank of a package is then the
probability of reaching it if dependencies are followed at random. The packages that most others need get the highest
ranks.

Rules, so that equal lists give an equal graph:
  - of the alternatives "a | b", only the first one that can be resolved counts; versions and architecture qualifiers
    are ignored;
  - a name that is not a package is virtual: it stands for the package that provides it (Provides), and for the first
    one in alphabetical order if there are several;
  - dependencies on names that no package provides, and dependencies of a package on itself, are left out;
  - a package that occurs twice (security updates, several architectures) counts once, as in its first stanza;
  - nodes are numbered from 0 in alphabetical order.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
from collections import Counter
from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional, Set, Tuple

DPKG_STATUS = pathlib.Path("/var/lib/dpkg/status")
FIELDS = {"Package", "Architecture", "Depends", "Pre-Depends", "Provides"}
# The name of a package, without a following ":any", "(>= 1.0)" or "[amd64]".
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.\-_]*")


class Package(NamedTuple):
    """The content of one stanza: the dependencies, each as a list of alternatives, and the virtual names that the package
    provides."""

    name: str
    architecture: str
    needs: List[List[str]]
    provides: List[str]


class Graph(NamedTuple):
    names: List[str]  # names[i]: the name of node i
    edges: List[Tuple[int, int]]  # (u, v) if u needs v; ascending, without duplicates
    unresolved: int  # the number of dependencies on names that no package provides


def names_in(text: str, separator: str) -> List[str]:
    found = (NAME.match(part.strip()) for part in text.split(separator))
    return [match.group(0) for match in found if match]


def package_from(fields: Dict[str, str]) -> Package:
    clauses = ",".join(fields[key] for key in ("Pre-Depends", "Depends") if key in fields).split(",")
    needs = [alternatives for alternatives in (names_in(clause, "|") for clause in clauses) if alternatives]
    provides = names_in(fields.get("Provides", ""), ",")
    return Package(fields["Package"], fields.get("Architecture", "all"), needs, provides)


def read_packages(lines: Iterable[str]) -> Iterator[Package]:
    """Yields the stanzas of a Packages file. They have "Field: value" lines; a line that begins with a blank
    continues the line above it."""
    fields: Dict[str, str] = {}
    last: Optional[str] = None
    for line in lines:
        line = line.rstrip("\n")
        if not line.strip():
            if "Package" in fields:
                yield package_from(fields)
            fields, last = {}, None
        elif line[0] in " \t":
            if last:
                fields[last] += " " + line.strip()
        else:
            key, _, value = line.partition(":")
            last = key if key in FIELDS else None
            if last:
                fields[last] = value.strip()
    if "Package" in fields:
        yield package_from(fields)


def one_architecture(packages: Iterable[Package]) -> List[Package]:
    """Returns the packages of the most frequent architecture other than "all", and those for all architectures."""
    packages = list(packages)
    counts = Counter(package.architecture for package in packages if package.architecture != "all")
    main = min(counts, key=lambda name: (-counts[name], name)) if counts else "all"
    return [package for package in packages if package.architecture in ("all", main)]


def build_graph(packages: Iterable[Package]) -> Graph:
    by_name: Dict[str, Package] = {}
    for package in packages:
        by_name.setdefault(package.name, package)
    names = sorted(by_name)
    number = {name: i for i, name in enumerate(names)}
    provider: Dict[str, str] = {}
    for name in names:  # in alphabetical order, of which the first provider is taken
        for virtual in by_name[name].provides:
            provider.setdefault(virtual, name)

    edges: Set[Tuple[int, int]] = set()
    unresolved = 0
    for name in names:
        for alternatives in by_name[name].needs:
            targets = (wanted if wanted in number else provider.get(wanted) for wanted in alternatives)
            target = next((found for found in targets if found is not None), None)
            if target is None:
                unresolved += 1
            elif target != name:
                edges.add((number[name], number[target]))
    return Graph(names, sorted(edges), unresolved)


def write_graph(graph: Graph, folder: pathlib.Path) -> None:
    """Writes packages.names, and the edge list packages.txt with the number of nodes, so that isolated nodes are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "packages.txt", "w", encoding="ascii") as out:
        out.write("# Package dependencies: a line \"u v\" means that package u needs package v; their names are in packages.names\n")
        out.write(f"# Nodes: {len(graph.names)} Edges: {len(graph.edges)}\n")
        out.writelines(f"{u} {v}\n" for u, v in graph.edges)
    with open(folder / "packages.names", "w", encoding="utf-8") as out:
        out.writelines(name + "\n" for name in graph.names)


def local_package_lists() -> Tuple[List[Package], str]:
    """Returns the packages that apt can install (without package lists: the installed ones), and a name of their source."""
    try:
        apt = subprocess.run(["apt-cache", "dumpavail"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             check=False, encoding="utf-8", errors="replace", env={**os.environ, "LC_ALL": "C"})
        known = one_architecture(read_packages(apt.stdout.splitlines()))
    except FileNotFoundError:
        known = []
    installed: List[Package] = []
    if DPKG_STATUS.exists():
        with open(DPKG_STATUS, encoding="utf-8", errors="replace") as lines:
            installed = one_architecture(read_packages(lines))
    # Without package lists, apt-cache lists only the installed packages: the graph is then the same, but must be
    # described as such.
    if len(known) > len(installed):
        return known, "apt's package lists"
    if installed:
        return installed, "the installed packages (apt has no package lists; `apt-get update` fetches them)"
    sys.exit(f"package_graph.py: neither apt-cache nor {DPKG_STATUS} knows any package; "
             "pass a Packages file (--packages)")


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes packages.txt and packages.names: the dependency graph.")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."), help="folder to write into")
    parser.add_argument("--packages", type=pathlib.Path, help="a Packages file to read instead of this machine's lists")
    arguments = parser.parse_args()
    if arguments.packages:
        source = str(arguments.packages)
        try:
            with open(arguments.packages, encoding="utf-8", errors="replace") as lines:
                packages = one_architecture(read_packages(lines))
        except OSError as error:
            sys.exit(f"package_graph.py: cannot read {source}: {error.strerror}")
        if not packages:
            sys.exit(f"package_graph.py: {source} names no package; expected stanzas that begin with 'Package: NAME'")
    else:
        packages, source = local_package_lists()
    graph = build_graph(packages)
    write_graph(graph, arguments.output)
    print(f"{len(graph.names)} packages, {len(graph.edges)} dependencies from {source}; "
          f"{graph.unresolved} dependencies on names that no package provides are left out")


if __name__ == "__main__":
    main()
