"""Render a template to one self-contained HTML file, written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from wallflower.errors import UsageError
from wallflower.version import __version__


def render(template: str, *, package: str = "wallflower.report", **fields: Any) -> str:
    """The page of a package's template, with every field escaped unless it is a Picture's own SVG."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise UsageError(
            "pages need jinja2, which is not installed.", hint="Run: pip install 'wallflower[report]'"
        ) from None
    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(version=__version__, **fields)


def write_whole(path: Path, text: str) -> None:
    """Write under another name and rename, so that nobody ever sees half a file."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
