"""What the demos of the table areas share: a question asked, its papers, and a stage to show them on."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from fractions import Fraction
from pathlib import Path
from typing import Protocol

from wallflower.atomic_file import write_whole
from wallflower.ledger import Ledger
from wallflower.privacy.accounts import kind_of
from wallflower.privacy.guarantee import factor, worded
from wallflower.privacy.release import OwnerOnly, Release
from wallflower.report.certificate import certificate_page
from wallflower.report.owner import write_owner_report
from wallflower.session import Query, Session

Lines = list[tuple[str, str]]


class Stage(Protocol):
    """Where a demo is shown while it runs: a terminal, or nowhere."""

    def say(self, text: str, /) -> None: ...

    def show(self, lines: Lines, /) -> None: ...

    def watched(self) -> AbstractContextManager[None]:
        """Progress of what takes long is shown meanwhile."""
        ...


def ask(stage: Stage, session: Session, question: str, query: Query, *, expect: str) -> tuple[Release, Lines]:
    """Ask, show, and give back what was shown."""
    release = session.release(query)
    lines = [("asked", question), ("expect", expect), *release.lines()]
    stage.show(lines)
    return release, lines


def file_papers(
    folder: Path, session: Session, query: Query, release: Release, *, name: str = "", report: OwnerOnly | None = None
) -> tuple[tuple[str, str], ...]:
    """Write the certificate and the owner's report of an answer, and say where, from the report's folder."""
    after = "".join(f"-{word}" for word in name.replace("'", "").split())
    certificate_file, owner_file = folder / f"certificate{after}.html", folder / f"owner{after}.html"
    write_whole(certificate_file, certificate_page(release.to_json()))
    seen = session.owner.report(query) if report is None else report
    write_owner_report(owner_file, query=query.name, declaration=session.declaration, report=seen, release=release)
    of = f" of {name}" if name else ""
    return (
        (f"certificate{of}", f"{folder.name}/{certificate_file.name}"),
        (f"owner's report{of}, NOT PRIVATE", f"{folder.name}/{owner_file.name}"),
    )


def in_words(release: Release) -> str:
    return release.lines()[0][1]


def times(release: Release) -> str:
    """How many times as likely an answer may be with one person as without, from the promise itself."""
    return factor(Fraction(release.guarantee.parameters["epsilon"]))


def facts(report: OwnerOnly, *names: str) -> Lines:
    """What the owner's report says is really there: all of it, or what is named."""
    seen, unit = report.value["seen"]["facts"], report.value["price"].guarantee.unit
    return [(worded(name, unit), str(seen[name])) for name in (names or seen)]


def spent(session: Session) -> Mapping[str, tuple[Fraction, Fraction]]:
    """What each account of the table has paid, and its limit; of two accounts of a family the one that binds."""
    statement = Ledger.open(session.declaration).show(session.declaration)
    found = {}
    for standing in statement.accounts:
        if standing.limit is None:
            continue
        limits = standing.limit.amounts
        name = "publications" if "publications" in limits else "epsilon"
        if standing.spent[name]:
            model = f" '{standing.account.model}'" if standing.account.model else ""
            label = (standing.account.kind if model else kind_of(standing.account).budget) + model
            found[label] = (Fraction(standing.spent[name]), Fraction(limits[name]))
    return found
