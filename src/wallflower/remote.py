"""Ask a service from Python: `wf.connect(address, token=...)` gives tables whose `price` and `release` look like the local ones.

Standard-library HTTP and nothing else. A question is priced and answered over there; nothing but the question travels.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from wallflower.atomic_file import write_whole
from wallflower.errors import BudgetError, DeclarationError, LedgerError, PendingError, UsageError, WallflowerError
from wallflower.schema.canonical import place_of
from wallflower.schema.exact import shown
from wallflower.service.addresses import keeps_secrets, opener
from wallflower.service.forms import Field, form_of
from wallflower.service.passwords import new_id
from wallflower.service.questions import question
from wallflower.session.queries import Query

PATIENCE_S = 30
PAUSE_S = (0.5, 10.0)
PRICE_S = 300
TRIES = 20
"""Of a submission whose connection breaks: a web process is started again within seconds."""
_ERRORS: dict[str, type[WallflowerError]] = {
    "usage": UsageError,
    "declaration": DeclarationError,
    "budget": BudgetError,
    "ledger": LedgerError,
}


class _Unheard(UsageError):  # noqa: N818 - reads as what it says
    """Nobody answered."""


_OPENER = opener()


def connect(address: str, *, token: str) -> Remote:
    """A service, and the token that says who asks. Nothing is sent yet.

    >>> connect("https://wallflower.example", token="wf_...")
    <Remote https://wallflower.example>
    """
    if not keeps_secrets(address):
        raise UsageError(
            f"'{address}' is not an https address.", hint="A token sent without TLS can be read on the way."
        )
    token = token.strip()  # as a file holds it, with the end of its line
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError("that is not a token.", hint="Copy it as it was shown; it is not repeated here.")
    return Remote(address.rstrip("/"), token)


@dataclass(frozen=True, repr=False)
class Remote:
    """A service at an address."""

    address: str
    token: str

    def __repr__(self) -> str:
        return f"<Remote {self.address}>"

    def tables(self) -> list[str]:
        """The tables you have a role in."""
        return [str(one["table"]) for one in self.get("/api/v1/tables")[1]["tables"]]

    def table(self, name: str) -> RemoteTable:
        """One of them; a session in all but place."""
        return RemoteTable(self, name)

    def get(self, path: str) -> tuple[int, dict[str, Any]]:
        return self._send(urllib.request.Request(self.address + path))  # noqa: S310 - `connect` checked the scheme

    def post(self, path: str, body: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        end = time.monotonic() + PRICE_S
        while True:
            request = urllib.request.Request(self.address + path, data=json.dumps(body).encode(), method="POST")  # noqa: S310 - as above
            request.add_header("Content-Type", "application/json")
            status, told = self._send(request)
            error = told.get("error")
            if error is None:
                return status, told
            if time.monotonic() > end:  # a price that a clerk computes: it is there when we ask again
                raise PendingError(str(error.get("message")), hint=str(error.get("hint", "")))
            time.sleep(PAUSE_S[0])

    def post_until_heard(self, path: str, body: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        """Try again while nobody answers; for bodies whose id makes them one."""
        for _ in range(TRIES - 1):
            try:
                return self.post(path, body)
            except _Unheard:
                time.sleep(PAUSE_S[0])
        return self.post(path, body)

    def content(self, path: str) -> bytes:
        return self._raw(urllib.request.Request(self.address + path))[1]  # noqa: S310 - as above

    def _send(self, request: urllib.request.Request) -> tuple[int, dict[str, Any]]:
        status, raw = self._raw(request)
        return status, _object(raw)

    def _raw(self, request: urllib.request.Request) -> tuple[int, bytes]:
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("Accept", "application/json")
        try:
            with _OPENER.open(request, timeout=PATIENCE_S) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                told = _object(error.read()).get("error", {})
            if error.code >= 500:
                raise _Unheard(str(told.get("message", "the service is away.")), hint="Ask again later.") from None
        except (OSError, http.client.HTTPException) as error:
            raise _Unheard(f"the service did not answer: {error}.", hint="Ask again later.") from None
        kind = _ERRORS.get(str(told.get("kind")), UsageError)
        raise kind(str(told.get("message", "the service refused.")), hint=str(told.get("hint", "")))


@dataclass(frozen=True)
class RemoteTable:
    """A table of a service: price freely, ask with a purpose."""

    remote: Remote
    name: str

    def price(self, query: Query) -> RemotePrice:
        """What `query` would promise and cost, over there. Reads no row, spends nothing."""
        told = self.remote.post(f"{self._path}/price", written(query))[1]["price"]
        return RemotePrice(told)

    def ask(self, query: Query, *, purpose: str, request_id: str | None = None) -> RemoteRequest:
        """Submit a question; somebody, or a policy, decides. Sent again under the same id it is the same request, so that
        a connection that breaks is tried again without asking twice.
        """
        body = {**written(query), "purpose": purpose, "id": request_id or new_id()}
        told = self.remote.post_until_heard(f"{self._path}/requests", body)[1]
        return RemoteRequest(self.remote, str(told["request"]["id"]))

    def release(
        self, query: Query, *, purpose: str, request_id: str | None = None, patience_s: float = 3600
    ) -> RemoteRelease:
        """Submit and wait for the answer, at most so long; `ask` gives a handle instead. A publication is put at its `out`."""
        handle = self.ask(query, purpose=purpose, request_id=request_id)
        release = handle.wait(patience_s)
        place = place_of(query)
        if place is not None and release.value is not None and "sha256" in release.value:
            write_whole(place, handle.file(str(release.value["sha256"])))
        return release

    @property
    def _path(self) -> str:
        return f"/api/v1/tables/{urllib.parse.quote(self.name, safe='')}"


@dataclass(frozen=True)
class RemoteRequest:
    """A question on its way."""

    remote: Remote
    id: str

    @property
    def state(self) -> str:
        """waiting, decided, refused, withdrawn or answered."""
        status, told = self._look()
        return "answered" if "request" not in told and status == 200 else str(told["request"]["state"])

    def wait(self, patience_s: float = 3600) -> RemoteRelease:
        """The answer, when its tick has come."""
        end, pause = time.monotonic() + patience_s, PAUSE_S[0]
        while True:
            _, told = self._look()
            if "request" not in told:
                return RemoteRelease(told)
            if told["request"]["state"] in ("refused", "withdrawn"):
                raise UsageError(
                    f"the question was {told['request']['state']}: {told['request']['reason'] or 'no reason'}."
                )
            if time.monotonic() > end:
                raise UsageError(f"no answer yet to request {self.id}.", hint="Wait longer: the request stands.")
            time.sleep(pause)
            pause = min(2 * pause, PAUSE_S[1])

    def file(self, digest: str) -> bytes:
        """The published file, as its release names it by SHA-256."""
        content = self.remote.content(f"/api/v1/requests/{self.id}/file")
        if hashlib.sha256(content).hexdigest() != digest:
            raise LedgerError("the file is not the one that the release names.", hint="Ask the owner.")
        return content

    def _look(self) -> tuple[int, dict[str, Any]]:
        return self.remote.get(f"/api/v1/requests/{self.id}")


class _Told:
    """Something a service said, read by name."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        self._told = dict(told)

    def to_json(self) -> dict[str, Any]:
        return dict(self._told)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._told:
            raise AttributeError(name)
        found = self._told[name]
        return _Told(found) if isinstance(found, dict) and name == "guarantee" else found


