"""Who may sign as whom: OpenSSH's `allowed_signers` (ssh-keygen(1), ALLOWED SIGNERS), read more strictly.

Guarantees: a line that can't be understood makes the whole file unusable, since what it was meant to bar or to bound
would be lost; a key without `namespaces` may sign for any, as OpenSSH has it; a certificate authority lets nobody
sign. Instants without `Z` would mean another time on each machine, so they must have it.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from fullcount.runtime.offline.sshsig import (
    NAMESPACE,
    SignatureWrong,
    SshSignature,
    check_signature,
    fingerprint,
    read_signature,
)

_OPTION: Final = re.compile(r'([a-z-]+)(?:="([^"]*)")?(?:,|\Z)', re.ASCII)
_INSTANTS: Final = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
_OF_TRUST: Final = re.compile(
    r"the key SHA256:\S+ (is not among the allowed signers|may (not )?sign as|was not valid yet|was no longer valid)"
)
_KINDS: Final = ("ssh-", "sk-", "ecdsa-")


class SignersWrong(Exception):  # noqa: N818 - what was found
    """An `allowed_signers` can't be used; the message says what is wrong, and in which line."""


@dataclass(frozen=True, slots=True)
class AllowedSigner:
    """One line: whom a key may sign as, for what, and from when until when (microseconds; None: no bound)."""

    principals: str
    public_key: bytes
    namespaces: str | None = None
    valid_after: int | None = None
    valid_before: int | None = None
    authority: bool = False


