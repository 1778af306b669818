"""The numbers of a stream's file, each in a range in which the doubles that are made of it are neither 0 nor endless."""

from __future__ import annotations

from fractions import Fraction

from wallflower.schema.exact import MOST_EPSILON
from wallflower.schema.section import Section

LEAST = Fraction(1, 10**12)
LONGEST = Fraction(10**12)
LEAST_IN_WORDS, LONGEST_IN_WORDS = "1e-12", "1e12"


def length(section: Section, key: str) -> Fraction | None:
    """A width, a radius, a scale or a step; noted as a problem, and None, where it is none that is measured in."""
    words = f"above 0, from {LEAST_IN_WORDS} to {LONGEST_IN_WORDS}"
    return _within(section, key, section.number(key), words, most=LONGEST)


def cost(section: Section, key: str) -> Fraction | None:
    """An ε that buys an answer and promises something."""
    words = f"above 0, from {LEAST_IN_WORDS} to {MOST_EPSILON}"
    return _within(section, key, section.budget(key), words, most=Fraction(MOST_EPSILON))


def limit(section: Section, key: str) -> Fraction | None:
    """What may be spent: charges are compared with it, exactly, and nothing else is made of it."""
    return _within(section, key, section.budget(key), f"above 0, at least {LEAST_IN_WORDS}")


def chance(section: Section, key: str) -> Fraction | None:
    """A probability or a share that is neither nothing nor all."""
    words = f"above 0 and below 1, by at least {LEAST_IN_WORDS}"
    return _within(section, key, section.number(key), words, most=1 - LEAST)


def _within(
    section: Section, key: str, number: Fraction | None, words: str, *, most: Fraction | None = None
) -> Fraction | None:
    if number is not None and (number < LEAST or (most is not None and number > most)):
        section.wrong(key, words)
        return None
    return number
