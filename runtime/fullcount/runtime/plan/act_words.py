"""The act of a plan in words, for people: what is done, how it is taken back, what is kept, and at what pace.

What runs stands in the plan's `program`; nothing reads these words to decide anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fullcount.compiler import program
from fullcount.runtime import format as fmt
from fullcount.runtime.plan.cells import exact_duration
from fullcount.runtime.plan.phrase import call_phrase


def act_words(act: program.Act, approval: program.Approval | None) -> dict[str, Any]:
    """Return the act in words, for people; what runs stands in `program`."""
    stops = []
    if act.stop is not None and act.stop.failures is not None:
        stops.append(fmt.counted(act.stop.failures, "failure"))
    if act.stop is not None and act.stop.percent is not None:
        stops.append(f"{act.stop.percent:f} % of the rows failed")
    return {
        **(_operation(act, None, act.call) if act.call is not None else _steps(act)),
        "rate": None if act.rate is None else f"{act.rate:f}",
        "concurrency": act.concurrency,
        "canary": None if act.canary is None else _canary(act.canary),
        **_rehearsal(act.rehearsed),
        "windows": [f"{window.text} {window.timezone}" for window in act.windows],
        "approved": None if approval is None or approval.automatic is None else _by_rule(approval, approval.automatic),
        "stop": f"after {' or '.join(stops)}" if len(stops) > 0 else None,
    }


def _rehearsal(steps: Sequence[str | None]) -> dict[str, str]:
    if len(steps) == 0:
        return {}
    of = "" if None in steps else f", at step {' and '.join(f'`{step}`' for step in steps)}"
    one = "one of the canary is" if len(steps) == 1 else "one of the canary each is"
    return {"rehearse": f"{one} restored and compared before the rest{of}"}


def _canary(canary: program.Canary) -> str:
    then = canary.then
    checked = "" if then is None else f", then at most {then.count:,} of {then.address}"
    return f"first {canary.count}, then wait {exact_duration(canary.wait)}{checked}"


def _by_rule(approval: program.Approval, rule: program.Automatic) -> str:
    """Return when nobody is asked, and who is otherwise."""
    people = ", ".join(f"{quorum.count} of {quorum.role}" for quorum in approval.quorums)
    return f"automatically when {rule.text}, otherwise {people}"


def _operation(act: program.Act, step: str | None, call: program.OperationCall) -> dict[str, Any]:
    undo, backup = act.undos.get(step), act.backups.get(step)
    return {
        "operation": f"{call.source}.{call.resource}.{call.operation}",
        "call": call_phrase(call),
        "undo": None if undo is None else call_phrase(undo),
        **({} if backup is None else {"backup": f"kept for {exact_duration(backup.kept)}"}),
        **({"cascades": "within the limit"} if step in act.cascading else {}),
        "reversible": call.reversible,
    }


def _steps(act: program.Act) -> dict[str, Any]:
    """Return the steps in words. Which of them a plan takes, and whether that can be undone, is for its rows to say."""
    words = [
        {"step": step.label, "after": None if step.after == 0 else exact_duration(step.after)}
        | _operation(act, step.label, step.call)
        for step in act.steps
    ]
    if act.release is not None:
        words.append({"step": program.RELEASE, "after": None} | _operation(act, program.RELEASE, act.release))
    return {
        "operation": None,
        "call": "; then ".join(f"{each['step']}" for each in words if each["step"] != program.RELEASE),
        "undo": "step by step" if len(act.undos) > 0 else None,
        "reversible": act.reversible,
        "steps": words,
    }
