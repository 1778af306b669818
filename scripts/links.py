"""Check that every link of every Markdown page leads to a file and, where it names one, to a heading of it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def pages(root: Path = ROOT) -> list[Path]:
    folders = ("docs", "experiments", "benchmarks", "src")
    return sorted([*root.glob("*.md"), *(page for folder in folders for page in (root / folder).rglob("*.md"))])


def anchors(text: str) -> set[str]:
    """What GitHub calls the headings of a page: lower case, marks dropped, spaces as dashes."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.+?) *$", FENCED.sub("", text), flags=re.MULTILINE):
        base = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        name, again = base, 0
        while name in found:
            again += 1
            name = f"{base}-{again}"
        found.add(name)
    return found


def broken(root: Path = ROOT) -> list[str]:
    """`page: target` for each link that leads nowhere; addresses on the network are not visited."""
    found = []
    for page in pages(root):
        for target in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
            if "://" in target or target.startswith("mailto:"):
                continue
            file, _, anchor = target.partition("#")
            there = page.parent / file if file else page
            heading_missing = (
                anchor
                and there.suffix == ".md"
                and there.is_file()
                and anchor not in anchors(there.read_text(encoding="utf-8"))
            )
            if not there.exists() or heading_missing:
                found.append(f"{page.relative_to(root)}: {target}")
    return found


if __name__ == "__main__":
    lost = broken()
    print("\n".join(lost) or f"every link of {len(pages())} pages leads somewhere")
    sys.exit(bool(lost))
