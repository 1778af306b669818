"""What `ledger history` says: every event in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from wallflower.ledger.admission import OWNER
from wallflower.ledger.events import Event
from wallflower.ledger.explained_records import keys_of
from wallflower.ledger.redeclaration import said
from wallflower.privacy.account import Account
from wallflower.privacy.accounts import named, where
from wallflower.privacy.limits import shown_amounts


@dataclass(frozen=True, kw_only=True)
class Line:
    """One event of the history."""

    event: Event
    text: str

    @property
    def kind(self) -> str:
        return self.event.kind

    def to_json(self) -> dict[str, Any]:
        return {
            "entry": self.event.entry,
            "at": self.event.at,
            "kind": self.event.kind,
            "text": self.text,
            "content": self.event.content,
            "hash": f"sha256:{self.event.hash}",
        }

    def line(self) -> str:
        return f"{self.event.entry}  {self.event.at}  {self.text}"


def history(events: Iterable[Event], *, answered: frozenset[int], asker: str | None = None) -> Iterator[Line]:
    """One line for each event; with `asker`, for each charge of theirs and each reply to one."""
    theirs: set[int] = set()
    for event in events:
        content = event.content
        if asker is not None:
            if event.kind == "charge" and content["asker"] == asker:
                theirs.add(event.entry)
            if event.entry not in theirs and content.get("charge") not in theirs:
                continue
        yield Line(event=event, text=told(event, content, answered=answered))


def told(event: Event, content: Mapping[str, Any], *, answered: frozenset[int]) -> str:
    match event.kind:
        case "limits":
            return _limits(content)
        case "answer":
            return f"answer to entry {content['charge']} recorded"
        case "part":
            return f"entry {content['charge']} goes on, uncharged: {len(content['kept'])} of its series told so far"
        case "closed":
            return f"entry {content['charge']} closed without an answer: {content['why']}"
        case "checkpoint":
            return "checkpoint: the sums so far"
        case _:
            return _charge(event, content, answered=answered)


def _limits(content: Mapping[str, Any]) -> str:
    limits = []
    for code, amounts in content["limits"].items():
        limits.append(f"{where(Account.of(code))} {said(amounts).replace(' = ', ' ')}")
    limits += [
        f"[askers.{asker}.{code}] {said(amounts).replace(' = ', ' ')}"
        for asker, shares in content["askers"].items()
        for code, amounts in shares.items()
    ]
    by = "" if content["by"] == OWNER else f" by {content['by']}"
    why = f" ({content['reason']})" if content["reason"] else ""
    return f"limits set{by}{why}: {'; '.join(limits) or 'none'}"


def _charge(event: Event, content: Mapping[str, Any], *, answered: frozenset[int]) -> str:
    silent = "" if event.entry in answered else "; no answer was recorded, so none was shown"
    what = content["question"].get("command", "a question")
    keys = [] if content.get("record") is None else keys_of(content["question"])
    record = f" about record{'s' if len(keys) > 1 else ''} {', '.join(keys)}" if keys else ""
    amounts = {name: Fraction(amount) for name, amount in content["amounts"].items() if name != "rho"}
    costs = ", ".join(f"{name} {amount}" for name, amount in shown_amounts(amounts).items())
    who = "" if content["asker"] == OWNER else f" by {content['asker']}"
    why = f" for: {content['purpose']}" if content["purpose"] else ""
    account = named(Account.of(content["account"]), content["promise"]["unit"])
    return f"{what}{record}{who} charged {costs} to {account} (request {content['request']}){why}{silent}"
