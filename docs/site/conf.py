# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the site, which deploy/site.sh makes. Sphinx makes the site from the unchanged pages. Doxygen reads the C
and C++ headers and the Fortran module, and autodoc imports the Python package. So the references consist of the
comments and docstrings in these files."""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # fortran_reference.py

project = "Ringside"
author = "The Ringside authors"
version = release = (HERE / "version").read_text(encoding="utf-8").strip()  # site.sh writes it

extensions = ["myst_parser", "breathe", "fortran_reference", "sphinx.ext.autodoc"]
root_doc = "index"
exclude_patterns = ["docs/site/xml"]

myst_heading_anchors = 6
myst_update_mathjax = False
suppress_warnings = ["myst.header"]  # a page may begin a section below a table with a smaller heading

breathe_projects = {"ringside": str(HERE / "xml")}
breathe_show_include = False
breathe_default_project = "ringside"
breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}
c_id_attributes = ["RINGSIDE_API"]

default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"

smartquotes = False  # step["x"] in a docstring is code
html_theme = "furo"
html_title = f"Ringside {version}"
html_copy_source = False
html_show_sphinx = False

SHELVES = ["use", "publish", "formats", "inside", "site/reference"]
CONTENTS = "\n\n```{{toctree}}\n:hidden:\n{}\n```\n"


def complete(_, page, source):
    """Changes links to the README into links to the first page, because the README is the first page of the site. Also
    adds the tables of contents: the first page lists the shelves, and each shelf lists its pages."""
    folder = re.sub("[^/]+/", "../", page[:page.rindex("/") + 1]) if "/" in page else ""
    text = source[0].replace(f"]({folder}README.md", f"]({folder}index.md")
    if page == "index":
        text += CONTENTS.format("\n".join([f"docs/{shelf}/README" for shelf in SHELVES] + ["CONTRIBUTING", "CHANGELOG", "SECURITY"]))
    elif page in [f"docs/{shelf}/README" for shelf in SHELVES]:
        text += CONTENTS.format(":glob:\n*")
    source[0] = text if page.startswith(("docs/", "index")) or "/" not in page else "---\norphan: true\n---\n" + text


def as_markup(_, what, name, thing, options, lines):
    """Makes markup from docstrings, which are plain text for help(): indented lines become code, and stars stay stars."""
    made, code = [], False
    for line in lines:
        indented = line.startswith("    ")
        if indented and not code:
            made += ["", "::", ""]
        if code and line and not indented:
            made.append("")
        code = indented or (code and not line)
        made.append(line if code else line.replace("*", "\\*"))
    lines[:] = made


def setup(app):
    app.connect("autodoc-process-docstring", as_markup)
    app.connect("source-read", complete)
