"""The two doors: `Session.release` for askers, `Session.owner` for the owner.

A release is a price, a charge, and a draw, in that order. Nothing is read before the charge is on disk, and nothing is
shown before the answer is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Protocol

from wallflower.engines.base import Rows, Source
from wallflower.errors import DeclarationError, LedgerError, ReleaseFailed, UsageError, WallflowerError, place
from wallflower.noise.entropy import Entropy, SeededEntropy, SystemEntropy
from wallflower.ledger.book import Charge, Ledger
from wallflower.privacy.price import Price
from wallflower.privacy.release import OwnerOnly, Release
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import shown


class Query(Protocol):
    """A question as a frozen dataclass: every public choice is a field."""

    name: ClassVar[str]
    """The command that asks it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The declared columns it reads; the view of the rows holds no other."""
        ...

    def price(self, declaration: Declaration, /) -> Price:
        """The promise and the cost, from public things alone; refuses what the declaration cannot support."""
        ...

    def run(self, rows: Rows, entropy: Entropy, /) -> dict[str, Any] | None:
        """The answer, or None when there is none. Total: no row makes it fail."""
        ...

    def inspect(self, rows: Rows, /) -> dict[str, Any]:
        """What the owner may look at: unprotected, never part of a release."""
        ...


class Session:
    """A declared table, its ledger, and a source of noise. `open` and `table` make one.

    >>> import pyarrow, tempfile
    >>> from pathlib import Path
    >>> from wallflower.count import Outliers
    >>> from wallflower.ledger import Ledger
    >>> from wallflower.schema import loads
    >>> folder = tempfile.TemporaryDirectory()
    >>> declared = loads('''
    ... [table]
    ... id = "visits"
    ... unit = "row"
    ... neighbours = "add-remove"
    ... max_rows = 1000
    ... reviewed = true
    ... ledger = "visits.ledger"
    ... [budget.dp]
    ... epsilon = "2"
    ... [columns.age]
    ... role = "sensitive"
    ... lower = 0
    ... upper = 120
    ... step = 1
    ... outside = "clip"
    ... missing = "drop"
    ... ''', folder=Path(folder.name))
    >>> visits = table(pyarrow.table({"age": [34, 36, 88]}), declared)
    >>> _ = Ledger.init(declared)  # once per table
    >>> query = Outliers(columns=("age",), neighbours=2, radius=5, epsilon="0.5")
    >>> visits.price(query).guarantee.parameters  # reads no row
    {'epsilon': '0.5'}
    >>> answer = visits.release(query)
    >>> isinstance(answer["count"], int), answer.ledger["left"]
    (True, {'epsilon': '1.5'})
    >>> visits.owner.report(query)
    <OwnerOnly: NOT PRIVATE, for the owner's desk; .value unwraps it>
    >>> folder.cleanup()
    """

    def __init__(self, declaration: Declaration, source: Source, *, seed: int | None = None) -> None:
        if seed is not None and not declaration.test:
            raise UsageError(
                f"a seed makes the noise predictable, and table '{declaration.id}' is not a test table.",
                hint="Leave the seed out, or write test = true in [table] of a declaration for tests.",
            )
        self.declaration = declaration
        self._source = source
        self._entropy: Entropy = SystemEntropy() if seed is None else SeededEntropy(seed)

    def price(self, query: Query) -> Price:
        """What `query` would promise and cost. Reads no row, opens no ledger, spends nothing."""
        return query.price(self.declaration)

    def release(self, query: Query, request_id: str | None = None) -> Release:
        """Charge, draw, record, return. The same request id with the same question returns the recorded answer."""
        self._refuse_unreviewed()
        price = self.price(query)
        ledger = Ledger.open(self.declaration.ledger)
        asked = description(query)
        if not ledger.check(price.guarantee, declaration=self.declaration, query=asked, request_id=request_id):
            self._source.verify(query.columns)  # names and types of columns, no row: a typing error should cost nothing
        charge = ledger.charge(price.guarantee, declaration=self.declaration, query=asked, request_id=request_id)
        if charge.replay is not None:
            return _recorded(charge, price)
        release = self._draw(query, price, charge)
        ledger.answer(charge.entry, release.to_json())
        return release

    @property
    def owner(self) -> Owner:
        return Owner(self.declaration, self._source)

    def _draw(self, query: Query, price: Price, charge: Charge) -> Release:
        """The answer; whatever breaks is told by its kind and place alone, with no chain or frame that could hold a row."""
        try:
            release, what = self._attempt(query, price, charge)
        except WallflowerError as error:  # while opening: engines then speak of files and types alone
            release, what = None, str(error)
        except Exception as error:  # noqa: BLE001 - any failure here may quote a row
            release, what = None, _broke(error)
        if release is not None:
            return release
        # Raised outside the handlers: inside them Python would keep the first error as __context__.
        raise ReleaseFailed(what, hint=f"Entry {charge.entry} has been charged and its request id is spent.")

    def _attempt(self, query: Query, price: Price, charge: Charge) -> tuple[Release | None, str]:
        """The release, or what broke. After the rows are open only a ReleaseFailed is told in its own words."""
        with self._source.rows(query.columns) as rows:
            try:
                release = Release(
                    value=query.run(rows, self._entropy),
                    guarantee=price.guarantee,
                    mechanism=price.mechanism,
                    ledger=charge.to_json(),
                    private=self._entropy.private and not self.declaration.test,
                )
            except ReleaseFailed as error:
                return None, str(error)
            except Exception as error:  # noqa: BLE001 - errors of our own among them: they too may quote a row
                return None, _broke(error)
        return release, ""

    def _refuse_unreviewed(self) -> None:
        if not self.declaration.reviewed:
            raise DeclarationError(
                f"the declaration of '{self.declaration.id}' has not been reviewed.",
                hint="Check every bound and value against public knowledge, then write reviewed = true in [table].",
            )


class Owner:
    """The owner's door: unprotected looks at the rows, wrapped so that no release can hold them."""

    def __init__(self, declaration: Declaration, source: Source) -> None:
        self._declaration = declaration
        self._source = source

    def report(self, query: Query) -> OwnerOnly:
        """What was possible and what is true, for `query`. NOT PRIVATE."""
        price = query.price(self._declaration)
        with self._source.rows(query.columns) as rows:
            return OwnerOnly({"price": price, "seen": query.inspect(rows)})

    def check(self) -> OwnerOnly:
        """What `outside` and `missing` would do to the rows. NOT PRIVATE."""
        from wallflower.engines import examine

        return OwnerOnly(examine(self._source, self._declaration))


