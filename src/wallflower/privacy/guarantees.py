"""Every promise, gathered: one file a family."""

from collections.abc import Mapping

from wallflower.privacy.dp import ApproxDP, PureDP
from wallflower.privacy.guarantee import BUT_ASKED, EVERY_ROW, Guarantee, factor
from wallflower.privacy.local_dp import LocalDP
from wallflower.privacy.metric_privacy import MetricPrivacy
from wallflower.privacy.output_constrained_dp import OutputConstrainedDP
from wallflower.privacy.plain_k_anonymity import PlainKAnonymity
from wallflower.privacy.sensitive_privacy import SENSITIVE_ROWS, SensitivePrivacy
from wallflower.privacy.zcdp import ZCDP

FAMILIES: Mapping[str, type[Guarantee]] = {
    promise.family: promise
    for promise in (PureDP, OutputConstrainedDP, SensitivePrivacy, PlainKAnonymity, LocalDP, MetricPrivacy)
}
"""Families by their names in releases. zCDP is none of them: it is charged, and released, as what it converts to."""

STREAMS = tuple(family for family, promise in FAMILIES.items() if promise.of_a_stream)
"""Families whose answers are a stream's own: their shape is not among those of tables, and their accounts are in sensors' books."""

__all__ = [
    "BUT_ASKED",
    "EVERY_ROW",
    "FAMILIES",
    "SENSITIVE_ROWS",
    "STREAMS",
    "ZCDP",
    "ApproxDP",
    "Guarantee",
    "LocalDP",
    "MetricPrivacy",
    "OutputConstrainedDP",
    "PlainKAnonymity",
    "PureDP",
    "SensitivePrivacy",
    "factor",
]
