"""What a question is: the protocol that every area's query answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from wallflower.engines.base import Rows
from wallflower.noise.entropy import Entropy
from wallflower.privacy.file_answer import FileAnswer
from wallflower.privacy.price import Price
from wallflower.schema.declaration import Declaration


class Attack(Protocol):
    """What the owner tries on the rows and on something that has left: a frozen dataclass like a query."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The declared columns it reads."""
        ...

    def run(self, rows: Rows, /) -> object:
        """What was found. It may name rows: nobody but the owner sees it."""
        ...


class Query(Protocol):
    """A question as a frozen dataclass: every public choice is a field."""

    name: ClassVar[str]
    """The command that asks it."""

    @property
    def columns(self) -> Any:
        """The declared columns it reads, a tuple of names; the view of the rows holds no other.

        Any, because pyright compares a dataclass's field with its descriptor (`schema.fields`) and not with what that gives.
        """
        ...

    def price(self, declaration: Declaration, /) -> Price:
        """The promise and the cost, from public things alone; refuses what the declaration cannot support."""
        ...

    def prepare(self, rows: Rows, entropy: Entropy, /) -> None:
        """Try on made-up rows whatever can fail without looking at a real one: compile or load kernels, start threads.

        Comes before the charge, so that what breaks here costs nothing. Writes nothing anyone can see.
        """
        ...

    def run(self, rows: Rows, entropy: Entropy, /) -> dict[str, Any] | FileAnswer | None:
        """The answer, or None when there is none; a file is handed over as bytes. Total: no row makes it fail."""
        ...

    @staticmethod
    def told(answer: Mapping[str, Any], /) -> str:
        """The answer in words, from nothing but what is released."""
        ...

    def inspect(self, rows: Rows, /) -> dict[str, Any]:
        """What the owner may look at: unprotected, never part of a release."""
        ...
