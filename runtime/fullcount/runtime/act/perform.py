"""The only door to a write.

`perform_guarded` asks the guard about what was read a moment ago and only then calls the connector. Nothing else in the
run time may call `perform`; a test walks the syntax tree of the whole package and holds that.
"""

from __future__ import annotations

from fullcount.runtime.act.guard import GuardInputs, guard
from fullcount.runtime.connectors.base import ActCall, ActResult, SourceActor
from fullcount.runtime.evidence.refusal import Finding


async def perform_guarded(actor: SourceActor, call: ActCall, given: GuardInputs) -> ActResult | Finding:
    """Do one write, once, unless the guard forbids it; then return its finding and the source was not called.

    Raises what the connector raises: the write may or may not have happened then.
    """
    finding = guard(given)
    if finding is not None:
        return finding
    return await actor.perform(call)
