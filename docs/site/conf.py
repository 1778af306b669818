"""The documentation site: the Markdown pages of this repository as they are, made into pages that need no network."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pygments.lexers.special import TextLexer

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "Wallflower"
author = "The Wallflower maintainers"
release = re.findall(
    r'^__version__ = "(.+)"', (ROOT / "src/wallflower/version.py").read_text(encoding="utf-8"), re.MULTILINE
)[0]
version = release
extensions = ["myst_parser", "notebook_pages"]
source_suffix = {".md": "markdown", ".ipynb": "notebook"}
include_patterns = [
    *("README.md", "ARCHITECTURE.md", "LIMITATIONS.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"),
    *("docs/**.md", "docs/**.ipynb", "src/wallflower/**.md", "experiments/**.md"),
]
exclude_patterns = sorted({entry.name for entry in ROOT.iterdir() if entry.is_dir()} - {"docs", "src", "experiments"})
"""Folders without pages, environments among them, are not even walked through."""
root_doc = "README"
myst_heading_anchors = 6  # the names that GitHub gives to headings, which scripts/links.py checks
nitpicky = True

html_theme = "furo"
html_title = f"Wallflower {release}"
html_static_path = ["pictures.css", "paper.css"]
html_css_files = ["pictures.css", "paper.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_use_index = False

SHELF = {
    "Start": ["docs/README"],
    "Learn": [f"docs/tutorials/{name}" for name in ("explain", "wide", "identify", "count", "people", "publish", "stream", "postgresql", "spark")],
    "Understand": [f"docs/{name}" for name in ("explain", "identify", "count", "publish", "stream", "scale")],
    "Program": ["docs/programs", *(f"docs/notebooks/{name}" for name in ("explain", "identify", "count", "publish", "stream"))],
    "Choose and serve": ["docs/guide", "docs/service"],
    "Trust": ["docs/dpo", "docs/guarantees", "LIMITATIONS", "SECURITY", "docs/papers", "ARCHITECTURE"],
    "Look up": [*(f"docs/reference/{name}" for name in ("cli", "declaration", "ledger", "python")), "docs/glossary", "CHANGELOG", "CONTRIBUTING"],
}  # fmt: skip
"""The sidebar: what docs/README.md lists, in its order."""
REST = {"Proofs": "src/wallflower", "Experiments": "experiments"}
"""Pages beside the code: every one that is there."""


def shelves() -> str:
    """The table of contents, which the Markdown pages do without, as Sphinx reads it.

    The sidebar names pages, not their headings: told so, Sphinx need not copy the headings of every page for every page.
    """
    parts = []
    for title, pages in SHELF.items():
        parts.append(
            f"```{{toctree}}\n:hidden:\n:maxdepth: 1\n:caption: {title}\n\n"
            + "\n".join(f"/{page}" for page in pages)
            + "\n```"
        )
    for title, folder in REST.items():
        parts.append(f"```{{toctree}}\n:hidden:\n:maxdepth: 1\n:glob:\n:caption: {title}\n\n/{folder}/**\n```")
    return "\n\n".join(parts)


def add_shelves(_app: Sphinx, page: str, text: list[str]) -> None:
    if page == root_doc:
        text[0] += f"\n\n{shelves()}\n"


def open_at_readme(app: Sphinx, failed: Exception | None) -> None:
    """A folder opens at index.html; the first page here is the README."""
    if failed is None:
        first = f'<!doctype html><meta charset="utf-8"><title>{html_title}</title><meta http-equiv="refresh" content="0; url=README.html"><a href="README.html">{html_title}</a>\n'
        Path(app.outdir, "index.html").write_text(first, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_lexer("csv", TextLexer)  # a name that GitHub knows and Pygments does not
    app.connect("source-read", add_shelves)
    app.connect("build-finished", open_at_readme)
    return {"parallel_read_safe": True}