def open(declaration: str | Path, *, seed: int | None = None) -> Session:  # noqa: A001 - reads as wf.open
    """A session on the table that a declaration file describes. Nothing is read yet.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "visits.toml")
    ...     _ = file.write_text('''
    ... [table]
    ... id = "visits"
    ... source = "visits.csv"
    ... unit = "row"
    ... neighbours = "add-remove"
    ... max_rows = 1000
    ... ledger = "visits.ledger"
    ... [columns.age]
    ... role = "sensitive"
    ... lower = 0
    ... upper = 120
    ... step = 1
    ... outside = "clip"
    ... missing = "drop"
    ... ''')
    ...     open(file).declaration.id
    'visits'
    """
    from wallflower.engines import open_source
    from wallflower.schema import load

    declared = load(declaration)
    return Session(declared, open_source(declared), seed=seed)


def table(frame: object, declaration: str | Path | Declaration, *, seed: int | None = None) -> Session:
    """A session on a pandas, polars or Arrow table in place of the declared source.

    >>> import pyarrow
    >>> from wallflower.schema import loads
    >>> declared = loads('''
    ... [table]
    ... id = "visits"
    ... unit = "row"
    ... neighbours = "replace-one"
    ... max_rows = 1000
    ... ledger = "visits.ledger"
    ... [columns.age]
    ... role = "sensitive"
    ... lower = 0
    ... upper = 120
    ... step = 1
    ... outside = "clip"
    ... missing = 0
    ... ''')
    >>> table(pyarrow.table({"age": [34, 36, 88]}), declared).declaration.neighbours
    'replace-one'
    """
    from wallflower.engines import from_frame
    from wallflower.schema import load

    declared = declaration if isinstance(declaration, Declaration) else load(declaration, source_optional=True)
    return Session(declared, from_frame(frame, declared), seed=seed)


def description(query: Query) -> dict[str, Any]:
    """The question in full, as JSON: what the ledger keeps and what a request id is compared by."""
    described = _described(query)
    if not isinstance(described, dict):
        raise UsageError(f"a query is a frozen dataclass, got {type(query).__name__}.")
    return {"command": query.name, **described}


def _described(value: object) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner = {field.name: _described(getattr(value, field.name)) for field in dataclasses.fields(value)}
        if inner.keys() & {"command", "kind"}:
            raise UsageError(
                f"a field of {type(value).__name__} is called 'command' or 'kind', which would hide what it is."
            )
        return {"kind": type(value).__name__, **inner}
    if isinstance(value, Fraction):
        return shown(value)
    if isinstance(value, Mapping):
        return {str(key): _described(item) for key, item in value.items()}
    if isinstance(value, list | tuple | frozenset | set):
        items = [_described(item) for item in value]
        return sorted(items, key=str) if isinstance(value, frozenset | set) else items
    if isinstance(value, str | Path):
        return _sayable(str(value))
    if value is None or isinstance(value, bool | int):
        return value
    raise UsageError(
        f"a query cannot hold a {type(value).__name__}: the ledger could not say what was asked.",
        hint="Use text, whole numbers, exact fractions, or frozen dataclasses of them.",
    )


def _sayable(text: str) -> str:
    """Text that can be written down; the command line lets bytes through that are no text."""
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise UsageError(f"{text!a} is not text.", hint="Write it in UTF-8.")
    return text


def _recorded(charge: Charge, price: Price) -> Release:
    """The recorded answer, with the promise it was given under; a promise that is worded anew is still the same."""
    answer = charge.replay or {}
    now = price.guarantee.to_json()
    if any(now[name] != said for name, said in answer["guarantee"].items() if name != "sentence"):
        raise LedgerError(
            f"entry {charge.entry} was answered under another promise than this version of Wallflower would give.",
            hint="The answer and its promise are in `wallflower ledger history DECL --json`. Use a new id to ask again.",
        )
    return Release(
        value=answer["release"],
        guarantee=price.guarantee,
        mechanism=answer["mechanism"],
        ledger=answer["ledger"],
        private=bool(answer["private"]),
    )


def _broke(error: BaseException) -> str:
    return (
        f"the answer could not be computed ({place(error)}). This is a bug: please report the place named here; it says "
        "nothing about your rows."
    )
