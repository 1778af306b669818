"""Cookies and forms: a signed session cookie, and a token in every form that only this session's pages hold."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from hashlib import sha256

from wallflower.service.passwords import new_secret
from wallflower.stores.database import Database


@dataclass(frozen=True)
class Signer:
    """Signs with a key that is made once and kept in the database."""

    key: bytes

    @classmethod
    def of(cls, database: Database) -> Signer:
        with database.write() as changes:
            found = changes.one("SELECT value FROM secrets WHERE name = 'signing key'")
            if found is None:
                found = {"value": new_secret()}
                changes.run("INSERT INTO secrets (name, value) VALUES ('signing key', :value)", value=found["value"])
        return cls(str(found["value"]).encode())

    def sealed(self, secret: str) -> str:
        """A cookie's value.

        >>> signer = Signer(b"key")
        >>> signer.opened(signer.sealed("abc")), signer.opened("abc.forged"), signer.opened("abc")
        ('abc', None, None)
        """
        return f"{secret}.{self._mark('cookie', secret)}"

    def opened(self, value: str) -> str | None:
        secret, _, mark = value.rpartition(".")
        right = hmac.compare_digest(mark.encode("utf-8", "replace"), self._mark("cookie", secret).encode())
        return secret if secret and right else None

    def form_token(self, session: str) -> str:
        """What a form must bring back: another site cannot know it."""
        return self._mark("form", session)

    def form_is_ours(self, session: str, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.form_token(session).encode())

    def _mark(self, purpose: str, text: str) -> str:
        given = f"{purpose}:{text}".encode("utf-8", "replace")
        return hmac.new(self.key, given, sha256).hexdigest()
