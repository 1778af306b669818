"""Which engine opens which source. An engine is a folder beside this file whose `__init__` holds an `ENGINE`.

Nothing else names it: a new folder is found by itself, and a package of somebody else's joins through the entry-point group
`wallflower.engines`, whose entries are `Engine`s. Engines are loaded when a source needs them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import cast

from wallflower.engines.base import Source
from wallflower.errors import DeclarationError, UsageError, nearest_name
from wallflower.schema.declaration import Declaration
from wallflower.schema.places import scheme_of

FILE = "file"
"""The scheme of a source without one."""


@dataclass(frozen=True, kw_only=True)
class Engine:
    """How a kind of source is opened."""

    name: str
    schemes: tuple[str, ...]
    """What `source` begins with, before the colon; `FILE` for a file's name."""
    opens: str
    """"module:name" of a callable that takes a declaration and gives a `Source`; imported at first use."""
    extra: str | None = None
    """The extra of this package that brings the libraries it needs."""
    sorts: bool = False
    """Whether its rows answer `ascending` without being held in this process."""
    spreads: bool = False
    """Whether its rows lie on executors that can run tasks, where the declaration says that they may."""

    def open(self, declaration: Declaration) -> Source:
        module, _, name = self.opens.partition(":")
        try:
            return cast("Source", getattr(importlib.import_module(module), name)(declaration))
        except ModuleNotFoundError as error:
            missing = (error.name or "").partition(".")[0]
        if self.extra is None:
            raise UsageError(f"the engine '{self.name}' needs the package '{missing}', which is not installed.")
        raise UsageError(
            f"reading from {self.name} needs the package '{missing}', which is not installed.",
            hint=f"Run `pip install 'wallflower[{self.extra}]'`.",
        )


@cache
def engines() -> Mapping[str, Engine]:
    """Every engine that is registered, by the schemes it opens."""
    package = importlib.import_module("wallflower.engines")
    folders = [found.name for found in pkgutil.iter_modules(package.__path__) if found.ispkg]
    modules = [importlib.import_module(f"wallflower.engines.{name}") for name in folders]
    own = [cast("Engine", module.ENGINE) for module in modules]
    others = [cast("Engine", entry.load()) for entry in entry_points(group="wallflower.engines")]
    found: dict[str, Engine] = {}
    for engine in (*own, *others):
        for scheme in engine.schemes:
            found.setdefault(scheme, engine)  # nobody takes an address over from the engines of this package
    return found


def engine_for(source: Path | str | None) -> Engine:
    """The engine that opens a declared source."""
    scheme = scheme_of(source) or FILE
    known = engines()
    if scheme not in known:
        raise DeclarationError(
            f"no engine reads a source that begins with '{scheme}:'.", hint=nearest_name(scheme, set(known) - {FILE})
        )
    return known[scheme]
