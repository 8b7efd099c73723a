"""The guard: each refusal alone, the caps as a table, and the one door that asks it."""

from __future__ import annotations

import ast
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fullcount.runtime
from fullcount.compiler.windows import parse_window
from fullcount.dsl.codes import CODES
from fullcount.runtime.act.guard import (
    CHECKS,
    ApprovalFacts,
    CanaryFacts,
    EvidenceAge,
    GuardInputs,
    Purpose,
    ground,
    guard,
)
from fullcount.runtime.act.perform import perform_guarded
from fullcount.runtime.connectors.base import ActCall, ActResult, Outcome
from fullcount.runtime.evidence.refusal import Finding, Ground
from fullcount.runtime.workspace.freezes import Freeze

NOW = datetime(2026, 11, 30, 2, 0, tzinfo=UTC)
DIGEST = "sha256:" + "7f" * 32

ALLOWED = GuardInputs(
    purpose=Purpose.ACT,
    at=NOW,
    plan_digest=DIGEST,
    plan_state="applying",
    approval=ApprovalFacts(DIGEST, NOW + timedelta(hours=1)),
    halted=None,
    versions_planned={"engine": "0.1.0", "directory": "1.0"},
    versions_running={"engine": "0.1.0", "directory": "1.0"},
    target_planned={"target.host": "corp", "user": "reader"},
    target_acting={"target.host": "corp", "user": "writer"},
    cap_count=10,
    cap_percent=Decimal(5),
    population=1000,
    acts=9,
    exemption=None,
    protection=None,
    evidence=(EvidenceAge("accounts", NOW - timedelta(minutes=59), timedelta(hours=1)),),
    windows=(),
    freezes=(),
    canary=None,
    fence=7,
    fence_current=7,
)

REFUSED = {
    "an undo that is too old": (replace(ALLOWED, purpose=Purpose.UNDO, undoes="01", valid_until=NOW), "FC801"),
    "nobody approved": (replace(ALLOWED, approval=None), "FC707"),
    "the approval was taken back": (replace(ALLOWED, approval=None, taken_back="ana: stop"), "FC709"),
    "the plan still waits": (replace(ALLOWED, plan_state="waiting"), "FC707"),
    "a state nobody thought of": (replace(ALLOWED, plan_state="brand_new"), "FC712"),
    "approval of another digest": (
        replace(ALLOWED, approval=ApprovalFacts("sha256:" + "00" * 32, NOW + timedelta(hours=1))),
        "FC704",
    ),
    "approval expired this instant": (replace(ALLOWED, approval=ApprovalFacts(DIGEST, NOW)), "FC708"),
    "somebody who approved left the role": (
        replace(ALLOWED, approval=replace(ALLOWED.approval, broken="ana (uid:1) is no longer among those who may")),
        "FC779",
    ),
    "a signature that it rests on holds no more": (
        replace(ALLOWED, approval=replace(ALLOWED.approval, unsigned="the key SHA256:x is not among the allowed")),
        "FC782",
    ),
    "a rule approved more than the workspace allows now": (
        replace(ALLOWED, approval=replace(ALLOWED.approval, automatic_of=4), automatic_allowed=3),
        "FC719",
    ),
    "plan marked expired": (replace(ALLOWED, plan_state="expired"), "FC708"),
    "superseded": (replace(ALLOWED, plan_state="superseded"), "FC710"),
    "already used": (replace(ALLOWED, plan_state="applied"), "FC712"),
    "halted": (replace(ALLOWED, halted="pager"), "FC722"),
    "halted without a reason": (replace(ALLOWED, halted=""), "FC722"),
    "paused": (replace(ALLOWED, paused="pager"), "FC785"),
    "paused without a reason": (replace(ALLOWED, paused=""), "FC785"),
    "another engine": (replace(ALLOWED, versions_running={"engine": "0.2.0", "directory": "1.0"}), "FC756"),
    "another connector": (replace(ALLOWED, versions_running={"engine": "0.1.0", "directory": "1.1"}), "FC757"),
    "a connector that is missing": (replace(ALLOWED, versions_running={"engine": "0.1.0"}), "FC757"),
    "a connector the plan does not know": (
        replace(ALLOWED, versions_running={"engine": "0.1.0", "directory": "1.0", "hr": "1"}),
        "FC757",
    ),
    "another target": (replace(ALLOWED, target_acting={"target.host": "test"}), "FC758"),
    "a target fact that is missing": (replace(ALLOWED, target_acting={"user": "writer"}), "FC758"),
    "a target fact too many": (
        replace(ALLOWED, target_acting={"target.host": "corp", "target.database": "x"}),
        "FC758",
    ),
    "a plan without a target": (replace(ALLOWED, target_planned={"user": "reader"}), "FC758"),
    "cap by number reached": (replace(ALLOWED, acts=10), "FC759"),
    "cap by share reached": (replace(ALLOWED, cap_count=None, cap_percent=Decimal("0.9")), "FC759"),
    "plan over its cap": (replace(ALLOWED, plan_state="over_cap"), "FC711"),
    "the canary is waited for": (replace(ALLOWED, canary=CanaryFacts(9, passed=False, waits_until=NOW)), "FC776"),
    "frozen": (replace(ALLOWED, freezes=(Freeze(NOW, NOW + timedelta(hours=1), "incident"),)), "FC775"),
    "outside of the window": (replace(ALLOWED, windows=(parse_window("Mon 09:00-16:00", "UTC"),)), "FC774"),
    "protected meanwhile": (replace(ALLOWED, protection="protected by `payroll`: it pays people"), "FC778"),
    "exempted meanwhile": (replace(ALLOWED, exemption="on list `exemptions`, by ana: audit"), "FC760"),
    "evidence one second too old": (
        replace(ALLOWED, evidence=(EvidenceAge("people", NOW - timedelta(hours=1, seconds=1), timedelta(hours=1)),)),
        "FC761",
    ),
    "evidence without a stated age": (replace(ALLOWED, evidence=(EvidenceAge("people", NOW, None),)), "FC761"),
    "evidence from the future": (
        replace(ALLOWED, evidence=(EvidenceAge("people", NOW + timedelta(seconds=1), timedelta(hours=1)),)),
        "FC761",
    ),
    "the lease went to another run": (replace(ALLOWED, fence_current=8), "FC721"),
    "the lease is gone": (replace(ALLOWED, fence_current=None), "FC721"),
}


