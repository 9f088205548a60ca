# SPDX-License-Identifier: BSD-3-Clause
"""Defines the directive `fortran-module`. It documents the public types of a Fortran module, and their procedures with
the arguments, from the declarations and the `!>` comments of the source. (Doxygen reads Fortran, but Breathe has no
place for its type-bound procedures.)"""

import dataclasses
import pathlib
import re

from docutils import nodes
from docutils.parsers.rst import Directive

PROCEDURE = re.compile(r"^  (?:[\w() ]*\b)?(?:subroutine|function) (\w+)\(", re.MULTILINE)
ARGUMENT = re.compile(r" *(?:type|class|integer|real|logical|character|complex|procedure)\b[^!]*::")


@dataclasses.dataclass
class Declaration:
    words: str    # its `!>` comment
    lines: list   # its code


def without_continuations(text):
    """Returns the text with each statement in one line."""
    return re.sub(r" *&\n *", " ", text)


def comment_before(lines, at):
    """Returns the `!>` lines directly above line `at` as one paragraph."""
    first = at
    while first > 0 and lines[first - 1].lstrip().startswith("!>"):
        first -= 1
    return " ".join(line.strip()[2:].strip() for line in lines[first:at])


def read_procedures(lines):
    """Returns each procedure by its name: its comment, its first statement and its dummy arguments. A procedure without a
    comment gets the comment of the procedure above it."""
    procedures, words = {}, ""
    for at, line in enumerate(lines):
        named = PROCEDURE.match(line)
        if not named:
            continue
        dummies = re.findall(r"\w+", line[named.end():line.index(")", named.end())])
        result = re.search(r"result\((\w+)\)", line)
        wanted = {*dummies, result.group(1) if result else named.group(1)} - {"self"}
        words = comment_before(lines, at) or words
        arguments = []
        for declaration in lines[at + 1:]:
            if not ARGUMENT.match(declaration):
                break
            if wanted & set(re.findall(r"\w+", declaration.split("::")[1])):
                arguments.append(declaration.strip())
        procedures[named.group(1)] = Declaration(words, [re.sub(r"\((self, |self)", "(", line.strip()), *arguments])
    return procedures


def bindings(body):
    """Returns (the name that users call, the procedures behind this name) for each binding in a type's `contains`."""
    found = re.findall(r"^    procedure :: (\w+) => (\w+)", body, re.MULTILINE)
    return sorted(((name, re.findall(r"\w+", behind)) for name, behind in
                   found + re.findall(r"^    generic :: (\w+) => (.*)$", body, re.MULTILINE)), key=lambda pair: body.index(f":: {pair[0]} "))


class FortranModule(Directive):
    required_arguments = 1  # the source, relative to the page

    def run(self):
        page = pathlib.Path(self.state.document.current_source)
        path = page.parent / self.arguments[0]
        self.state.document.settings.env.note_dependency(str(path))
        text = without_continuations(path.read_text(encoding="utf-8"))
        lines = text.splitlines()
        procedures = read_procedures(lines)
        made = []
        for match in re.finditer(r"^  type, public.*:: (\w+)\n((?:.*\n)*?)  end type", text, re.MULTILINE):
            members, _, body = match.group(2).partition("  contains\n")
            section = self.section(f"type({match.group(1)})", comment_before(lines, text[:match.start()].count("\n")))
            if "private" not in members:
                section += nodes.literal_block(members, re.sub(r"^    ", "", members, flags=re.MULTILINE).rstrip(), language="fortran")
            for name, behind in bindings(body):
                for procedure in behind[-1:]:  # of several kinds of integers, the widest
                    declared = procedures[procedure]
                    code = "\n".join([re.sub(r"\b" + procedure + r"\(", f"{name}(", declared.lines[0], count=1),
                                      *(f"  {line}" for line in declared.lines[1:])])
                    section += self.section(f"{match.group(1)}%{name}", declared.words, code)
            made.append(section)
        made += [self.section(name, comment_before(lines, text[:match.start()].count("\n")))
                 for match in re.finditer(r"^  interface (ringside_\w+)$", text, re.MULTILINE) for name in match.groups()]
        if len(made) < 10:
            raise self.error(f"{path}: found {len(made)} public types and interfaces, expected at least 10")
        return made

    def section(self, title, words, code=None):
        section = nodes.section(ids=[nodes.make_id(title)], names=[nodes.fully_normalize_name(title)])
        section += nodes.title(title, "", nodes.literal(title, title))
        if code:
            section += nodes.literal_block(code, code, language="fortran")
        section += nodes.paragraph(words, words)
        self.state.document.note_explicit_target(section)
        return section


def setup(app):
    app.add_directive("fortran-module", FortranModule)
    return {"parallel_read_safe": True}
