"""A certificate that means something later: compared with the ledger, signed, and checked by a stranger."""

from __future__ import annotations

import json
from copy import deepcopy
from html import unescape

import pytest

from tests.cli.malformed import malformed
from tests.cli.workspace import lay_out
from wallflower.cli.app import run
from wallflower.count import Outliers
from wallflower.detectors import detector
from wallflower.errors import UsageError
from wallflower.explain import Context
from wallflower.identify import Anomalies
from wallflower.ledger import Ledger
from wallflower.report.certificate import certificate, certificate_page
from wallflower.report.release_file import read_release
from wallflower.report.signature import check, new_key, signed
from wallflower.schema import load
from wallflower.session import open as open_session

FOUND = "Good: every byte"


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with a table, its ledger, and one release of each kind that the ledger holds."""
    folder = tmp_path_factory.mktemp("desk")
    lay_out(folder)
    declaration = folder / "salaries.toml"
    with declaration.open("a", encoding="utf-8") as file:
        file.write('[identify.points]\ncolumns = ["age", "salary"]\nbeta = 5\nradius = "0.5"\nk = 2\nepsilon = "10"\n')
    Ledger.init(load(declaration))
    session = open_session(folder / "salaries.toml")
    asked = {
        "count": Outliers(columns=("salary",), neighbours=5, radius=1000, epsilon="0.5"),
        "identify": Anomalies(values=({"age": "51", "salary": "900000"},), epsilon="1", model="points"),
        "explain": Context(
            record="8",
            metric="salary",
            by=("job_title", "city"),
            detector=detector("grubbs(alpha=0.05)"),
            epsilon="1",
            guarantee="full",
        ),
    }
    for name, query in asked.items():
        (folder / f"{name}.json").write_text(json.dumps(session.release(query).to_json()), encoding="utf-8")
    new_key(folder / "owner.pem")
    return folder


def said(desk, name="count"):
    return json.loads((desk / f"{name}.json").read_text(encoding="utf-8"))


def asked_of(desk, release, tmp_path, *more):
    file = tmp_path / "claimed.json"
    file.write_text(json.dumps(release), encoding="utf-8")
    return run(["certificate", str(file), "--verify", str(desk / "salaries.toml"), *more])


FORGERIES = {
    "a smaller epsilon": lambda r: r["guarantee"]["parameters"].update(epsilon="0.1"),
    "another answer": lambda r: r["release"].update(count=r["release"]["count"] + 1),
    "another interval": lambda r: r["release"].update(interval=None),
    "a better promise": lambda r: r["guarantee"].update(sentence="Nothing at all can be learnt."),
    "another family": lambda r: r["guarantee"].update(family="zcdp"),
    "another question": lambda r: r["asked"].update(neighbours=50),
    "another command": lambda r: r["asked"].update(command="explain"),
    "a note that is gone": lambda r: r.update(notes=[]),
    "a note of its own": lambda r: r["notes"].append("Checked by everyone."),
    "another time": lambda r: r.update(at="2020-01-01T00:00:00Z"),
    "another declaration": lambda r: r["declaration"].update(fingerprint="sha256:" + "0" * 64),
    "more left": lambda r: r["ledger"]["left"].update(epsilon="100"),
    "an account that is gone": lambda r: r["ledger"]["debited"].pop(),
    "another entry": lambda r: r["ledger"].update(entry=r["ledger"]["entry"] + 2),
    "no such entry": lambda r: r["ledger"].update(entry=999),
    "another head": lambda r: r["ledger"].update(head="sha256:" + "f" * 64),
    "another noise": lambda r: r["mechanism"].update(scale="1"),
    "not drawn privately": lambda r: r.update(private=False),
    "another version": lambda r: r.update(wallflower="9.9"),
    "another table": lambda r: r["ledger"].update(account="wages"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_what_the_ledger_does_not_hold_has_no_certificate(desk, tmp_path, capsys, forgery):
    release = said(desk, "identify" if "note" in forgery else "count")
    before = deepcopy(release)
    FORGERIES[forgery](release)
    assert release != before
    page = tmp_path / "page.html"
    assert asked_of(desk, release, tmp_path, "-o", str(page)) == 3
    assert not page.exists()
    assert capsys.readouterr().err.startswith("ledger: ")


@pytest.mark.parametrize("name", ["count", "identify", "explain"])
def test_what_the_ledger_holds_is_certified_and_a_stranger_checks_it(desk, tmp_path, capsys, name):
    page = tmp_path / "page.html"
    assert asked_of(desk, said(desk, name), tmp_path, "-o", str(page), "--sign", str(desk / "owner.pem")) == 0
    assert run(["certificate", "--check", str(page), "--key", str(desk / "owner.pem.pub")]) == 0
    assert FOUND in capsys.readouterr().out
    assert "Every field was compared with the ledger" in page.read_text(encoding="utf-8")


def test_comparing_needs_no_page(desk, capsys):
    release = str(desk / "count.json")
    assert run(["certificate", release, "--verify", str(desk / "salaries.toml")]) == 0
    assert "Every field was compared" in capsys.readouterr().out
    assert run(["certificate", release]) == 2
    assert run(["certificate", release, "--sign", str(desk / "owner.pem"), "-o", str(desk / "p.html")]) == 2
    assert "only what the ledger holds is signed" in capsys.readouterr().err
    assert run(["certificate"]) == 2
    assert run(["certificate", "--check", release]) == 2


def test_a_flipped_bit_is_refused(desk):
    page = signed(certificate_page(said(desk)), desk / "owner.pem")
    assert check(page, desk / "owner.pem.pub")
    places = {*range(0, len(page), len(page) // 60), *range(len(page) - 240, len(page), 5)}
    for place in sorted(places):
        flipped = bytearray(page)
        flipped[place] ^= 1 << (place % 8)
        with pytest.raises(UsageError):
            check(bytes(flipped), desk / "owner.pem.pub")
    for other in (page + b" ", page[:-1], page[1:], page + page, b"", page[:-233]):
        with pytest.raises(UsageError):
            check(other, desk / "owner.pem.pub")


def test_another_s_signature_is_not_the_owner_s(desk, tmp_path):
    new_key(tmp_path / "other.pem")
    page = signed(certificate_page(said(desk)), tmp_path / "other.pem")
    with pytest.raises(UsageError, match="another key"):
        check(page, desk / "owner.pem.pub")
    ours = signed(certificate_page(said(desk)), desk / "owner.pem")
    with pytest.raises(UsageError, match="does not fit"):  # the owner's line under another page
        check(b"<p>Nothing was spent.</p>" + ours[-233:], desk / "owner.pem.pub")


def test_a_key_is_made_once_and_kept_from_others(tmp_path, capsys):
    key = tmp_path / "owner.pem"
    assert run(["certificate", "--new-key", str(key)]) == 0
    assert key.stat().st_mode & 0o077 == 0
    assert run(["certificate", "--new-key", str(key)]) == 2
    assert "not replaced" in capsys.readouterr().err
    for wrong in (tmp_path / "none.pem", key.with_name("owner.pem.pub")):
        with pytest.raises(UsageError):
            signed("page", wrong)
    with pytest.raises(UsageError):
        check(b"page", key)


def test_malformed_files_are_certified_or_refused_in_words(desk, tmp_path, capsys):
    file, page = tmp_path / "claimed.json", tmp_path / "page.html"
    tried = certified = 0
    for name, content in malformed(said(desk)):
        file.write_bytes(content)
        tried += 1
        try:
            certificate_page(read_release(file))
        except UsageError:
            pass
        else:
            certified += 1
        if tried % 40 == 0:
            assert run(["certificate", str(file), "-o", str(page)]) in {0, 2}, name
    assert tried >= 150
    assert 0 < certified < tried / 4
    assert "bug" not in capsys.readouterr().err


def test_the_page_says_of_what_and_keeps_every_warning(desk):
    counted = unescape(certificate(said(desk)).html)
    for part in ("What was asked", "<td>count</td>", "<td>salary</td>", "<td>1000</td>", "output-constrained-dp"):
        assert part in counted
    for name, warning in (("identify", "says nothing at all"), ("explain", "does not stand out")):
        release = said(desk, name)
        assert any(warning in note for note in release["notes"]), release["notes"]
        page = unescape(certificate(release).html)
        assert all(note in page for note in release["notes"])