@pytest.mark.requirement("R24", "R28", "R39")
@pytest.mark.parametrize("case", REFUSED)
def test_each_ground_alone_forbids_the_act(case):
    """One fact that is not as it must be is enough to forbid, and it is named by its own code."""
    inputs, code = REFUSED[case]
    finding = guard(inputs)
    assert finding is not None
    assert finding.code == code
    assert code in CODES


def test_nothing_in_the_way_allows_the_act():
    """The case that all refusals above differ from in one fact is allowed."""
    assert guard(ALLOWED) is None


@pytest.mark.requirement("R24")
async def test_the_connector_is_not_called_when_the_guard_forbids():
    """A forbidden act never reaches the connector."""

    class Actor:
        calls = 0

        async def perform(self, call: ActCall) -> ActResult:
            self.calls += 1
            return ActResult(Outcome.DONE)

    actor = Actor()
    for inputs, code in REFUSED.values():
        answer = await perform_guarded(actor, None, inputs)
        assert isinstance(answer, Finding)
        assert answer.code == code
    assert actor.calls == 0
    assert await perform_guarded(actor, None, ALLOWED) == ActResult(Outcome.DONE)
    assert actor.calls == 1


@pytest.mark.parametrize(
    ("population", "percent", "allowed"),
    [
        (0, 10, 0),
        (1, 10, 0),
        (2, 10, 0),
        (3, 10, 0),
        (9, 10, 0),
        (10, 10, 1),
        (11, 10, 1),
        (99, 10, 9),
        (100, 10, 10),
        (101, 10, 10),
        (1, 100, 1),
        (3, 50, 1),
        (101, 0, 0),
        (200, Decimal("0.5"), 1),
        (199, Decimal("0.5"), 0),
    ],
)
def test_a_share_is_rounded_down_so_that_a_small_population_allows_none(population, percent, allowed):
    """Exactly the rounded-down share may be acted on, and not one more."""
    base = replace(ALLOWED, cap_count=None, cap_percent=Decimal(percent), population=population)
    may = [n for n in range(population + 2) if guard(replace(base, acts=n)) is None]
    assert may == list(range(allowed))


@pytest.mark.parametrize(
    ("count", "percent", "population", "allowed"),
    [
        (0, None, 100, 0),
        (0, Decimal(100), 100, 0),
        (5, Decimal(100), 100, 5),
        (100, Decimal(5), 100, 5),
        (1, Decimal(1), 99, 0),
        (None, None, 3, 3),
    ],
)
def test_the_stricter_cap_binds_and_zero_means_none(count, percent, population, allowed):
    """Both halves hold; 0 is a cap like any other; without a cap the population itself is one."""
    base = replace(ALLOWED, cap_count=count, cap_percent=percent, population=population)
    assert [guard(replace(base, acts=n)) is None for n in range(allowed + 2)] == [True] * allowed + [False] * 2


@given(
    count=st.none() | st.integers(0, 50),
    percent=st.none() | st.decimals(0, 100, places=2),
    population=st.integers(0, 500),
)
def test_acts_never_exceed_either_half_of_the_cap(count, percent, population):
    """Acting as long as the guard allows ends at or below each half."""
    acts = 0
    while guard(replace(ALLOWED, cap_count=count, cap_percent=percent, population=population, acts=acts)) is None:
        acts += 1
    assert acts <= population
    assert count is None or acts <= count
    assert percent is None or acts * 100 <= percent * population


