"""Made-up visits: patients come one to four times, and what they stay and cost adds up over their visits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

HEADER = "patient,day,age,stay,cost"
FIRST_DAY = date(2023, 1, 2)
APART = 80
"""Days between two visits of a patient: three of them are less than a year, so that nobody is two years older at the last."""


def made_up_visits(patients: Sequence[tuple[int, int, int]]) -> list[str]:
    """Lines of `HEADER`, by day, from what each patient's visits come to: the age at the last, all days, all costs.

    >>> made_up_visits([(50, 9, 41)])
    ['P0001,2023-01-02,50,9,41']
    >>> made_up_visits([(50, 9, 41), (30, 5, 7)])[1:]
    ['P0002,2023-01-09,30,2,3', 'P0002,2023-03-30,30,3,4']
    """
    visits = []
    for place, (age, stay, cost) in enumerate(patients):
        times = place % 4 + 1
        for visit in range(times):
            day = FIRST_DAY + timedelta(days=place * 7 % 280 + visit * APART)
            part = _share(stay, visit, times), _share(cost, visit, times)
            # A birthday lies between the first and the last of four visits.
            younger = int(times == 4 and visit == 0 and age > 0)
            visits.append((day, f"P{place + 1:04},{day},{age - younger},{part[0]},{part[1]}"))
    return [line for _, line in sorted(visits)]


def _share(whole: int, place: int, parts: int) -> int:
    """The `place`-th of so many parts that add up to the whole."""
    return whole * (place + 1) // parts - whole * place // parts
