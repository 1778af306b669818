"""Pages are signed and checked with keys of one kind."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed448

from wallflower.errors import UsageError
from wallflower.report.signature import check, new_key, signed


def test_a_key_of_another_kind_neither_signs_nor_checks(tmp_path):
    ours, others = tmp_path / "owner.pem", tmp_path / "other.pem"
    name = new_key(ours)
    page = signed("page", ours)
    assert check(page, tmp_path / "owner.pem.pub") == name
    key, pem = ed448.Ed448PrivateKey.generate(), serialization.Encoding.PEM
    others.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    with pytest.raises(UsageError, match="is not an Ed25519 private key"):
        signed("page", others)
    others.write_bytes(key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo))
    with pytest.raises(UsageError, match="is not an Ed25519 public key"):
        check(page, others)
