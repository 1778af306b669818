"""How a child of the service ends: in one sentence of the operator's log. A traceback's last line may quote a row or a secret."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from wallflower.errors import place
from wallflower.stores.database import is_outage


def body(name: str, target: Callable[..., None], *arguments: Any) -> None:
    """Run the body of a child; whoever keeps it starts it again."""
    try:
        target(*arguments)
    except Exception as error:  # noqa: BLE001 - its text could hold anything: the log gets the kind and the place
        sys.stderr.write(f"{_said(name, error)}\n")
        sys.exit(1)


def _said(name: str, error: Exception) -> str:
    """
    >>> _said("clerk", ValueError("a cell"))
    'wallflower clerk: broke off (ValueError) and is started again. This is a bug.'
    """
    if is_outage(error):
        return f"wallflower {name}: the service's database is away; tried again in a moment."
    return f"wallflower {name}: broke off ({place(error)}) and is started again. This is a bug."
