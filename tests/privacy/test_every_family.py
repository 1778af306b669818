"""What every family of promises has beside its file: words for people, wherever its limit or its account is shown."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from tests.declared import declare
from wallflower.ledger import Ledger
from wallflower.privacy import guarantees
from wallflower.privacy.accounts import KINDS
from wallflower.privacy.guarantees import STREAMS
from wallflower.schema.budgets import FAMILIES
from wallflower.schema.declaration import Budget
from wallflower.service.decisions import BUDGETS
from wallflower.service.grants import SHAREABLE

ROOT = Path(__file__).resolve().parents[2]
KEPT = {code: kind for code, kind in KINDS.items() if code not in STREAMS}
"""Accounts in the ledger of a table; those of a stream are in its sensor's book."""
LIMITED = [family for family in FAMILIES if family not in STREAMS]
PROMISES = [kind for name in guarantees.__all__ if isinstance(kind := getattr(guarantees, name), type)]


def row(page: str, first: str) -> str:
    """The row of a table of a page whose first cell begins like this."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    found = re.search(rf"^\| {re.escape(first)}.*$", text, flags=re.MULTILINE)
    return found[0] if found else ""


@pytest.mark.parametrize("kind", [one for one in PROMISES if one is not guarantees.Guarantee])
def test_its_promise_is_made_and_looked_at_by_a_test(kind):
    others = [page for page in Path(__file__).parent.glob("test_*.py") if page.name != Path(__file__).name]
    made = [page for page in others if re.search(rf"\b{kind.__name__}\(", page.read_text(encoding="utf-8"))]
    assert made, f"hold {kind.__name__} to its words in tests/privacy/test_{kind.__module__.rpartition('.')[2]}.py"


@pytest.mark.parametrize("code", KINDS)
def test_the_glossary_and_the_changelog_name_it(code):
    budget = KINDS[code].budget
    assert (code if budget == "identify" else budget) in row("glossary.md", "**family**")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    private = "".join(re.findall(r"^### Privacy\n(.*?)(?=^##|\Z)", changes, flags=re.MULTILINE | re.DOTALL))
    assert f"`{code}`" in private, f"say `{code}` in CHANGELOG.md under Privacy"


@pytest.mark.parametrize("code", KEPT)
def test_where_a_table_s_ledger_is_read_its_account_has_a_name(code):
    assert row("reference/ledger.md", f"`{code}"), f"add `{code}` to the accounts of docs/reference/ledger.md"


def test_no_two_accounts_have_the_same_name_for_people():
    for names in ([kind.words for kind in KINDS.values()], [kind.everyday_name for kind in KINDS.values()]):
        assert all(names)
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("family", LIMITED)
def test_an_owner_can_declare_it_at_the_console_and_give_shares_of_it(family):
    asked = [decision.key for decision in BUDGETS[family]]
    assert sorted(asked) == sorted(FAMILIES[family]), "ask for its amounts in service/decisions.py (AMOUNTS)"
    assert (family in SHAREABLE) == ("epsilon" in FAMILIES[family])


def test_nothing_of_a_stream_is_declared_or_shared_at_the_console():
    assert STREAMS
    assert not set(STREAMS) & {*BUDGETS, *SHAREABLE}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_declared_limit_is_shown_before_anything_is_spent(family, tmp_path):
    much = {"epsilon": Fraction(1)} if "epsilon" in FAMILIES[family] else {"publications": 1}
    declared = declare(tmp_path, budgets={family: Budget(**much)})
    Ledger.init(declared)
    said = "\n".join(Ledger.open(declared).show(declared).lines())
    account = next(kind for kind in KINDS.values() if kind.budget == family)
    assert f"{account.words}: {next(iter(much))} 0 of 1 spent" in said
