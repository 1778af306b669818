"""A service in a folder, its clock in our hand, and a browser that talks to the gate without a network."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from starlette.routing import compile_path

from wallflower.service import queue
from wallflower.service.authorisation import ROUTES
from wallflower.service.configuration import Service
from wallflower.service.demo import lay_out
from wallflower.service.web import app
from wallflower.service.web.desk import Desk
from wallflower.service.web.gate import Arrival, serve
from wallflower.service.web.visit import Answer
from wallflower.service.worker import Worker
from wallflower.stores.database import Database

COUNT = {"columns": ["age", "days"], "neighbours": "3", "radius": "6", "epsilon": "0.1"}
PATHS = [(route, compile_path(route.path)[0]) for route in ROUTES]


@dataclass
class Clock:
    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class LaidOut:
    """A demo service made once; every test gets a copy of its folder."""

    folder: Path
    service: Service
    logins: list[tuple[str, str, str]]

    @classmethod
    def build(cls, folder: Path) -> LaidOut:
        return cls(folder, *lay_out(folder, port=1))

    def copied(self, folder: Path) -> tuple[Service, list[tuple[str, str, str]]]:
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        tables = {
            name: replace(table, declaration=folder / table.declaration.name)
            for name, table in self.service.tables.items()
        }
        service = replace(self.service, database=str(folder / "service.db"), folder=folder / "files", tables=tables)
        return service, self.logins


@dataclass
class House:
    """A demo service whose time stands still until it is moved."""

    desk: Desk
    clock: Clock
    passwords: dict[str, str]
    worker: Worker
    folder: Path

    @classmethod
    def build(cls, laid_out: LaidOut, folder: Path) -> House:
        assert app.PARTS  # the handlers are bound
        service, logins = laid_out.copied(folder)
        clock = Clock()
        database = Database(service.database, clock=clock)
        return cls(
            replace(Desk.of(service, database), patience_s=0),
            clock,
            {name: word for name, word, _ in logins},
            Worker(service, 0, database),
            folder,
        )

    def tick(self, steps: int = 1) -> None:
        """One period after another: deal, and let the worker finish all of it."""
        for _ in range(steps):
            self.clock.now += self.desk.service.ticks.period_s
            queue.take(
                self.desk.database, self.desk.service.ticks, tick=self.desk.service.ticks.at(self.clock.now), workers=1
            )
            while self.worker.step():
                pass

    def browser(self, name: str | None = None) -> Browser:
        browser = Browser(self.desk)
        if name is not None:
            browser.log_in(name, self.passwords[name])
        return browser

    def token(self, name: str, days: int = 30) -> str:
        person = self.desk.people.by_session(self.desk.people.start_session(name, source="test"))
        assert person is not None
        return self.desk.people.make_token(person, f"t{days}", days, source="test")


@dataclass
class Browser:
    """Cookies and forms, as a browser keeps them."""

    desk: Desk
    session: str | None = None
    visit: str = "visit"
    headers: dict[str, str] = field(default_factory=dict)
    source: str = "10.0.0.1"

    def go(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        split = urlsplit(path)
        route, names = next(
            (route, found.groupdict())
            for route, pattern in PATHS
            if route.method == method and (found := pattern.match(split.path))
        )
        arrival = Arrival(
            method=method,
            route=route,
            path=names,
            query=dict(part.split("=", 1) for part in split.query.split("&") if "=" in part),
            headers={**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}},
            cookie=None if self.session is None else self.desk.signer.sealed(self.session),
            visit_cookie=self.visit,
            source=self.source,
            body=body,
        )
        answer = serve(self.desk, arrival)
        if answer.session is not None:
            self.session = answer.session or None
        return answer

    def get(self, path: str) -> Answer:
        return self.go("GET", path)

    def post(self, path: str, csrf: str | None = None, **fields) -> Answer:
        form = {"csrf": self.csrf() if csrf is None else csrf, **fields}
        body = urlencode(form, doseq=True).encode()
        return self.go("POST", path, body, content_type="application/x-www-form-urlencoded")

    def csrf(self) -> str:
        page = self.get("/account" if self.session else "/login").body.decode()
        found = re.search(r'name="csrf" value="(\w+)"', page)
        assert found is not None
        return found[1]

    def log_in(self, name: str, password: str) -> Answer:
        return self.post("/login", name=name, password=password)

    def submit(self, fields=COUNT, table: str = "stays", command: str = "count", purpose: str = "planning beds") -> str:
        answer = self.post(f"/tables/{table}/ask/{command}", **fields, purpose=purpose, submit="yes")
        assert answer.status == 303, answer.body.decode()
        return answer.headers["Location"].rsplit("/", 1)[1]
