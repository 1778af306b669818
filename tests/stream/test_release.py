"""A stream's JSON is a release: the same parts, a certificate, and nothing of the readings in it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from html import escape, unescape

import pytest

from tests.stream.support import declared
from wallflower.errors import UsageError
from wallflower.report.certificate import ASSUMED_OF_A_STREAM, ASSUMED_OF_A_TABLE, certificate_page
from wallflower.report.release_file import as_release
from wallflower.stream.promises import guarantee
from wallflower.stream.release import TODAY, released


def made(stream, *, private=True):
    return released(
        stream,
        account="pumps, sensor pump-7",
        entry=3,
        today=3 * (stream.window_epsilon or stream.event_epsilon),
        value={"windows": 3, "readings": 3 * stream.window},
        private=private,
    )


@pytest.mark.parametrize("protocol", ["private", "paper"])
def test_it_has_a_certificate_with_its_promise_and_what_is_left(protocol):
    stream = replace(declared(protocol=protocol), test=False)
    release = made(stream)
    left = Fraction(release["ledger"]["left"][TODAY])
    assert left + Fraction(release["ledger"]["spent"][TODAY]) == stream.budget.per_day
    page = certificate_page(release)
    assert "pump-7" in page
    for sentence in ASSUMED_OF_A_STREAM:
        assert escape(sentence, quote=False)[:40] in unescape(page) or sentence[:40] in unescape(page)
    assert not any(
        sentence[:40] in unescape(page) for sentence in ASSUMED_OF_A_TABLE if sentence not in ASSUMED_OF_A_STREAM
    )
    assert "NOT PRIVATE" not in page
    assert ("two non-colluding servers" in page) == (protocol == "paper")


def test_a_promise_of_a_whole_day_says_that_days_add_up_and_not_readings():
    page = certificate_page(made(replace(declared("alarm"), test=False)))
    assert "Periods of one sensor add up" in page
    assert "Many readings" not in page
    assert "all day" in page


def test_a_promise_of_another_period_speaks_of_that_one():
    sentence = guarantee(declared("alarm", period="12h", slot="3h")).sentence
    assert "in a whole period of 12h" in sentence
    assert "any other period of 12h" in sentence
    assert "day" not in sentence


def test_a_release_is_read_with_the_facts_that_its_party_prints_beside_it():
    printed = {"windows": 3, "waiting_for_receipts": 0, **made(replace(declared(), test=False))}
    assert as_release(printed) == printed
    with pytest.raises(UsageError, match="has no 'mechanism'"):
        as_release({name: part for name, part in printed.items() if name != "mechanism"})


def test_noise_from_a_seed_or_a_test_stream_says_so():
    stream = declared()
    assert not made(replace(stream, test=True))["private"]
    assert not made(replace(stream, test=False), private=False)["private"]
    assert "NOT PRIVATE" in certificate_page(made(replace(stream, test=True)))