def read_signers(text: str) -> tuple[AllowedSigner, ...]:
    """Return the lines of an `allowed_signers`. Raises `SignersWrong`."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        said = line.strip()
        if said != "" and not said.startswith("#"):
            try:
                found.append(_line(said))
            except SignersWrong as error:
                raise SignersWrong(f"line {number}: {error}") from None
    return tuple(found)


def why_not_signed(
    signers: Iterable[AllowedSigner], armoured: str, message: bytes, names: Iterable[str], at: int
) -> str | None:
    """Return why a signature is not one over `message` by a key that may sign as one of `names` at that instant."""
    try:
        found = read_signature(armoured)
        check_signature(found, message)
    except SignatureWrong as error:
        return f"the signature {error}"
    return why_not_allowed(signers, found, names, at)


def why_not_allowed(signers: Iterable[AllowedSigner], found: SshSignature, names: Iterable[str], at: int) -> str | None:
    """Return why the key of a signature may not sign as one of `names` at an instant; None if it may."""
    names = tuple(names)
    mine = [each for each in signers if each.public_key == found.public_key and not each.authority]
    key, who = f"the key {found.fingerprint}", " or ".join(f"`{name}`" for name in names)
    if len(mine) == 0:
        return f"{key} is not among the allowed signers"
    named = [each for each in mine if _is_for(each.principals, names)]
    if len(named) == 0:
        return f"{key} may not sign as {who}"
    meant = [each for each in named if each.namespaces is None or _is_for(each.namespaces, [NAMESPACE])]
    if len(meant) == 0:
        return f"{key} may sign as {who}, but not for `{NAMESPACE}`"
    if any(_in_time(each, at) for each in meant):
        return None
    early = all(each.valid_after is not None and at < each.valid_after for each in meant)
    return f"{key} {'was not valid yet' if early else 'was no longer valid'} at {_instant_text(at)}"


def is_about_trust(what: str) -> bool:
    """Whether what is wrong is that a key may not sign, as `why_not_allowed` says it: not that anything was changed."""
    return _OF_TRUST.search(what) is not None


def _in_time(signer: AllowedSigner, at: int) -> bool:
    after = signer.valid_after is None or at >= signer.valid_after
    return after and (signer.valid_before is None or at < signer.valid_before)


def _line(said: str) -> AllowedSigner:
    words = said.split()
    if words[0].startswith('"'):
        end = said.find('"', 1)
        if end < 0:
            raise SignersWrong("the quotes of its names are not closed")
        principals, words = said[1:end], ["", *said[end + 1 :].split()]
    else:
        principals = words[0]
    options = "" if len(words) > 1 and words[1].startswith(_KINDS) else _options_text(said, words)
    rest = words[1:] if options == "" else said[said.index(options) + len(options) :].split()
    if len(rest) < 2 or not rest[0].startswith(_KINDS):
        raise SignersWrong("it has no key, as `ana ssh-ed25519 AAAA…`")
    try:
        key = base64.b64decode(rest[1], validate=True)
    except binascii.Error:
        raise SignersWrong("its key is not base64") from None
    length = int.from_bytes(key[:4], "big")
    if key[4 : 4 + length] != rest[0].encode():
        raise SignersWrong(f"its key is not of the kind `{rest[0]}`")
    return _with_options(principals, key, options)


def _options_text(said: str, words: list[str]) -> str:
    """Return the options of a line: one word, in which quotes may hold blanks."""
    if len(words) < 2:
        raise SignersWrong("it has no key, as `ana ssh-ed25519 AAAA…`")
    start, quoted = said.index(words[1], len(said) - len(said.split(None, 1)[1])), False
    for at in range(start, len(said)):
        if said[at] == '"':
            quoted = not quoted
        elif said[at].isspace() and not quoted:
            return said[start:at]
    raise SignersWrong("it has no key, as `ana ssh-ed25519 AAAA…`")


def _with_options(principals: str, key: bytes, options: str) -> AllowedSigner:
    namespaces: str | None = None
    after: int | None = None
    before: int | None = None
    authority = False
    at = 0
    seen: set[str] = set()
    while at < len(options):
        found = _OPTION.match(options, at)
        if found is None or found[1] in seen:
            raise SignersWrong(f"its options `{options}` can't be read")
        seen.add(found[1])
        at = found.end()
        match found[1], found[2]:
            case "namespaces", str() as patterns:
                namespaces = patterns
            case "valid-after", str() as text:
                after = _instant(text)
            case "valid-before", str() as text:
                before = _instant(text)
            case "cert-authority", None:
                authority = True
            case name, _:
                raise SignersWrong(f"the option `{name}` is not known, or lacks its value")
    return AllowedSigner(principals, key, namespaces, after, before, authority)


def _instant(text: str) -> int:
    digits = text.removesuffix("Z")
    form = _INSTANTS.get(len(digits))
    if not text.endswith("Z"):
        raise SignersWrong(f"`{text}` means another instant on each machine: write it in UTC, as `{text}Z`")
    if form is None or not digits.isascii() or not digits.isdecimal():
        raise SignersWrong(f"`{text}` is not an instant, as `20261130Z` or `20261130083000Z`")
    try:
        moment = datetime.strptime(digits, form).replace(tzinfo=UTC)
    except ValueError:
        raise SignersWrong(f"`{text}` is not an instant of the calendar") from None
    return round(moment.timestamp()) * 1_000_000


def _instant_text(at: int) -> str:
    return f"{datetime.fromtimestamp(at // 1_000_000, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _is_for(patterns: str, names: Iterable[str]) -> bool:
    """Whether a list of patterns, as OpenSSH has them, is about one of these names of somebody.

    A pattern with `!` bars: whoever it is about under any of their names is not meant, whatever the others say.
    """
    names = tuple(names)
    wanted = [pattern for pattern in patterns.split(",") if not pattern.startswith("!")]
    barred = [pattern[1:] for pattern in patterns.split(",") if pattern.startswith("!")]
    if any(_fits(pattern, name) for pattern in barred for name in names):
        return False
    return any(_fits(pattern, name) for pattern in wanted for name in names)


def _fits(pattern: str, name: str) -> bool:
    expression = "".join(".*" if c == "*" else "." if c == "?" else re.escape(c) for c in pattern)
    return re.fullmatch(expression, name, re.DOTALL) is not None


__all__ = ["AllowedSigner", "SignersWrong", "fingerprint", "read_signers", "why_not_allowed", "why_not_signed"]
