"""Say true things about the outliers of a sensitive table without giving anyone away.

    import wallflower as wf

    salaries = wf.open("salaries.toml")
    query = wf.count.Outliers(columns=("salary",), neighbours=5, radius="1000", epsilon="0.5")
    salaries.price(query)
    salaries.release(query)

By task: `declare` drafts a declaration; `open` and `table` start a session, `connect` one at a service; `certificate` is the page to
keep beside an answer; `explain`, `identify`, `count` and `publish` hold
the questions, and `stream` the parties of a stream, used through its commands; `detectors` say what an outlier is; `audit`
checks a mechanism; every error is in `errors`.

Everything is loaded when it is first used: `import wallflower` is light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from wallflower.errors import (
    BudgetError,
    DeclarationError,
    LedgerError,
    NotComposable,
    ReleaseFailed,
    UsageError,
    WallflowerError,
)
from wallflower.version import __version__ as __version__

if TYPE_CHECKING:
    from wallflower import audit, count, detectors, explain, identify, publish, stream
    from wallflower.privacy.price import Price
    from wallflower.privacy.release import OwnerOnly, Release
    from wallflower.remote import connect
    from wallflower.report.certificate import certificate
    from wallflower.session import Session, declare, open, table  # noqa: A004 - reads as wf.open

_AREAS = ("audit", "count", "detectors", "explain", "identify", "publish", "session", "stream")
_NAMES = {
    "Session": "wallflower.session",
    "open": "wallflower.session",
    "table": "wallflower.session",
    "declare": "wallflower.session",
    "connect": "wallflower.remote",
    "certificate": "wallflower.report.certificate",
    "Price": "wallflower.privacy.price",
    "OwnerOnly": "wallflower.privacy.release",
    "Release": "wallflower.privacy.release",
}

__all__ = [  # noqa: RUF022 - by task, as in the docstring
    "open",
    "table",
    "declare",
    "connect",
    "Session",
    "Price",
    "Release",
    "OwnerOnly",
    "certificate",
    "explain",
    "identify",
    "count",
    "publish",
    "stream",
    "detectors",
    "audit",
    "WallflowerError",
    "UsageError",
    "DeclarationError",
    "BudgetError",
    "NotComposable",
    "LedgerError",
    "ReleaseFailed",
]


def __getattr__(name: str) -> Any:
    if name in _AREAS:
        return import_module(f"wallflower.{name}")
    if name in _NAMES:
        return getattr(import_module(_NAMES[name]), name)
    message = f"module 'wallflower' has no attribute '{name}'"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted(__all__)
