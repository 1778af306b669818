"""Parts of RESULTS.md by their headings; and parts written anew from a run of those parts alone, while every other line stays as the run that measured it left it."""

from __future__ import annotations


def with_section(text, section, *, before):
    """The page with a section put in place of the one with the same heading, or before another heading."""
    heading = section.splitlines()[0]
    pieces = ("\n" + text).split("\n## ")
    kept = [piece for piece in pieces if not piece.startswith(heading.removeprefix("## ") + "\n")]
    place = next(i for i, piece in enumerate(kept) if piece.startswith(before))
    kept.insert(place, section.removeprefix("## "))
    return "\n## ".join(kept)[1:]


def with_rows(text, heading, rows):
    """The page with table rows put in place of those under the heading that begin with the same two cells."""
    before, mark, rest = text.partition(f"## {heading}")
    section, following, after = rest.partition("\n## ")
    names = {_name(row) for row in rows}
    out = []
    for row in section.split("\n"):
        if _name(row) not in names:
            out.append(row)
        else:
            out += [new for new in rows if _name(new) == _name(row) and new not in out]
    return before + mark + "\n".join(out) + following + after


def _name(row):
    cells = [cell.strip() for cell in row.split("|")]
    return tuple(cells[1:3]) if row.startswith("|") else ()


def with_statements(text, statements):
    """The page with statements put in place of those that begin with the same bold words."""
    for new in statements:
        words = new.partition(".**")[0]
        text = "\n".join(new if line.startswith(words) else line for line in text.split("\n"))
    return text


def rows_under(text, heading):
    """The cells of every table row under a heading, header rows left out."""
    section = text.partition(f"\n## {heading}")[2].partition("\n## ")[0].split("\n")
    rules = {place for place, row in enumerate(section) if row.startswith("|---")}
    return [
        [cell.strip() for cell in row.strip("|").split("|")]
        for place, row in enumerate(section)
        if row.startswith("|") and place not in rules and place + 1 not in rules
    ]
