"""One request to the web process, as a handler sees it, and how handlers are told from routes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from wallflower.errors import UsageError
from wallflower.service.authorisation import BY_NAME, Role, Route
from wallflower.service.people import Person
from wallflower.service.requests import Request

MOST_BODY = 64 * 1024
MOST_FIELDS = 2_000


@dataclass(frozen=True, kw_only=True)
class Visit:
    """Who comes, from where, to what, with what."""

    route: Route
    path: Mapping[str, str]
    query: Mapping[str, str]
    form: Mapping[str, list[str]]
    body: Any
    """The JSON of a program's request; None otherwise."""
    person: Person | None
    roles: frozenset[Role]
    source: str
    csrf: str
    browser: str = ""
    """A secret of this browser's visit, the same before and after logging in."""
    request: Request | None = None
    """The request that the path names, where it names one."""
    wants_json: bool = False

    @property
    def name(self) -> str:
        if self.person is None:
            message = "a public route has no person"
            raise LookupError(message)
        return self.person.name

    def one(self, field: str, default: str = "") -> str:
        """One field of a form."""
        found = self.form.get(field, [])
        if len(found) > 1:
            raise UsageError(f"'{field[:60]}' stands {len(found)} times in the form.")
        return found[0] if found else default


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What goes back: a page, a JSON object, a file, or the way to another page."""

    status: int = 200
    kind: str = "text/html; charset=utf-8"
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    session: str | None = None
    """A new session's id, to be set as a cookie; an empty text ends the session."""


Handler = Callable[[Any, Visit], Answer]
HANDLERS: dict[Route, Handler] = {}


def handles(method: str, path: str) -> Callable[[Handler], Handler]:
    """Bind a handler to a route of the table; one that is not in the table cannot be served."""

    def bind(handler: Handler) -> Handler:
        HANDLERS[BY_NAME[method, path]] = handler
        return handler

    return bind


def as_json(value: Any, status: int = 200) -> Answer:
    return Answer(status=status, kind="application/json", body=json.dumps(value, ensure_ascii=False).encode())


def elsewhere(path: str, *, session: str | None = None) -> Answer:
    """The way to another page of ours, after a form."""
    return Answer(status=303, headers={"Location": path}, session=session)


def read_form(raw: bytes) -> dict[str, list[str]]:
    """Fields of a form; a body that is not one is refused."""
    try:
        pairs = parse_qsl(raw.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except (ValueError, UnicodeDecodeError):
        raise UsageError("the form could not be read.") from None
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        if "\0" in value:
            raise UsageError("a form holds text, without NUL.")
        found.setdefault(name, []).append(value.replace("\r\n", "\n"))
    return found


def read_json(raw: bytes) -> Any:
    """A JSON object; anything else is refused in words."""
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise UsageError("the body is not JSON.") from None
    if not isinstance(value, dict):
        raise UsageError("the body is a JSON object.")
    if not _is_text(value):
        raise UsageError("the body holds text that is none: NUL, or half of a character.")
    return value


def _is_text(value: Any) -> bool:
    """Whether every text inside can be written down again, in a database and in an answer. However deep it is nested: a
    loop, since a call for each level would end before JSON's own reader does.
    """
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            if not is_text(one):
                return False
        elif isinstance(one, dict):
            left += [*one, *one.values()]
        elif isinstance(one, list):
            left += one
    return True


def is_text(text: str) -> bool:
    """No NUL, which PostgreSQL cannot keep, and no half of a surrogate pair, which UTF-8 cannot write.

    >>> is_text("café"), is_text("a\\0"), is_text("\\ud800")
    (True, False, False)
    """
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def _no_constant(_name: str) -> None:
    message = "NaN and Infinity are no JSON"
    raise ValueError(message)
