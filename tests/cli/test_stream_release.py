"""A stream's JSON is a release: the same parts, a certificate, and nothing of the readings in it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.stream.support import declared
from wallflower.cli.stream_release import TODAY, released
from wallflower.report.certificate import certificate


def made(stream, *, private=True):
    return released(
        stream,
        account="pumps, sensor pump-7",
        windows=3,
        today=3 * stream.window_epsilon,
        value={"windows": 3, "readings": 3 * stream.window},
        private=private,
    )


@pytest.mark.parametrize("protocol", ["private", "paper"])
def test_it_has_a_certificate_with_its_promise_and_what_is_left(protocol):
    stream = replace(declared(protocol=protocol), test=False)
    release = made(stream)
    left = Fraction(release["ledger"]["left"][TODAY])
    assert left + Fraction(release["ledger"]["spent"][TODAY]) == stream.budget.per_day
    page = certificate(release)
    assert "pump-7" in page
    assert "NOT PRIVATE" not in page
    assert ("two non-colluding servers" in page) == (protocol == "paper")


def test_noise_from_a_seed_or_a_test_stream_says_so():
    stream = declared()
    assert not made(replace(stream, test=True))["private"]
    assert not made(replace(stream, test=False), private=False)["private"]
    assert "NOT PRIVATE" in certificate(made(replace(stream, test=True)))
