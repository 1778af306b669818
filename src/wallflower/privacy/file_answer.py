"""An answer that is a file: what the release says of it, and the bytes, which whoever asked for the answer puts in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class FileAnswer:
    """What `Query.run` returns in place of a mapping when the bulk of the answer is a file. Nothing has been written yet.

    >>> FileAnswer(value={"file": "public.csv", "rows": 0}, content=b"age", place=Path("public.csv")).digest[:19]
    'sha256:013f54400c82'
    """

    value: Mapping[str, Any]
    """The answer as the release shows it."""
    content: bytes = field(repr=False)
    place: Path
    """Where the asker wants it."""

    warning: str = ""
    """What the owner is told before the file is put in place."""

    @property
    def digest(self) -> str:
        return f"sha256:{sha256(self.content).hexdigest()}"

    def recorded(self) -> dict[str, Any]:
        """The answer as the ledger keeps it: with the digest of the file, which is kept beside it."""
        return {**self.value, "sha256": self.digest.removeprefix("sha256:")}
