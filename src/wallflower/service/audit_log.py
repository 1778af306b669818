"""Who did what, when, from where. Never a row, never a secret: words are written by this package alone."""

from __future__ import annotations

from wallflower.stores.database import Transaction

MOST_WORDS = 300


def note(changes: Transaction, *, who: str, source: str, did: str, subject: str = "", words: str = "") -> None:
    """Add a line in the same transaction as what it speaks of: one is there exactly when the other is."""
    number = changes.next_number("audit")
    changes.run(
        "INSERT INTO audit (number, at, who, source, did, subject, words) "
        "VALUES (:number, :at, :who, :source, :did, :subject, :words)",
        number=number,
        at=changes.now_text(),
        who=_line(who)[:100],
        source=_line(source)[:100],
        did=did,
        subject=_line(subject)[:100],
        words=_line(words)[:MOST_WORDS],
    )


def _line(text: str) -> str:
    """What somebody typed, as part of one line: no line break, no escape of a terminal, no mark that turns text around.

    >>> _line("eve\\nada logged in\\x1b[2J")
    'eve\\ufffdada logged in\\ufffd[2J'
    """
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def lines(changes: Transaction, *, subject: str | None = None, most: int = 200) -> list[dict[str, object]]:
    """The newest lines first, of one table or of all."""
    where = "" if subject is None else "WHERE subject = :subject "
    given = {} if subject is None else {"subject": subject}
    return changes.all(f"SELECT * FROM audit {where}ORDER BY number DESC LIMIT :most", most=most, **given)
