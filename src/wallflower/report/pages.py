"""Render a template to one self-contained HTML file."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from wallflower.errors import UsageError
from wallflower.version import __version__

REPORTS = "wallflower.report"
LONGEST_WORD = 24
"""What is longer than this is a name or a digest and gets places to break at; pages break nothing else."""


def render(template: str, *, package: str = REPORTS, **fields: Any) -> str:
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
        finalize=breakable if package == REPORTS else None,  # a console's templates write values into attributes, too
    )


def breakable(value: Any) -> Any:
    """Text with `<wbr>` in what is too long for a phone: after a sign where there is one, else every sixteen letters.

    What is markup already (a picture, or a field that a template has escaped itself) stays as it is.

    >>> str(breakable("count of a-very-long-column-name-of-somebody"))
    'count of a-<wbr>very-<wbr>long-<wbr>column-<wbr>name-<wbr>of-<wbr>somebody'
    >>> breakable("short & sweet")
    'short & sweet'
    """
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    if not re.search(rf"\S{{{LONGEST_WORD + 1},}}", value):
        return value
    from markupsafe import Markup, escape

    parts = [
        Markup("<wbr>").join(re.findall(r"\w{1,16}[^\w\s]*|[^\w\s]+", word))
        if len(word) > LONGEST_WORD
        else escape(word)
        for word in re.split(r"(\s+)", value)
    ]
    return Markup("").join(parts)
