"""A certificate for one release: the page a data protection officer files.

It is made from the release's JSON alone, so it can hold nothing that has not left already.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wallflower.atomic_file import write_whole
from wallflower.errors import UsageError
from wallflower.privacy.guarantee import worded
from wallflower.report.pages import render

FAMILIES = {
    "dp": "Differential privacy",
    "output-constrained-dp": "Output-constrained differential privacy",
    "sensitive-privacy": "Sensitive privacy",
    "plain-k-anonymity": "Plain k-anonymity",
    "local-dp": "Local differential privacy",
    "metric-privacy": "Metric privacy",
}

NOT_PROMISED = {
    "dp": [
        "It does not say that the answer is exact: noise was added on purpose.",
        "A group of several rows is protected less, in proportion to its size.",
    ],
    "output-constrained-dp": [
        "The record that was asked about is not protected: the answer says where it stands out.",
        "A row whose presence makes an answer possible or impossible is not protected.",
        "There is no promise for groups of rows.",
    ],
    "sensitive-privacy": [
        "A row that is far from normal is protected less, the further the less.",
        "The promise holds for the declared model; another model is another account.",
    ],
    "plain-k-anonymity": [
        "It is a property of the one published table and bounds no inference.",
        "Two tables published from the same rows can be intersected: their promises do not add up.",
        "A person known to be in the rows but missing from the table is known to have been left out.",
    ],
    "local-dp": ["Many readings from one sensor lose in proportion to their number."],
    "metric-privacy": ["A reading far outside the core range is recognisable as such, the further the more."],
}

ONE_PERSON = {
    "row": "One person is one row of the table.",
    "person": "All rows of a person carry one id, and no two people share one: whoever has two ids is two people here.",
}

PERIODS_ADD_UP = ["Periods of one sensor add up: a person behind K of them has lost K times as much."]

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


def write_certificate(release: Path, output: Path) -> None:
    """Read the JSON of a release and write its certificate as one self-contained page."""
    write_whole(output, certificate(_read(release)))


def certificate(release: dict[str, Any]) -> str:
    guarantee, ledger = release["guarantee"], release["ledger"]
    family = str(guarantee["family"])
    of_a_stream = family in {"local-dp", "metric-privacy"}
    return render(
        "certificate.html",
        release=release,
        answer=_answer(release["release"]),
        family=FAMILIES.get(family, family),
        guarantee=guarantee,
        series=_series(release),
        not_promised=PERIODS_ADD_UP if _of_a_period(guarantee) else _not_promised(family, str(guarantee["unit"])),
        assumptions=ASSUMED_OF_A_STREAM if of_a_stream else _assumed_of_a_table(str(guarantee["unit"])),
        holder="Stream" if of_a_stream else "Table",
        ledger=ledger,
        budget=[
            (name, amount, ledger.get("left", {}).get(name, "not limited"))
            for name, amount in ledger.get("spent", {}).items()
        ],
        mechanism=release["mechanism"],
        made_with=release["wallflower"],
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


def _assumed_of_a_table(unit: str) -> list[str]:
    first, *rest = ASSUMED_OF_A_TABLE
    return [first, ONE_PERSON.get(unit, ONE_PERSON["row"]), *rest]


def _not_promised(family: str, unit: str) -> list[str]:
    return [worded(each, unit) for each in NOT_PROMISED.get(family, [])]


def _of_a_period(guarantee: dict[str, Any]) -> bool:
    """Whether a stream's promise covers everything that a sensor sends for a while, and not one reading."""
    return str(guarantee["family"]) == "local-dp" and str(guarantee.get("unit", "reading")) != "reading"


def _read(path: Path) -> dict[str, Any]:
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise UsageError(f"'{path}' cannot be read.", hint="Save a release with --json > release.json first.") from None
    except ValueError:
        raise UsageError(f"'{path}' is not JSON.", hint="Save a release with --json > release.json first.") from None
    needed = {"ok", "release", "guarantee", "mechanism", "ledger", "private", "wallflower"}
    if not isinstance(loaded, dict) or loaded.get("ok") is not True or not needed <= set(loaded):
        raise UsageError(
            f"'{path}' is not the JSON of a release.",
            hint="An error or a dry run has no certificate; save a release with --json.",
        )
    return loaded


def _answer(value: Any) -> list[tuple[str, str]]:
    """The released value as labelled lines, nested parts spelled out."""
    if value is None:
        return [("answer", "no answer (charged all the same)")]
    return [(str(name).replace("_", " "), _plain(item)) for name, item in value.items() if item is not None]


def _plain(item: Any) -> str:
    if isinstance(item, bool):
        return "yes" if item else "no"
    if isinstance(item, dict):
        return "; ".join(f"{name}: {_plain(part)}" for name, part in item.items() if part is not None)
    if isinstance(item, list):
        joined = " | ".join(_plain(part) for part in item)
        return f"{joined[:2000]} …" if len(joined) > 2000 else joined
    return str(item)
