"""Write the golden ledger of format 2. Run once for a format, and never again: what is kept is what was written then.

python -m tests.golden.make FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow as pa

from wallflower.count import Outliers
from wallflower.ledger import Ledger, journal
from wallflower.ledger.admission import OWNER
from wallflower.privacy.guarantees import OutputConstrainedDP, PlainKAnonymity, SensitivePrivacy
from wallflower.schema import load
from wallflower.session import table

FRAME = pa.table({"x": [1, 2, 3, 4, 90], "employee": ["a", "b", "c", "d", "e"]})
QUERY = Outliers(columns=("x",), neighbours=2, radius=5, epsilon="0.25")


def main(folder: Path) -> None:
    journal.Journal.is_due = property(lambda each: each.entry - each.checkpoint >= 8)  # a small file with checkpoints
    declared = load(folder / "format2.toml", source_optional=True)
    Ledger.init(declared, by="A. Meyer", reason="the first year")
    session = table(FRAME, declared)
    answered = {}
    for number, asker in enumerate((OWNER, "ann", "bob", OWNER)):
        release = session.release(QUERY, f"golden-{number}", asker=asker, purpose=f"purpose {number}")
        answered[f"{asker}/golden-{number}"] = release.to_json()
    ledger = session.ledger
    half = QUERY.price(declared).guarantee.epsilon
    named = {"declaration": declared}
    explained = OutputConstrainedDP(epsilon=half, neighbours="add-remove")
    charge = ledger.charge(explained, query={"command": "explain", "record": "e"}, request_id="explained", **named)
    ledger.answer(charge.entry, {"release": {"text": "everywhere"}})
    sensitive = SensitivePrivacy(epsilon=half, k=3, model="default", neighbours="add-remove")
    charge = ledger.charge(sensitive, query={"command": "identify"}, request_id="identified", **named)
    ledger.answer(charge.entry, {"release": {"answers": []}})
    plain = PlainKAnonymity(k=3, p=half, d=half, level="candidate")
    charge = ledger.charge(plain, query={"command": "publish"}, request_id="published", **named)
    ledger.answer(charge.entry, {"release": {"file": "out.csv", "rows": 1}}, file=b"x\n1\n")
    charge = ledger.charge(sensitive, query={"command": "identify"}, request_id="closed", **named)
    ledger.close(charge.entry, "its process has ended")
    kept = {
        "fingerprint": declared.fingerprint,
        "head": ledger.journal.head,
        "entries": ledger.journal.entry,
        "answers": answered,
        "spent": {
            each.account.code: {n: str(a) for n, a in each.spent.items()} for each in ledger.show(declared).accounts
        },
        "explained": ["e"],
    }
    (folder / "format2.json").write_text(json.dumps(kept, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
