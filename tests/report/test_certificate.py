"""A certificate says what the promise rests on: for a table one thing, for a stream another."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from html import unescape

import pytest

from wallflower.privacy.guarantee import worded
from wallflower.privacy.guarantees import (
    LocalDP,
    MetricPrivacy,
    OutputConstrainedDP,
    PlainKAnonymity,
    PureDP,
    SensitivePrivacy,
)
from wallflower.privacy.release import Release
from wallflower.report.certificate import ASSUMED_OF_A_STREAM, ASSUMED_OF_A_TABLE, certificate_page

HALF = Fraction(1, 2)
OF_A_TABLE = (
    PureDP(epsilon=HALF, neighbours="add-remove"),
    OutputConstrainedDP(epsilon=HALF, neighbours="add-remove"),
    SensitivePrivacy(epsilon=HALF, k=3, model="default", neighbours="add-remove"),
    PlainKAnonymity(k=3, p=HALF, d=HALF, level="candidate"),
)


def page_of(guarantee):
    ledger = {"account": "a", "entry": 1, "spent": {"epsilon": "0.5"}, "left": {"epsilon": "0.5"}, "debited": []}
    release = Release(value={"count": 7}, guarantee=guarantee, mechanism={"name": "x"}, ledger=ledger, private=True)
    return unescape(certificate_page(release.to_json()))


def stands(lines, page):
    return [line in page for line in lines]


@pytest.mark.parametrize("guarantee", OF_A_TABLE, ids=lambda one: one.family)
def test_a_table_rests_on_its_owner_and_its_ledger(guarantee):
    page = page_of(guarantee)
    assert all(stands(ASSUMED_OF_A_TABLE, page))
    assert not any(stands(set(ASSUMED_OF_A_STREAM) - set(ASSUMED_OF_A_TABLE), page))


@pytest.mark.parametrize("promise", [LocalDP, MetricPrivacy], ids=lambda one: one.family)
def test_a_stream_rests_on_the_sensor_s_own_device_and_offers_no_ledger_to_compare_with(promise):
    page = page_of(promise(epsilon=HALF))
    assert "--verify" not in page.partition("What this page rests on")[2]
    assert "--verify" in page_of(OF_A_TABLE[0]).partition("What this page rests on")[2]
    assert all(stands(ASSUMED_OF_A_STREAM, page))
    assert not any(stands(set(ASSUMED_OF_A_TABLE) - set(ASSUMED_OF_A_STREAM), page))


@pytest.mark.parametrize(
    "guarantee", [*OF_A_TABLE, LocalDP(epsilon=HALF), MetricPrivacy(epsilon=HALF)], ids=lambda one: one.family
)
def test_what_is_not_promised_is_said_about_what_is_protected(guarantee):
    assert guarantee.not_promised
    for unit in (guarantee.unit,) if guarantee.of_a_stream else ("row", "person"):
        page = page_of(replace(guarantee, unit=unit))
        assert all(stands([worded(each, unit) for each in guarantee.not_promised], page))


def test_what_is_not_so_is_not_certified():
    ledger = {"account": "a", "entry": 1, "spent": {"epsilon": "0.5"}, "left": {"epsilon": "0.5"}, "debited": []}
    answers = {"anomalous": [False, True], "more": {"interval held": False}}
    release = Release(value=answers, guarantee=OF_A_TABLE[0], mechanism={"name": "x"}, ledger=ledger, private=True)
    page = certificate_page(release.to_json())
    assert "no | yes" in page
    assert "interval held: no" in page


def test_amounts_and_parts_of_a_mechanism_are_named_in_words():
    ledger = {"account": "a", "entry": 1, "spent": {"epsilon_of_one_sensor_in_a_day": "4"}, "left": {}, "debited": []}
    release = Release(
        value={"days": 1}, guarantee=LocalDP(epsilon=HALF), mechanism={"live_share": "0.6"}, ledger=ledger, private=True
    )
    page, _, _ = certificate_page(release.to_json()).partition("The release as JSON")
    assert "epsilon of one sensor in a day" in page
    assert "live share" in page
