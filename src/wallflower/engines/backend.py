"""What `sql_rows` needs of a database that holds rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from wallflower.engines.dialect import Dialect


class Backend(Protocol):
    """One open transaction or snapshot: every question asked of it sees the same rows."""

    @property
    def dialect(self) -> Dialect: ...

    def view(self, name: str, expression: Any, *, asked: bool = False) -> Any:
        """Name an expression: a border that Ibis does not merge expressions across. With `asked` it holds what is `asked` below."""
        ...

    def table(self, name: str) -> Any:
        """A named expression, as an Ibis table."""
        ...

    def asked(self, value: Any, type_: str) -> Any:
        """A value that somebody asked about, as an expression. It may be private: a server gets it as a bound parameter."""
        ...

    def number(self, expression: Any) -> int:
        """The value of an expression that is one whole number."""
        ...

    def arrow(self, expression: Any) -> Any:
        """The whole answer as an Arrow table."""
        ...

    def batches(self, expression: Any) -> Iterable[Any]:
        """The answer as Arrow record batches, so that it need not be held twice."""
        ...
