"""A certificate for one release: the page a data protection officer files.

It is made from the release's JSON alone, so it can hold nothing that has not left already. Whether that JSON is what the
ledger holds is another question: `--verify` asks it, and the page says whether it was asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from wallflower.atomic_file import write_whole
from wallflower.privacy.guarantees import FAMILIES
from wallflower.privacy.release import Release
from wallflower.report.pages import render
from wallflower.report.release_file import as_release, read_release

ONE_PERSON = {
    "row": "One person is one row of the table.",
    "person": "All rows of a person carry one id, and no two people share one: whoever has two ids is two people here.",
}

ASSUMED_OF_A_TABLE = [
    "Bounds, values, radii and budgets in the declaration came from public knowledge, not from the rows.",
    "No answer about the same rows was given outside this ledger.",
    "The time an answer took was not shown to those who received it.",
    "The operating system's randomness is unpredictable, and what it says is on disk is on disk.",
]

ASSUMED_OF_A_STREAM = [
    "Bounds, centres, scales and budgets in the declaration came from public knowledge, not from the readings.",
    "The sensor's own device is trusted: it sees the reading before the noise.",
    "Nobody but the sensor keeps, or sends, the reading as measured.",
    "That and when a sensor sends is public.",
    "The operating system's randomness is unpredictable, and what it says is on disk is on disk.",
]


NOT_COMPARED = "This page was made from a file and has not been compared with the ledger (--verify does that)."
NOT_COMPARED_WITH_A_BOOK = "This page was made from what the sensor printed and has not been compared with its book."


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """One self-contained page; a notebook shows it, `write` keeps it."""

    html: str = field(repr=False)

    def write(self, path: str | Path) -> None:
        write_whole(Path(path), self.html)

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.html, quote=True)}" style="width:100%;height:40em;border:0"></iframe>'


def certificate(release: Release | Mapping[str, Any] | str | Path) -> Certificate:
    """The certificate of a release: what was asked, released, promised, assumed and paid. Takes a release, its JSON, or
    the file it was saved in. `wallflower certificate --verify` compares one with the ledger, and signs it.

    >>> from fractions import Fraction
    >>> from wallflower.privacy.guarantees import PureDP
    >>> promise = PureDP(epsilon=Fraction(1, 2), neighbours="add-remove")
    >>> ledger = {"account": "visits", "entry": 2, "spent": {"epsilon": "0.5"}, "left": {"epsilon": "1.5"}}
    >>> value = {"count": 7, "interval": None}
    >>> answer = Release(value=value, guarantee=promise, mechanism={"name": "x"}, ledger=ledger, private=True)
    >>> "What is not promised" in certificate(answer).html
    True
    """
    if isinstance(release, str | Path):
        return Certificate(html=certificate_page(read_release(Path(release))))
    said = release.to_json() if isinstance(release, Release) else as_release(dict(release))
    return Certificate(html=certificate_page(said))


def certificate_page(release: dict[str, Any], *, compared: str | None = None) -> str:
    """The page; `compared` says what the release was compared with, None that it was compared with nothing."""
    guarantee, ledger = release["guarantee"], release["ledger"]
    family = str(guarantee["family"])
    known = FAMILIES.get(family)
    of_a_stream = known is not None and known.of_a_stream
    return render(
        "certificate.html",
        release=release,
        asked=_asked(release.get("asked") or {}),
        notes=release.get("notes", []),
        answer=_answer(release["release"]),
        family=family if known is None else known.title,
        guarantee=guarantee,
        series=_series(release),
        not_promised=() if known is None else known.disclaimers(str(guarantee["unit"])),
        assumptions=ASSUMED_OF_A_STREAM if of_a_stream else _assumed_of_a_table(str(guarantee["unit"])),
        holder="Stream" if of_a_stream else "Table",
        ledger=ledger,
        budget=_budget(ledger),
        mechanism={str(name).replace("_", " "): value for name, value in release["mechanism"].items()},
        made_with=release["wallflower"],
        compared=compared or (NOT_COMPARED_WITH_A_BOOK if of_a_stream else NOT_COMPARED),
        whole=json.dumps(release, ensure_ascii=False, indent=1),
    )


def _series(release: dict[str, Any]) -> str:
    """What a release that is one part of a series must say about the whole of it; empty for any other."""
    told, asked = release["release"], release.get("asked") or {}
    if not isinstance(told, dict) or "days" not in told or "horizon" not in asked:
        return ""
    days = told["days"]
    return (
        f"This is a series of {asked['horizon']} days from {asked['start']}, {len(days)} of them told so far, until {days[-1]['day']}. "
        "The promise and its cost are for the whole series at once, the days that are still to come included: later parts are charged nothing "
        "more, and repeat what is told here. It holds as long as rows are only added to the table, and none is changed or removed."
    )


def _budget(ledger: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """Account, budget, spent and left: every account that the charge was booked in."""
    accounts = ledger.get("debited") or [{"account": ledger["account"], **ledger}]
    return [
        (account["account"], name.replace("_", " "), amount, (account["left"] or {}).get(name, "not limited"))
        for account in accounts
        for name, amount in account["spent"].items()
    ]


def _asked(question: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The question in labelled lines: the command first, then every choice that was made."""
    named = ["command", *(name for name in question if name not in {"command", "kind"})]
    shown = {name: question.get(name) for name in named if question.get(name) not in (None, "", [], {})}
    return [(name.replace("_", " "), _in_words(item)) for name, item in shown.items()]


def _assumed_of_a_table(unit: str) -> list[str]:
    first, *rest = ASSUMED_OF_A_TABLE
    return [first, ONE_PERSON.get(unit, ONE_PERSON["row"]), *rest]


def _answer(value: Any) -> list[tuple[str, str]]:
    """The released value as labelled lines, nested parts spelled out."""
    if value is None:
        return [("answer", "no answer (charged all the same)")]
    return [(str(name).replace("_", " "), _in_words(item)) for name, item in value.items() if item is not None]


def _in_words(item: Any) -> str:
    if isinstance(item, bool):
        return "yes" if item else "no"
    if isinstance(item, dict):
        return "; ".join(f"{name}: {_in_words(part)}" for name, part in item.items() if part is not None)
    if isinstance(item, list):
        joined = " | ".join(_in_words(part) for part in item)
        return f"{joined[:2000]} …" if len(joined) > 2000 else joined
    return str(item)
