"""Executed notebooks as pages: their words, their code, and the outputs that are kept in the file. Nothing is run."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from myst_parser.parsers.sphinx_ import MystParser

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx


def fenced(text: str, kind: str) -> str:
    """A block that no run of backticks inside can end."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{kind}\n{text.rstrip()}\n{fence}"


def shown(output: dict[str, Any]) -> str:
    """One output: as a page shows it where the notebook kept that, else as text."""
    if output["output_type"] == "stream":
        return fenced("".join(output["text"]), "text")
    if output["output_type"] == "error":
        return fenced(f"{output['ename']}: {output['evalue']}", "text")
    kept = output["data"]
    if "text/html" in kept:
        return fenced("".join(kept["text/html"]), "{raw} html")
    if "text/markdown" in kept:
        return "".join(kept["text/markdown"])
    return fenced("".join(kept["text/plain"]), "text")


def markdown(notebook: str) -> str:
    parts: list[str] = []
    for cell in json.loads(notebook)["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] != "code":
            parts.append(text)
            continue
        parts.append(fenced(text, "python"))
        parts += [shown(output) for output in cell["outputs"]]
    return "\n\n".join(parts) + "\n"


class NotebookParser(MystParser):
    """A notebook is read as the Markdown page that it amounts to."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        super().parse(markdown(inputstring), document)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True}
