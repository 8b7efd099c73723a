"""The one list of FC codes: each with its title, severity, explanation, and a wrong and a right example.

`fullcount explain CODE` prints an entry, the reference pages are generated from it, and a test compiles every example:
`wrong` must produce exactly its code, `right` must compile cleanly. One module per hundred:

FC0xx syntax · FC1xx names · FC2xx types · FC3xx evidence · FC4xx approval · FC5xx blast radius · FC6xx connectors and
workspace · FC7xx run time · FC9xx internal.

Codes are never renamed nor reused. Reason, warning and act codes of sources (`RESULT_LIMIT_REACHED`, …) are another
list, in `fullcount.runtime.evidence.codes`.
"""

from __future__ import annotations

from fullcount.dsl.codes import (
    approval,
    blast,
    bounded,
    evidence,
    guards,
    internal,
    list_files,
    names,
    partitions,
    picks,
    runtime,
    shared,
    suppressions,
    syntax,
    types,
    understanding,
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
        types,
        evidence,
        bounded,
        partitions,
        approval,
        blast,
        picks,
        guards,
        workspace,
        understanding,
        workspace_use,
        runtime,
        internal,
    )
    for code in room.CODES
}

__all__ = ["CODES", "Code"]
