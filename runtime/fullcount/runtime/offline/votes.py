"""Whether the signature of a recorded vote holds: one rule for `fullcount verify` and the stand-alone `verify.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fullcount.runtime.offline.signers import AllowedSigner, why_not_allowed
from fullcount.runtime.offline.sshsig import SignatureWrong, check_signature, read_signature
from fullcount.runtime.offline.statements import approval_statement

SIGNED_WITHIN: Final = 15 * 60 * 1_000_000
"""How old a signature may be when it is given, in microseconds."""


def vote_wrong(
    plan_id: str,
    digest: str,
    uid: int,
    name: str,
    at: int,
    signed_at: int | None,
    signature: str | None,
    *,
    required: bool,
    signers: Sequence[AllowedSigner] | None,
) -> str | None:
    """Return what is wrong with a vote that was counted at an instant, as far as signatures go.

    `required`: its round counts signed votes only. `signers` None: whose key it is can't be told, only that it fits.
    """
    if signature is None and signed_at is None:
        return f"the yes of uid:{uid} was counted without a signature" if required else None
    if signature is None or signed_at is None:
        return f"the yes of uid:{uid} has half a signature"
    if not at - SIGNED_WITHIN <= signed_at <= at:
        return f"the signature of uid:{uid} was not made when it was given"
    try:
        found = read_signature(signature)
        check_signature(found, approval_statement(plan_id, digest, uid, signed_at))
    except SignatureWrong as error:
        return f"the signature of uid:{uid} {error}"
    if signers is None:
        return None
    why = why_not_allowed(signers, found, (name, f"uid:{uid}"), signed_at)
    return None if why is None else f"the yes of uid:{uid}: {why}"
