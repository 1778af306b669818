"""A stream declaration is complete or refused, with an error that helps."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from tests.stream import support
from wallflower.errors import DeclarationError
from wallflower.schema.exact import shown
from wallflower.stream import assembly, prices, promises
from wallflower.stream.number_ranges import LEAST, LEAST_IN_WORDS, LONGEST, LONGEST_IN_WORDS
from wallflower.stream.parser import load, loads


def test_a_complete_declaration_says_what_everything_costs():
    stream = support.declared()
    apart = stream.event_epsilon - 2  # the bit, and the farthest pair it tells apart: less than both columns together
    assert Fraction(3, 4) < apart < Fraction(3, 2)
    assert stream.window_epsilon == 100 * stream.event_epsilon
    assert [column.core_width for column in stream.columns] == [30, 30]
    price = prices.price(stream)
    assert "Event level" in price.notes[0]
    assert shown(stream.window_epsilon) in price.notes[0]


def test_the_two_guarantees_and_the_paper_say_what_they_are():
    assert promises.guarantee(support.declared()).family == "local-dp"
    assert promises.guarantee(support.declared(guarantee="metric-privacy")).family == "metric-privacy"
    paper = promises.guarantee(support.declared("paper"))
    assert paper.epsilon == Fraction(3, 2)
    assert "no DP towards the corrector" in paper.holds_when
    assert "two non-colluding servers" in paper.holds_when
    for kind in ("local-dp", "metric-privacy"):
        sentence = promises.guarantee(support.declared("paper", guarantee=kind)).sentence
        assert "all parties together" not in sentence
        assert "two non-colluding servers, no DP towards the corrector" in sentence
        assert "nothing towards both servers together" in sentence
    assert any("two non-colluding servers" in note for note in prices.price(support.declared("paper")).notes)


def test_the_local_promise_is_what_the_mechanisms_lose():
    for guarantee in ("local-dp", "metric-privacy"):
        stream = support.declared(guarantee=guarantee)
        spent = promises.perturbation(stream).local().epsilon + promises.response(stream).guarantee().epsilon
        if guarantee == "local-dp":
            assert (
                spent > stream.event_epsilon == promises.guarantee(stream).epsilon
            )  # not the sum: theirs is never attained
        else:
            assert spent > stream.event_epsilon  # by distance: the whole range is wider than the core
            assert promises.perturbation(stream).metric().epsilon + stream.epsilon2 == stream.event_epsilon


REQUIRED = ["id", "broker", "topic_prefix", "roster", "window", "guarantee", "core_radius", "epsilon2"]


@pytest.mark.parametrize(
    "key", [*REQUIRED, "lower", "upper", "step", "centre", "scale", "epsilon", "per_window", "per_day"]
)
def test_an_incomplete_declaration_names_what_it_lacks(key):
    lines = support.text().splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith(f"{key} ="))
    with pytest.raises(DeclarationError, match=key) as caught:
        loads("\n".join(lines[:first] + lines[first + 1 :]))
    assert caught.value.hint


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("window = 100", "window = 0", "window"),
        ("window = 100", "window = true", "window"),
        ('"private"', '"secret"', "protocol"),
        ('guarantee = "local-dp"', 'guarantee = "dp"', "guarantee"),
        ('core_radius = "3"', "core_radius = true", "core_radius"),
        ('core_radius = "3"', 'core_radius = "-3"', "core_radius"),
        ('epsilon2 = "2"', 'epsilon2 = "0"', "epsilon2"),
        ('epsilon2 = "2"', 'epsilon2 = "2"\nlayers = ["2"]', "outwards"),
        ('epsilon2 = "2"', 'epsilon2 = "2"\nlayers = "9"', "layers"),
        ('epsilon2 = "2"', 'epsilon2 = "2"\noutlier_width = 3', 'protocol = "paper"'),
        ('epsilon2 = "2"', 'epsilon2 = "2"\ncore_radios = 3', "Did you mean 'core_radius'"),
        ('epsilon2 = "2"', 'epsilon2 = "2"\noutlier_share = 1', "outlier_share"),
        ("mqtt://", "http://", "broker"),
        ("mqtt://", "mqtt://me:secret@", "passwords do not belong"),
        ('"plant/pumps"', '"plant/#"', "wildcards"),
        ("test = true", "test = 1", "test"),
        ("upper = 100", "upper = -100", "lower"),
        ("centre = 0", "centre = 500", "centre"),
        ("scale = 5", "scale = 0", "scale"),
        ('step = "0.01"', 'step = "0.03"', "whole number of steps"),
        ('epsilon = "1"', 'epsilon = "-1"', "epsilon"),
        ('per_window = "1000000000"', 'per_window = "200"', "100 readings of"),
        ('per_day = "1000000000"', 'per_day = "10"', "per_day"),
        ("[columns.flow]", "[colums.flow]", "Did you mean 'columns'"),
        ("[stream]", "[stream", "TOML"),
    ],
)
def test_a_wrong_declaration_is_refused_with_the_reason(old, new, expected):
    text = support.text()
    assert old in text
    with pytest.raises(DeclarationError) as caught:
        loads(text.replace(old, new, 1))
    assert expected in str(caught.value)


@pytest.mark.parametrize("period", ["36h", "7h", "5s", "25h", "24h", "48h", "7d", "12h", "500ms"])
def test_no_period_crosses_midnight_but_one_of_whole_days(period):
    """Two such periods touch one day: a person behind it would lose twice what the day was charged."""
    text = support.clock_text(period=period, slot="500ms" if period.endswith("s") else "30m")
    if period in ("36h", "7h", "25h"):
        with pytest.raises(DeclarationError, match="crosses midnight"):
            loads(text)
    else:
        assert loads(text).slots.period > 0


@pytest.mark.parametrize("value", ["1e-400", "1e-13", "1e13", "1e400"])
@pytest.mark.parametrize(
    ("text", "key"),
    [
        *((support.clock_text(), key) for key in ("epsilon", "core_radius", "scale")),
        *((support.text(), key) for key in ("epsilon2", "epsilon", "core_radius", "scale")),
        (support.text("paper"), "outlier_width"),
        (support.text("code"), "epsilon"),
    ],
)
def test_a_number_that_no_double_could_stand_for_is_refused(text, key, value):
    spoilt, found = re.subn(rf"(?m)^{key} = .*", f'{key} = "{value}"', text, count=1)
    assert found == 1
    with pytest.raises(DeclarationError, match=f"'{key}' must be above 0, from 1e-12 to"):
        loads(spoilt)


@pytest.mark.parametrize("value", ["0", "1e-400", "1e-13", "1"])
@pytest.mark.parametrize("key", ["false_alarms", "outlier_share"])
def test_a_chance_is_well_inside_its_range(key, value):
    text = support.clock_text().replace("least_readings", 'outlier_share = "0.1"\nleast_readings')
    spoilt, found = re.subn(rf"(?m)^{key} = .*", f'{key} = "{value}"', text)
    assert found == 1
    with pytest.raises(DeclarationError, match=f"'{key}' must be above 0 and below 1"):
        loads(spoilt)


def test_the_ends_of_ranges_are_as_they_are_said_and_belong_to_them():
    assert Fraction(LEAST_IN_WORDS) == LEAST
    assert Fraction(LONGEST_IN_WORDS) == LONGEST
    text = support.text().replace("epsilon2", f'layers = ["4", "{LONGEST_IN_WORDS}"]\nepsilon2')
    assert loads(text).layers[-1] == LONGEST


def test_what_a_protocol_spends_is_what_is_declared():
    for protocol, false_alarms in (("alarm", Fraction("0.05")), ("share", 0)):
        stream = support.declared(protocol, epsilon="3")
        assert (stream.slots.epsilon, stream.slots.false_alarms) == (3, false_alarms)
        assert stream.budget.per_window is None
    text, found = re.subn(r"(?m)^epsilon = .*", 'epsilon = "0.7"', support.text("code"))
    assert found
    assert loads(text).epsilon2 == Fraction("0.7")


def test_a_layer_lies_no_farther_than_any_radius():
    text = support.text().replace("epsilon2", 'layers = ["4", "1e13"]\nepsilon2')
    with pytest.raises(DeclarationError, match="radii of at most 1e12"):
        loads(text)


def test_a_roster_whose_name_no_file_can_have_is_refused():
    with pytest.raises(DeclarationError, match="readable text file"):
        loads(re.sub(r"(?m)^roster = .*", r'roster = "\\u0000"', support.text()))


def test_the_paper_must_be_trusted_in_so_many_words():
    text = support.text("paper")
    for line in [line for line in text.splitlines() if line.startswith(("trust", "outlier_width", "detector"))]:
        with pytest.raises(DeclarationError):
            loads(text.replace(line, ""))
    with pytest.raises(DeclarationError, match="epsilon2"):
        loads(text.replace("test = true", 'epsilon2 = "1"'))


@pytest.mark.parametrize(
    "detector", ["lof(k=3)", "dbscan", "dbscan(radius=0, least=5)", "dbscan(radius)", "beyond(k=1)", "("]
)
def test_an_unreadable_detector_is_refused(detector):
    with pytest.raises(Exception, match=r"detector|radius"):
        assembly.detector(detector, Fraction(3))


def test_streams_that_differ_in_meaning_have_other_fingerprints():
    text = support.text()
    seen = {loads(text).fingerprint}
    for old, new in (
        ('core_radius = "3"', 'core_radius = "4"'),
        ('epsilon = "1"', 'epsilon = "2"'),
        ("window = 100", "window = 99"),
    ):
        seen.add(loads(text.replace(old, new, 1)).fingerprint)
    assert len(seen) == 4
    assert loads(text.replace("1883", "1884")).fingerprint in seen  # where the broker is does not matter


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(DeclarationError, match="cannot be read"):
        load(tmp_path / "none.toml")
