# SPDX-License-Identifier: BSD-3-Clause
"""The sizes of a build and of its sources, for bench/releases.py: programs and libraries without symbols, the Debian
packages, lines and files. They are exact, so they are determined once."""

import subprocess

from build_time import SOURCES

PRODUCT = (*SOURCES, "mpi", "python")
ELF = b"\x7fELF"


def sizes_of(build, work):
    """Returns {(what, unit): number}."""
    found = {}
    libraries = [path for path in sorted((build.bin.parent / "lib").glob("libringside*.so*")) if not path.is_symlink()]
    for path in [path for path in sorted(build.bin.glob("ringside*")) if path.is_file()] + libraries:
        # Without the version, so that the libraries of two versions are compared.
        what = path.name[:path.name.index(".so") + 3] if path in libraries else path.name
        with path.open("rb") as file:
            if file.read(4) == ELF:
                found[what, "bytes"] = stripped_bytes(path, work)
    for package in packages_of(build):
        found[f"package {package.name.split('_')[0]}", "bytes"] = package.stat().st_size
    return found | (sources_of(build.tree) if build.tree else {})


def stripped_bytes(path, work):
    stripped = work / "stripped"
    subprocess.run(["strip", "-o", stripped, path], check=True)
    return stripped.stat().st_size


def packages_of(build):
    """Returns the files of the packages that were made of these programs, and not of earlier ones."""
    if build.tree is None:
        return []
    built = (build.bin / "ringside").stat().st_mtime
    return [path for path in sorted((build.tree / "build/package").glob("*.deb")) if path.stat().st_mtime >= built]


def sources_of(tree):
    """Returns the numbers of files and lines that git tracks, of the product and of its tests."""
    found = {}
    for kind, folders in (("product", PRODUCT), ("tests", ("tests",))):
        listed = subprocess.run(["git", "-C", tree, "ls-files", "-z", "--", *folders], check=True, capture_output=True)
        files = [tree / name for name in listed.stdout.decode().split("\0")[:-1]]
        texts = [path.read_bytes() for path in files if path.is_file()]
        found[f"{kind}, code", "lines"] = sum(text.count(b"\n") for text in texts if b"\0" not in text)
        found[f"{kind}, code", "files"] = len(texts)
    return found
