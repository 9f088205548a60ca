# SPDX-License-Identifier: BSD-3-Clause
"""One of the two builds that bench/releases.py compares: a folder of programs, or a commit that is checked out and
built here.

Each side has one git worktree, which is kept: another commit of this side is compiled only where it differs. The
sides' worktrees share the compiler cache (cmake/options.cmake)."""

import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys

from measuring import ROOT, UNCALIBRATED, timed

# The targets that figures need. Of these, a commit's own are built.
TARGETS = ("ringside", "ringside-producer", "ringside-analyzer", "bench_kernels", "bench_transfer", "bench_publishing",
           "installed")
# The settings of a build that must be equal, or the figures compare settings and not sources.
SETTINGS = ("CMAKE_BUILD_TYPE", "CMAKE_CXX_COMPILER", "CMAKE_CXX_FLAGS", "CMAKE_CXX_FLAGS_RELEASE", "RINGSIDE_SANITIZE",
            "RINGSIDE_UNITY", "RINGSIDE_WARNINGS")


@dataclasses.dataclass(frozen=True)
class Build:
    side: str  # "before" or "after"
    bin: pathlib.Path
    tree: pathlib.Path | None  # the sources, if the build folder names them
    commit: str
    version: str
    settings: dict
    taken: dict  # the times of configuring and building, if this was done here

    @property
    def name(self):
        name = str(self.bin) if self.commit == "unknown" else self.commit
        return f"{name} ({self.version})"

    @property
    def environment(self):
        """The environment for this build's programs: they load this build's libraries, also in a copied folder, in
        which the path that was linked leads to the original."""
        return {**UNCALIBRATED, "LD_LIBRARY_PATH": str(self.bin.parent / "lib")}

    def head(self):
        return {"version": self.version, "commit": self.commit, "settings": self.settings, **self.taken}


def build_of(side, given, work):
    """Returns the build that the user named. If this is a commit, builds it in the folder `work`."""
    folder = pathlib.Path(given)
    if (folder / "ringside").is_file():
        return of_folder(side, folder.resolve())
    commit = commit_of(given)
    if not commit:
        sys.exit(f"{sys.argv[0]}: {side.upper()}: found '{given}', expected a commit, or a folder of built programs")
    return of_commit(side, commit, work)


def commit_of(name):
    """Returns the hash of the commit with this name, or '' if there is none."""
    return printed(["git", "-C", ROOT, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"])


def of_folder(side, folder, taken=None):
    cache = cache_entries(folder.parent)
    home = cache.get("CMAKE_HOME_DIRECTORY")
    tree = pathlib.Path(home) if home and pathlib.Path(home).is_dir() else None
    described = printed(["git", "-C", tree or folder, "describe", "--always", "--dirty"])
    version = subprocess.run([folder / "ringside", "--version"], check=True, capture_output=True, text=True)
    return Build(side, folder, tree, described or "unknown", version.stdout.strip(),
                 {name: cache[name] for name in SETTINGS if name in cache}, taken or {})


def of_commit(side, commit, work):
    tree = check_out(commit, work / side)
    say(f"{side}: building {commit[:12]} in {tree}")
    configure(tree)
    known = targets_of(tree)
    build = ["cmake", "--build", "--preset", "release", "--target", *(name for name in TARGETS if name in known)]
    taken = timed(build, tree)[0]
    say(f"{side}: built in {taken['wall_s']:.0f} s")
    return of_folder(side, tree / "build/release/bin", {"build": taken})


def check_out(commit, tree):
    """Makes the folder a git worktree with this commit. Returns the folder. The build folder in it is kept, without
    programs and libraries, because an earlier commit may have had others."""
    if not (tree / ".git").exists():
        tree.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "-C", ROOT, "worktree", "prune"], check=True)
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "--quiet", "--detach", tree, commit], check=True)
    elif printed(["git", "-C", tree, "rev-parse", "HEAD"]) != commit:
        subprocess.run(["git", "-C", tree, "checkout", "--quiet", "--detach", commit], check=True)
        for folder in ("bin", "lib"):
            shutil.rmtree(tree / "build/release" / folder, ignore_errors=True)
    return tree.resolve()


def configure(tree):
    return timed(["cmake", "--preset", "release"], tree)[0]


def targets_of(tree):
    """Returns the names of a configured tree's targets."""
    listed = timed(["cmake", "--build", "--preset", "release", "--target", "help"], tree)[1]
    return set(re.findall(r"^(\S+): ", listed, re.M))


def cache_entries(build_folder):
    """Returns {name: value} of CMake's cache; {} without a cache."""
    cache = build_folder / "CMakeCache.txt"
    text = cache.read_text(encoding="utf-8") if cache.is_file() else ""
    return dict(re.findall(r"^([\w-]+):\w+=(.*)$", text, re.M))


def differing_settings(before, after):
    """Returns a text for each setting that is known of both builds and differs."""
    both = [name for name in SETTINGS if name in before.settings and name in after.settings]
    return [f"{name} was '{before.settings[name]}', and is '{after.settings[name]}'" for name in both
            if before.settings[name] != after.settings[name]]


def printed(command):
    """Returns what a command prints, or '' if the command fails."""
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return ran.stdout.strip() if ran.returncode == 0 else ""


def say(text):
    print(text, file=sys.stderr, flush=True)
