"""SSH keys and signatures made in this process: for tests that must not depend on a program of the host.

Signing is the other half of `offline/ed25519.py` (RFC 8032, 5.1.6), written for tests alone: it hides nothing.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass

from fullcount.runtime.offline import ed25519
from fullcount.runtime.offline.sshsig import NAMESPACE, fingerprint, write_armour


def _string(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def _encoded(point: ed25519.Point) -> bytes:
    inverse = pow(point[2], -1, ed25519._P)
    x, y = point[0] * inverse % ed25519._P, point[1] * inverse % ed25519._P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _scalar(secret: bytes) -> tuple[int, bytes]:
    digest = hashlib.sha512(secret).digest()
    number = int.from_bytes(digest[:32], "little") & ((1 << 254) - 8) | (1 << 254)
    return number, digest[32:]


def ed25519_sign(secret: bytes, message: bytes) -> tuple[bytes, bytes]:
    """Return the public key of a secret, and the signature."""
    number, prefix = _scalar(secret)
    public = _encoded(ed25519._times(number, ed25519._BASE))
    once = int.from_bytes(hashlib.sha512(prefix + message).digest(), "little") % ed25519._ORDER
    commitment = _encoded(ed25519._times(once, ed25519._BASE))
    challenge = int.from_bytes(hashlib.sha512(commitment + public + message).digest(), "little") % ed25519._ORDER
    return public, commitment + ((once + challenge * number) % ed25519._ORDER).to_bytes(32, "little")


@dataclass(frozen=True)
class Key:
    """A key made of a name. `security`: one of a security key, which was touched or not."""

    name: str
    security: bool = False
    touched: bool = True

    @property
    def _secret(self) -> bytes:
        return hashlib.sha256(self.name.encode()).digest()

    @property
    def kind(self) -> bytes:
        return b"sk-ssh-ed25519@openssh.com" if self.security else b"ssh-ed25519"

    @property
    def blob(self) -> bytes:
        public, _ = ed25519_sign(self._secret, b"")
        return _string(self.kind) + _string(public) + (_string(b"ssh:") if self.security else b"")

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.blob)

    @property
    def public(self) -> str:
        """The key as it stands in a `.pub` file."""
        return f"{self.kind.decode()} {base64.b64encode(self.blob).decode()}"

    def sign(self, message: bytes, namespace: str = NAMESPACE, hashing: str = "sha512") -> str:
        """Return what `ssh-keygen -Y sign -n NAMESPACE` prints."""
        head = b"SSHSIG"
        digest = hashlib.new(hashing, message).digest()
        parts = (namespace.encode(), b"", hashing.encode())
        signed = head + b"".join(map(_string, (*parts, digest)))
        tail = b""
        if self.security:
            tail = bytes([1 if self.touched else 0]) + (7).to_bytes(4, "big")
            signed = hashlib.sha256(b"ssh:").digest() + tail + hashlib.sha256(signed).digest()
        _, raw = ed25519_sign(self._secret, signed)
        signature = _string(self.kind) + _string(raw) + tail
        return write_armour(head + (1).to_bytes(4, "big") + b"".join(map(_string, (self.blob, *parts, signature))))


def line(names: str, key: Key, options: str = "") -> str:
    """Return a line of an `allowed_signers`."""
    return f"{names} {options}{' ' if options else ''}{key.public}\n"
