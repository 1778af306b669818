"""What only a server can do to a ledger: be cut off, restarted, forgetful, behind, or unwilling."""

from __future__ import annotations

import gc
import random
import time
import uuid
from dataclasses import replace
from fractions import Fraction

import psycopg
import pytest

from tests.declared import declare
from tests.ledger.places import COUNT, pure
from tests.ledger.test_ledger_errors import in_a_child
from tests.servers.postgresql import discard, make
from tests.servers.proxy import Proxy
from wallflower.errors import LedgerError, PendingError
from wallflower.ledger import Ledger, processes
from wallflower.schema import loads
from wallflower.schema.declaration import Budget
from wallflower.stores.ddl import for_an_administrator


@pytest.fixture
def database(server):
    name = f"d{uuid.uuid4().hex}"
    server.execute(f"CREATE DATABASE {name}")
    return name


@pytest.fixture
def declared(server, database, tmp_path):
    made = declare(tmp_path, budgets={"dp": Budget(epsilon=Fraction(4))})
    return replace(made, ledger=server.address(database))


def test_one_role_that_owns_and_writes_is_warned_of(declared):
    said = Ledger.init(declared)
    assert any(line.startswith("WARNING: the role that writes this ledger also owns its tables") for line in said)


def test_two_roles_by_the_administrators_script(server, database, declared):
    owner, writer = f"o{uuid.uuid4().hex}", f"w{uuid.uuid4().hex}"
    script = for_an_administrator(owner, writer)
    with psycopg.connect(server.address(database), autocommit=True) as connection:
        for statement in script.split(";\n"):
            if statement.strip():
                connection.execute(statement)
    written = replace(declared, ledger=server.address(database, writer))
    assert Ledger.init(written) == [f"Made the ledger {written.ledger} of table 'salaries'."]
    ledger = Ledger.open(written)
    charge = ledger.charge(pure("1"), declaration=written, query=COUNT)
    ledger.answer(charge.entry, {"release": {"count": 1}}, file=b"kept")
    ledger.verify()
    for statement in (
        "UPDATE wallflower.events SET body = '{}'",
        "DELETE FROM wallflower.events",
        "TRUNCATE wallflower.events",
        "DELETE FROM wallflower.heads",
        "UPDATE wallflower.files SET content = ''",
        "ALTER TABLE wallflower.events DISABLE TRIGGER ALL",
        "DROP TABLE wallflower.events",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            server.execute(statement, database=database, user=writer)
    with pytest.raises(psycopg.errors.RaiseException, match="only moves on"):
        server.execute("UPDATE wallflower.heads SET entry = 1", database=database, user=writer)
    with pytest.raises(psycopg.errors.RaiseException, match="never changed"):
        server.execute("DELETE FROM wallflower.events", database=database, user="postgres")


def test_rights_withdrawn(server, database, declared):
    Ledger.init(declared)
    role = f"w{uuid.uuid4().hex}"
    server.execute(f"CREATE ROLE {role} LOGIN", database=database)
    written = replace(declared, ledger=server.address(database, role))
    with pytest.raises(LedgerError, match=r"may not be used by this role.*Nothing was released"):
        Ledger.open(written)
    for right in (
        "USAGE ON SCHEMA wallflower",
        "SELECT ON ALL TABLES IN SCHEMA wallflower",
        "UPDATE ON wallflower.heads",
    ):
        server.execute(f"GRANT {right} TO {role}", database=database)
    ledger = Ledger.open(written)
    with pytest.raises(LedgerError, match="may not be used by this role") as caught:
        ledger.charge(pure("1"), declaration=written, query=COUNT)
    assert caught.value.__context__ is None
    assert Ledger.open(declared).verify().charges == 0


@pytest.mark.parametrize("setting", ["synchronous_commit", "default_transaction_read_only"])
def test_a_database_that_forgets_or_refuses_writes(server, database, declared, setting):
    Ledger.init(declared)
    server.execute(f"ALTER DATABASE {database} SET {setting} = {'off' if setting == 'synchronous_commit' else 'on'}")
    said = {"synchronous_commit": "may forget what it has committed", "default_transaction_read_only": "read-only"}[
        setting
    ]
    with pytest.raises(LedgerError, match=said):
        Ledger.open(declared).charge(pure("1"), declaration=declared, query=COUNT)
    assert Ledger.open(declared).verify().charges == 0


def test_no_table_of_this_name_and_no_server(declared, server):
    with pytest.raises(LedgerError, match=r"has no tables yet|there is no ledger of table"):
        Ledger.open(declared)
    Ledger.init(declared)
    with pytest.raises(LedgerError, match=r"there is no ledger of table 'other'"):
        Ledger.open(replace(declared, id="other"))
    gone = replace(declared, ledger="postgresql://postgres@127.0.0.1:1/none")
    with pytest.raises(LedgerError, match="cannot be reached") as caught:
        Ledger.open(gone)
    assert caught.value.__context__ is None


def test_a_refused_opening_keeps_no_connection(declared, monkeypatch):
    """Whoever asks again and again would otherwise take every connection of the server."""
    opened, refusals, connect = [], [], psycopg.connect
    monkeypatch.setattr(psycopg, "connect", lambda *a, **named: opened.append(connect(*a, **named)) or opened[-1])
    for table in ("salaries", "other"):
        with pytest.raises(LedgerError) as refused:
            Ledger.open(replace(declared, id=table))
        refusals.append(refused)  # and with it every frame it went through
        Ledger.init(declared)
    assert len(opened) >= 4
    assert all(connection.closed for connection in opened)


def test_no_secret_stands_in_a_declaration():
    text = '[table]\nid = "t"\nneighbours = "add-remove"\nmax_rows = 5\nledger = "postgresql://ann:hunter2@host/db"\n'
    column = '[columns.x]\nrole = "sensitive"\nlower = 0\nupper = 1\nstep = 1\noutside = "clip"\nmissing = "drop"\n'
    with pytest.raises(Exception, match="password") as caught:
        loads(text + column)
    assert "hunter2" not in str(caught.value)


@pytest.fixture(scope="module")
def own():
    """A server that tests stop and change."""
    made = make({"max_connections": "60"})
    yield made
    discard(made)


def leave(ledger, running, database):
    """Until nobody is connected to a database: the server itself waits five seconds, which may be too short."""
    ledger._store.engine.dispose()
    for _number, connection in ledger._store._presence:
        connection.close()
    while running.execute(f"SELECT pid FROM pg_stat_activity WHERE datname = '{database}'"):
        time.sleep(0.05)


class TestOwnServer:
    @pytest.fixture
    def declared(self, own, tmp_path):
        name = f"d{uuid.uuid4().hex}"
        own.execute(f"CREATE DATABASE {name}")
        made = declare(tmp_path, budgets={"dp": Budget(epsilon=Fraction(4))})
        return replace(made, ledger=own.address(name))

    def test_a_restart_loses_nothing_and_charges_nothing_twice(self, own, declared):
        Ledger.init(declared)
        ledger = Ledger.open(declared)
        charge = ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id="before")
        own.stop("immediate")
        with pytest.raises((LedgerError, PendingError), match=r"cannot be reached|may have been, or not"):
            ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id="during")
        own.start()
        ledger.answer(charge.entry, {"release": {"count": 1}})
        again = ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id="before")
        assert again.replay == {"release": {"count": 1}}
        assert ledger.verify().charges == 1

    def test_cut_off_at_random_moments(self, own, declared):
        """Whatever was told to have been charged was, once; what was not told may be asked for again by its id.

        Moments are counted in what was carried, not in seconds: however slow the machine, connections are cut off as often, also
        while a charge is looked for whose commit was cut off before; and ever later in a round, so that every round ends.
        """
        Ledger.init(declared)
        proxy = Proxy(own.port)
        through = replace(declared, ledger=str(declared.ledger).replace(f":{own.port}/", f":{proxy.port}/"))
        chance, told, troubles, ledger = random.Random(7), {}, [], None
        try:
            for number in range(40):
                for attempt in range(40):
                    proxy.cut_after(*(chance.randint(1, 20 << attempt) for _ in range(3) if attempt < 12))
                    try:
                        ledger = ledger or Ledger.open(through)
                        charge = ledger.charge(
                            pure("0.01"), declaration=through, query={"round": number}, request_id=f"round-{number}"
                        )
                    except (LedgerError, PendingError) as error:
                        troubles.append(str(error))
                        continue
                    told[f"round-{number}"] = charge.entry
                    break
        finally:
            proxy.close()
        straight = Ledger.open(declared)
        straight.verify()
        charges = [(e.event.content["request"], e.event.entry) for e in straight.history() if e.kind == "charge"]
        assert proxy.cuts >= 40
        assert troubles
        assert not [trouble for trouble in troubles if "Use a new id" in trouble or "still being answered" in trouble]
        assert sorted(charges) == sorted(told.items())
        assert len(told) == 40
        assert straight.show(declared).accounts[0].spent["epsilon"] == Fraction(40, 100)

    def test_a_standby_promoted_behind_the_head_is_noticed(self, own, declared):
        """As if a copy of an earlier moment took over: the entries that this process has seen are not there."""
        Ledger.init(declared)
        ledger = Ledger.open(declared)
        ledger.charge(pure("1"), declaration=declared, query=COUNT)
        database = str(declared.ledger).rpartition("/")[2]
        behind = f"d{uuid.uuid4().hex}"
        leave(ledger, own, database)
        own.execute(f"CREATE DATABASE {behind} TEMPLATE {database}")
        charge = ledger.charge(pure("1"), declaration=declared, query=COUNT)
        head = ledger.verify().head
        leave(ledger, own, database)
        own.execute(f"ALTER DATABASE {database} RENAME TO gone_{database[:40]}")
        own.execute(f"ALTER DATABASE {behind} RENAME TO {database}")
        with pytest.raises(LedgerError, match="not the ledger that was opened"):
            ledger.charge(pure("1"), declaration=declared, query=COUNT)
        with pytest.raises(LedgerError, match="older than what was seen of it"):
            Ledger.open(declared).verify(anchor=head)
        assert charge.entry == 3

    def test_fsync_off_is_refused_while_connected(self, own, declared):
        Ledger.init(declared)
        ledger = Ledger.open(declared)
        ledger.charge(pure("1"), declaration=declared, query=COUNT)
        own.execute("ALTER SYSTEM SET fsync = off")
        try:
            own.execute("SELECT pg_reload_conf()")
            for _ in range(100):
                if own.execute("SHOW fsync") == [("off",)]:
                    break
            own.stop("fast")
            own.start()
            with pytest.raises(LedgerError, match=r"may forget what it has committed \(fsync = off\)"):
                ledger.charge(pure("1"), declaration=declared, query=COUNT)
        finally:
            own.execute("ALTER SYSTEM RESET fsync")
            own.execute("SELECT pg_reload_conf()")


