"""The fingerprint follows the meaning of the file and nothing else."""

import pytest

from tests.schema.samples import GOOD, changed
from wallflower.schema import load, loads

SAME = {
    "a comment": ("beta = 24", "beta = 24  # many"),
    "blank lines": ("beta = 24", "\n\nbeta   =   24"),
    "the spelling of a number": ('step = "0.01"', 'step = "1/100"'),
    "a bare decimal": ('radius = "0.26"', "radius = 0.260"),
    "a budget as a whole number": ('epsilon = "2"', "epsilon = 2"),
    "a date in quotes": ("missing = 2000-01-01", 'missing = "2000-01-01"'),
    "the order of keys": ('beta = 24\nradius = "0.26"', 'radius = "0.26"\nbeta = 24'),
    "a budget": ('epsilon = "2"', 'epsilon = "2.1"'),
    "a delta": ('delta = "1e-6"', 'delta = "1e-7"'),
    "an asker's share": ("[budget.dp]", '[askers.ward.dp]\nepsilon = "1"\n[budget.dp]'),
    "the place of the rows": ('source = "salaries.csv"', 'source = "other.csv"'),
    "the place of the ledger": ('ledger = "salaries.ledger"', 'ledger = "postgresql://host/ledgers"'),
    "where rows are compared": ("max_rows = 1_000_000", "max_rows = 1_000_000\nexecutors = true"),
    "how much is held": ("max_rows = 1_000_000", 'max_rows = 1_000_000\nmemory = "1 MiB"'),
    "a default said aloud": ("beta = 24", 'beta = 24\ndistance = "euclidean"'),
}
OTHER = {
    "a bound": ("upper = 5_000_000", "upper = 4_000_000"),
    "a step": ('step = "0.01"', 'step = "0.1"'),
    "a value": ('"Doctor"]', '"Nurse"]'),
    "the order of values": ('"CEO", "Lawyer", "Doctor"', '"Lawyer", "CEO", "Doctor"'),
    "a role": ('role = "sensitive"', 'role = "insensitive"'),
    "what is outside": ('outside = "clip"', 'outside = "drop"'),
    "what is missing": ("missing = 2000-01-01", "missing = 2000-01-02"),
    "a bin": ("100_000,", "100_001,"),
    "a scale": ("scale = 1000", "scale = 100"),
    "a radius": ('radius = "0.26"', 'radius = "0.27"'),
    "the key": ('key = "employee"', 'key = "title"'),
    "the bound on rows": ("max_rows = 1_000_000", "max_rows = 1_000_001"),
    "a test table": ("test = false", "test = true"),
    "how the file is read": ('decimal = ","', 'decimal = "."'),
}


@pytest.mark.parametrize("what", SAME)
def test_it_stays(what):
    assert loads(changed(*SAME[what])).fingerprint == loads(GOOD).fingerprint


@pytest.mark.parametrize("what", OTHER)
def test_it_changes(what):
    assert loads(changed(*OTHER[what])).fingerprint != loads(GOOD).fingerprint


def test_the_order_of_tables_does_not_matter():
    blocks = GOOD.split("\n\n")
    assert loads("\n\n".join(reversed(blocks))).fingerprint == loads(GOOD).fingerprint


def test_a_folder_that_moves_keeps_it(tmp_path):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "d.toml").write_text(GOOD)
    assert load(tmp_path / "here" / "d.toml").fingerprint == load(tmp_path / "there" / "d.toml").fingerprint
    assert load(tmp_path / "here" / "d.toml").fingerprint == loads(GOOD).fingerprint


def test_a_list_counts_by_what_it_holds(tmp_path):
    text = changed('values = ["CEO", "Lawyer", "Doctor"]', 'values = "titles.csv"')
    (tmp_path / "titles.csv").write_text("CEO\nLawyer\nDoctor\n")
    before = loads(text, folder=tmp_path).fingerprint
    assert before == loads(GOOD).fingerprint
    (tmp_path / "titles.csv").write_text("CEO\nLawyer\nNurse\n")
    assert loads(text, folder=tmp_path).fingerprint != before


def test_a_hierarchy_counts_by_what_it_holds(tmp_path):
    text = changed('outside = "Lawyer"', 'outside = "Lawyer"\nhierarchy = "h.csv"')
    (tmp_path / "h.csv").write_text("CEO;*\n")
    before = loads(text, folder=tmp_path).fingerprint
    (tmp_path / "h.csv").write_text("CEO;any\n")
    assert loads(text, folder=tmp_path).fingerprint != before
    assert before != loads(GOOD).fingerprint


def test_it_has_the_shape_of_a_digest():
    scheme, _, digest = loads(GOOD).fingerprint.partition(":")
    assert scheme == "sha256"
    assert set(digest) <= set("0123456789abcdef")
    assert len(digest) == 64
