"""Getting in through the organisation's own provider: OpenID Connect, code flow with PKCE, state and nonce.

The operator binds a provider's subject to a user (`wallflower serve user bind`); a subject that is bound to nobody is
refused like a wrong password. joserfc (of Authlib) checks the identity token's signature, issuer, audience, times and nonce.
"""

from __future__ import annotations

import hmac
import json
import os
import urllib.parse
import urllib.request
from functools import lru_cache
from typing import Any

from wallflower.errors import UsageError
from wallflower.service.addresses import keeps_secrets, opener
from wallflower.service.configuration import OpenID
from wallflower.service.passwords import digest_of
from wallflower.service.web.desk import Desk
from wallflower.service.web.visit import Answer, Visit, handles

PATIENCE_S = 10
MOST_ANSWER = 256 * 1024
SIGNATURES = ("RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA")
"""By a key of the provider's own: never `none`, and never one that we share."""
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
REFUSED = "your organisation's provider did not let you in, or you have no account here."


@handles("GET", "/login/openid")
def leave(desk: Desk, visit: Visit) -> Answer:
    """Send the browser to the provider, with values that only this browser's visit can bring back."""
    provider = _provider(desk)
    found = discovered(provider.issuer)
    state, nonce, verifier = (_derived(desk, visit, purpose) for purpose in ("state", "nonce", "verifier"))
    query = {
        "response_type": "code",
        "client_id": provider.client_id,
        "redirect_uri": _back(desk),
        "scope": "openid",
        "state": state,
        "nonce": nonce,
        "code_challenge": _challenge(verifier),
        "code_challenge_method": "S256",
    }
    there = found["authorization_endpoint"]
    return Answer(
        status=303, headers={"Location": f"{there}{'&' if '?' in there else '?'}{urllib.parse.urlencode(query)}"}
    )


@handles("GET", "/login/openid/back")
def come_back(desk: Desk, visit: Visit) -> Answer:
    provider = _provider(desk)
    # Every try costs two requests to the provider: one who guesses waits, as with passwords.
    name = None if desk.people.must_wait(visit.source) else _name(desk, visit, provider)
    if name is None:
        desk.people.failed_elsewhere(visit.source, who="OpenID")
        raise UsageError(REFUSED)
    session = desk.people.start_session(name, source=visit.source)
    # A page that leads on, not a redirect: a strict cookie is not sent along a way that began at another site.
    page = desk.page("welcome.html", visit, title="Welcome")
    return Answer(body=page.body, session=session)


def _name(desk: Desk, visit: Visit, provider: OpenID) -> str | None:
    """Who comes back; None for whoever is not to be let in, whatever the reason."""
    given = visit.query.get("state", "").encode("utf-8", "replace")
    if not hmac.compare_digest(given, _derived(desk, visit, "state").encode()) or not visit.query.get("code"):
        return None
    claims = _claims(desk, visit, provider)
    subject = None if claims is None else claims["sub"]
    return desk.people.by_subject(f"{provider.issuer} {subject}") if isinstance(subject, str) else None


def _claims(desk: Desk, visit: Visit, provider: OpenID) -> Any:
    """What the provider says of whoever comes back, checked; None where anything is wrong with it."""
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import KeySet

    found = discovered(provider.issuer)
    form = {
        "grant_type": "authorization_code",
        "code": visit.query["code"],
        "redirect_uri": _back(desk),
        "client_id": provider.client_id,
        "client_secret": os.environ.get(provider.secret_variable, ""),
        "code_verifier": _derived(desk, visit, "verifier"),
    }
    try:
        told = _fetch(str(found["token_endpoint"]), form)
        keys = KeySet.import_key_set(_fetch(str(found["jwks_uri"])))  # type: ignore[arg-type]
        claims: Any = jwt.decode(told["id_token"], keys, algorithms=list(SIGNATURES)).claims
        jwt.JWTClaimsRegistry(
            iss={"essential": True, "value": provider.issuer},
            aud={"essential": True, "value": provider.client_id},
            sub={"essential": True},
            exp={"essential": True},
            nonce={"essential": True, "value": _derived(desk, visit, "nonce")},
        ).validate(claims)
    except (JoseError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return claims


@lru_cache(maxsize=4)
def discovered(issuer: str) -> dict[str, Any]:
    """The provider's own description."""
    try:
        found = _fetch(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    except (OSError, ValueError):
        raise UsageError(
            "the provider cannot be reached now.", hint="Log in with your password, or try later."
        ) from None
    if not isinstance(found, dict) or found.get("issuer") != issuer:
        raise UsageError("the provider names itself differently from the service's file.")
    if not all(_is_address(found.get(name)) for name in ENDPOINTS):
        raise UsageError("the provider's description of itself lacks an address, or has one that keeps no secret.")
    return found


def _is_address(given: object) -> bool:
    """An address that secrets may be sent to, and that can stand in a header: one line of ASCII, without a fragment."""
    plain = isinstance(given, str) and given.isascii() and given.isprintable() and not set(given) & set(' #"<>\\')
    return plain and keeps_secrets(str(given))


_OPENER = opener()


def _fetch(address: str, form: dict[str, str] | None = None) -> dict[str, Any]:
    if not keeps_secrets(address):
        raise ValueError(address)
    data = None if form is None else urllib.parse.urlencode(form).encode()
    with _OPENER.open(urllib.request.Request(address, data=data), timeout=PATIENCE_S) as answer:  # noqa: S310 - the scheme is checked above
        found: dict[str, Any] = json.loads(answer.read(MOST_ANSWER))
    return found


def _provider(desk: Desk) -> OpenID:
    if desk.service.openid is None:
        raise UsageError("this service has no OpenID provider.")
    return desk.service.openid


def _back(desk: Desk) -> str:
    provider = _provider(desk)
    return f"{provider.address.rstrip('/')}/login/openid/back"


def _derived(desk: Desk, visit: Visit, purpose: str) -> str:
    """A value that belongs to this browser's visit cookie: nothing has to be kept between leaving and coming back."""
    return digest_of(f"{purpose}:{visit.browser}:{desk.signer.form_token(purpose)}")


def _challenge(verifier: str) -> str:
    import base64
    import hashlib

    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
