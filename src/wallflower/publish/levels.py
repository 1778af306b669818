"""What a group must withstand, by name, and what each name means to people."""

from __future__ import annotations

from wallflower.errors import UsageError

MATCHING = "matching"
BOTH = "matching+candidate"
LEVELS = (MATCHING, BOTH, "candidate", "strict", "attack")
METHODS = ("shed", "hybrid", "expc")
_POSSIBLE = (
    "against someone who knows everyone's quasi-identifiers, who is an outlier, and who is in which group, and judges by the table as it is "
    "who would be an outlier with which value: every published person "
    "has at least {least} possible values in every sensitive column, and the values of a group could be its members' without any of "
    "them being an outlier, but for those who would be one with every value of the table"
)
_CANDIDATE = (
    "with everyone's quasi-identifiers known, every published sensitive value is normal for someone who matches the "
    "group, and everyone who matches has a published value that is normal for them; and the inferences of level 'attack' find nobody"
)
NOT_PROMISED = (
    "That someone is an outlier is not hidden: it is taken to be known, and who would be one with every value of the table is one in every "
    "world. A possible value may be far likelier than another. Nothing is said against members who tell each other their values, about people "
    "outside the table who match a group, or against someone who replays how groups were formed. Whoever works out anew, for every way to hand "
    "the values out, who would be an outlier, and drops the ways in which somebody's flag changes, may be left with fewer possible values."
)


def meaning(level: str, *, least: int) -> str:
    return {
        MATCHING: _POSSIBLE.format(least=least),
        BOTH: f"{_POSSIBLE.format(least=least)}; and {_CANDIDATE}",
        "candidate": _CANDIDATE,
        "strict": "every published sensitive value is normal at some corner of the group's box, and every corner with some "
        "published value (Theorem 5.1 of the paper)",
        "attack": "the two inferences the paper describes (Theorems 4.1 and 4.2) find nobody; nothing is said about any other inference",
    }[level]


def counts_possible_values(level: str) -> bool:
    return level in {MATCHING, BOTH}


def method_of(level: str, method: str | None) -> str:
    """How groups are formed at this level; refuses a method that cannot keep its promise."""
    if method is None:
        return "shed" if counts_possible_values(level) else "hybrid"
    if method not in METHODS:
        raise UsageError(f"'method' must be one of {', '.join(METHODS)}, got '{method}'.")
    if (method == "shed") != counts_possible_values(level):
        fitting = [name for name in METHODS if (name == "shed") == counts_possible_values(level)]
        raise UsageError(
            f"method '{method}' does not form groups for level '{level}'.", hint=f"Use {' or '.join(fitting)}, or none."
        )
    return method
