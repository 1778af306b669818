"""A detector as another package would write it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Loudest:
    by: int

    def stands_out(self, values, value, /, *, step):
        return bool(value >= values[-2] + self.by)
