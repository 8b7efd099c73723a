"""Signatures of approvals: what a workspace asks for, and whether a vote has it.

Guarantees: a signature counts only over the very plan, digest, person and instant of the vote, in our namespace, by a
key that may sign as this person (by name or `uid:N`) and was valid at that instant; one that is there and wrong is
never taken for none. Who may sign is what `allowed_signers` says now: a key that was taken out of it counts no more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fullcount.runtime.approve.identity import Person
from fullcount.runtime.offline.signers import AllowedSigner, why_not_allowed
from fullcount.runtime.offline.sshsig import SignatureWrong, check_signature, read_signature
from fullcount.runtime.offline.statements import approval_statement


@dataclass(frozen=True, slots=True)
class Signed:
    """A signature with the instant (microseconds) that the signed statement names."""

    signature: str
    signed_at: int


@dataclass(frozen=True, slots=True)
class Signing:
    """What a workspace asks for. `signers` None: it names none, so that a signature is checked by its own key alone."""

    required: bool
    signers: tuple[AllowedSigner, ...] | None

    def why_not(self, plan_id: str, digest: str, person: Person, signed: Signed | None) -> str | None:
        """Return why the signature of a vote does not do; None if it does, or none is asked for."""
        if signed is None:
            return f"the yes of {person} is not signed, and this workspace asks for that" if self.required else None
        statement = approval_statement(plan_id, digest, person.uid, signed.signed_at)
        try:
            found = read_signature(signed.signature)
            check_signature(found, statement)
        except SignatureWrong as error:
            return f"the signature of {person} {error}"
        if self.signers is None:
            return "this workspace asks for signatures and names no allowed signers" if self.required else None
        names = (person.name, person.principal)
        return why_not_allowed(self.signers, found, names, signed.signed_at)


UNSIGNED: Final = Signing(required=False, signers=None)
"""Of a workspace that says nothing of signatures."""
