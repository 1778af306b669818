"""SERVICE.toml: what the operator writes, read through the one front end and checked before anything starts."""

from __future__ import annotations

import ipaddress
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

from wallflower.schema.parser import parse, read_text
from wallflower.schema.places import read_place
from wallflower.schema.problems import said
from wallflower.schema.section import NAME_IN_WORDS, SAFE_NAME, Section
from wallflower.service.addresses import keeps_secrets, on_this_machine
from wallflower.service.configuration import OpenID, Policy, Service, Table
from wallflower.service.forms import FORMS
from wallflower.service.grants import SHAREABLE
from wallflower.service.ticks import Ticks

FILE = ("service", "tables", "groups", "openid")
SERVICE = (
    "database",
    "address",
    "tick_s",
    "workers",
    "taken_each",
    "shown_after",
    "certificate",
    "certificate_key",
    "proxy",
    "folder",
    "rows_environment",
)
TABLE = ("declaration", "owners", "auditors", "askers", "shares", "policies")
POLICY = ("command", "epsilon_at_most", "askers")
OPENID = ("issuer", "client_id", "secret_variable", "address")
PORT = re.compile("[0-9]{1,5}")
APPROVABLE = tuple(name for name, form in FORMS.items() if form.policies)


def load(path: str | Path) -> Service:
    """The service that a file declares, or one error that lists every problem with its line."""
    place = Path(path)
    text = read_text(place, what="service file", draft="docs/service.md shows one; or try: wallflower serve --demo")
    return loads(text, name=place.name, folder=place.parent)


def loads(text: str, *, name: str = "SERVICE.toml", folder: Path = Path()) -> Service:
    """The same, from a text.

    >>> loads('''
    ... [service]
    ... database = "service.db"
    ... address = "127.0.0.1:8443"
    ... tick_s = 60
    ... workers = 2
    ... [tables.stays]
    ... declaration = "stays.toml"
    ... owners = ["payroll"]
    ... ''').tables["stays"].owners
    ('payroll',)
    """
    file = parse(text, name=name, known=FILE)
    file.need("service", "[service]")
    file.need("tables", "[tables.stays]")
    section = file.section("service", SERVICE) or Section(file.problems, ("service",), {}, known=SERVICE)
    groups = _groups(file)
    tables = _tables(file, folder, groups)
    host, port = _address(section)
    made = _service(section, folder)
    openid = _openid(file)
    _refuse_open_address(section, host, made)
    file.problems.raise_any()
    return Service(
        database=str(made["database"]),
        host=host,
        port=port,
        ticks=Ticks(period_s=made["tick_s"], taken_each=made["taken_each"], shown_after=made["shown_after"]),
        workers=made["workers"],
        tables=tables,
        groups=groups,
        certificate=made["certificate"],
        certificate_key=made["certificate_key"],
        proxy=made["proxy"],
        openid=openid,
        folder=made["folder"],
        rows_environment=made["rows_environment"],
    )


def _service(section: Section, folder: Path) -> dict[str, Any]:
    for wanted, example in (
        ("database", 'database = "service.db"'),
        ("tick_s", "tick_s = 60"),
        ("workers", "workers = 2"),
    ):
        section.need(wanted, example)
    database = read_place(section, "database", folder) or ""
    workers = section.whole("workers", least=1, most=64) or 1
    proxy = section.text("proxy")
    if proxy is not None and (
        proxy == "localhost" or not _is_address(proxy)
    ):  # visitors come from numbers, never from names
        section.wrong("proxy", "the address of the proxy in numbers, such as 127.0.0.1")
        proxy = None
    certificate, key = section.text("certificate"), section.text("certificate_key")
    secrets = section.text("rows_environment")
    if (certificate is None) != (key is None):
        section.refuse("certificate", "'certificate' and 'certificate_key' come together.")
    return {
        "database": str(database),
        "tick_s": float(section.whole("tick_s", least=1, most=86_400) or 60),
        "workers": workers,
        "taken_each": section.whole("taken_each", least=1, most=1_000) or 4 * workers,
        "shown_after": section.whole("shown_after", least=1, most=1_000) or 2,
        "certificate": None if certificate is None else folder / certificate,
        "certificate_key": None if key is None else folder / key,
        "proxy": None if proxy is None else str(ipaddress.ip_address(proxy)),
        "folder": folder / (section.text("folder") or "service-files"),
        "rows_environment": None if secrets is None else folder / secrets,
    }


