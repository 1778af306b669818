"""Whether a release is what the ledger holds, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wallflower.errors import LedgerError
from wallflower.ledger import Ledger
from wallflower.schema import load


def compared_with_ledger(said: Mapping[str, Any], declaration: Path) -> str:
    """What the page says about the comparison; refused where the ledger does not hold exactly this release."""
    declared = load(declaration)
    if said["ledger"]["account"] != declared.id:
        raise LedgerError(
            f"this is a release of '{said['ledger']['account']}', and '{declaration}' declares '{declared.id}'."
        )
    kept = Ledger.open(declared).recorded(said["ledger"]["entry"], like=said)
    wrong = kept.differences(said)
    if wrong:
        named = ", ".join(f"'{name}'" for name in wrong[:6]) + (", …" if len(wrong) > 6 else "")
        raise LedgerError(
            f"entry {kept.entry} of the ledger is another release: {named} differ{'s' if len(wrong) == 1 else ''}. "
            "It has no certificate.",
            hint=f"The release that the ledger holds: wallflower releases {declaration} --entry {kept.entry} -o FILE.json.",
        )
    since = "" if said["declaration"]["fingerprint"] == declared.fingerprint else " The declaration has changed since."
    return (
        f"Every field was compared with the ledger: entry {kept.entry} of table '{declared.id}' is this release.{since}"
    )
