"""[budget.*] and [askers.NAME.*]: the most that a family of promises may spend, on the whole and by whom."""

from __future__ import annotations

from wallflower.schema.declaration import Budget
from wallflower.schema.problems import said
from wallflower.schema.section import NAME_IN_WORDS, SAFE_NAME, Section

FAMILIES = {
    "dp": ("epsilon", "delta", "accounting"),
    "output-constrained-dp": ("epsilon", "delta", "accounting"),
    "plain-k-anonymity": ("publications",),
    "local-dp": ("epsilon",),
    "metric-privacy": ("epsilon",),
}
NO_FAMILIES = {
    "sensitive-privacy": "Each [identify.NAME] has an epsilon of its own.",
    "zcdp": 'It is charged in [budget.dp]: write accounting = "zcdp" there, beside epsilon and delta.',
}
SHARED = {"accounting": "How amounts add up is said once for all askers, in [budget.FAMILY]."}


def read_budgets(file: Section) -> dict[str, Budget]:
    families = file.section("budget", tuple(FAMILIES), why_not=NO_FAMILIES)
    return {} if families is None else _families(families, FAMILIES)


def read_askers(file: Section, budgets: dict[str, Budget]) -> dict[str, dict[str, Budget]]:
    """Limits of named askers; each family must have a limit for everyone as well, which binds them all together."""
    known = {family: tuple(key for key in keys if key != "accounting") for family, keys in FAMILIES.items()}
    askers: dict[str, dict[str, Budget]] = {}
    for name, section in file.sections("askers", tuple(FAMILIES)):
        if not SAFE_NAME.fullmatch(name):
            file.refuse("askers", f"an asker's name is {NAME_IN_WORDS}, got {said(name)}.", at=(name,))
        for family in section.raw:
            if family in FAMILIES and family not in budgets:
                section.refuse(
                    family,
                    f"an asker's limit is a part of [budget.{family}], which is not there.",
                    f"Write [budget.{family}] with the limit for everyone.",
                )
        askers[name] = _families(section, known)
    return askers


def _families(families: Section, known: dict[str, tuple[str, ...]]) -> dict[str, Budget]:
    budgets: dict[str, Budget] = {}
    for family in families.raw:
        section = families.section(family, known[family], why_not=SHARED) if family in known else None
        if section is None:
            continue
        if family == "plain-k-anonymity":
            section.need("publications", "publications = 1")
            budgets[family] = Budget(publications=section.whole("publications", least=1))
        else:
            budgets[family] = _epsilon_delta(section)
    return budgets


def _epsilon_delta(section: Section) -> Budget:
    section.need("epsilon", 'epsilon = "1"')
    epsilon, delta = section.budget("epsilon"), section.budget("delta")
    if epsilon is not None and epsilon <= 0:
        section.wrong("epsilon", "above 0")
    if delta is not None and not 0 <= delta < 1:
        section.wrong("delta", "at least 0 and below 1")
    accounting = section.choice("accounting", ("sum", "zcdp"))
    if accounting == "zcdp" and not delta:
        section.refuse(
            "accounting",
            'accounting = "zcdp" needs a delta above 0.',
            'Write, for example, delta = "1e-6" beside it: the sum of many releases is turned into epsilon and delta.',
        )
    return Budget(epsilon=epsilon, delta=delta or Budget.delta, accounting="zcdp" if accounting == "zcdp" else "sum")