def test_a_presence_that_was_cut_off_is_taken_up_anew(server, declared):
    """Otherwise whoever else asks would hold every later charge for that of a process that has ended."""
    Ledger.init(declared)
    ledger, other = Ledger.open(declared), Ledger.open(declared)
    first = ledger._store.presence()
    assert other._store.present(first)
    ((_, connection),) = ledger._store._presence
    server.execute("SELECT pg_reload_conf()")  # news of the server is no end
    assert ledger._store.presence() == first
    server.execute(f"SELECT pg_terminate_backend({connection.info.backend_pid}, 60000)")
    assert not other._store.present(first)
    ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday")
    assert ledger._store.presence() != first
    other.patience_s = 0
    with pytest.raises(PendingError, match="still being answered"):
        other.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday")


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_forked_child_speaks_through_connections_of_its_own(declared):
    """On one connection each would read the other's answers; and what a child lets go of is still its parent's."""
    Ledger.init(declared)
    held = [Ledger.open(declared)]

    def seen():
        with held[0]._store.engine.connect() as connection:
            # Asked of the server: a connection that was ended under it would still remember its number.
            return connection.exec_driver_sql("SELECT pg_backend_pid()").scalar(), held[0]._store.presence()

    def ask():
        held[0].charge(pure("1"), declaration=declared, query=COUNT)
        found = *seen(), held[0]._store.present(mine[1])
        held.clear()
        gc.collect()
        return " ".join(map(str, found))

    mine = seen()
    assert seen() == mine
    backend, presence, present = in_a_child(ask).split()
    assert int(backend) != mine[0]
    assert int(presence) != mine[1]
    assert present == "True"  # it saw its parent's
    assert seen() == mine
    held[0].charge(pure("1"), declaration=declared, query=COUNT)
    assert held[0].verify().charges == 2


def test_another_machine_is_waited_for_as_long_as_it_is_connected(server, declared, tmp_path, monkeypatch):
    """Its processes cannot be seen from here, but the server sees their connections."""
    Ledger.init(declared)
    ledger, other = Ledger.open(declared), Ledger.open(declared)
    ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday")
    (tmp_path / "boot").write_text("another machine", encoding="ascii")
    monkeypatch.setattr(processes, "BOOT", tmp_path / "boot")
    other.patience_s = 0
    with pytest.raises(PendingError, match="still being answered"):
        other.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday")
    ((_, connection),) = ledger._store._presence
    server.execute(f"SELECT pg_terminate_backend({connection.info.backend_pid}, 60000)")
    with pytest.raises(LedgerError, match="Use a new id"):
        other.charge(pure("1"), declaration=declared, query=COUNT, request_id="monday")