UNDO = replace(ALLOWED, purpose=Purpose.UNDO, undoes="01", valid_until=NOW + timedelta(hours=1))
UNHINDERED = {
    "paused": "the directory moves",
    "exemption": "x",
    "protection": "x",
    "evidence": (EvidenceAge("a", NOW - timedelta(days=9), timedelta(hours=1)),),
}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"halted": "pager"}, "FC722"),
        ({"fence_current": 8}, "FC721"),
        ({"plan_state": "superseded"}, "FC710"),
        ({"plan_state": "applied"}, "FC712"),
        ({"plan_state": "waiting"}, "FC707"),
        ({"undoes": None}, "FC801"),
        ({"valid_until": None}, "FC801"),
        ({"valid_until": NOW}, "FC801"),
        ({"approval": None}, "FC707"),
        ({"approval": replace(ALLOWED.approval, digest="sha256:other")}, "FC704"),
        ({"approval": replace(ALLOWED.approval, expires_at=NOW)}, "FC708"),
        ({"approval": replace(ALLOWED.approval, automatic_of=1)}, "FC719"),
        ({"approval": replace(ALLOWED.approval, broken="bo left the role")}, "FC779"),
        ({"versions_running": {**ALLOWED.versions_running, "engine": "9"}}, "FC756"),
        ({"target_acting": {"target.host": "test"}}, "FC758"),
        ({"acts": ALLOWED.cap_count}, "FC759"),
    ],
)
def test_undo_is_a_write_and_guarded_as_one(change, code):
    """It needs an approval of its own, of people and in its time, and takes back no more than its own list."""
    finding = guard(replace(UNDO, **change))
    assert finding is not None
    assert finding.code == code


def test_undo_is_not_held_up_by_what_protects_from_acting():
    """Bringing back what was approved away waits for no pause and needs no fresh evidence; nothing is kept from it."""
    assert guard(replace(UNDO, **UNHINDERED)) is None


def test_the_rehearsal_of_an_undo_rests_on_the_approval_of_its_act():
    """It is part of an act that was found allowed right before; a halt, the lease and the target hold all the same."""
    inputs = replace(ALLOWED, purpose=Purpose.REHEARSE, plan_state="applying", approval=None, acts=10**6, cap_count=0)
    assert guard(replace(inputs, **UNHINDERED)) is None
    for change, code in (({"halted": "pager"}, "FC722"), ({"plan_state": "approved"}, "FC712")):
        assert guard(replace(inputs, **change)).code == code


def test_the_ground_decides_how_the_command_ends():
    """Old evidence is a refusal by evidence, a replaced plan or lease is stale, the rest is policy."""
    grounds = {code: ground(guard(inputs)) for inputs, code in REFUSED.values()}
    assert grounds["FC761"] is Ground.EVIDENCE
    assert grounds["FC710"] is Ground.STALE
    assert {g for code, g in grounds.items() if code not in {"FC710", "FC721", "FC761"}} == {Ground.POLICY}


def test_findings_speak_in_words_and_lower_case():
    """Messages start in lower case (or with a name) and do not show types of the host language."""
    for inputs, _ in REFUSED.values():
        message = guard(inputs).message
        assert message[0].islower() or message[0] == "`"
        assert "None" not in message
        assert "datetime" not in message


KIT = "testing/"


def _calls_of(attribute: str) -> dict[str, int]:
    root = Path(next(iter(fullcount.runtime.__path__)))
    found: dict[str, int] = {}
    for path in root.rglob("*.py"):
        name = str(path.relative_to(root))
        if name.startswith(KIT):
            continue  # it tries connectors on systems made for the purpose, and no command knows it
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr == attribute:
                found[name] = found.get(name, 0) + 1
    return found


@pytest.mark.requirement("R24")
def test_perform_is_reached_through_one_door_only():
    """No module of the run time mentions a connector's `perform` but the door that asks the guard first."""
    assert _calls_of("perform") == {"act/perform.py": 1}


@pytest.mark.requirement("R24")
def test_no_command_knows_the_kit_that_tries_connectors():
    """What calls a connector's `perform` without the guard is out of reach of everything else in the run time."""
    root = Path(next(iter(fullcount.runtime.__path__)))
    others = [path for path in root.rglob("*.py") if not str(path.relative_to(root)).startswith(KIT)]
    assert [path.name for path in others if "runtime.testing" in path.read_text()] == []


def test_every_check_is_reached_by_some_refusal():
    """The table above has a case for each check of the guard, so that none can be dropped unnoticed."""
    for check in CHECKS:
        assert any(check(inputs) is not None for inputs, _ in REFUSED.values()), check
