"""The same outliers in other context languages: how much of the best utility of any set of values do simpler sentences reach?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from experiments.pcor_2021.study import every_valid
from wallflower.explain.languages import parse_languages, vocabularies
from wallflower.mechanisms.permute_and_flip import PermuteAndFlip
from wallflower.noise.entropy import SeededEntropy

LANGUAGES = (
    "job_title=sets,employer=sets,year=sets",
    "job_title=sets,employer=sets,year=range",
    "job_title=own,employer=sets,year=range",
    "job_title=own,employer=own,year=range",
    "job_title=own,employer=own,year=own",
)
EPSILONS = ("0.01", "0.05", "0.2")


def most_contexts(data, languages):
    """Over all values that a record could have."""
    return vocabularies(data.rows.declaration, data.by, parse_languages(languages)).most


def written(data, place, detector, least):
    """By language, the rows of the best valid context and of one exact answer at each ε; None where no context is valid."""
    found = {}
    for languages in LANGUAGES:
        view = data.view(place, least, languages=languages)
        scores = view.population[every_valid(view, detector)]
        found[languages] = None
        if len(scores):
            entropy = SeededEntropy(place)
            drawn = {
                epsilon: int(scores[PermuteAndFlip(exponent=Fraction(epsilon), monotone=True)(scores, entropy)])
                for epsilon in EPSILONS
            }
            found[languages] = {"best": int(np.max(scores)), **drawn}
    return found
