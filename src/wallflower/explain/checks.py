"""What can be wrong with a question before any declaration is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from wallflower.detectors.base import Detector
from wallflower.errors import UsageError, nearest_name
from wallflower.explain import constrained, full
from wallflower.explain.utilities import MOST, Utility
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import quoted, shown

LEAST_FAILURE = Fraction(1, 10**12)


def check_columns(by: Sequence[str], detector: object) -> None:
    if not by or len(set(by)) != len(by):
        raise UsageError("'by' must name at least one column, each once.")
    if not isinstance(detector, Detector):
        raise UsageError(
            f"'detector' must have a method stands_out, got {type(detector).__name__}.",
            hint="Use wallflower.detectors, or see its Detector for one of your own.",
        )


def check_search(search: str | None, utility: str | Utility, start: Mapping[str, Sequence[str]] | None) -> None:
    if search is not None:
        one_of("search", search, constrained.SEARCHES)
    if isinstance(utility, str):
        one_of("utility", utility, ("population", "overlap"))
    else:
        check_utility(utility)
    if utility == "overlap" and start is None:
        raise UsageError(
            "utility 'overlap' needs a public context to compare with.", hint='Give start = "col=v|v;col=v".'
        )


def check_utility(utility: object) -> None:
    """What a utility of one's own declares is priced, so it must be what it looks like: a method called `monotone` would count as True."""
    moves = getattr(utility, "sensitivity", None)
    whole = isinstance(moves, int) and not isinstance(moves, bool) and 1 <= moves <= 2 * MOST
    if not isinstance(utility, Utility) or not whole or not isinstance(utility.monotone, bool):
        raise UsageError(
            "a utility of one's own declares sensitivity (a whole number from 1 to 2^63), monotone (True or False) and a method score.",
            hint="Write `sensitivity: int = 1` and `monotone: bool = True` in a frozen dataclass, or properties: a plain method says nothing.",
        )


def check_full(detector: Detector, search: str | None, utility: str | Utility, start: object, least: int) -> None:
    full.supported(detector, least)
    if search not in (None, "exact") or utility != "population" or start is not None:
        raise UsageError(
            "guarantee 'full' selects among all contexts by how robust they are: it takes no search, utility or start."
        )


def check_answers(guarantee: str, search: str | None, certificate: object, *, top: int, larger: int | None) -> None:
    if top > 1 and (search not in (None, "exact") or certificate is not None):
        raise UsageError(
            "'top' above 1 takes the exact search and no certificate: each of them costs its part of epsilon."
        )
    if larger is not None and guarantee != "full":
        raise UsageError(
            "'larger' belongs to guarantee 'full': output-constrained answers prefer larger contexts already."
        )


def check_certificate(guarantee: str, epsilon: Fraction, part: Fraction | None, failure: Fraction | None) -> None:
    if guarantee != "full" and (part is not None or failure is not None):
        raise UsageError("a certificate belongs to guarantee 'full'; every output-constrained answer is valid already.")
    if (part is None) != (failure is None):
        raise UsageError("a certificate needs both certificate_epsilon and certificate_failure.")
    if part is not None and part >= epsilon:
        raise UsageError("'certificate_epsilon' is a part of epsilon and must be smaller.")
    if failure is not None and not LEAST_FAILURE <= failure < Fraction(1, 2):
        raise UsageError(f"'certificate_failure' must be from {shown(LEAST_FAILURE)} to below 1/2.")


def check_row(row: int | None, declaration: Declaration) -> None:
    """Which of a person's rows is asked about, against how many the declaration keeps."""
    most = declaration.rows_per_person
    if most is None:
        if row is not None:
            raise UsageError(
                f"'row' says which of a person's rows is meant, and a record of '{declaration.id}' is one row.",
                hint="It belongs to tables with rows_per_person; leave it out.",
            )
        return
    if row is None and most > 1:
        raise UsageError(
            f"an id names up to {most} rows here, and the question must say which of them is meant.",
            hint=f"Write --row N, from 1 to {most}, in the order of [table] time and then of the declared columns.",
        )
    if row is not None and row > most:
        raise UsageError(f"'row' must be from 1 to {most}, the rows of a person that count here, got {row}.")


def one_of(field: str, value: object, known: Sequence[str]) -> None:
    if not isinstance(value, str) or value not in known:
        raise UsageError(
            f"'{field}' must be one of {', '.join(known)}, got {quoted(value)}.", hint=nearest_name(value, known)
        )
