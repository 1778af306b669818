"""The asker's door: a release is a price, a charge, and a draw, in that order.

Before the charge is on disk rows are read for nothing but damage, and nothing of them is kept; nothing is shown before the answer is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from wallflower import progress
from wallflower.atomic_file import write_whole
from wallflower.engines.base import Rows, Source, refuse_damage
from wallflower.engines.made_up import trial_rows
from wallflower.engines.stand_in import MADE_UP
from wallflower.errors import (
    DeclarationError,
    LedgerError,
    PendingError,
    ReleaseFailed,
    UsageError,
    WallflowerError,
    place,
)
from wallflower.ledger.admission import OWNER, Shares
from wallflower.ledger.book import Ledger
from wallflower.ledger.charge import Charge, Part
from wallflower.ledger.preview import Preview, costs, preview
from wallflower.ledger.statement import Statement
from wallflower.noise.entropy import Entropy, SeededEntropy, SystemEntropy
from wallflower.privacy.file_answer import FileAnswer
from wallflower.privacy.price import Price
from wallflower.privacy.release import Release
from wallflower.schema.canonical import place_of
from wallflower.schema.declaration import Declaration
from wallflower.schema.display import InNotebooks
from wallflower.session.description import description
from wallflower.session.notebook_progress import shown_progress
from wallflower.session.owner_door import Owner
from wallflower.session.pricing import price_of
from wallflower.session.queries import Query
from wallflower.session.rehearsal import DRAWS, SWEEP_DRAWS, rehearse, sweep
from wallflower.session.rehearsal_result import Rehearsal, Sweep
from wallflower.session.series import GOES_ON, SeriesQuery, dated, has_begun, is_series, refuse_other_tree, usual_id

Run = Callable[[Rows, Entropy], dict[str, Any] | FileAnswer | None]


class Session(InNotebooks):
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
        self._ledger: Ledger | None = None
        self._entropy: Entropy = SystemEntropy() if seed is None else SeededEntropy(seed)

    def __repr__(self) -> str:
        return f"<Session on table '{self.declaration.id}'>"

    def lines(self) -> list[tuple[str, str]]:
        """What is declared and what is left, as label and text. Opens no row."""
        declared = self.declaration
        rows = [
            ("table", declared.id),
            ("protects", f"one {declared.unit}; tables that differ by {declared.neighbours} are compared"),
            ("columns", ", ".join(f"{column.name} ({column.role})" for column in declared.columns.values())),
        ]
        if not declared.reviewed:
            rows.append(("not reviewed", "releases are refused until [table] says reviewed = true"))
        if declared.test:
            rows.append(("NOT PRIVATE", "a test table: nothing is promised"))
        try:
            budget = self.budget
        except LedgerError as error:
            return [*rows, ("budget", str(error))]
        return [*rows, *(("budget", standing.lines()[0]) for standing in budget.accounts)]

    @property
    def budget(self) -> Statement:
        """What has been spent and what is left, account by account, from the ledger as it is now."""
        return self.ledger.show(self.declaration)

    def price(self, query: Query) -> Price:
        """What `query` would promise and cost, and in which accounts. Reads no row, opens no ledger, spends nothing."""
        description(query)  # refuses what no ledger could keep: what has a price can be asked
        price = price_of(query, self.declaration)
        return replace(price, booked=costs(price.guarantee, self.declaration))

    def preview(
        self, query: Query, *, asker: str = OWNER, shares: Shares | None = None, request_id: str | None = None
    ) -> Preview:
        """Every account that `query` would debit and what it would leave there. Reads no row, spends nothing."""
        price = self.price(query)
        if is_series(query):
            named = request_id or usual_id(query)
            whose: dict[str, Any] = {"query": query, "asker": asker, "shares": shares}
            if has_begun(self.declaration, price.guarantee, request_id=named, **whose):
                return Preview(debited=(), notes=(GOES_ON,))
        return preview(self.declaration, price.guarantee, query, asker=asker, shares=shares)

    def release(
        self,
        query: Query,
        request_id: str | None = None,
        *,
        asker: str = OWNER,
        purpose: str = "",
        shares: Shares | None = None,
        at: str | None = None,
    ) -> Release:
        """Charge, draw, record, return. The same request id of the same asker with the same question returns the
        recorded answer, and waits for it while it is being computed. `shares`: second limits that a service sets; `at`: its tick.
        """
        self._refuse_unreviewed()
        query = dated(query)
        price = self.price(query)
        ledger = self.ledger
        whose: dict[str, Any] = {
            "declaration": self.declaration,
            "query": query,
            "request_id": request_id,
            "asker": asker,
            "purpose": purpose,
            "shares": shares,
            "at": at,
        }
        if is_series(query):
            return self._series(query, price, whose)
        if not ledger.check(price.guarantee, **whose):
            self._ready(query)
        holder = object()
        try:
            charge = ledger.charge(price.guarantee, **whose, holder=holder)
            if charge.replay is None:
                with shown_progress():
                    release, file = self._draw(query, price, charge)
                kept = ledger.answer(charge.entry, release.to_json(), file=None if file is None else file.content)
        except BaseException:
            ledger.forsake(holder)  # nothing was shown; whether it was recorded, the same id will tell
            raise
        if charge.replay is not None:
            release = _recorded(charge.replay, query, price, charge.entry)
            return self._delivered(query, release, charge.file)
        if file is None:
            return release
        if file.warning:
            progress.warn(file.warning)
        return self._delivered(query, _recorded(kept, query, price, charge.entry), str(kept["release"]["sha256"]))

    def _series(self, query: SeriesQuery, price: Price, whose: dict[str, Any]) -> Release:
        """Charge once, then tell what was kept and go on from it: each part is recorded before it is shown.

        What was drawn and not recorded was never shown, so it may be drawn anew, uncharged.
        """
        ledger, whose = self.ledger, {**whose, "request_id": whose["request_id"] or usual_id(query), "series": True}
        known = ledger.check(price.guarantee, **whose)
        if not known:
            self._ready(query)
        charge = ledger.charge(price.guarantee, **whose)
        part = charge.part
        while part is None or not query.has_all(part.kept):
            if part is not None:
                refuse_other_tree(part, price, charge.entry)
            if known:
                self._ready(query)
            part = self._next_part(query, price, charge, part)
        return _recorded(part.release, query, price, charge.entry)

    def _next_part(self, query: SeriesQuery, price: Price, charge: Charge, part: Part | None) -> Part:
        """The next part, drawn and recorded; or the one that another has recorded in the meantime."""
        kept: list[Any] = []

        def going_on(rows: Rows, entropy: Entropy) -> dict[str, Any]:
            kept[:], answer = query.go_on(() if part is None else part.kept, rows, entropy)
            return answer

        release, _ = self._draw(query, price, charge, run=going_on)
        return self.ledger.part(charge.entry, kept, release.to_json(), after=part)

    def _ready(self, query: Query) -> None:
        """Whatever can fail whatever the rows hold; what reads them, for damage alone, comes when nothing else is in the way."""
        self._source.verify(query.columns)  # names and types of columns, no row: a typing error should cost nothing
        self._prepare(query)
        refuse_damage(self._source, query.columns)

    @property
    def ledger(self) -> Ledger:
        """Opened once, and caught up with at every use."""
        if self._ledger is None:
            self._ledger = Ledger.open(self.declaration)
        return self._ledger

    def _delivered(self, query: Query, release: Release, digest: str | None) -> Release:
        """Put a recorded file where the query says, and name it so; the answer stands whatever becomes of that."""
        place = place_of(query)
        if digest is None or place is None:
            return release
        content = self.ledger.kept(digest)
        try:
            write_whole(place, content)
        except OSError as error:
            raise PendingError(
                f"the publication is recorded, and cannot be put at '{place}': {error.strerror}.",
                hint="Make room or name another place, and ask again with the same request id: it costs nothing more.",
            ) from None
        return replace(release, value={**(release.value or {}), "file": place.name})

    def rehearse(
        self, query: Query, rows: Any = MADE_UP, *, draws: int = DRAWS, sweep_draws: int = SWEEP_DRAWS
    ) -> Rehearsal:
        """The whole question on rows that stand in for the table's: the true answer there, private ones, and other choices.

        `rows` is "made-up" (from [rehearsal]), "public" (the file declared there), or a frame or a file of the owner's. Neither
        the table's rows nor its ledger is opened, and nothing is charged. Rehearsals on "made-up" and "public" rows hold nothing
        that is private; any other is the owner's look (`owner_only`).
        """
        return rehearse(self.declaration, query, rows, source=self._source, draws=draws, sweep_draws=sweep_draws)

    def sweep(self, query: Query, rows: Any = MADE_UP, *, draws: int = SWEEP_DRAWS, **values: Sequence[Any]) -> Sweep:
        """`rehearse` at other choices, each changed alone: `session.sweep(query, epsilon=["0.1", "0.5"], radius=[1, 2])`.

        Without `values`: at a few around the ones that were asked with.
        """
        return sweep(self.declaration, query, rows, values, source=self._source, draws=draws)

    @property
    def owner(self) -> Owner:
        return Owner(self.declaration, self._source)

    def _prepare(self, query: Query) -> None:
        """Whatever can fail without looking at a row fails here, for nothing."""
        try:
            if self._entropy.private:
                self._entropy.bits(8)
            with trial_rows(self._source, self.declaration, query.columns) as rows:
                query.prepare(rows, SeededEntropy(0))
        except WallflowerError:
            raise
        except Exception as error:
            raise UsageError(
                f"this question cannot be answered here: {type(error).__name__} ({error}).",
                hint="It was tried on made-up rows; nothing was read and nothing has been charged.",
            ) from error

    def _draw(
        self, query: Query, price: Price, charge: Charge, *, run: Run | None = None
    ) -> tuple[Release, FileAnswer | None]:
        """The answer; whatever breaks is told by its kind and place alone, with no chain or frame that could hold a row."""
        try:
            made, what = self._attempt(query, price, charge, query.run if run is None else run)
        except WallflowerError as error:  # while opening: engines then speak of files and types alone
            made, what = None, str(error)
        except Exception as error:  # noqa: BLE001 - any failure here may quote a row
            made, what = None, _broke(error)
        if made is not None:
            return made
        again = self.ledger.give_up(charge.entry)
        # Raised outside the handlers: inside them Python would keep the first error as __context__.
        spent = "may be used again, uncharged" if again else "is spent"
        raise ReleaseFailed(what, hint=f"Entry {charge.entry} has been charged and its request id {spent}.")

    def _attempt(
        self, query: Query, price: Price, charge: Charge, run: Run
    ) -> tuple[tuple[Release, FileAnswer | None] | None, str]:
        """The release, or what broke. After the rows are open only a ReleaseFailed is told in its own words."""
        with self._source.rows(query.columns) as rows:
            try:
                answer = run(rows, self._entropy)
                file = answer if isinstance(answer, FileAnswer) else None
                release = Release(
                    value=answer.recorded() if isinstance(answer, FileAnswer) else answer,
                    guarantee=price.guarantee,
                    mechanism=price.mechanism,
                    ledger=charge.to_json(),
                    private=self._entropy.private and not self.declaration.test,
                    asked=charge.asked,
                    at=charge.at,
                    declaration={"table": self.declaration.id, "fingerprint": self.declaration.fingerprint},
                    notes=price.notes,
                    told=getattr(query, "told", None),
                )
            except ReleaseFailed as error:
                return None, str(error)
            except Exception as error:  # noqa: BLE001 - errors of our own among them: they too may quote a row
                return None, _broke(error)
        return (release, file), ""

    def _refuse_unreviewed(self) -> None:
        if not self.declaration.reviewed:
            raise DeclarationError(
                f"the declaration of '{self.declaration.id}' has not been reviewed.",
                hint="Check every bound and value against public knowledge, then write reviewed = true in [table].",
            )


def _recorded(answer: Mapping[str, Any], query: Query, price: Price, entry: int) -> Release:
    """The recorded answer in its own words. What was promised is compared by its numbers, never by its sentences."""
    then, now = answer["guarantee"], price.guarantee.to_json()
    if any(now[name] != then[name] for name in ("family", "parameters", "neighbours", "unit")):
        raise LedgerError(
            f"entry {entry} was answered under another promise than this version of Wallflower would give.",
            hint="The answer and its promise are in `wallflower ledger history DECL --json`. Use a new id to ask again.",
        )
    return Release(
        value=answer["release"],
        guarantee=price.guarantee,
        promise=then,
        mechanism=answer["mechanism"],
        ledger=answer["ledger"],
        private=bool(answer["private"]),
        asked=answer["asked"],
        at=answer["at"],
        declaration=answer["declaration"],
        notes=tuple(answer["notes"]),
        version=answer["wallflower"],
        told=getattr(query, "told", None),
    )


def _broke(error: BaseException) -> str:
    return (
        f"the answer could not be computed ({place(error)}). This is a bug: please report the place named here; it says "
        "nothing about your rows."
    )
