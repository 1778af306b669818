"""What a stream has sent, in the shape of a release, so that it can have a certificate like any other answer."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from wallflower.privacy.release import Release
from wallflower.schema.exact import shown
from wallflower.stream.declaration import StreamDeclaration
from wallflower.stream.prices import price

TODAY = "epsilon_of_one_sensor_in_a_day"


def released(
    declared: StreamDeclaration, *, account: str, entry: int, today: Fraction, value: Mapping[str, Any], private: bool
) -> dict[str, Any]:
    """The JSON of a release. `today` is what one person behind every reading of one sensor has lost since midnight (UTC)."""
    asked = price(declared)
    release = Release(
        value=value,
        guarantee=asked.guarantee,
        mechanism=asked.mechanism,
        ledger={
            "account": account,
            "entry": entry,
            "spent": {TODAY: shown(today)},
            "left": {TODAY: shown(declared.budget.per_day - today)},
        },
        private=private and not declared.test,
    )
    return release.to_json()
