"""Who may do what: one table of routes and roles, read by the service and walked by a test.

A route that is not in the table is refused. `asker`, `owner` and `auditor` are roles *of a table* (or of a request of that
table); `anyone` is somebody who is logged in; `public` is everybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Role = Literal["public", "anyone", "asker", "owner", "auditor", "mine", "shared", "operator"]


@dataclass(frozen=True)
class Route:
    """A method and a path, and the roles that may use it; one of them is enough."""

    method: str
    path: str
    roles: frozenset[Role]
    subject: Literal["nothing", "table", "request", "look"] = "nothing"
    """What the path names: the role is looked for there. `mine` is whoever submitted the request, `shared` whoever was
    given its answer by the owner."""

    @property
    def for_programs(self) -> bool:
        """Whether an API token opens it. No token makes tokens, changes accounts or decides: a stolen one must not.

        >>> BY_NAME["POST", "/api/v1/tables/{table}/price"].for_programs, BY_NAME["POST", "/account/tokens"].for_programs
        (True, False)
        """
        return self.path.startswith("/api/v1/") or self.path == "/metrics"


def _route(line: str) -> Route:
    method, path, roles, subject = line.split()
    return Route(method, path, frozenset(roles.split(",")), subject)  # type: ignore[arg-type]


ROUTES: tuple[Route, ...] = tuple(
    _route(line)
    for line in """\
GET  /health                                public                 nothing
GET  /static/{name}                         public                 nothing
GET  /login                                 public                 nothing
POST /login                                 public                 nothing
GET  /login/openid                          public                 nothing
GET  /login/openid/back                     public                 nothing
POST /logout                                anyone                 nothing
GET  /                                      anyone                 nothing
GET  /account                               anyone                 nothing
POST /account/password                      anyone                 nothing
POST /account/tokens                        anyone                 nothing
POST /account/tokens/{name}/revoke          anyone                 nothing
GET  /tables/{table}                        asker,owner,auditor    table
GET  /tables/{table}/ask/{command}          asker,owner            table
POST /tables/{table}/ask/{command}          asker,owner            table
GET  /requests                              anyone                 nothing
GET  /requests/{request}                    mine,shared,owner,auditor     request
GET  /requests/{request}/certificate        mine,shared,owner,auditor     request
GET  /requests/{request}/release.json       mine,shared,owner,auditor     request
GET  /requests/{request}/file               mine,shared,owner             request
POST /requests/{request}/withdraw           mine                   request
GET  /queue                                 anyone                 nothing
POST /requests/{request}/decide             owner                  request
POST /requests/{request}/rehearse           owner                  request
POST /requests/{request}/share              owner                  request
GET  /tables/{table}/declare                owner                  table
POST /tables/{table}/declare                owner                  table
POST /tables/{table}/looks                  owner                  table
GET  /looks/{look}                          owner                  look
GET  /tables/{table}/ledger                 owner,auditor          table
POST /tables/{table}/ledger/verify          owner,auditor          table
GET  /tables/{table}/ledger/download        owner,auditor          table
GET  /tables/{table}/people                 owner                  table
POST /tables/{table}/people                 owner                  table
POST /tables/{table}/stop                   owner                  table
GET  /api                                   anyone                 nothing
GET  /api/v1/openapi.json                   anyone                 nothing
GET  /api/v1/tables                         anyone                 nothing
GET  /api/v1/tables/{table}                 asker,owner,auditor    table
POST /api/v1/tables/{table}/price           asker,owner            table
POST /api/v1/tables/{table}/rehearse        asker,owner            table
POST /api/v1/tables/{table}/requests        asker,owner            table
GET  /api/v1/requests                       anyone                 nothing
GET  /api/v1/requests/{request}             mine,shared,owner,auditor     request
GET  /api/v1/requests/{request}/file        mine,shared,owner             request
POST /api/v1/requests/{request}/withdraw    mine                   request
GET  /api/v1/tables/{table}/ledger          owner,auditor          table
GET  /metrics                               operator               nothing
""".splitlines()
)

BY_NAME: Mapping[tuple[str, str], Route] = {(route.method, route.path): route for route in ROUTES}


def allowed(route: Route, held: frozenset[Role]) -> bool:
    """Whether somebody who holds these roles of the route's subject may pass.

    >>> allowed(BY_NAME["GET", "/queue"], frozenset({"anyone"}))
    True
    >>> allowed(BY_NAME["GET", "/tables/{table}/declare"], frozenset({"anyone", "asker"}))
    False
    """
    return "public" in route.roles or bool(route.roles & held)
