"""Passwords are kept as scrypt hashes, tokens and session ids as SHA-256: neither can be read back from the database.

A token has 256 random bits, so that nobody can guess it and a fast hash is enough; a password may be short, so that its
hash must be slow. Looking up a name that does not exist costs a hash too: time does not tell who has an account.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import threading

COST, BLOCK, LANES = 2**14, 8, 1
"""scrypt's n, r and p: about 16 MiB and some tens of milliseconds a try."""

_AT_ONCE = threading.BoundedSemaphore(4)
"""A hash takes 16 MiB: a flood of logins waits, instead of filling the memory."""

LEAST_LENGTH = 12
MOST_LENGTH = 1024
"""A longer password is refused before it is hashed: hashing is what an attacker would make us do."""


def hashed(password: str) -> str:
    """The form kept in the database: `scrypt$n$r$p$salt$digest`.

    >>> hashed("correct horse battery").split("$")[:4]
    ['scrypt', '16384', '8', '1']
    """
    salt = os.urandom(16)
    digest = _scrypt(password, salt, COST, BLOCK, LANES)
    return f"scrypt${COST}${BLOCK}${LANES}${_text(salt)}${_text(digest)}"


def matches(password: str, kept: str | None) -> bool:
    """Whether this is the password; None (nobody of that name) takes as long and is never right.

    >>> matches("wrong", None), matches("correct horse battery", hashed("correct horse battery"))
    (False, True)
    """
    if len(password) > MOST_LENGTH:
        return False
    _, cost, block, lanes, salt, digest = (kept or _NOBODY).split("$")
    found = _scrypt(password, base64.b64decode(salt), int(cost), int(block), int(lanes))
    return hmac.compare_digest(found, base64.b64decode(digest)) and kept is not None


def new_secret() -> str:
    """A token or a session id: 256 random bits as text.

    >>> len(new_secret())
    43
    """
    return base64.urlsafe_b64encode(os.urandom(32)).decode().rstrip("=")


def new_id() -> str:
    """A name for a request or a look: 128 random bits, so that knowing one says nothing about another.

    >>> len(new_id())
    32
    """
    return os.urandom(16).hex()


def digest_of(secret: str) -> str:
    """What is kept of a token or a session id.

    >>> digest_of("a") == digest_of("a") != digest_of("b")
    True
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _scrypt(password: str, salt: bytes, cost: int, block: int, lanes: int) -> bytes:
    given = password.encode("utf-8", "surrogatepass")
    with _AT_ONCE:
        return hashlib.scrypt(given, salt=salt, n=cost, r=block, p=lanes, maxmem=64 * 2**20, dklen=32)


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


_NOBODY = f"scrypt${COST}${BLOCK}${LANES}${_text(bytes(16))}${_text(bytes(32))}"