class RemotePrice(_Told):
    """`guarantee` (with `.family`, `.parameters`, `.sentence`), `mechanism`, `settings`, `expected`, `notes`."""


class RemoteRelease(_Told):
    """`guarantee`, `mechanism`, `ledger`, `private`; the answer's own fields by `release["count"]`."""

    @property
    def value(self) -> Any:
        return self._told["release"]

    def __getitem__(self, name: str) -> Any:
        if self.value is None:
            message = "there is no answer to this question; the charge stands"
            raise LookupError(message)
        return self.value[name]


def written(query: Query) -> dict[str, Any]:
    """A query as the service's form of it; a choice the form does not have must be at its default.

    >>> from wallflower.count import Outliers
    >>> written(Outliers(columns=("age",), neighbours=3, radius=6, epsilon="0.1"))["fields"]
    {'columns': ['age'], 'neighbours': '3', 'radius': '6', 'epsilon': '0.1'}
    """
    form = form_of(query.name)
    fields = {}
    for field in form.fields:
        value = getattr(query, field.name)
        if value is not None:
            fields[field.name] = _text(field, value)
    _refuse_unsayable(query, question(form.command, fields))
    return {"command": form.command, "fields": fields}


def _refuse_unsayable(query: Query, said: Query) -> None:
    """What the service would understand must be what was meant; where a file is put is no part of it."""
    import dataclasses

    for field in dataclasses.fields(query):  # type: ignore[arg-type]
        if not field.metadata.get("place") and getattr(query, field.name) != getattr(said, field.name):
            raise UsageError(f"a service cannot be asked with '{field.name}' set.", hint="Leave it at its default.")


def _text(field: Field, value: Any) -> str | list[str]:
    if field.kind == "columns":
        return list(value)
    if field.kind == "values":
        return "\n".join(", ".join(_quoted(f"{name}={cell}") for name, cell in one.items()) for one in value)
    if field.name == "detector":
        from wallflower.detectors.base import spelled

        return spelled(value)
    return shown(value) if isinstance(value, Fraction) else str(value)


def _quoted(part: str) -> str:
    return '"' + part.replace('"', '""') + '"' if {",", '"'} & set(part) else part


def _object(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw)
    except ValueError:
        found = None
    return (
        found if isinstance(found, dict) else {"error": {"kind": "usage", "message": "the service did not speak JSON."}}
    )
