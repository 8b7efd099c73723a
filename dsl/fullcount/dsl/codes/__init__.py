"""The one list of FC codes: each with its title, severity, explanation, and a wrong and a right example.

`fullcount explain CODE` prints an entry, the reference pages are generated from it, and a test compiles every example:
`wrong` must produce exactly its code, `right` must compile cleanly. One module per hundred:

FC0xx syntax · FC1xx names · FC2xx types · FC3xx evidence · FC4xx approval · FC5xx blast radius · FC6xx connectors and
workspace · FC7xx run time · FC8xx undoing · FC9xx internal.

Codes are never renamed nor reused. Reason, warning and act codes of sources (`RESULT_LIMIT_REACHED`, …) are another
list, in `fullcount.runtime.evidence.codes`.
"""

from __future__ import annotations

from fullcount.dsl.codes import (
    approval,
    auditing,
    blast,
    bounded,
    conformance,
    evidence,
    guards,
    ids,
    internal,
    keeping,
    lint,
    list_files,
    names,
    notifying,
    partitions,
    picks,
    runtime,
    shared,
    signing,
    steps,
    suppressions,
    syntax,
    trials,
    trials_run,
    types,
    understanding,
    undoing,
    workspace,
    workspace_use,
)
from fullcount.dsl.codes.model import Code

CODES: dict[str, Code] = {
    code.id: code
    for room in (
        syntax,
        suppressions,
        names,
        list_files,
        shared,
        trials,
        types,
        ids,
        lint,
        evidence,
        bounded,
        partitions,
        approval,
        blast,
        picks,
        guards,
        steps,
        keeping,
        notifying,
        workspace,
        trials_run,
        conformance,
        auditing,
        understanding,
        workspace_use,
        runtime,
        signing,
        undoing,
        internal,
    )
    for code in room.CODES
}

RETIRED: dict[str, str] = {
    "FC750": "FC707",
    "FC751": "FC704",
    "FC752": "FC708",
    "FC753": "FC710",
    "FC754": "FC712",
    "FC755": "FC722",
    "FC762": "FC721",
    "FC771": "FC741",
}
"""Codes that are given no more and never again, with the one that says the same. Old records still hold them."""

__all__ = ["CODES", "RETIRED", "Code"]
