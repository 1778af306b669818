"""A proof lies beside its code and goes stale loudly."""

from __future__ import annotations

import re

import pytest

from tests.proof_pins import SRC, pin, pin_of_source, proofs

HEADINGS = ("## Claim", "## Assumes", "## Proof", "## Numerics")

CODE = '''
class Geometric:
    """Add noise."""

    scale: int
    """How much."""

    def guarantee(self, distance):
        """A promise."""
        return distance / self.scale
'''


@pytest.mark.parametrize(("path", "name", "stated"), list(proofs()), ids=lambda value: getattr(value, "name", value))
def test_the_code_is_the_code_that_was_proved(path, name, stated):
    current = pin(name)
    assert stated == current, (
        f"{path.relative_to(SRC.parent)}: the code changed; reread the proof, then set the pin to {current}"
    )


@pytest.mark.parametrize("path", sorted({path for path, _, _ in proofs()}), ids=lambda path: path.name)
def test_a_proof_has_every_part(path):
    text = path.read_text(encoding="utf-8")
    missing = [heading for heading in HEADINGS if heading not in text]
    assert not missing, f"{path.relative_to(SRC.parent)}: add {', '.join(missing)}"
    assert re.search(r"^Status: (reviewed|unproven)", text, re.MULTILINE), (
        f"{path.name}: say `Status: reviewed` or `unproven`"
    )


def test_every_mechanism_has_a_proof_about_every_class():
    proved = {name for _, name, _ in proofs()}
    for file in sorted((SRC / "wallflower" / "mechanisms").glob("*.py")):
        for name in re.findall(r"^class (\w+)", file.read_text(encoding="utf-8"), re.MULTILINE):
            assert f"wallflower.mechanisms.{file.stem}.{name}" in proved


def test_a_reworded_docstring_or_a_comment_keeps_the_pin():
    reworded = CODE.replace("Add noise.", "Adds two-sided noise.").replace("How much.", "Larger is noisier.")
    reworded = reworded.replace("A promise.", "The promise.").replace("scale: int", "scale: int  # public")
    assert reworded != CODE
    assert pin_of_source(reworded, ["Geometric"]) == pin_of_source(CODE, ["Geometric"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("distance / self.scale", "distance * self.scale"),
        ("scale: int", "scale: float"),
        ("distance /", "2 * distance /"),
    ],
)
def test_a_changed_formula_breaks_the_pin(old, new):
    assert old in CODE
    assert pin_of_source(CODE.replace(old, new), ["Geometric"]) != pin_of_source(CODE, ["Geometric"])


def test_a_method_can_be_pinned_alone():
    other_field = CODE.replace("scale: int", "scale: float")
    assert pin_of_source(other_field, ["Geometric", "guarantee"]) == pin_of_source(CODE, ["Geometric", "guarantee"])


def test_a_name_that_is_gone_is_noticed():
    with pytest.raises(LookupError):
        pin("wallflower.mechanisms.laplace.Gone")