def _address(section: Section) -> tuple[str, int]:
    if not section.need("address", 'address = "127.0.0.1:8443"'):
        return "127.0.0.1", 0
    before, colon, port = (section.text("address") or "").rpartition(":")
    host = before.strip("[]")
    if not colon or not PORT.fullmatch(port) or int(port) >= 65_536 or not _is_address(host):
        section.wrong("address", "an address and a port, such as 127.0.0.1:8443")
        return "127.0.0.1", 0
    return host, int(port)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return text == "localhost"
    return True


def _refuse_open_address(section: Section, host: str, made: dict[str, Any]) -> None:
    if "address" in section and not on_this_machine(host) and made["certificate"] is None:
        section.refuse(
            "address",
            f"{said(host)} can be reached from other machines, and passwords would travel in the open.",
            "Give certificate and certificate_key, or listen on 127.0.0.1 behind a proxy that ends TLS.",
        )


def _groups(file: Section) -> dict[str, tuple[str, ...]]:
    raw = file.raw.get("groups")
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        file.wrong("groups", "a table, written [groups]")
        return {}
    section = Section(file.problems, ("groups",), raw, known=tuple(raw))
    return {name: section.texts(name) or () for name in raw}


def _tables(file: Section, folder: Path, groups: dict[str, tuple[str, ...]]) -> dict[str, Table]:
    found: dict[str, Table] = {}
    for name, section in file.sections("tables", TABLE):
        if not SAFE_NAME.fullmatch(name):
            file.refuse("tables", f"a table's name is {NAME_IN_WORDS}, got {said(name)}.", at=(name,))
        section.need("declaration", 'declaration = "stays.toml"')
        section.need("owners", 'owners = ["payroll"]')
        people = {role: section.texts(role) or () for role in ("owners", "auditors", "askers")}
        for role, names in people.items():
            _known_groups(section, role, names, groups)
        found[name] = Table(
            name=name,
            declaration=folder / (section.text("declaration") or ""),
            owners=people["owners"],
            auditors=people["auditors"],
            askers=people["askers"],
            shares=_shares(section),
            policies=_policies(section, groups),
        )
    return found


def _known_groups(section: Section, key: str, names: tuple[str, ...], groups: dict[str, tuple[str, ...]]) -> None:
    for name in names:
        if name.startswith("@") and name[1:] not in groups:
            section.refuse(key, f"there is no group {said(name)}.", f"Write it in [groups]: {name[1:]} = [...].")


def _shares(table: Section) -> dict[str, dict[str, Fraction]]:
    raw = table.raw.get("shares")
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        table.wrong("shares", 'a table, such as default = {dp = {epsilon = "0.5"}}')
        return {}
    found: dict[str, dict[str, Fraction]] = {}
    shares = Section(table.problems, (*table.path, "shares"), raw, known=tuple(raw))
    for asker, families in raw.items():
        if not isinstance(families, dict):
            shares.wrong(asker, 'a table of families, such as {dp = {epsilon = "0.5"}}')
            continue
        inner = Section(table.problems, (*shares.path, asker), families, known=tuple(families))
        for family in families:
            if family not in SHAREABLE:
                inner.refuse(
                    family, f"a share is of one of {', '.join(SHAREABLE)}, got {said(family)}.", "It would bind nobody."
                )
                continue
            one = inner.section(family, ("epsilon",))
            amount = None if one is None else one.budget("epsilon")
            if amount is not None:
                found.setdefault(asker, {})[family] = amount
    return found


def _policies(table: Section, groups: dict[str, tuple[str, ...]]) -> tuple[Policy, ...]:
    raw = table.raw.get("policies")
    if raw is None:
        return ()
    if not isinstance(raw, list) or not all(isinstance(one, dict) for one in raw):
        table.wrong("policies", "written as [[tables.NAME.policies]]")
        return ()
    found = []
    for place, body in enumerate(raw):
        section = Section(table.problems, (*table.path, "policies", place), body, known=POLICY)
        for key, example in (
            ("command", 'command = "count"'),
            ("epsilon_at_most", 'epsilon_at_most = "0.1"'),
            ("askers", 'askers = ["@lab"]'),
        ):
            section.need(key, example)
        command = section.choice("command", APPROVABLE)
        most, askers = section.budget("epsilon_at_most"), section.texts("askers") or ()
        _known_groups(section, "askers", askers, groups)
        if command is not None and most is not None:
            found.append(Policy(command=command, epsilon_at_most=most, askers=askers))
    return tuple(found)


def _openid(file: Section) -> OpenID | None:
    section = file.section("openid", OPENID)
    if section is None:
        return None
    for key in OPENID:
        section.need(key, f'{key} = "..."')
    issuer, client, variable, address = (section.text(key) or "" for key in OPENID)
    if issuer and not keeps_secrets(issuer):
        section.wrong("issuer", "an https address")
    return OpenID(issuer=issuer, client_id=client, secret_variable=variable, address=address)
