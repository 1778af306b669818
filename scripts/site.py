"""Build the documentation site (docs/site/conf.py) with every warning an error, and see that no page loads anything from outside."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOADS = {
    "audio": "src", "embed": "src", "iframe": "src", "image": "href", "img": "src", "input": "src", "link": "href",
    "object": "data", "script": "src", "source": "src", "track": "src", "use": "href", "video": "src",
}  # fmt: skip
"""What a browser fetches unasked; the address of a plain link is not."""
ABROAD = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
IN_STYLES = re.compile(r"""(?:url\(\s*|@import\s+)["']?([^"')\s;]+)""", re.IGNORECASE)


def build(site: Path) -> None:
    """From scratch: a page that is kept from an earlier build would keep its warnings to itself."""
    command = [sys.executable, "-m", "sphinx", "--builder", "html", "--quiet", "--fresh-env", "--fail-on-warning"]
    folders = ["--conf-dir", str(ROOT / "docs" / "site"), str(ROOT), str(site)]
    subprocess.run([*command, *folders], check=True)


class Fetched(HTMLParser):
    """Every address that opening a page would load."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "style" and value:
                self.addresses += IN_STYLES.findall(value)
            elif name == "srcset" and value:
                self.addresses += [part.split()[0] for part in value.split(",") if part.split()]
            elif value and name.removeprefix("xlink:") == LOADS.get(tag):
                self.addresses.append(value)


def outside(site: Path) -> list[str]:
    """`file: address` for everything that would be fetched from another place."""
    found = []
    for file in sorted(site.rglob("*")):
        if file.suffix in {".html", ".svg"}:
            page = Fetched()
            text = file.read_text(encoding="utf-8")
            page.feed(text)
            styles = "".join(re.findall(r"<style.*?</style>", text, flags=re.DOTALL | re.IGNORECASE))
            addresses = [*page.addresses, *IN_STYLES.findall(styles)]
        elif file.suffix == ".css":
            addresses = IN_STYLES.findall(file.read_text(encoding="utf-8"))
        else:
            continue
        found += [f"{file.relative_to(site)}: {address}" for address in addresses if ABROAD.match(address)]
    return found


def main() -> int:
    site = ROOT / "site"
    build(site)
    wrong = outside(site)
    print(
        "\n".join(wrong) or f"{len(list(site.rglob('*.html')))} pages; open {(site / 'index.html').relative_to(ROOT)}"
    )
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
