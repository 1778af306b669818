"""[budget.*] and [askers.*]: the most that a family, and one asker within it, may spend; and where the ledger is."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Literal, cast
from urllib.parse import urlsplit

from wallflower.schema.declaration import Budget
from wallflower.schema.section import Section

ADDED = ("epsilon", "delta", "accounting", "conversion_delta")
FAMILIES = {
    "dp": ADDED,
    "output-constrained-dp": ADDED,
    "plain-k-anonymity": ("publications",),
    "local-dp": ("epsilon",),
    "metric-privacy": ("epsilon",),
}
NO_FAMILIES = {
    "sensitive-privacy": "Each [identify.NAME] has an epsilon of its own.",
    "zcdp": 'It is a way to add up: write accounting = "zcdp" in [budget.dp].',
}
MODEL = "sensitive-privacy/"
ASKER = re.compile(r"[^\x00-\x1f\x7f]{1,100}")


def read_budgets(file: Section) -> dict[str, Budget]:
    families = file.section("budget", tuple(FAMILIES), why_not=NO_FAMILIES)
    budgets: dict[str, Budget] = {}
    for family in families.raw if families else ():
        if families is None or family not in FAMILIES:
            continue
        section = families.section(family, FAMILIES[family])
        if section is not None:
            budgets[family] = _budget(section, family)
    return budgets


def _budget(section: Section, family: str) -> Budget:
    if family == "plain-k-anonymity":
        section.need("publications", "publications = 1")
        return Budget(publications=section.whole("publications", least=1))
    section.need("epsilon", 'epsilon = "1"')
    epsilon, delta = section.budget("epsilon"), section.budget("delta")
    if epsilon is not None and epsilon <= 0:
        section.wrong("epsilon", "above 0")
    if delta is not None and not 0 <= delta < 1:
        section.wrong("delta", "at least 0 and below 1")
    accounting = cast('Literal["sum", "zcdp"] | None', section.choice("accounting", ("sum", "zcdp"))) or "sum"
    return Budget(
        epsilon=epsilon,
        delta=delta or Budget.delta,
        accounting=accounting,
        conversion_delta=_conversion(section, accounting, delta),
    )


def _conversion(section: Section, accounting: str, delta: Fraction | None) -> Fraction | None:
    conversion = section.budget("conversion_delta")
    if accounting != "zcdp":
        if "conversion_delta" in section:
            section.refuse("conversion_delta", "'conversion_delta' needs accounting = \"zcdp\".")
        return None
    if not delta:
        section.refuse(
            "accounting",
            'accounting = "zcdp" needs a delta: what many small releases add up to is then less, but for that chance.',
            'Write delta = "1e-6", or what you can accept, beside it.',
        )
    elif conversion is not None and not 0 < conversion <= delta:
        section.wrong("conversion_delta", "above 0 and at most delta")
    return conversion


def read_askers(file: Section) -> dict[str, dict[str, Budget]]:
    """Second limits, by asker and by the code of an account."""
    raw = file.raw.get("askers", {})
    if not isinstance(raw, dict):
        file.wrong("askers", "a table, written [askers.NAME.dp]")
        return {}
    models = file.raw.get("identify", {})
    codes = {**dict.fromkeys(("dp", "output-constrained-dp"), ("epsilon", "delta"))}
    codes |= {"plain-k-anonymity": ("publications",)}
    codes |= {f"{MODEL}{name}": ("epsilon",) for name in (models if isinstance(models, dict) else ())}
    found: dict[str, dict[str, Budget]] = {}
    for name, body in raw.items():
        if not isinstance(body, dict) or not ASKER.fullmatch(name) or name != name.strip():
            file.refuse(
                "askers",
                "an asker is a name of at most 100 printable characters with limits by account.",
                'Write [askers.NAME.dp] and epsilon = "1" under it.',
                at=(name,),
            )
            continue
        asker = Section(file.problems, ("askers", name), body, known=tuple(codes))
        limits = {}
        for code in body:
            section = asker.section(code, codes[code]) if code in codes else None
            if section is not None:
                limits[code] = _budget(section, code)
        found[name] = limits
    return found


def read_place(table: Section, key: str, folder: Path) -> Path | str | None:
    """A file beside the declaration, or the address of a server; no secret stands in an address."""
    written = table.text(key)
    if written is None or not written.startswith(("postgresql://", "postgres://")):
        return None if written is None else folder / written
    try:
        parts = urlsplit(written)
        secret, named = parts.password is not None or "password" in parts.query, bool(parts.path.strip("/"))
        _ = parts.port
    except ValueError:
        table.wrong(key, 'an address such as "postgresql://host/database"')
        return None
    if secret:
        table.refuse(
            key,
            f"'{key}' holds a password, and a declaration is no place for one.",
            "Put it into the environment (PGPASSWORD) or a passfile (PGPASSFILE, ~/.pgpass).",
        )
    if not named:
        table.wrong(key, 'an address with a database, such as "postgresql://host/database"')
    return written
