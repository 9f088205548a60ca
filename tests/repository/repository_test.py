# SPDX-License-Identifier: BSD-3-Clause
"""The repository itself: every source names its license, no file is large, each folder includes only what its
CMakeLists.txt allows, and the version is the same in all places."""

import itertools
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARCHITECTURE = ROOT / "docs/inside/architecture.md"
LICENSE = "SPDX-License-Identifier: BSD-3-Clause"

# How a comment is written in each kind of source. HTML is left out, because a report belongs to its user.
COMMENTS = {
    **dict.fromkeys((".cpp", ".hpp", ".js", ".proto"), "// {}"),
    **dict.fromkeys((".py", ".sh", ".sbatch", ".cmake", ".awk"), "# {}"),
    **dict.fromkeys((".c", ".css", ".h"), "/* {} */"),
    ".f90": "! {}",
}


def license_line(path, text):
    """The line that names the license in a source; None for a file that is not a source."""
    if path.name == "CMakeLists.txt" or text.startswith("#!"):
        return COMMENTS[".py"].format(LICENSE)
    comment = COMMENTS.get(path.suffix)
    return comment and comment.format(LICENSE)


def tracked():
    """The path of every tracked file; empty if this is no git repository or git is not installed."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            encoding="utf-8", check=False)
    paths = [ROOT / name for name in listed.stdout.split("\0")[:-1]]
    return [path for path in paths if path.is_file()]  # other files were removed, but are still in the index


def sources():
    """Every tracked source: its path, its text and its license line."""
    for path in tracked():
        if "corpus" in path.parts:  # inputs of the fuzz targets
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        line = license_line(path, text)
        if line:
            yield path, text, line


class Sources(unittest.TestCase):
    def test_the_first_line_of_every_source_names_the_license(self):
        found = list(sources())
        if not found:
            self.skipTest("this is no git repository, or git is not installed")
        self.assertGreater(len(found), 500)
        without = []
        for path, text, line in found:
            lines = text.splitlines()
            first = lines[1:2] if text.startswith("#!") else lines[:1]
            if first != [line]:
                without.append(f"{path.relative_to(ROOT)}: expected first (after #!): {line}")
        self.assertFalse(without, "\n".join([f"{len(without)} sources:", *without[:20]]))


class Sizes(unittest.TestCase):
    # Every clone contains every version of every file. The pools of tests/data have tens of megabytes, most of which
    # are zeros in holes: if an archive is larger than this limit, it was packed without holes.
    MOST_BYTES = {".xz": 100_000, ".json": 300_000}  # bench/results has one file per question
    MOST_BYTES_OF_OTHERS = 200_000  # pictures of the README

    def test_no_file_is_large(self):
        paths = tracked()
        if not paths:
            self.skipTest("this is no git repository, or git is not installed")
        large = []
        for path in paths:
            most = self.MOST_BYTES.get(path.suffix, self.MOST_BYTES_OF_OTHERS)
            if path.stat().st_size > most:
                large.append(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes, expected at most {most}")
        self.assertFalse(large, "\n".join(large))


def allowed_folders(folder):
    """The folders that "May include" names in the first comment of the folder's CMakeLists.txt, with {a,b} expanded;
    None if there is no such text."""
    cmake = ROOT / folder / "CMakeLists.txt"
    lines = cmake.read_text(encoding="utf-8").splitlines() if cmake.is_file() else []
    comment = " ".join(line.lstrip("# ") for line in itertools.takewhile(lambda line: line.startswith("#"), lines))
    named = re.search(r"May include: ([^.]*(?:\.h(?:pp)?\b[^.]*)*)\.", comment)
    if not named:
        return None
    allowed = []
    for name in re.findall(r"[\w/.-]+(?:\{[^}]*\})?", named.group(1)):
        stem, _, inside = name.partition("{")
        allowed += [stem + part.strip() for part in inside.rstrip("}").split(",")] if inside else [stem]
    return allowed


ROOMS = ("proto", "include", "common", "memory", "library", "producer", "analyzer", "node", "mpi", "cli")


class Folders(unittest.TestCase):
    def setUp(self):
        self.includes = {}  # folder -> {(source, included file)}
        for path, text, _ in sources():
            source = path.relative_to(ROOT)
            if source.suffix in (".c", ".h", ".cpp", ".hpp") and source.parts[0] not in ("tests", "bench", "examples"):
                found = re.findall(r'^#include ["<]([^">]+)[">]', text, re.MULTILINE)
                self.includes.setdefault(source.parent, set()).update((source, included) for included in found)
        if not self.includes:
            self.skipTest("this is no git repository, or git is not installed")

    def test_the_rooms_include_each_other_as_the_architecture_says(self):
        rows = re.findall(r"^\| `(\w+)` \| [^|]* \|([^|]*)\|([^|]*)\|$", ARCHITECTURE.read_text(encoding="utf-8"), re.MULTILINE)
        drawn = {room: set(re.findall(r"`(\w+)`", arrows)) for room, arrows, _ in rows}
        found = {room: set() for room in drawn}
        for folder, includes in self.includes.items():
            others = {pathlib.PurePath(included).parts[0] for _, included in includes if "/" in included} | {
                "include" for _, included in includes if re.match(r"ringside(_reduction)?\.h(pp)?$", included)}
            found[folder.parts[0]] |= others & found.keys() - {folder.parts[0]}
        self.assertEqual(found, drawn)
        for room, _, folders in rows:
            there = {path.relative_to(ROOT / room).parts[0] for path in tracked() if len(path.relative_to(ROOT).parts) > 2
                     and path.relative_to(ROOT).parts[0] == room}
            self.assertEqual(set(re.findall(r"`(\w+)`", folders)), there, room)

    def test_each_folder_includes_only_what_its_cmakelists_allows(self):
        wrong = []
        for folder, includes in self.includes.items():
            allowed = next(filter(None, (allowed_folders(above) for above in (folder, *folder.parents))), [])
            for source, included in sorted(includes):
                ours = "/" in included and pathlib.PurePath(included).parts[0] in ROOMS
                own = pathlib.PurePath(included).parent == folder
                if ours and not own and not any(included == name or included.startswith(name + "/") for name in allowed):
                    wrong.append(f"{source}: includes {included}, allowed are {', '.join(allowed)}")
        self.assertFalse(wrong, "\n".join(wrong))

    def test_no_two_folders_include_each_other(self):
        def house(folder):  # a folder without a CMakeLists.txt belongs to its parent
            return folder if (ROOT / folder / "CMakeLists.txt").is_file() or not folder.parts else house(folder.parent)

        below = {}
        for folder, includes in self.includes.items():
            below.setdefault(house(folder), set()).update(house(pathlib.PurePath(included).parent) for _, included in includes)
        below = {folder: others & below.keys() - {folder} for folder, others in below.items()}
        below[pathlib.PurePath("cli")] = set()  # the folders of the subcommands include its only header
        while True:
            ends = [folder for folder, others in below.items() if not others]
            if not ends:
                break
            below = {folder: others - set(ends) for folder, others in below.items() if folder not in ends}
        self.assertFalse(below, f"a circle among {', '.join(map(str, below))}")


def anchors(page):
    """The anchors of a page's headings, as GitHub names them."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    found = []
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        name = re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")
        found.append(f"{name}-{found.count(name)}" if name in found else name)
    return found


