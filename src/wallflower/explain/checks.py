"""What can be wrong with a question before any declaration is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from wallflower.detectors import Detector
from wallflower.errors import UsageError, nearest_name
from wallflower.explain import constrained, full
from wallflower.explain.utilities import Utility
from wallflower.schema.exact import exact

if TYPE_CHECKING:
    from wallflower.explain.queries import Context


def check(query: Context) -> None:
    if not query.by or len(set(query.by)) != len(query.by):
        raise UsageError("'by' must name at least one column, each once.")
    if not isinstance(query.detector, Detector):
        raise UsageError(
            f"'detector' must have a method stands_out, got {type(query.detector).__name__}.",
            hint="Use wallflower.detectors, or see its Detector for one of your own.",
        )
    if not 1 <= query.samples <= 10_000:
        raise UsageError(f"'samples' must be from 1 to 10000, got {query.samples}.")
    if query.min_population < 1:
        raise UsageError(f"'min_population' must be at least 1, got {query.min_population}.")
    _one_of("guarantee", query.guarantee, ("output-constrained", "full"))
    if query.search is not None:
        _one_of("search", query.search, constrained.SEARCHES)
    _check_utility(query)
    if query.guarantee == "full":
        _check_full(query)
    elif query.certificate_epsilon is not None or query.certificate_failure is not None:
        raise UsageError("a certificate belongs to guarantee 'full'; every output-constrained answer is valid already.")


def _check_utility(query: Context) -> None:
    if isinstance(query.utility, str):
        _one_of("utility", query.utility, ("population", "overlap"))
    elif not isinstance(query.utility, Utility) or query.utility.sensitivity < 1:
        raise UsageError("a utility of one's own declares sensitivity (at least 1), monotone and score.")
    if query.utility == "overlap" and query.start is None:
        raise UsageError(
            "utility 'overlap' needs a public context to compare with.", hint='Give start = "col=v|v;col=v".'
        )


def _check_full(query: Context) -> None:
    full.supported(query.detector)
    if query.search not in (None, "exact") or query.utility != "population" or query.start is not None:
        raise UsageError(
            "guarantee 'full' selects among all contexts by how robust they are: it takes no search, utility or start."
        )
    if (query.certificate_epsilon is None) != (query.certificate_failure is None):
        raise UsageError("a certificate needs both certificate_epsilon and certificate_failure.")
    if query.certificate_epsilon is not None and query.certificate_failure is not None:
        if exact(query.certificate_epsilon) >= exact(query.epsilon):
            raise UsageError("'certificate_epsilon' is a part of epsilon and must be smaller.")
        if exact(query.certificate_failure) >= Fraction(1, 2):
            raise UsageError("'certificate_failure' must be below 1/2.")


def _one_of(field: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise UsageError(
            f"'{field}' must be one of {', '.join(known)}, got '{value}'.", hint=nearest_name(value, known)
        )
