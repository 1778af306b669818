"""Checks that a promise is kept, from the strongest evidence to the weakest.

    universes     every small table and its neighbours
    exact         the exact law of a mechanism on each: the worst loss with its witness, and δ(ε)
    density       the worst loss of continuous noise over shifts and scales; δ(ε) by integration
    properties    what proofs assume of scores and bounds: Lipschitz, one-directional, smooth
    blackbox      a lower bound on the loss from samples alone

An audit is handed callables and never imports an area. A finding above the promise refutes it; none within it proves it, except
`exact` for the very tables it was given.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

_MODULES = ("blackbox", "density", "exact", "properties", "universes")


def __getattr__(name: str) -> ModuleType:
    """A module is loaded when it is first named: some need scipy."""
    if name in _MODULES:
        return import_module(f"wallflower.audit.{name}")
    message = f"module 'wallflower.audit' has no attribute '{name}'"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted(_MODULES)
