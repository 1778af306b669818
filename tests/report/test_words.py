"""Only words that are too long for a phone may be broken."""

from __future__ import annotations

from wallflower.report.pages import LONGEST_WORD, breakable


def test_a_word_that_just_fits_is_never_broken():
    fits, long = "a" * LONGEST_WORD, "b" * (LONGEST_WORD + 1)
    assert breakable(fits) == fits
    assert str(breakable(f"{fits} {long} <")) == f"{fits} {'b' * 16}<wbr>{'b' * 9} &lt;"
