"""Long ledgers for benchmarks: the first charge is made as any other, and its like are appended in large batches."""

from __future__ import annotations

from fractions import Fraction

from wallflower.ledger import Ledger
from wallflower.ledger.batching import Buffered
from wallflower.privacy.guarantees import PureDP
from wallflower.schema.declaration import Declaration

PROMISE = PureDP(epsilon=Fraction("0.001"), neighbours="add-remove")
BATCH = 50_000


def filled(declaration: Declaration, entries: int) -> None:
    """A ledger of at least so many entries, charges with their answers, by ten askers; its chain and sums are right."""
    Ledger.init(declaration)
    ledger = Ledger.open(declaration)
    question = {"command": "count", "columns": ["x"], "neighbours": 3}
    first = ledger.charge(PROMISE, declaration=declaration, query=question)
    ledger.answer(first.entry, {"release": {"count": 3, "interval": None}})
    like = next(line.event.content for line in ledger.history() if line.kind == "charge")

    def work(transaction) -> None:
        buffered = Buffered(transaction, [])
        until = min(ledger.journal.entry + BATCH, entries)
        while (number := ledger.journal.entry) < until:
            content = {**like, "request": f"request-{number}", "asker": f"asker-{number % 10}"}
            del content["salt"]
            charge = ledger._append(buffered, "charge", content)  # noqa: SLF001 - nobody is asked; the events are what counts
            release = {"count": number, "interval": None}
            ledger._append(buffered, "answer", {"charge": charge.entry, "release": release})  # noqa: SLF001
        buffered.flush()

    while ledger.journal.entry < entries:
        ledger.batch(work)
