"""Anything, over real sockets, from people of every role: what a running service answers to it.

Every route, method, kind of body, cookie and header. What is judged besides 5xx, tracebacks and secrets: that an answer has
the headers every answer has, that nothing sent came back as a header, and that nobody passed a door that is not theirs.
"""

from __future__ import annotations

import http.client
import random
import re
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, urlencode

from tests.service import openapi_bodies
from wallflower.service.authorisation import ROUTES, Route
from wallflower.service.cookies import Signer
from wallflower.service.demo import SALARIES, STAYS
from wallflower.service.passwords import digest_of
from wallflower.service.people import People
from wallflower.service.web.app import HEADERS
from wallflower.service.web.openapi import BODIES
from wallflower.stores.database import Database

NASTY = (
    "", "0", "-1", "1", "0.1", "1e400", "nan", "9" * 400, "1/0", "1/3", "../../etc/passwd", "%00", "a" * 5000, "\r\nX: y",
    "'; DROP TABLE users; --", "{{7*7}}", "${x}", "<script>alert(1)</script>", "é\u202e\u0000", "\ufeff", "age,days", "age",
    "age=1,days=2", "drop", "yes", "approve", "check", "grant", "share", "count", "stays", "ada", "lof(neighbours=20)", "[table]",
    "refuse", "policy", "report", "withdraw", "end policy", "dp", "//evil.example", "\u212aelvin", "١٢", "1_000", " 7 ", "+5",
)  # fmt: skip
FIELDS = (
    "csrf", "columns", "neighbours", "radius", "epsilon", "purpose", "submit", "record", "metric", "by", "detector", "guarantee",
    "values", "model", "method", "size", "top", "counts_epsilon", "word", "reason", "name", "family", "asker", "text", "try", "save",
    "kind", "request", "label", "days", "old", "new", "once", "k", "p", "d", "level", "format", "remove", "new-columns", "rehearse",
    "new-identify", "columns/age/upper", "columns/age/role", "budget/dp/epsilon", "table/max_rows", "identify/default/k", "id",
)  # fmt: skip
NEAR = {"columns": ["age", "days"], "neighbours": "3", "radius": "6", "epsilon": "0.001"}
GOOD: dict[str, dict[str, str | list[str]]] = {
    "count": NEAR,
    "identify": {"model": "default", "values": "age=1,days=2", "method": "sensitive", "epsilon": "0.001"},
    "subspaces": {**NEAR, "size": "1", "top": "1"},
    "explain": {
        "record": "e1", "metric": "salary", "by": ["job", "hospital"], "detector": "grubbs(alpha=0.05)",
        "guarantee": "full", "epsilon": "0.001",
    },
    "publish": {
        "columns": ["job", "hospital", "salary"], "k": "3", "p": "0.9", "d": "0.5", "level": "matching", "format": "csv",
    },
}  # fmt: skip
"""A question of each kind that can be answered."""
TABLES = {"count": "stays", "identify": "stays", "subspaces": "stays", "explain": "salaries", "publish": "salaries"}
FORMS: dict[str, tuple[dict[str, str], ...]] = {
    "/login": ({"name": "eve", "password": "no"}, {"name": "ada", "password": "?"}),
    "/account/tokens": ({"label": "t", "days": "1", "password": "?"}, {"label": "x" * 70, "days": "99999"}),
    "/account/password": ({"old": "no", "new": "x" * 20},),
    "/requests/{request}/decide": ({"word": "approve"}, {"word": "refuse", "reason": "no"}, {"word": "policy"}),
    "/requests/{request}/share": ({"asker": "dora"}, {"asker": "nobody"}),
    "/tables/{table}/looks": ({"kind": "check"}, {"kind": "report"}),
    "/tables/{table}/people": (
        {"word": "grant", "name": "dora"},
        {"word": "withdraw", "name": "dora"},
        {"word": "share", "name": "ada", "family": "dp", "epsilon": "3"},
    ),
    "/tables/{table}/declare": (
        {"text": STAYS, "save": "yes"},
        {"text": SALARIES, "save": "yes"},
        {"text": STAYS.replace("120", "130"), "try": "yes"},
        {"columns/age/upper": "130", "save": "yes"},
    ),
}
"""A form that the route's handler takes in earnest, with ? for the right password; nonsense is added to it."""
KINDS = ("application/json", "application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x", "")
METHODS = ("PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "PROPFIND", "GET", "POST")
ODD_HEADERS = (
    ("Host", "evil.example"), ("X-Forwarded-For", "1.2.3.4, <script>alert(1)</script>"), ("X-Forwarded-Host", "evil.example"),
    ("X-HTTP-Method-Override", "DELETE"), ("Range", "bytes=0-5"), ("If-None-Match", "*"), ("Accept-Encoding", "gzip, br;q=1.0, *;q=0"),
    ("Authorization", "Basic YTpi"), ("Authorization", "Bearer"), ("Authorization", "Bearer " + "x" * 4000), ("Expect", "100-continue"),
    ("Upgrade", "websocket"), ("Cookie", "a=b; " * 500), ("Cookie", "wallflower=x.y; wallflower-visit=\xe9"), ("Cookie", "=;;=;\xff"),
    ("Content-Type", "application/json; charset=utf-16"), ("Accept", "application/json;q=nan"), ("X-" + "a" * 300, "b" * 3000),
    ("Origin", "null"), ("Referer", "javascript:alert(1)"), ("Content-Encoding", "gzip"), ("Accept-Language", "\xff" * 20),
)  # fmt: skip
RAW = (
    b"GET /%ff%fe HTTP/1.1\r\nHost: a\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00", b"GET\r\n\r\n",
    b"POST /login HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", b"GET http://evil.example/ HTTP/1.1\r\nHost: a\r\n\r\n",
    b"POST /login HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\nzz\r\n",
    b"GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"GET /../../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /health HTTP/1.1\r\nHost: a\r\nX: " + b"y" * 70_000 + b"\r\n\r\n", b"CONNECT evil.example:443 HTTP/1.1\r\nHost: a\r\n\r\n",
)  # fmt: skip
"""What is hardly HTTP, or not at all."""
RARE = {
    "/logout": 0.05, "/account/password": 0.03, "/login": 0.2, "/account/tokens": 0.05, "/": 0.2, "/tables/{table}": 0.3,
    "/tables/{table}/ledger/verify": 0.1, "/tables/{table}/ledger": 0.3, "/tables/{table}/ledger/download": 0.3,
    "/api/v1/tables/{table}/ledger": 0.3, "/tables/{table}/looks": 0.2,
}  # fmt: skip
"""How often the costly ones are sent: a slow hash, a whole ledger, a look at rows."""
LABELS = tuple(f"t{number}" for number in range(200))
"""Names of tokens that are made and revoked."""
AWAY = frozenset({"/logout", "/account/password"})
"""Where to be sent to the login is to have been heard."""
OWNERS = frozenset({"owner"})


@dataclass
class Person:
    """Somebody who is logged in, with a form's token and an API token."""

    name: str
    cookie: str = ""
    csrf: str = ""
    token: str = ""


@dataclass
class Barrage:
    """A service to be tried, and what must never leave it."""

    port: int
    enter: Callable[[str], Person]
    tokens: Mapping[str, str]
    """An API token of everybody who comes; `nobody` has none."""
    requests: list[str]
    secrets: tuple[str, ...]
    passwords: Mapping[str, str] = field(default_factory=dict, repr=False)
    statuses: Counter = field(default_factory=Counter)
    reached: Counter = field(default_factory=Counter)
    """Handlers that took what was sent: by route, answers below 400."""
    wrong: list[str] = field(default_factory=list)
    sent: int = 0
    _lock: Any = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        self.found = deque(self.requests, maxlen=400)
        self.looks = deque(["x"], maxlen=50)

    def run(self, number: int, *, threads: int) -> None:
        began = time.monotonic()
        workers = [
            threading.Thread(target=self._some, args=(number // threads, seed), daemon=True) for seed in range(threads)
        ]
        for each in workers:
            each.start()
        for each in workers:
            each.join()
        rate = self.sent / max(time.monotonic() - began, 1e-9)
        print(  # noqa: T201 - a campaign's figures
            f"\n{self.sent} requests, {rate:.0f} a second; statuses {dict(sorted(self.statuses.items()))}; "
            f"{len(self.reached)} of {len(ROUTES)} routes did what was asked; {len(self.wrong)} wrong",
            flush=True,
        )

    def _some(self, number: int, seed: int) -> None:
        chance = random.Random(seed)
        people = [self._entered(name) for name in (*self.tokens, "nobody")]
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        for _ in range(number):
            if chance.random() < 0.01:
                self._raw(chance)
                continue
            place = chance.randrange(len(people))
            route, method, path, body, headers = self._made(chance, people[place])
            try:
                answer, told = _sent(connection, method, path, body, headers)
            except (OSError, http.client.HTTPException):
                connection.close()  # an idle connection may be closed at any time: once more, on a new one
                try:
                    answer, told = _sent(connection, method, path, body, headers)
                except (OSError, http.client.HTTPException) as error:
                    connection.close()
                    self._say(f"{method} {path[:100]}: no answer ({type(error).__name__})", None)
                    continue
            self._judge(route, people[place], method, path, answer, told.decode("utf-8", "replace"))
            if route.path == "/logout" and answer.status == 303:
                people[place] = self._entered(people[place].name)
        connection.close()

    def _entered(self, name: str) -> Person:
        """With a session of one's own: nobody's logging out ends another's."""
        return replace(self.enter(name), token=self.tokens.get(name, ""))

    def _raw(self, chance: random.Random) -> None:
        """Bytes on a socket: an answer in the four hundreds, or none."""
        sent = chance.choice(RAW)
        with socket.create_connection(("127.0.0.1", self.port), timeout=120) as client:
            client.sendall(sent)
            client.shutdown(socket.SHUT_WR)
            told = b""
            try:
                while part := client.recv(65536):
                    told += part
            except ConnectionError:
                pass
        status = int(told.split()[1]) if told.startswith(b"HTTP/") else 0
        wrong = status >= 500 or b"Traceback" in told or any(each.encode() in told for each in self.secrets)
        self._say(f"{sent[:80]!r}: {told[:200]!r}" if wrong else "", status)

    def _say(self, wrong: str, status: int | None) -> None:
        with self._lock:
            self.sent += 1
            if self.sent % 10_000 == 0:
                print(f"{self.sent} sent, {len(self.wrong)} wrong", flush=True)  # noqa: T201 - a campaign's figures
            self.statuses[status] += 1
            if wrong:
                self.wrong.append(wrong)

    def _judge(self, route: Route, person: Person, method: str, path: str, answer: Any, told: str) -> None:
        status = answer.status
        bad = [secret for secret in self.secrets if secret in told]
        if (
            status >= 500
            or "Traceback" in told
            or "<script>alert" in told
            or "{{49}}" in told
            or 'File "' in told
            or bad
        ):
            wrong = f"{status} {told[:200]}"
        elif (
            any(answer.headers.get(name) is None for name in HEADERS) and status != 400
        ):  # 400: not even HTTP, said by the server itself
            wrong = f"{status} without {[name for name in HEADERS if answer.headers.get(name) is None]}"
        elif answer.headers.get("X") is not None or "evil" in (answer.headers.get("Location") or ""):
            wrong = f"{status} a header of ours came back: {answer.headers.items()}"
        elif method == route.method and _passed(answer) and not _may(route, person):
            wrong = f"{status} {person.name} passed where they do not belong"
        else:
            wrong = ""
        if method == route.method and (_passed(answer) or (status == 303 and route.path in AWAY)):
            with self._lock:
                self.reached[route.method, route.path] += 1
        self._keep(answer.headers.get("Location") or "", told if status == 202 else "")
        self._say(f"{method} {path[:100]}: {wrong}" if wrong else "", status)

    def _keep(self, location: str, told: str) -> None:
        """Names of requests and looks that exist now, for later ones to aim at."""
        for place, kept in (("/requests/", self.found), ("/looks/", self.looks)):
            if location.startswith(place):
                kept.append(location.removeprefix(place))
        named = re.search(r'"id": "([0-9a-f]{32})"', told)
        if named:
            self.found.append(named[1])

    def _made(self, chance: random.Random, person: Person) -> tuple[Route, str, str, bytes, dict[str, str]]:
        route = chance.choice(ROUTES)
        while chance.random() > RARE.get(route.path, 1):
            route = chance.choice(ROUTES)
        method = route.method if chance.random() < 0.95 else chance.choice(METHODS)
        headers = {"Cookie": person.cookie} if person.cookie else {}
        if chance.random() < 0.3:
            headers["Accept"] = "application/json"
        body, given = b"", self._aimed(chance)
        if route.path.startswith("/api/v1") or route.path == "/metrics":
            headers["Authorization"] = f"Bearer {person.token or chance.choice(['wf_x', 'é'])}".encode().decode(
                "latin-1"
            )
        if route.method == "POST":
            programs = route.path.startswith("/api/v1")
            body = (
                openapi_bodies.body(chance, BODIES.get(route.path, "Question"), _value)
                if programs
                else self._form(chance, route, person, given["command"])
            )
            kind = KINDS[0] if programs else KINDS[1]
            headers["Content-Type"] = kind if chance.random() < 0.95 else chance.choice(KINDS)
        headers["X-Forwarded-For"] = f"10.0.{chance.randrange(256)}.{chance.randrange(256)}"
        if chance.random() < 0.1:
            name, value = chance.choice(ODD_HEADERS)
            headers[name] = value
        return route, method, self._path(chance, route, given), body, headers

    def _aimed(self, chance: random.Random) -> dict[str, str]:
        """Names that exist, most of the time."""
        command = chance.choice(list(GOOD))
        honest = {
            "table": TABLES[command] if chance.random() < 0.9 else "salaries",
            "command": command,
            "request": chance.choice([*self.requests, *self.found]),
            "look": chance.choice(self.looks),
            "name": chance.choice(["console.css", chance.choice(LABELS)]),
        }
        if chance.random() < 0.85:
            return honest
        return {name: quote(chance.choice(NASTY)[:300], safe="") or "-" for name in honest}

    def _path(self, chance: random.Random, route: Route, given: Mapping[str, str]) -> str:
        path = route.path.format(**given)
        return path if chance.random() < 0.9 else f"{path}?as=text&{quote(chance.choice(NASTY)[:300], safe='=&')}"

    def _form(self, chance: random.Random, route: Route, person: Person, command: str) -> bytes:
        pairs: list[tuple[str, str]] = []
        if chance.random() < 0.6:
            pairs += self._earnest(chance, route, person).items()
        if "ask" in route.path and chance.random() < 0.7:
            for name, value in GOOD.get(command, NEAR).items():
                pairs += [(name, one) for one in ([value] if isinstance(value, str) else value)]
            pairs += [("purpose", "barrage"), *([("submit", "yes")] if chance.random() < 0.5 else [])]
        if "request" not in route.path and chance.random() < 0.3:
            pairs.append(("request", chance.choice(self.found)))
        pairs += [(chance.choice(FIELDS), _text(chance)) for _ in range(chance.choice([0, 0, 0, 1, 2, 4]))]
        if chance.random() < 0.95:
            pairs = [pair for pair in pairs if pair[0] != "csrf"] + [("csrf", person.csrf)]
        raw = urlencode(pairs).encode()
        return raw if chance.random() < 0.97 else raw + bytes(chance.randrange(256) for _ in range(20))

    def _earnest(self, chance: random.Random, route: Route, person: Person) -> dict[str, str]:
        made = dict(chance.choice(FORMS.get(route.path, ({},))))
        if made.get("password") == "?":
            made["password"] = self.passwords.get(made.get("name", person.name), "")
        if made.get("label") == "t":
            made["label"] = chance.choice(LABELS)
        return made


def _sent(connection: http.client.HTTPConnection, method: str, path: str, body: bytes, headers: dict[str, str]):
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    return answer, answer.read()


def _passed(answer: Any) -> bool:
    """Whether the door opened: not a refusal, and not the way to the login."""
    return answer.status in (200, 202) or (answer.status == 303 and answer.headers.get("Location") != "/login")


def _may(route: Route, person: Person) -> bool:
    """What no fuzzing can change: nobody has no role, and only otto owns."""
    if not person.name or person.name == "nobody":
        return "public" in route.roles
    return route.roles != OWNERS or person.name == "otto"


def _value(chance: random.Random) -> Any:
    return chance.choice([_text(chance), 7, -1, 10**30, None, [], [_text(chance)], {"a": 1}, True, 1.5, [[]], [None]])


def _text(chance: random.Random) -> str:
    if chance.random() < 0.5:
        return chance.choice(NASTY)
    return "".join(
        chr(chance.choice([chance.randrange(32, 127), chance.randrange(0xD7FF)])) for _ in range(chance.randrange(20))
    )


def doors(database: Database) -> Callable[[str], Person]:
    """How somebody gets a session without a password: a barrage of wrong ones makes everybody at this address wait."""
    people, signer = People(database, database.clock), Signer.of(database)

    def enter(name: str) -> Person:
        if name == "nobody":
            return Person(name)
        secret = people.start_session(name, source="127.0.0.1")
        cookie = (
            f"wallflower-visit=visit; wallflower={signer.sealed(secret)}; __Host-wallflower={signer.sealed(secret)}"
        )
        return Person(name, cookie=cookie, csrf=signer.form_token(digest_of(secret)))

    return enter
