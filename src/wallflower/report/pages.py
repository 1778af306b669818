"""Render a template to one self-contained HTML file."""

from __future__ import annotations

from functools import cache
from typing import Any

from wallflower.errors import UsageError
from wallflower.version import __version__


def render(template: str, *, package: str = "wallflower.report", **fields: Any) -> str:
    """The page of a package's template, with every field escaped unless it is a Picture's own SVG."""
    return str(_environment(package).get_template(template).render(version=__version__, **fields))


@cache
def _environment(package: str) -> Any:
    """A package's templates, read and compiled once."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise UsageError(
            "pages need jinja2, which is not installed.", hint="Run: pip install 'wallflower[report]'"
        ) from None
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
