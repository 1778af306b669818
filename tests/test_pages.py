"""Pages made by a script are what the script makes, and pages that name tests name existing ones."""

from __future__ import annotations

from scripts import guarantees


def test_the_page_of_guarantees_is_what_the_proofs_say():
    assert guarantees.PAGE.read_text(encoding="utf-8") == guarantees.page(), "run `make reference`"
