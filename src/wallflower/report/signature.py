"""Signed pages: whoever has the owner's public key can check, without a network or a ledger, that a page is as it was signed.

The signature (Ed25519) is the last line of the page, a comment, and covers every byte before it, the name of the key
included. What it means: the holder of the key made this page. That the page says what the ledger holds is what `--verify` checked
before it was signed.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from wallflower.atomic_file import write_new
from wallflower.errors import UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

PURPOSE = b"wallflower certificate, version 1\n"
"""Signed with every page, so that a signature made for anything else is not one of a certificate."""

_LINE = re.compile(rb"\n<!-- wallflower signature ed25519 ([0-9a-f]{64}) ([0-9a-f]{128}) -->\n")
_LENGTH = len("\n<!-- wallflower signature ed25519   -->\n") + 64 + 128
NEW = "Make one with: wallflower certificate --new-key FILE."


def new_key(path: Path) -> str:
    """Write a private key, readable by its owner alone, and `path`.pub; returns the public key's name. Replaces nothing."""
    serialization, ed25519 = _library()
    public = path.with_name(f"{path.name}.pub")
    for file in (path, public):
        if file.exists():
            raise UsageError(f"'{file}' is there already, and is not replaced.", hint="Name another file.")
    key = ed25519.Ed25519PrivateKey.generate()
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    shown = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    for file, content, mode in ((path, secret, 0o600), (public, shown, 0o644)):
        write_new(file, content, mode=mode)
    return name_of(key.public_key())


def signed(page: str, key: Path) -> bytes:
    """The page with its signature as the last line."""
    private = _private(key)
    body, name = page.encode("utf-8"), name_of(private.public_key())
    signature = private.sign(_covered(body, name)).hex()
    return body + f"\n<!-- wallflower signature ed25519 {name} {signature} -->\n".encode()


def check(page: bytes, key: Path) -> str:
    """The name of the key, once its signature on every byte of `page` is good; refuses anything else."""
    public = _public(key)
    body, last = page[:-_LENGTH], page[-_LENGTH:]
    line = _LINE.fullmatch(last)
    if line is None:
        raise UsageError(
            "the page carries no signature, or it was changed after it was signed.",
            hint="A signed page is made with: wallflower certificate RELEASE.json -o FILE.html --verify DECL --sign KEY.",
        )
    name = name_of(public)
    if line[1].decode() != name:
        raise UsageError(
            f"the page was signed with another key, {line[1].decode()[:16]}…, not with {name[:16]}….",
            hint="Ask the owner, by another way than the one the page came by, for the public key.",
        )
    from cryptography.exceptions import InvalidSignature

    try:
        public.verify(bytes.fromhex(line[2].decode()), _covered(body, name))
    except InvalidSignature:
        pass
    else:
        return name
    raise UsageError("the signature does not fit: the page was changed after it was signed, or was never signed so.")


def name_of(public: Ed25519PublicKey) -> str:
    """A key by the digest of its 32 bytes."""
    serialization, _ = _library()
    raw = public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return hashlib.sha256(raw).hexdigest()


def _covered(body: bytes, name: str) -> bytes:
    return PURPOSE + name.encode() + b"\n" + body


def _private(path: Path) -> Ed25519PrivateKey:
    serialization, ed25519 = _library()
    try:
        key = serialization.load_pem_private_key(_bytes(path), password=None)
    except (ValueError, TypeError):  # no PEM, or one with a password
        key = None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise UsageError(f"'{path}' is not an Ed25519 private key in PEM without a password.", hint=NEW)
    return cast("Ed25519PrivateKey", key)


def _public(path: Path) -> Ed25519PublicKey:
    serialization, ed25519 = _library()
    try:
        key = serialization.load_pem_public_key(_bytes(path))
    except ValueError:
        key = None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise UsageError(f"'{path}' is not an Ed25519 public key in PEM.", hint="It is the .pub file of --new-key.")
    return cast("Ed25519PublicKey", key)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"'{path}' cannot be read: {error.strerror}.", hint=NEW) from None


def _library() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise UsageError(
            "signatures need the package cryptography, which is not installed.",
            hint="Run: pip install 'wallflower[sign]'",
        ) from None
    return serialization, ed25519
