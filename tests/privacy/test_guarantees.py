"""Sentences are golden: a changed word is a changed promise, and someone should read it again."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest

from wallflower.errors import DeclarationError
from wallflower.privacy.guarantees import (
    BUT_ASKED,
    ZCDP,
    ApproxDP,
    LocalDP,
    MetricPrivacy,
    OutputConstrainedDP,
    PlainKAnonymity,
    PureDP,
    SensitivePrivacy,
)

HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    ("promise", "sentence"),
    [
        (
            PureDP(epsilon=HALF, neighbours="replace-one", protects=BUT_ASKED),
            (
                "Whatever anyone already knows, no answer is more than e^0.5 (about 1.65) times as likely as it would be if any one"
                " row other than the asked-for one were replaced by another such row. The asked-for row itself, which is any row with the key"
                " that was asked for, is not protected."
            ),
        ),
        (
            PureDP(epsilon=Fraction(1, 3), neighbours="add-remove", holds_when="the rows were sampled"),
            (
                "When the rows were sampled: whatever anyone already knows, no answer is more than e^(1/3) (about 1.4) times as"
                " likely as it would be if any one row were added or removed."
            ),
        ),
        (
            ApproxDP(epsilon=HALF, delta=Fraction("1e-6"), neighbours="add-remove"),
            (
                "Whatever anyone already knows, the probability of any answer, and of any set of answers, is at most e^0.5 (about"
                " 1.65) times what it would be if any one row were added or removed, plus 0.000001."
            ),
        ),
        (
            ZCDP(rho=HALF, neighbours="add-remove"),
            (
                "For every order a above 1, the distribution of the answers has a Rényi divergence of at most 0.5·a from what it"
                " would be if any one row were added or removed."
            ),
        ),
        (
            OutputConstrainedDP(epsilon=HALF, neighbours="add-remove"),
            (
                "No answer is more than e^0.5 (about 1.65) times as likely as it would be if any one row other than the asked-for"
                " one were added or removed, provided that the change leaves the set of contexts in which the asked-for row"
                " stands out as it is. A row whose change alters that set is not protected by this promise, and neither is the"
                " asked-for row: the answer itself says that it stands out."
            ),
        ),
        (
            SensitivePrivacy(epsilon=HALF, k=3, model="default", neighbours="add-remove"),
            (
                "No answer is more than e^0.5 (about 1.65) times as likely as it would be if any one protected row were added or"
                " removed. Protected is every row whose value is normal under the model, or would be after at most k rows were"
                " added or removed (model 'default', k = 3). Other rows are protected less, the further they are from normal,"
                " and some not at all."
            ),
        ),
        (
            SensitivePrivacy(epsilon=HALF, k=3, model="default", neighbours="replace-one"),
            (
                "No answer is more than e^0.5 (about 1.65) times as likely as it would be if any one protected row were replaced by"
                " another such row. Protected is every row whose value is normal under the model, or would be after at most k rows were"
                " added or removed (model 'default', k = 3). Other rows are protected less, the further they are from normal,"
                " and some not at all."
            ),
        ),
        (
            LocalDP(epsilon=HALF),
            (
                "What leaves the sensor is at most e^0.5 (about 1.65) times as likely as it would be for any other reading, whoever"
                " sees it, all parties together included."
            ),
        ),
        (
            MetricPrivacy(epsilon=HALF),
            (
                "Whoever sees what leaves the sensor can tell two readings inside the declared core range apart by at most a factor"
                " e^0.5 (about 1.65) in likelihood; readings up to D core ranges apart in a column (D at least 1) only by at most e^(0.5·D), so a far outlier can be"
                " recognised as one."
            ),
        ),
        (
            PlainKAnonymity(k=3, p=Fraction("0.8"), d=Fraction("0.85"), level="candidate"),
            (
                "Every group of the published table holds at least 3 different sensitive values and passes the 'candidate'"
                " plainness test for (p, d) = (0.8, 0.85). This is not differential privacy: it does not add up over several"
                " publications, promises nothing against someone who knows how the groups were formed, and a person known to be"
                " in the table but missing from the publication is known to have been left out."
            ),
        ),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_sentence(promise, sentence):
    assert promise.sentence == sentence
    assert promise.to_json()["sentence"] == sentence
    assert all(type(value) is str for value in promise.parameters.values())


@pytest.mark.parametrize("kind", [PureDP, OutputConstrainedDP, LocalDP, MetricPrivacy])
@pytest.mark.parametrize("bad", [0.1, 1, "1", Fraction(-1)])
def test_epsilon_is_an_exact_fraction_of_at_least_zero(kind, bad):
    with pytest.raises(DeclarationError, match=r"'epsilon' of \w+ must be"):
        kind(epsilon=bad, neighbours="add-remove")


@pytest.mark.parametrize("k", [0, -1])
def test_sensitive_privacy_without_a_row_of_distance_is_no_such_promise(k):
    with pytest.raises(DeclarationError, match="'k' of SensitivePrivacy must be at least 1"):
        SensitivePrivacy(epsilon=HALF, k=k, model="default", neighbours="add-remove")
    assert SensitivePrivacy(epsilon=HALF, k=1, model="default", neighbours="add-remove").k == 1


@pytest.mark.parametrize(
    "kind",
    [
        PureDP,
        partial(ApproxDP, delta=Fraction("1e-6")),
        lambda *, epsilon, **other: ZCDP(rho=epsilon, **other),
        OutputConstrainedDP,
        partial(SensitivePrivacy, k=3, model="default"),
    ],
)
def test_unknown_neighbours_are_refused(kind):
    with pytest.raises(DeclarationError, match="must be add-remove or replace-one, got 'add_remove'"):
        kind(epsilon=HALF, neighbours="add_remove")


def test_a_level_that_says_nothing_of_possible_values_has_no_number_of_them():
    plain = PlainKAnonymity(k=3, p=Fraction("0.8"), d=Fraction("0.85"), level="candidate")
    assert "possible_values" not in plain.parameters
    assert replace(plain, level="matching", possible_values=4).parameters["possible_values"] == "4"


def test_a_delta_of_one_promises_nothing():
    with pytest.raises(DeclarationError, match="below 1"):
        ApproxDP(epsilon=HALF, delta=Fraction(1), neighbours="add-remove")


def test_a_concentrated_loss_is_at_most_what_epsilon_alone_gives():
    assert PureDP(epsilon=Fraction(1), rho=HALF, neighbours="add-remove").amounts["rho"] == HALF
