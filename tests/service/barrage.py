"""Anything, over real sockets, from people of every role: what a running service answers to it."""

from __future__ import annotations

import http.client
import json
import random
import re
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

from wallflower.service.authorisation import ROUTES, Route

NASTY = (
    "", "0", "-1", "1", "0.1", "1e400", "nan", "9" * 400, "1/0", "1/3", "../../etc/passwd", "%00", "a" * 5000, "\r\nX: y",
    "'; DROP TABLE users; --", "{{7*7}}", "${x}", "<script>alert(1)</script>", "é\u202e\u0000", "\ufeff", "age,days", "age",
    "age=1,days=2", "drop", "yes", "approve", "check", "grant", "share", "count", "stays", "ada", "lof(neighbours=20)", "[table]",
)  # fmt: skip
FIELDS = (
    "csrf", "columns", "neighbours", "radius", "epsilon", "purpose", "submit", "record", "metric", "by", "detector", "guarantee",
    "values", "model", "method", "size", "top", "counts_epsilon", "word", "reason", "name", "family", "asker", "text", "try",
    "kind", "request", "label", "days", "old", "new", "once", "k", "p", "d", "level", "format", "remove", "new-columns",
    "new-identify", "columns/age/upper", "columns/age/role", "budget/dp/epsilon", "table/max_rows", "identify/default/k", "id",
)  # fmt: skip
GOOD = {
    "count": {"columns": ["age", "days"], "neighbours": "3", "radius": "6", "epsilon": "0.001"},
    "identify": {"model": "default", "values": "age=1,days=2", "method": "sensitive", "epsilon": "0.001"},
    "subspaces": {"columns": ["age", "days"], "size": "1", "top": "1", "neighbours": "3", "radius": "6", "epsilon": "0.001"},
}  # fmt: skip
KINDS = ("application/json", "application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x", "")
LEFT_ALONE = ("/logout", "/account/password")
"""They would end the sessions that are sent from; a test of their own looks at them."""
SOUGHT = [route for route in ROUTES if route.path not in LEFT_ALONE and "openid" not in route.path]


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
    people: list[Person]
    requests: list[str]
    secrets: tuple[str, ...]
    statuses: Counter = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    sent: int = 0

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
            f"{len(self.wrong)} wrong",
            flush=True,
        )

    def _some(self, number: int, seed: int) -> None:
        chance = random.Random(seed)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        for _ in range(number):
            method, path, body, headers = self._made(chance)
            try:
                connection.request(method, path, body, headers)
                answer = connection.getresponse()
                told = answer.read()
            except (OSError, http.client.HTTPException):
                connection.close()  # an idle connection may be closed at any time: once more, on a new one
                connection.request(method, path, body, headers)
                answer = connection.getresponse()
                told = answer.read()
            self._judge(method, path, answer.status, told.decode("utf-8", "replace"))
        connection.close()

    def _judge(self, method: str, path: str, status: int, told: str) -> None:
        self.sent += 1
        self.statuses[status] += 1
        bad = [secret for secret in self.secrets if secret in told]
        if status >= 500 or "Traceback" in told or "<script>alert" in told or "{{49}}" in told or bad:
            self.wrong.append(f"{method} {path[:100]}: {status} {told[:200]}")

    def _made(self, chance: random.Random) -> tuple[str, str, bytes, dict[str, str]]:
        route, person = chance.choice(SOUGHT), chance.choice(self.people)
        method = route.method if chance.random() < 0.95 else chance.choice(["PUT", "DELETE", "HEAD", "OPTIONS"])
        headers = {"Cookie": person.cookie} if person.cookie else {}
        if chance.random() < 0.3:
            headers["Accept"] = "application/json"
        body = b""
        if route.path.startswith("/api/v1"):
            headers["Authorization"] = f"Bearer {person.token or chance.choice(['wf_x', 'é'])}".encode().decode(
                "latin-1"
            )
            body, kind = self._json(chance), KINDS[0]
        else:
            body, kind = self._form(chance, person), KINDS[1]
        if route.method != "POST":
            return method, self._path(chance, route), b"", headers
        headers["Content-Type"] = kind if chance.random() < 0.95 else chance.choice(KINDS)
        return method, self._path(chance, route), body, headers

    def _path(self, chance: random.Random, route: Route) -> str:
        honest = {
            "table": chance.choice(["stays", "salaries"]),
            "command": chance.choice(list(GOOD)),
            "request": chance.choice(self.requests),
            "look": "x",
            "name": "console.css",
        }
        given = (
            honest
            if chance.random() < 0.8
            else {name: quote(chance.choice(NASTY)[:300], safe="") or "-" for name in honest}
        )
        path = route.path.format(**given)
        return path if chance.random() < 0.9 else f"{path}?as=text&{quote(chance.choice(NASTY)[:300], safe='')}"

    def _form(self, chance: random.Random, person: Person) -> bytes:
        pairs: list[tuple[str, str]] = []
        if chance.random() < 0.5:
            for name, value in GOOD[chance.choice(list(GOOD))].items():
                pairs += [(name, one) for one in ([value] if isinstance(value, str) else value)]
            pairs.append(("purpose", "barrage"))
        pairs += [(chance.choice(FIELDS), _text(chance)) for _ in range(chance.randrange(5))]
        if chance.random() < 0.95:
            pairs = [pair for pair in pairs if pair[0] != "csrf"] + [("csrf", person.csrf)]
        raw = urlencode(pairs).encode()
        return raw if chance.random() < 0.97 else raw + bytes(chance.randrange(256) for _ in range(20))

    def _json(self, chance: random.Random) -> bytes:
        command = chance.choice([*GOOD, "explain", "publish", _text(chance)])
        fields = dict(GOOD.get(command, GOOD["count"]))
        for _ in range(chance.randrange(4)):
            fields[chance.choice(FIELDS)] = chance.choice(
                [_text(chance), 7, None, [], [_text(chance)], {"a": 1}, True, 1.5]
            )  # type: ignore[assignment]
        value = {"command": command, "fields": fields, "purpose": "barrage"}
        if chance.random() < 0.1:
            value = chance.choice([[], 7, None, {"fields": 1}, {"command": fields}])  # type: ignore[assignment]
        raw = json.dumps(value).encode()
        return raw if chance.random() < 0.97 else raw[: chance.randrange(len(raw))]


