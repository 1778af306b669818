"""The asker's door: a release is a price, a charge, and a draw, in that order.

Nothing is read before the charge is on disk, and nothing is shown before the answer is.
"""

from __future__ import annotations

from wallflower.atomic_file import write_whole
from wallflower.engines.base import Source
from wallflower.engines.made_up import made_up_rows
from wallflower.errors import DeclarationError, LedgerError, ReleaseFailed, UsageError, WallflowerError, place
from wallflower.ledger.book import Charge, Ledger
from wallflower.noise.entropy import Entropy, SeededEntropy, SystemEntropy
from wallflower.privacy.file_answer import FileAnswer
from wallflower.privacy.price import Price
from wallflower.privacy.release import Release
from wallflower.schema.declaration import Declaration
from wallflower.session.description import description
from wallflower.session.owner_door import Owner
from wallflower.session.queries import Query


class Session:
    """A declared table, its ledger, and a source of noise. `open` and `table` make one.

    >>> import pyarrow, tempfile, wallflower
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
    >>> visits = wallflower.table(pyarrow.table({"age": [34, 36, 88]}), declared)
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
            self._prepare(query)
        charge = ledger.charge(price.guarantee, declaration=self.declaration, query=asked, request_id=request_id)
        if charge.replay is not None:
            return _recorded(charge, price)
        release = self._draw(query, price, charge)
        ledger.answer(charge.entry, release.to_json())
        return release

    @property
    def owner(self) -> Owner:
        return Owner(self.declaration, self._source)

    def _prepare(self, query: Query) -> None:
        """Whatever can fail without looking at a row fails here, for nothing."""
        try:
            if self._entropy.private:
                self._entropy.bits(8)
            with made_up_rows(self.declaration, query.columns) as rows:
                query.prepare(rows, SeededEntropy(0))
        except WallflowerError:
            raise
        except Exception as error:
            raise UsageError(
                f"this question cannot be answered here: {type(error).__name__} ({error}).",
                hint="It was tried on made-up rows; nothing was read and nothing has been charged.",
            ) from error

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
                answer = query.run(rows, self._entropy)
                if isinstance(answer, FileAnswer):
                    write_whole(answer.place, answer.content)
                    answer = dict(answer.value)
                release = Release(
                    value=answer,
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
