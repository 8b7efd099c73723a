"""Where a plan stands, in a word and what it means here, and what a reader would type next."""

from __future__ import annotations

from fullcount.runtime import format as fmt
from fullcount.runtime.plan.document import PlanDocument
from fullcount.runtime.plan.review import QuorumView, ReviewStatus
from fullcount.runtime.plan.summary_parts import Tone, Verdict
from fullcount.runtime.text import plain


def verdict(doc: PlanDocument, status: ReviewStatus) -> Verdict:
    """Return where the plan stands. A state that this module does not know is shown as it is, as a reason to stop."""
    candidates = fmt.count(doc.sums.candidates)
    match status.state:
        case _ if not doc.sums.hold:
            return Verdict("INVALID", ("the sums of this plan do not hold, nothing may follow from it",), Tone.STOP)
        case "applying" | "approved" if status.resumes_at is not None:
            return Verdict("PAUSED", (f"goes on from {fmt.weekday_moment(status.resumes_at)} on",), Tone.ASK)
        case "over_cap":
            candidates += "" if doc.along == 0 else f" + {fmt.count(doc.along)} that go along"
            allowed = "none is" if doc.caps.effective == 0 else f"at most {fmt.count(doc.caps.effective)} are"
            return Verdict(
                "OVER CAP", (f"{candidates} selected, {allowed} allowed: this can't be approved",), Tone.STOP
            )
        case "superseded":
            what = "plan of this proposal" if doc.undo is None else "undo of all its objects"
            return Verdict("SUPERSEDED", (f"a newer {what} has replaced it",), Tone.STOP)
        case "expired":
            again = "plan again" if doc.undo is None else f"fullcount undo {plain(doc.undo.plan_id)}"
            return Verdict("EXPIRED", (f"its approval is too old: {again}",), Tone.STOP)
        case "applying" if status.standstill is not None:
            word = "CUT OFF" if status.standstill.cut_off else "STOPPED"
            return Verdict(word, (plain(status.standstill.why), "an apply of the same plan goes on with it"), Tone.ASK)
        case "applying":
            return Verdict("APPLYING", ("it is being acted on",), Tone.GO)
        case "applied":
            back = (f"{fmt.counted(status.taken_back, 'object')} taken back since",) if status.taken_back > 0 else ()
            return Verdict("APPLIED", ("a plan is used once", *back), Tone.DONE)
        case "report":
            return Verdict("REPORT", ("this workflow has no act: there is nothing to approve",), Tone.DONE)
        case "approved" | "waiting" if doc.sums.candidates == 0:
            return Verdict("NOTHING TO DO", ("no object is selected",), Tone.DONE)
        case "approved":
            return Verdict("APPROVED", _approved(status), Tone.GO)
        case "waiting":
            return Verdict("NEEDS APPROVAL", _waiting(status), Tone.ASK)
        case other:
            return Verdict(plain(other).upper().replace("_", " "), ("nothing may be done with it",), Tone.STOP)


def next_step(doc: PlanDocument, status: ReviewStatus) -> str | None:
    """Return the command that a reader would type next; None where nothing follows from the plan."""
    match verdict(doc, status).word:
        case "NEEDS APPROVAL":
            return f"fullcount approve {plain(doc.plan_id)}"
        case "APPROVED" | "APPLYING" | "PAUSED" | "STOPPED" | "CUT OFF":
            return f"fullcount apply {plain(doc.plan_id)}"
        case _:
            return None


def _approved(status: ReviewStatus) -> tuple[str, ...]:
    if status.automatic is not None:
        by = f"approved automatically: {plain(status.automatic)}"
        return (by,) if status.expires_at is None else (by, f"expires {fmt.weekday_moment(status.expires_at)}")
    people = ", ".join(plain(name) for quorum in status.quorums for name in quorum.given)
    by = f"{status.given} of {status.needed}" + (f" by {people}" if people else "")
    return (by,) if status.expires_at is None else (by, f"expires {fmt.weekday_moment(status.expires_at)}")


def _waiting(status: ReviewStatus) -> tuple[str, ...]:
    parts = [f"{status.given} of {status.needed}"]
    if status.asked_because is not None:
        parts.append(f"not automatically: {plain(status.asked_because)}")
    if status.broken is not None:
        parts.append(f"its approval no longer holds: {plain(status.broken)}")
    if status.unreachable is not None:
        parts.append(f"this can't be approved as `[roles]` in fullcount.toml are: {plain(status.unreachable)}")
    given = [plain(name) for quorum in status.quorums for name in quorum.given]
    if len(given) > 0:
        parts.append(f"given by {', '.join(given)}")
    missing = [_next(quorum) for quorum in status.quorums if len(quorum.given) < quorum.needed]
    if len(missing) > 0:
        parts.append(f"next: {' and '.join(missing)}{_but_not(status)}")
    return tuple(parts)


def _next(quorum: QuorumView) -> str:
    open_ = quorum.needed - len(quorum.given)
    words = {1: "any one", 2: "any two", 3: "any three"}.get(open_, f"any {open_}")
    if len(quorum.may) == 0:
        return f"{words} of {plain(quorum.role)}, in which nobody is left who may"
    return f"{words} of {plain(quorum.role)} ({', '.join(plain(name) for name in quorum.may)})"


def _but_not(status: ReviewStatus) -> str:
    if not any(quorum.not_by_author for quorum in status.quorums):
        return ""
    if status.viewer_is_author:
        return ", not you (author)"
    return f", not {', '.join(plain(name) for name in status.authors)} (author)" if len(status.authors) > 0 else ""