def _text(chance: random.Random) -> str:
    if chance.random() < 0.5:
        return chance.choice(NASTY)
    return "".join(
        chr(chance.choice([chance.randrange(32, 127), chance.randrange(0xD7FF)])) for _ in range(chance.randrange(20))
    )


def log_in(port: int, name: str, password: str) -> Person:
    """As a browser does it: the form, its token, the cookie."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("GET", "/login")
    answer = connection.getresponse()
    visit = re.search(r"wallflower-visit=([^;]+)", answer.headers["Set-Cookie"])[1]
    csrf = _csrf(answer.read())
    form = urlencode({"csrf": csrf, "name": name, "password": password})
    kind = {"Content-Type": KINDS[1], "Cookie": f"wallflower-visit={visit}"}
    connection.request("POST", "/login", form, kind)
    answer = connection.getresponse()
    answer.read()
    session = re.search(r"wallflower=([^;]+)", " ".join(answer.headers.get_all("Set-Cookie")))[1]
    person = Person(name, cookie=f"wallflower-visit={visit}; wallflower={session}")
    connection.request("GET", "/account", headers={"Cookie": person.cookie})
    person.csrf = _csrf(connection.getresponse().read())
    connection.close()
    return person


def _csrf(page: bytes) -> str:
    return re.search(rb'name="csrf" value="(\w+)"', page)[1].decode()
