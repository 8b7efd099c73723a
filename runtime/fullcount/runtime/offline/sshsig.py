"""SSH signatures as `ssh-keygen -Y sign` makes them (OpenSSH's PROTOCOL.sshsig): read, and checked by their own key.

Whether that key may speak for somebody is asked elsewhere (`signers.py`). Only Ed25519 keys are known, also those of
security keys (`sk-ssh-ed25519@openssh.com`), whose user must have touched them: another kind is refused, never passed.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass
from typing import Final

from fullcount.runtime.offline.ed25519 import ed25519_valid

NAMESPACE: Final = "fullcount"
"""What our signatures are for: one that was made for a file, a commit or a login says something else."""

_ARMOUR: Final = re.compile(
    r"\A-----BEGIN SSH SIGNATURE-----\n([A-Za-z0-9+/=\n]+)\n-----END SSH SIGNATURE-----\n?\Z", re.ASCII
)
_MAGIC: Final = b"SSHSIG"
_PLAIN: Final = b"ssh-ed25519"
_SECURITY_KEY: Final = b"sk-ssh-ed25519@openssh.com"
_HASHES: Final = {b"sha256": hashlib.sha256, b"sha512": hashlib.sha512}
_TOUCHED: Final = 0x01


class SignatureWrong(Exception):  # noqa: N818 - what was found
    """A signature does not hold; the message says why, in words that fit after `the signature `."""


@dataclass(frozen=True, slots=True)
class SshSignature:
    """A signature that was read. `public_key` is the key's whole blob, as it stands in base64 in `allowed_signers`."""

    public_key: bytes
    namespace: str
    reserved: bytes
    hash_name: bytes
    signature: bytes

    @property
    def fingerprint(self) -> str:
        """The key's fingerprint, as `ssh-keygen -l` prints it."""
        return fingerprint(self.public_key)


def fingerprint(public_key: bytes) -> str:
    """Return `SHA256:…` of a public key's blob."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(public_key).digest()).decode().rstrip("=")


def read_signature(armoured: str) -> SshSignature:
    """Return the signature of an armoured text. Raises `SignatureWrong`."""
    found = _ARMOUR.match(armoured)
    if found is None:
        raise SignatureWrong("is not one of SSH (-----BEGIN SSH SIGNATURE-----)")
    try:
        data = base64.b64decode(found[1].replace("\n", ""), validate=True)
    except binascii.Error as error:
        raise SignatureWrong("can't be read: its base64 is damaged") from error
    if write_armour(data) != armoured.rstrip("\n") + "\n":
        raise SignatureWrong("is not written the one way that it is written in")
    if not data.startswith(_MAGIC) or data[6:10] != b"\0\0\0\1":
        raise SignatureWrong("is not of a version of SSH signatures that is known (1)")
    parts, rest = _strings(data[10:], 5)
    public_key, namespace, reserved, hash_name, signature = parts
    if rest != b"":
        raise SignatureWrong("has more in it than a signature has")
    try:
        name = namespace.decode()
    except UnicodeDecodeError as error:
        raise SignatureWrong("is for a namespace that is no text") from error
    return SshSignature(public_key, name, reserved, hash_name, signature)


def write_armour(data: bytes) -> str:
    """Return the armoured text of a signature's bytes, as `ssh-keygen` writes it."""
    text = base64.b64encode(data).decode()
    lines = [text[at : at + 70] for at in range(0, len(text), 70)]
    return "\n".join(("-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----", ""))


def check_signature(found: SshSignature, message: bytes, *, namespace: str = NAMESPACE) -> None:
    """Raise `SignatureWrong` unless it was made over `message`, for `namespace`, by the key that it names."""
    if found.namespace != namespace:
        raise SignatureWrong(f"was made for the namespace `{found.namespace}`, not for `{namespace}`")
    hashing = _HASHES.get(found.hash_name)
    if hashing is None:
        raise SignatureWrong("uses a hash that is not known (sha256, sha512)")
    digest = hashing(message).digest()
    signed = _MAGIC + b"".join(map(_string, (namespace.encode(), found.reserved, found.hash_name, digest)))
    if not _valid(found, signed):
        raise SignatureWrong("does not fit what it stands for: something else was signed, or it was changed")


def _valid(found: SshSignature, signed: bytes) -> bool:
    (kind,), of_key = _strings(found.public_key, 1)
    (signed_as, raw), flags_and_counter = _strings(found.signature, 2)
    if kind not in {_PLAIN, _SECURITY_KEY}:
        raise SignatureWrong(f"was made with a key of a kind that is not checked here, `{_word(kind)}`: use Ed25519")
    if signed_as != kind:
        raise SignatureWrong("is of another kind than its key")
    if kind == _PLAIN:
        (key,), rest = _strings(of_key, 1)
        return rest == b"" and flags_and_counter == b"" and ed25519_valid(key, signed, raw)
    (key, application), rest = _strings(of_key, 2)
    if rest != b"" or len(flags_and_counter) != 5 or flags_and_counter[0] & _TOUCHED == 0:
        return False
    wrapped = hashlib.sha256(application).digest() + flags_and_counter + hashlib.sha256(signed).digest()
    return ed25519_valid(key, wrapped, raw)


def _strings(data: bytes, count: int) -> tuple[list[bytes], bytes]:
    """Return so many strings of SSH's wire format, and what is behind them. Raises `SignatureWrong`."""
    found = []
    for _ in range(count):
        length = int.from_bytes(data[:4], "big")
        if len(data) < 4 + length or len(data) < 4:
            raise SignatureWrong("ends too early")
        found.append(data[4 : 4 + length])
        data = data[4 + length :]
    return found, data


def _string(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def _word(data: bytes) -> str:
    return data.decode("ascii", "backslashreplace")[:40]
