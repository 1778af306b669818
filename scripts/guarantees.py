"""Write docs/guarantees.md from the proofs that lie beside the code, so that the page cannot say anything else."""

from __future__ import annotations

import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "guarantees.md"
CODE = re.compile(r"^Code: `(?P<name>[\w.]+)`", re.MULTILINE)

HEAD = """\
# Guarantees

Every promise here is proved in a file beside the code it speaks of. Each file names that code with a pin; when the code changes, a
test fails until someone has read the proof again. This page repeats what is claimed and what is assumed; `make reference` writes it.

What the claims come to in an answer is said by the answer itself: each release carries its promise as a sentence. What is not
promised is in [LIMITATIONS.md](../LIMITATIONS.md).
"""

STANDS_ON = {
    "`count`, `subspaces`": "count/profiles count/parts/parts count/groups count/daily mechanisms/laplace mechanisms/lomax mechanisms/noisy_scale "
    "mechanisms/inverse_sensitivity mechanisms/top mechanisms/quantile mechanisms/exponential",
    "`identify`": "identify/margins identify/influence identify/grid identify/lookahead mechanisms/logistic mechanisms/laplace",
    "`explain`": "explain/searches explain/robust detectors/lof mechanisms/exponential mechanisms/permute_and_flip mechanisms/uniform mechanisms/laplace",
    "`publish` (a property of the written file; no probability is bounded)": "publish/plain mechanisms/shuffle",
    "`stream`": "mechanisms/alarm_clock mechanisms/sampled_slot mechanisms/perturbation mechanisms/layer mechanisms/layer_price "
    "mechanisms/logistic noise/bulk",
    "any of a table of people": "engines/people",
    "several answers together": "privacy/accounts privacy/accountants privacy/concentrated",
}
"""Which proofs each question's promise rests on."""


def proofs() -> list[Path]:
    return [path for path in sorted((ROOT / "src").rglob("*.md")) if CODE.search(path.read_text(encoding="utf-8"))]


def sections(text: str) -> dict[str, str]:
    """The text under each heading of the second level."""
    parts = re.split(r"^## +(.+?) *$", text, flags=re.MULTILINE)
    return {name: body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def from_here(text: str, proof: Path) -> str:
    """The same text with links that lead from this page instead of from the proof."""

    def moved(match: re.Match[str]) -> str:
        if "://" in match[1] or match[1].startswith("#"):
            return match[0]
        return f"]({relative(proof.parent / match[1])})"

    return re.sub(r"\]\(([^)\s]+)\)", moved, text)


def relative(path: Path) -> str:
    return os.path.relpath(path, PAGE.parent).replace(os.sep, "/")


def entry(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    parts = sections(text)
    status = re.search(r"^Status: *(.+?) *$", text, flags=re.MULTILINE)
    public = [match["name"] for match in CODE.finditer(text) if "._" not in match["name"]]
    names = ", ".join(f"`{name.removeprefix('wallflower.')}`" for name in public)
    return "\n".join(
        [
            f"### {title(path)}\n",
            f"[Proof]({relative(path)}) · {status[1] if status else 'no status'} · about {names}\n",
            labelled("Claim", from_here(parts.get("Claim", ""), path)),
            labelled("Assumes", from_here(parts.get("Assumes", ""), path)),
        ]
    )


def labelled(label: str, text: str) -> str:
    """A list or table starts a paragraph of its own."""
    gap = "\n\n" if re.match(r"(\d+\.|[-*|]) ?", text) else " "
    return f"**{label}.**{gap}{text}\n"


def overview() -> str:
    rows = ["| question | its promise stands on |", "|---|---|"]
    for question, names in STANDS_ON.items():
        paths = [ROOT / "src" / "wallflower" / f"{name}.md" for name in names.split()]
        rows.append(f"| {question} | {', '.join(f'[{title(path)}](#{anchor(title(path))})' for path in paths)} |")
    return "\n".join(rows) + "\n"


def title(path: Path) -> str:
    found = re.search(r"^# +(.+?) *$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return found[1] if found else path.stem


def anchor(heading: str) -> str:
    """As GitHub names a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def page() -> str:
    parts = [HEAD, overview()]
    folder = None
    for path in proofs():
        if path.parent != folder:
            folder = path.parent
            parts.append(f"## {folder.name}\n")
        parts.append(entry(path))
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
