"""The made-up visits of the demo come to what was asked of every patient."""

from __future__ import annotations

from wallflower.demo.visits import HEADER, made_up_visits


def test_visits_add_up_to_their_patients():
    patients = [(50, 9, 41), (30, 5, 7), (0, 0, 0), (77, 130, 52), (18, 1, 3)] * 20
    lines = [dict(zip(HEADER.split(","), line.split(","), strict=True)) for line in made_up_visits(patients)]
    days = [line["day"] for line in lines]
    assert days == sorted(days)
    assert len(lines) == 250
    for place, (age, stay, cost) in enumerate(patients):
        own = [line for line in lines if line["patient"] == f"P{place + 1:04}"]
        assert len(own) == place % 4 + 1
        assert int(own[-1]["age"]) == age
        assert [sum(int(line[name]) for line in own) for name in ("stay", "cost")] == [stay, cost]
        assert len({line["day"] for line in own}) == len(own)
