"""One contract for both stores: what is charged, refused, replayed, waited for, closed, verified and copied."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.declared import declare
from tests.ledger.places import COUNT, pure
from wallflower.errors import BudgetError, LedgerError, PendingError, UsageError
from wallflower.ledger import Ledger
from wallflower.ledger.batching import BatchingWriter
from wallflower.ledger.events import CHECKPOINT_EVERY
from wallflower.ledger.preview import preview
from wallflower.privacy.accounts import KINDS
from wallflower.privacy.dp import DP, OTHERS
from wallflower.privacy.guarantees import BUT_ASKED, PlainKAnonymity
from wallflower.privacy.sensitive_privacy import SENSITIVE
from wallflower.schema.declaration import Budget

PLAIN = PlainKAnonymity(k=3, p=Fraction("0.8"), d=Fraction("0.85"), level="candidate")


def test_the_budget_is_spent_to_the_last_and_not_beyond(declared, ledger):
    for number in range(4):
        charge = ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id=f"id-{number}")
        ledger.answer(charge.entry, {"release": {"count": number}})
    with pytest.raises(BudgetError, match=r"0 of 4 is left in \[budget.dp\]"):
        Ledger.open(declared).charge(pure("0.01"), declaration=declared, query=COUNT)
    again = Ledger.open(declared).charge(pure("1"), declaration=declared, query=COUNT, request_id="id-2")
    assert again.replay == {"release": {"count": 2}}
    assert ledger.show(declared).accounts[0].spent["epsilon"] == 4


def test_a_ledger_is_opened_from_its_last_checkpoint(declared, ledger):
    charges = CHECKPOINT_EVERY // 2 + 3
    with BatchingWriter(ledger) as writer, ThreadPoolExecutor(8) as pool:

        def one(number):
            charge = writer.charge(pure("0.001"), declaration=declared, query=COUNT, asker=f"asker-{number % 3}")
            writer.answer(charge.entry, {"release": {"count": number}})

        list(pool.map(one, range(charges)))
    opened = Ledger.open(declared)
    assert opened.journal.checkpoint > CHECKPOINT_EVERY
    assert opened.journal.state() == ledger.journal.state()
    assert opened.verify().charges == charges
    assert opened.show(declared).accounts[0].spent["epsilon"] == Fraction(charges, 1000)
    by_asker = opened.show(declared).askers
    assert sum(Fraction(spent["dp"]["epsilon"]) for spent in by_asker.values()) == Fraction(charges, 1000)


def test_a_request_that_is_sent_twice_to_the_writer_is_charged_once(declared, ledger):
    with BatchingWriter(ledger) as writer:
        first = writer.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday")
        writer.answer(first.entry, {"release": {"count": 3}})
        again = writer.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday")
    assert (again.entry, again.replay) == (first.entry, {"release": {"count": 3}})
    assert Ledger.open(declared).show(declared).accounts[0].spent["epsilon"] == 1


def test_a_preview_says_what_would_be_left_and_what_is_only_counted(declared, ledger):
    first, second, *others = preview(declared, pure("1"), COUNT).lines()
    assert first == "dp, every row: epsilon 3 of 4 left"
    assert second == "dp, every row but the asked-for one: epsilon 3 of 4 left"
    weaker = [KINDS[code] for code in DP.covers if code not in {OTHERS.code, SENSITIVE.code}]  # no model is declared
    assert others == [f"{kind.words}: counted, and not limited" for kind in weaker]
    assert "output-constrained-dp, every row but the asked-for one: counted, and not limited" in others
    assert ledger.show(declared).accounts[0].spent["epsilon"] == 0


def test_a_preview_says_which_account_ends_before_the_concentrated_one(tmp_path):
    """The number that it says is how many more are taken, and not one more."""
    concentrated = Budget(epsilon=Fraction(4), delta=Fraction("1e-6"), accounting="zcdp")

    def noted_and_taken(name, weaker):
        (folder := tmp_path / name).mkdir()
        own = declare(folder, budgets={"dp": concentrated, "output-constrained-dp": Budget(epsilon=weaker)})
        Ledger.init(own)
        notes, book, taken = preview(own, pure("0.1"), COUNT).notes, Ledger.open(own), 0
        with suppress(BudgetError):
            while taken < 200:
                book.charge(pure("0.1"), declaration=own, query=COUNT)
                taken += 1
        assert taken < 200
        return [note.rpartition("is empty")[2] for note in notes], taken

    nothing, most = noted_and_taken("enough", Fraction(400))
    assert (nothing, most > 40) == ([], True)  # more than its epsilon alone would allow
    for fits in (3, most - 1, most):
        said, taken = noted_and_taken(f"only {fits}", fits * Fraction("0.1"))
        assert taken == fits
        assert len(said) == (fits < most)
        assert all(note.startswith(f" after {fits - 1} more such") for note in said)
        assert all(note.endswith(f"would take {most - 1}.") for note in said)


def test_every_record_that_was_explained_is_named(declared, ledger):
    promise = pure("0.1", protects=BUT_ASKED)
    for asked in (
        {"record": "17"},
        {"records": ["9", "17"]},
        {"records": ["8", "9"]},
        {"of": "a question of one's own"},
    ):
        ledger.charge(promise, declaration=declared, query={"command": "explain", **asked})
    shown = ledger.show(declared)
    assert (shown.explained, shown.explained_count) == (("(not named)", "17", "8", "9"), 4)
    assert any(
        note.startswith("No account covers the explained records (not named), 17, 8, 9:") for note in shown.notes
    )
    told = [line.text.partition(" charged ")[0] for line in ledger.history() if line.kind == "charge"]
    assert told == [
        "explain about record 17",
        "explain about records 9, 17",
        "explain about records 8, 9",
        "explain about record (not named)",
    ]


class TestInFlight:
    def test_a_second_request_waits_for_the_answer_of_the_first(self, declared, ledger):
        charge = ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday")
        other, found = Ledger.open(declared), []
        waiting = threading.Thread(
            target=lambda: found.append(
                other.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday").replay
            )
        )
        waiting.start()
        ledger.answer(charge.entry, {"release": {"count": 5}})
        waiting.join()
        assert found == [{"release": {"count": 5}}]

    def test_or_is_told_to_ask_again_with_the_same_id(self, declared, ledger):
        ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday")
        hurried = Ledger.open(declared, patience_s=0)
        with pytest.raises(PendingError, match="with the same id") as caught:
            hurried.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday")
        assert caught.value.exit_code == 4
        assert caught.value.kind == "pending"
        assert "new id" not in str(caught.value)

    def test_an_id_belongs_to_an_asker(self, declared, ledger):
        mine = ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday", asker="ann")
        ledger.answer(mine.entry, {"release": {"count": 1}})
        yours = ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday", asker="bob")
        assert yours.replay is None
        assert yours.entry != mine.entry

    def test_closed_by_the_owner_no_answer_can_follow(self, declared, ledger):
        charge = ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday")
        Ledger.open(declared).close_request("owner", "monday", "the machine is gone")
        with pytest.raises(LedgerError, match="not a charge that waits"):
            ledger.answer(charge.entry, {"release": {"count": 1}})
        with pytest.raises(LedgerError, match="Use a new id"):
            ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday")
        with pytest.raises(LedgerError, match="waits for an answer"):
            ledger.close_request("owner", "tuesday", "")

    def test_a_publication_may_be_computed_anew_and_the_first_recorded_wins(self, declared, ledger):
        published = replace(declared, budgets={"plain-k-anonymity": Budget(publications=1)})
        Ledger.init(published)
        question = {"command": "publish", "k": 3}
        first = ledger.charge(PLAIN, declaration=published, query=question, request_id="out")
        assert ledger.give_up(first.entry)
        again = ledger.charge(PLAIN, declaration=published, query=question, request_id="out")
        assert (again.entry, again.replay) == (first.entry, None)
        mine = ledger.answer(first.entry, {"release": {"rows": 2, "sha256": "x"}}, file=b"a\n1\n2\n")
        late = Ledger.open(declared).answer(first.entry, {"release": {"rows": 2, "sha256": "y"}}, file=b"a\n2\n1\n")
        assert late == mine
        replay = Ledger.open(declared).charge(PLAIN, declaration=published, query=question, request_id="out")
        assert ledger.kept(replay.file) == b"a\n1\n2\n"
        assert sum(line.kind == "charge" for line in ledger.history()) == 1
        ledger.verify()


class TestShares:
    def test_a_share_is_a_second_limit_in_the_same_transaction(self, declared):
        shared = replace(declared, askers={"ann": {"dp": Budget(epsilon=Fraction(1))}})
        Ledger.init(shared)
        ledger = Ledger.open(shared)
        ledger.charge(pure("1"), declaration=shared, query=COUNT, asker="ann", purpose="a paper")
        with pytest.raises(BudgetError, match=r"0 of 1 is left in the share of 'ann' in dp"):
            ledger.charge(pure("0.1"), declaration=shared, query=COUNT, asker="ann")
        ledger.charge(pure("3"), declaration=shared, query=COUNT, asker="bob")
        with pytest.raises(BudgetError, match=r"0 of 4 is left in \[budget.dp\]"):
            ledger.charge(pure("0.1"), declaration=shared, query=COUNT, asker="bob")
        (told,) = [line.text for line in ledger.history(asker="ann")]
        assert told.startswith("count by ann charged epsilon 1 to dp, every row (request ")
        assert told.endswith(") for: a paper; no answer was recorded, so none was shown")
        assert set(ledger.show(shared).askers) == {"ann", "bob"}

    def test_a_service_sets_shares_where_the_declaration_does_not(self, declared, ledger):
        share = {"dp": Budget(epsilon=Fraction("0.5"))}
        ledger.charge(pure("0.5"), declaration=declared, query=COUNT, asker="ann", shares=share)
        with pytest.raises(BudgetError, match="share of 'ann'"):
            ledger.charge(pure("0.5"), declaration=declared, query=COUNT, asker="ann", shares=share)
        both = replace(declared, askers={"ann": share})
        with pytest.raises(UsageError, match="Keep one of the two"):
            ledger.charge(pure("0.5"), declaration=both, query=COUNT, asker="ann", shares=share)

    @pytest.mark.parametrize(
        "named", [{"purpose": "x" * 301}, {"purpose": "a\nb"}, {"asker": " "}, {"asker": "x" * 101}]
    )
    def test_an_odd_name_or_purpose_is_refused(self, declared, ledger, named):
        with pytest.raises(UsageError):
            ledger.charge(pure("0.5"), declaration=declared, query=COUNT, **named)


class TestVerify:
    def test_an_anchor_is_found_or_the_ledger_is_refused(self, declared, ledger):
        charge = ledger.charge(pure("1"), declaration=declared, query=COUNT)
        assert ledger.verify(anchor=f"sha256:{charge.head}").holds_anchor
        with pytest.raises(LedgerError, match="older than what was seen of it"):
            ledger.verify(anchor="sha256:" + "0f" * 32)

    def test_a_backup_is_a_whole_ledger_and_replaces_nothing(self, declared, ledger, tmp_path):
        charge = ledger.charge(pure("1"), declaration=declared, query=COUNT)
        ledger.answer(charge.entry, {"release": {"count": 1}}, file=b"kept")
        ledger.backup(tmp_path / "copy.ledger")
        copy = Ledger.open(tmp_path / "copy.ledger")
        assert copy.verify(anchor=charge.head).entries == 3
        assert (tmp_path / "copy.ledger").stat().st_mode & 0o777 == 0o600
        with pytest.raises(LedgerError, match="is there already"):
            ledger.backup(tmp_path / "copy.ledger")


def test_nobody_can_guess_a_question_from_a_head(declared, ledger):
    """The same charge twice: 128 random bits make its hashes strangers."""
    heads = [ledger.charge(pure("1"), declaration=declared, query=COUNT).head for _ in range(2)]
    salts = [line.event.content["salt"] for line in ledger.history()]
    assert len(set(heads)) == 2
    assert len(set(salts)) == 3
    assert all(len(salt) == 32 for salt in salts)


def test_a_limit_change_says_who_and_why(declared, ledger):
    ledger.charge(pure("1"), declaration=declared, query=COUNT)
    raised = replace(declared, budgets={"dp": Budget(epsilon=Fraction(5))})
    lines = Ledger.init(raised, by="A. Meyer", reason="a second year")
    assert any("weaker promise" in line for line in lines)
    assert ledger.history()[-1].text.startswith("limits set by A. Meyer (a second year): [budget.dp] epsilon 5")
