"""`fullcount approve`: one person's yes to one plan, by its digest."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fullcount.runtime.cli import options

if TYPE_CHECKING:
    from fullcount.runtime.approve.approvals import ApprovalStatus
    from fullcount.runtime.approve.identity import Person
    from fullcount.runtime.approve.signing import Signed
    from fullcount.runtime.cli.session import Session
    from fullcount.runtime.engine import Engine
    from fullcount.runtime.store.views import StoredPlan


@options.command()
@options.plan_id
@click.option("--digest", help="The digest that you decide over, as the plan shows it.")
@click.option("--sign", metavar="KEY", type=options.PATH, help="Sign it with this SSH key (Ed25519).")
@click.option("--revoke", metavar="REASON", help="Take the approval back, and say why.")
@options.as_json
def approve(plan: str, digest: str | None, sign: Path | None, revoke: str | None, as_json: bool) -> None:
    """Agree to one plan. You decide over a digest: the exact objects, evidence, rule and caps that you saw.

    Who you are comes from the operating system. At a terminal you are shown the plan and asked for its digest; a script
    must say it. A signature is made by `ssh-keygen`, so that keys in an agent or on a security key sign as well: name
    the public half of such a key.
    """
    from fullcount.runtime.cli.screen import show, show_json
    from fullcount.runtime.cli.session import session
    from fullcount.runtime.workflow_files import UsageError

    if revoke is not None and (digest is not None or sign is not None):
        raise UsageError(
            "FC696", "`--digest` and `--sign` approve and `--revoke` takes back; say one of them", help="see --help"
        )
    with session() as here:
        stored = here.store.load_plan(plan)
        if revoke is not None:
            if not revoke.strip():
                raise UsageError("FC696", "an approval is taken back with a reason", help='--revoke "why"')
            here.store.revoke_approval(stored.document.plan_id, here.person, revoke.strip())
            status = here.engine.approval_status(stored)
        else:
            whole = whole_digest(stored, _asked(here.engine, stored, here.person) if digest is None else digest.strip())
            signed = None if sign is None else _signed(sign, stored, here)
            status = here.engine.give_approval(stored, here.person, whole, signed)
    if as_json:
        show_json(None if status is None else status_document(status))
        return
    from fullcount.runtime.cli.reports import approval_report

    show(approval_report(stored, status))


def _signed(key: Path, stored: StoredPlan, here: Session) -> Signed:
    """Sign this person's yes to the plan, as of the store's time."""
    from fullcount.runtime.approve.signing import Signed
    from fullcount.runtime.approve.ssh_keygen import sign_by
    from fullcount.runtime.offline.statements import approval_statement
    from fullcount.runtime.store.instants import to_micros

    document, at = stored.document, to_micros(here.store.now())
    return Signed(sign_by(key, approval_statement(document.plan_id, document.digest, here.person.uid, at)), at)


def whole_digest(stored: StoredPlan, given: str) -> str:
    """Return the plan's digest if `given` is it, or a beginning of it that is long enough.

    Anything else is returned as it is, and refused by the store. Raises `ApprovalRefused` for what is too short to name
    a digest, or is none at all.
    """
    from fullcount.runtime.plan.digest import SHORTEST, digest_begins
    from fullcount.runtime.store.errors import ApprovalRefused

    begins = digest_begins(given)
    look = f"look at the plan, and give its digest as it is shown: `fullcount show {stored.document.plan_id}`"
    if begins is None:
        what = f"`{given}` is not a digest" if given else "no digest was given"
        raise ApprovalRefused("FC704", f"{what}; nothing was approved", help=look)
    if len(begins) < SHORTEST:
        raise ApprovalRefused(
            "FC704",
            f"`{given}` is too short: other plans may begin so as well, and a digest is named by at least its first "
            f"{SHORTEST} characters; nothing was approved",
            help=look,
        )
    whole = stored.document.digest
    return whole if whole.removeprefix("sha256:").startswith(begins) else given


def _asked(engine: Engine, stored: StoredPlan, person: Person) -> str:
    from fullcount.runtime.plan.digest import SHORTEST, digest_begins
    from fullcount.runtime.workflow_files import UsageError

    if not sys.stdin.isatty():
        # Without a person at a terminal there is no yes: not by default, not by silence.
        raise UsageError(
            "FC696",
            "nobody is at a terminal to look at the plan, and no digest was given",
            help=f"look at it with `fullcount show {stored.document.plan_id}`, then say `--digest …`",
        )
    from fullcount.runtime.cli.reports import stored_plan_report
    from fullcount.runtime.cli.screen import show

    show(stored_plan_report(stored, engine.approval_status(stored), person))
    try:
        typed: str = click.prompt("to approve exactly this plan, type its digest", default="", show_default=False)
    except click.Abort:
        typed = ""
    begins = digest_begins(typed)
    whole = stored.document.digest.removeprefix("sha256:")
    if begins is None or len(begins) < SHORTEST or not whole.startswith(begins):
        raise UsageError("FC696", "that is not this plan's digest; nothing was approved", help="type it as it is shown")
    return typed.strip()


def status_document(status: ApprovalStatus) -> dict[str, Any]:
    """Return how far an approval has come, as JSON. The key is never part of it."""
    return {
        "plan_id": status.plan_id,
        "digest": status.digest,
        "approved": status.approved,
        "state": status.state,
        "missing": status.missing,
        "automatic": None if status.automatic is None else status.automatic.words,
        "expires_at": None if status.expires_at is None else status.expires_at.isoformat(),
        "broken": status.broken,
        "unreachable": status.unreachable,
        "quorums": [
            {
                "role": quorum.role,
                "needed": quorum.needed,
                "have": quorum.have,
                "not_by_author": quorum.not_by_author,
                "eligible": [person.principal for person in quorum.eligible],
            }
            for quorum in status.quorums
        ],
        "votes": [
            {
                "by": vote.person.principal,
                "at": vote.at.isoformat(),
                "lapsed": vote.lapsed,
                "signed": vote.signed is not None,
            }
            for vote in status.votes
        ],
    }
