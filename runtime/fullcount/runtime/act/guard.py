"""The guard: the one choke point before a write.

`guard` is a pure function over what the runner has just read; it is called right before every act by `perform.py`, the
only caller of a connector's `perform`. It returns why the act is forbidden, or None. There is no option, role or
environment that makes it return None: whoever wants another answer has to change what it looks at.

Each check is one small function in `CHECKS`, in the order in which a person would want to hear the news.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from fullcount.compiler.program import Window
from fullcount.compiler.windows import is_open
from fullcount.runtime.act.opening import frozen, local_moment, opening
from fullcount.runtime.connectors.base import TARGET_FACTS, TARGET_OBJECTS
from fullcount.runtime.evidence.refusal import Finding, Ground
from fullcount.runtime.plan.caps import effective_cap
from fullcount.runtime.typed import argument
from fullcount.runtime.workspace.freezes import Freeze

APPROVE_ANEW = "have exactly this plan approved anew by people who are in the role now: `fullcount approve PLAN`"
"""The way on from an approval that no longer holds: what else is approved begins a new round, with a new key."""


class Purpose(StrEnum):
    """What is about to be done: to act, to take back what a plan did, or to rehearse that with one object of a canary.

    Taking back is approved by itself, and brings back what was approved away: it is held up by no pause, freeze, window
    or age of evidence, counts against no cap but its own list, and nothing is exempted or protected from it. What is
    rehearsed is part of an act and rests on its approval.
    """

    ACT = "act"
    UNDO = "undo"
    REHEARSE = "rehearse"


@dataclass(frozen=True, slots=True)
class ApprovalFacts:
    """A complete approval: which digest it is of, until when it holds, and why it no longer does by today's roles.

    `automatic_of`: it was given by the workflow's own rule over so many objects; None: by people. `broken` is None
    while everybody whose yes was counted may still give it; `unsigned` while no signature that it rests on is missing.
    """

    digest: str
    expires_at: datetime
    automatic_of: int | None = None
    broken: str | None = None
    unsigned: str | None = None


@dataclass(frozen=True, slots=True)
class EvidenceAge:
    """When a certified inventory was read, and how old it may be when used; None: nothing says so, which forbids."""

    inventory: str
    observed_at: datetime
    max_age: timedelta | None


@dataclass(frozen=True, slots=True)
class CanaryFacts:
    """How many acts come first, whether they were found to hold, and until when the rest waits, once that is known."""

    count: int
    passed: bool
    waits_until: datetime | None


@dataclass(frozen=True, slots=True)
class GuardInputs:
    """Everything the guard looks at, read freshly for the act in question.

    `acts` counts the acts already made or in flight under this plan, without the one asked about. `exemption` says why
    this object is exempted by now, if it is, and `protection` why it is protected. `fence` is the token this run holds,
    `fence_current` the one that the store would accept. `windows`: when acting is allowed, any time without one.
    `automatic_allowed`: how many objects a plan may have now that its workflow's own rule approved. `closure`: how many
    others go along, as the plan counted them. `paused` says why the workflow is paused, if it is, and `taken_back` who
    took the last approval back, when and why, where there is none in its place. `workflow`: its name, to be typed.
    `undoes`: the plan that is taken back, and `valid_until` until when that may be done (None: nobody said).
    """

    purpose: Purpose
    at: datetime
    plan_digest: str
    plan_state: str
    approval: ApprovalFacts | None
    halted: str | None
    versions_planned: Mapping[str, str]
    versions_running: Mapping[str, str]
    target_planned: Mapping[str, str]
    target_acting: Mapping[str, str]
    cap_count: int | None
    cap_percent: Decimal | None
    population: int
    acts: int
    exemption: str | None
    protection: str | None
    evidence: tuple[EvidenceAge, ...]
    windows: tuple[Window, ...]
    freezes: tuple[Freeze, ...]
    canary: CanaryFacts | None
    fence: int
    fence_current: int | None
    automatic_allowed: int = 0
    closure: int = 0
    paused: str | None = None
    taken_back: str | None = None
    workflow: str = "WORKFLOW"
    undoes: str | None = None
    valid_until: datetime | None = None

    @property
    def anew(self) -> str:
        """How the plan is made anew, in words."""
        return "plan again" if self.undoes is None else f"undo again: `fullcount undo {self.undoes}`"


def target_facts(identity: Mapping[str, str]) -> dict[str, str]:
    """Return the part of an identity that names the system, which reader, plan and actor must share."""
    return {name: fact for name, fact in identity.items() if name.startswith(TARGET_FACTS)}


def _halted(given: GuardInputs) -> Finding | None:
    if given.halted is None:
        return None
    return Finding(
        code="FC722",
        message=f"acting is halted: {given.halted or 'no reason was given'}",
        ways_on=("when its cause is gone   fullcount halt --release",),
    )


def _paused(given: GuardInputs) -> Finding | None:
    if given.purpose is not Purpose.ACT or given.paused is None:
        return None
    return Finding(
        code=PAUSED,
        message=f"the workflow is paused: {given.paused or 'no reason was given'}",
        ways_on=(
            f"when its cause is gone   fullcount pause {argument(given.workflow)} --release",
            "then apply the same plan again",
        ),
    )


def _fence(given: GuardInputs) -> Finding | None:
    if given.fence_current == given.fence:
        return None
    return Finding(
        code="FC721",
        message="this run lost its lease on the plan, so another one may be acting on the same objects",
        ways_on=("wait for the other run to end, then apply again: what was done is not done twice",),
    )


def _superseded(given: GuardInputs) -> Finding | None:
    if given.plan_state != "superseded":
        return None
    return Finding(
        code="FC710",
        message="a newer plan of the same workflow has replaced this one"
        if given.undoes is None
        else "a newer undo of all its objects has replaced this one",
        ways_on=("look at the newest plan, have it approved and apply that one",),
    )


def _used(given: GuardInputs) -> Finding | None:
    if given.purpose is Purpose.REHEARSE or given.plan_state != "applied":
        return None
    return Finding(
        code="FC712",
        message="this plan was applied to its end; a plan is used once",
        ways_on=(f"{given.anew}: what is still due will be in the new plan",),
    )


def _of_its_time(given: GuardInputs) -> Finding | None:
    """An undo tells how things were a while ago; it is not begun, or gone on with, for ever."""
    if given.purpose is not Purpose.UNDO:
        return None
    if given.undoes is None or given.valid_until is None:
        what = "this plan does not say what it takes back, and until when"
    elif given.at >= given.valid_until:
        what = f"this undo could be begun until {given.valid_until.isoformat()}"
    else:
        return None
    return Finding(code="FC801", message=what, ways_on=(f"{given.anew}, and have that approved",))


def _usable(given: GuardInputs) -> Finding | None:
    """Allow only the states that are known to permit the purpose; a state nobody thought of forbids."""
    allowed = {"applying", "applied"} if given.purpose is Purpose.REHEARSE else {"approved", "applying"}
    if given.plan_state in allowed:
        return None
    if given.plan_state == "over_cap":
        return Finding(
            code="FC711",
            message="the plan has more objects than its cap allows",
            ways_on=("narrow the rule, or raise the `limit` of the proposal and have the change reviewed",),
        )
    if given.plan_state == "expired":
        return Finding(
            code="FC708",
            message="the approval of this plan has expired",
            ways_on=(f"{given.anew} and have the new plan approved",),
        )
    if given.plan_state == "waiting" and given.purpose is not Purpose.REHEARSE:
        if given.taken_back is not None:
            return _withdrawn(given.taken_back)
        return Finding(
            code="FC707",
            message="the plan waits for approval",
            ways_on=("have exactly this plan approved",),
        )
    return Finding(
        code="FC712",
        message=f"the plan is `{given.plan_state}`, which does not permit this",
        ways_on=("look at where it stands   fullcount show PLAN",),
    )


def _withdrawn(by: str) -> Finding:
    return Finding(
        code="FC709",
        message=f"the approval of this plan was taken back: {by}",
        ways_on=("ask them; to go on, have exactly this plan approved anew: `fullcount approve PLAN`",),
    )


def _approval(given: GuardInputs) -> Finding | None:
    if given.purpose is Purpose.REHEARSE:
        return None
    if given.approval is None and given.taken_back is not None:
        return _withdrawn(given.taken_back)
    if given.approval is None:
        return Finding(
            code="FC707",
            message="nobody has approved this plan, or not everyone who must",
            ways_on=("have exactly this plan approved",),
        )
    if given.approval.digest != given.plan_digest:
        return Finding(
            code="FC704",
            message=f"the approval is of `{given.approval.digest}`, the plan is `{given.plan_digest}`",
            ways_on=("have exactly this plan approved",),
        )
    if given.at >= given.approval.expires_at:
        return Finding(
            code="FC708",
            message=f"the approval expired at {given.approval.expires_at.isoformat()}",
            ways_on=(f"{given.anew} and have the new plan approved",),
        )
    by_rule = given.approval.automatic_of
    if by_rule is not None and by_rule > given.automatic_allowed:
        return Finding(
            code="FC719",
            message="nobody was asked about this plan, and the workspace no longer approves so many objects "
            f"automatically: {by_rule}, and {given.automatic_allowed} are allowed",
            ways_on=("have exactly this plan approved by people",),
        )
    if given.approval.unsigned is not None:
        return Finding(
            code="FC782",
            message=f"the approval no longer holds: {given.approval.unsigned}",
            ways_on=(APPROVE_ANEW,),
        )
    if given.approval.broken is not None:
        return Finding(
            code="FC779",
            message=f"the approval no longer holds: {given.approval.broken}",
            ways_on=(APPROVE_ANEW,),
        )
    return None


def _versions(given: GuardInputs) -> Finding | None:
    if given.purpose is Purpose.REHEARSE:
        return None
    for name in sorted({*given.versions_planned, *given.versions_running}):
        planned, running = given.versions_planned.get(name), given.versions_running.get(name)
        if planned is None or planned != running:
            return Finding(
                code="FC756" if name == "engine" else "FC757",
                message=f"`{name}` is {running or 'missing'} here, the plan was made with {planned or 'none'}",
                ways_on=(f"{given.anew} with the software that will act", "or act with the version of the plan"),
            )
    return None


def _target(given: GuardInputs) -> Finding | None:
    return other_system(given.target_planned, given.target_acting)


def other_system(target_planned: Mapping[str, str], target_acting: Mapping[str, str]) -> Finding | None:
    """Return why the system to act on is not the one of the plan: there, not even reading would tell anything."""
    planned, acting = target_facts(target_planned), target_facts(target_acting)
    # a resource that was configured or removed since is no other system; one that has other objects now is
    both = {name for name in {*planned, *acting} if not name.startswith(TARGET_OBJECTS)} | (set(planned) & set(acting))
    planned, acting = ({name: facts[name] for name in facts if name in both} for facts in (planned, acting))
    if planned and planned == acting:
        return None
    if not planned:
        what = "the plan does not say which system it is for"
    else:
        name = min(k for k in {*planned, *acting} if planned.get(k) != acting.get(k))
        what = f"`{name}` is `{acting.get(name, 'missing')}`, in the plan it is `{planned.get(name, 'missing')}`"
    return Finding(
        code="FC758",
        message=f"the system to act on is not the one of the plan: {what}",
        ways_on=("check the credentials for acting in fullcount.toml", "or plan again against the system meant"),
    )


def _evidence(given: GuardInputs) -> Finding | None:
    if given.purpose is not Purpose.ACT:
        return None
    for item in given.evidence:
        if item.max_age is None:
            return Finding(
                code="FC761",
                inventory=item.inventory,
                message=f"nothing says how old the evidence of `{item.inventory}` may be when it is acted on",
                ways_on=(f"add `fresh within …` to `verify {item.inventory}` and plan again",),
            )
        age = given.at - item.observed_at
        if age > item.max_age or age < timedelta(0):
            return Finding(
                code="FC761",
                inventory=item.inventory,
                message=f"the evidence of `{item.inventory}` was read at {item.observed_at.isoformat()}, "
                f"which is more than {item.max_age} ago"
                if age > item.max_age
                else f"the evidence of `{item.inventory}` is dated {item.observed_at.isoformat()}, which is still to "
                "come by this clock: its age can't be known",
                ways_on=("plan again: an identical plan keeps its approval until that expires",),
            )
    return None


def _freeze(given: GuardInputs) -> Finding | None:
    freeze = None if given.purpose is not Purpose.ACT else frozen(given.freezes, given.at)
    if freeze is None:
        return None
    return Finding(
        code="FC775",
        message=f"frozen until {local_moment(given.windows, freeze.end)}: {freeze.reason}",
        ways_on=(_again(given),),
    )


def _window(given: GuardInputs) -> Finding | None:
    if given.purpose is not Purpose.ACT or len(given.windows) == 0:
        return None
    if any(is_open(window, given.at) for window in given.windows):
        return None
    said = ", ".join(f"`{window.text}` {window.timezone}" for window in given.windows)
    return Finding(code="FC774", message=f"outside of its window {said}", ways_on=(_again(given),))


def _again(given: GuardInputs) -> str:
    """Return the way on of an act that only came at the wrong time."""
    at = local_moment(given.windows, opening(given.windows, given.freezes, given.at))
    return f"apply the same plan again from {at} on; `fullcount serve` goes on by itself then"


def _cap(given: GuardInputs) -> Finding | None:
    if given.purpose is Purpose.REHEARSE:
        return None
    cap = effective_cap(given.cap_count, given.cap_percent, given.population)
    if given.acts + given.closure < cap:
        return None
    along = "" if given.closure == 0 else f", and {given.closure} go along"
    return Finding(
        code="FC759",
        message=f"the cap of {cap} acts (of {given.population} objects) is reached:"
        f" {given.acts} made or in flight{along}",
        ways_on=("narrow the rule, or raise the `limit` of the proposal and have the change reviewed",),
    )


def _exemption(given: GuardInputs) -> Finding | None:
    if given.purpose is not Purpose.ACT or given.exemption is None:
        return None
    return Finding(code="FC760", message=f"exempted since the plan was made: {given.exemption}")


def _canary(given: GuardInputs) -> Finding | None:
    canary = given.canary
    if given.purpose is not Purpose.ACT or canary is None or canary.passed or given.acts < canary.count:
        return None
    return waiting(canary.count, canary.waits_until)


def waiting(count: int, until: datetime | None) -> Finding:
    """Return why the rest of a plan is not acted on while its canary is waited for."""
    when = "" if until is None else f" until {local_moment((), until)}"
    return Finding(
        code="FC776",
        message=f"the first {count} were acted on, and the rest waits for them{when}",
        ways_on=("apply the same plan again then; `fullcount serve` goes on by itself",),
    )


def _protection(given: GuardInputs) -> Finding | None:
    if given.purpose is not Purpose.ACT or given.protection is None:
        return None
    return Finding(
        code="FC778",
        message=given.protection,
        ways_on=("leave it: no workflow takes what the workspace protects",),
    )


CHECKS: tuple[Callable[[GuardInputs], Finding | None], ...] = (
    _halted,
    _paused,
    _fence,
    _superseded,
    _used,
    _of_its_time,
    _usable,
    _approval,
    _versions,
    _target,
    _evidence,
    _freeze,
    _window,
    _cap,
    _canary,
    _protection,
    _exemption,
)

OBJECT_CODES: frozenset[str] = frozenset({"FC760", "FC778"})
"""Findings about this one object; every other one forbids all further acts of the run."""

PAUSED = "FC785"
"""The finding that the workflow is paused by a person, who alone can say when it goes on."""

CANARY_FULL = "FC776"
"""The finding that no further object is acted on until the first ones were waited for and looked at."""

PAUSES: frozenset[str] = frozenset({"FC774", "FC775", CANARY_FULL, PAUSED})
"""Findings that forbid nothing for good: the run is paused, and the same plan can be gone on with."""

_GROUNDS: dict[str, Ground] = {
    "FC710": Ground.STALE,
    "FC761": Ground.EVIDENCE,
    "FC721": Ground.STALE,
}


def guard(given: GuardInputs) -> Finding | None:
    """Return the first finding that forbids the act, or None if nothing does."""
    for check in CHECKS:
        finding = check(given)
        if finding is not None:
            return finding
    return None


def ground(finding: Finding) -> Ground:
    """Return what kind of rule said no, which decides the exit code."""
    return _GROUNDS.get(finding.code, Ground.POLICY)