def links(page):
    """The links and pictures of the page: ("!" for a picture, the text, the target)."""
    text = re.sub(r"^ *```.*?^ *```|`[^`\n]*`(?!\])", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)", text)


class Documents(unittest.TestCase):
    def setUp(self):
        self.pages = [path for path in tracked() if path.suffix == ".md"]
        if not self.pages:
            self.skipTest("this is no git repository, or git is not installed")

    def test_every_link_leads_to_a_file_and_a_heading_and_every_picture_has_a_text(self):
        wrong, seen = [], 0
        for page in self.pages:
            for picture, label, target in links(page):
                if re.match(r"[a-z]+:", target):
                    continue
                seen += 1
                path, _, anchor = target.partition("#")
                other = (page.parent / path).resolve() if path else page
                if not other.exists():
                    wrong.append(f"{page.relative_to(ROOT)}: [{label}]({target}): there is no such file")
                elif anchor and anchor not in anchors(other):
                    wrong.append(f"{page.relative_to(ROOT)}: [{label}]({target}): there is no such heading")
                elif picture and len(label) < 20:
                    wrong.append(f"{page.relative_to(ROOT)}: {target}: expected a text that says what the picture shows")
        self.assertGreater(seen, 300)
        self.assertFalse(wrong, "\n".join(wrong))

    def test_every_page_is_in_the_index_of_its_shelf(self):
        for shelf in ("use", "publish", "formats", "inside"):
            index = ROOT / "docs" / shelf / "README.md"
            listed = {target for _, _, target in links(index)}
            others = {path.name for path in index.parent.glob("*.md")} - {"README.md"}
            self.assertLessEqual(others, listed, shelf)

    def test_the_readme_is_read_in_three_minutes(self):
        self.assertLessEqual(len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()), 180)

    def test_every_command_block_is_run_by_a_test_or_says_what_it_needs(self):
        tested = {"docs/publish/python.md": "tests/python/documents_test.py", "docs/use/operations.md": "tests/node/guide.py"}
        pages = [ROOT / "README.md", *(path for path in self.pages if path.is_relative_to(ROOT / "docs"))]
        wrong, runs, needs = [], 0, 0
        for page in pages:
            name = str(page.relative_to(ROOT))
            blocks = re.findall(r"^ *```(.*)\n((?:.*\n)*?) *```$", page.read_text(encoding="utf-8"), re.MULTILINE)
            marks = [mark for mark, _ in blocks if re.match("(sh|console|python)( needs: |$)", mark)]
            runs += len(marks)
            needs += sum("needs" in mark for mark in marks)
            test = ROOT / tested.get(name, "tests/examples/pages_test.py")
            if not all("needs" in mark for mark in marks) and page.name not in test.read_text(encoding="utf-8"):
                wrong.append(f"{name}: {test.relative_to(ROOT)} does not run its blocks")
            wrong += [f"{name}: a command in a block that is marked neither sh nor console: {text.splitlines()[0]}" for mark, text in blocks
                      if not mark and re.match(r"(\$ |# )?(ringside|mpirun|srun|cmake|sudo|pip|python3|bench/|build/)[^\s:]* ", text)]
        self.assertFalse(wrong, "\n".join(wrong))
        self.assertGreater(runs, 70)
        self.assertLessEqual(needs, runs // 10)

    def test_every_code_block_is_closed(self):
        for page in self.pages:
            fences = re.findall(r"^ *```", page.read_text(encoding="utf-8"), re.MULTILINE)
            self.assertEqual(len(fences) % 2, 0, page.relative_to(ROOT))


class Version(unittest.TestCase):
    def setUp(self):
        top = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        self.version = re.search(r"^project\(ringside VERSION ([\d.]+) ", top, re.MULTILINE).group(1)

    def test_the_changelog_has_an_open_section_and_a_dated_one_for_this_version(self):
        text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
        headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
        self.assertEqual(headings[0], "[Unreleased]")
        self.assertRegex(headings[1], rf"^\[{re.escape(self.version)}\] - \d{{4}}-\d\d-\d\d$")

    def test_the_citation_has_the_required_keys_and_this_version(self):
        text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
        keys = dict(re.findall(r"^([a-z-]+): *(.*)$", text, re.MULTILINE))
        self.assertLessEqual({"cff-version", "message", "title", "authors"}, keys.keys())
        changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
        date = re.search(rf"^## \[{re.escape(self.version)}\] - (\S+)$", changelog, re.MULTILINE).group(1)
        self.assertEqual([keys[key] for key in ("cff-version", "version", "date-released", "license")],
                         ["1.2.0", self.version, date, "BSD-3-Clause"])

    def test_the_security_page_supports_this_version(self):
        text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
        series = ".".join(self.version.split(".")[:2])
        self.assertRegex(text, rf"\| {re.escape(series)} \| yes \|")

    def test_the_programs_print_it(self):
        for program in PROGRAMS:
            printed = subprocess.run([program, "--version"], stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
            self.assertEqual(printed.strip(), self.version, program)


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1))
    PROGRAMS = [BIN / name for name in ("ringside", "ringside-producer", "ringside-analyzer", "ringside-generator")]
    unittest.main()
