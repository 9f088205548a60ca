#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Summarises the GoogleTest programs of a ctest run: the tests that failed and those that were skipped, with the reasons.

ctest runs whole programs (`ringside_test` in tests/CMakeLists.txt), so ctest's list does not name single tests. Each
program writes test_results/PROGRAM.xml in the build folder. results.py BUILD [--since FILE] reads these files (with
--since, only those that are newer than FILE), and prints one line for each failed and each skipped test, and then the
totals. Exit code: 0, even if tests failed (ctest reports that); 1 if there are no results.
"""
import argparse
import pathlib
import sys
import xml.etree.ElementTree as tree


def one_line(text):
    return " ".join(text.split())


def reason_of(case, kind):
    """The message of a failure or of GTEST_SKIP, without the file and the line before it."""
    found = case.find(kind)
    text = found.get("message") or found.text or ""
    lines = text.strip().splitlines()
    return one_line(" ".join(lines[1:] if len(lines) > 1 else lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--since", type=pathlib.Path)
    arguments = parser.parse_args()
    since = arguments.since.stat().st_mtime if arguments.since else 0
    files = [file for file in sorted((arguments.build / "test_results").glob("*.xml")) if file.stat().st_mtime >= since]
    run, failed, skipped = 0, [], []
    for file in files:
        for case in tree.parse(file).getroot().iter("testcase"):
            if case.get("status") != "run":  # the test belongs to another shard, or is disabled
                continue
            run += 1
            name = f"{case.get('classname')}.{case.get('name')} ({file.stem})"
            if case.find("failure") is not None:
                failed.append(f"{name}: {reason_of(case, 'failure')[:300]}")
            elif case.find("skipped") is not None:
                skipped.append(f"{name}: {reason_of(case, 'skipped')[:300]}")
    for title, tests in (("failed", failed), ("skipped", skipped)):
        for test in tests:
            print(f"{title}: {test}")
    print(f"{run} tests in {len(files)} runs of test programs: {run - len(failed) - len(skipped)} passed, "
          f"{len(failed)} failed, {len(skipped)} skipped")
    return 0 if files else 1


if __name__ == "__main__":
    sys.exit(main())
