"""Every verb: where its command stands and what it is for, in the order in which one meets them.

`fullcount --help` is made of this table alone, so that it imports no verb; a test holds it equal to what the verbs say
of themselves.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Verb(NamedTuple):
    """A module of this folder, the command in it, and the first sentence of its help, without the full stop."""

    module: str
    command: str
    purpose: str


VERBS: Final[dict[str, Verb]] = {
    "init": Verb("init", "init", "Make a workspace"),
    "check": Verb("check", "check", "Compile workflows and report every mistake"),
    "evidence": Verb("evidence", "evidence", "Show what each conclusion rests on"),
    "fmt": Verb("fmt", "fmt", "Lay workflows out in the one canonical way"),
    "test": Verb("test", "try_out", "Try workflows on the answers that their tests give"),
    "graph": Verb("graph", "graph", "Print the stages and what each edge requires"),
    "plan": Verb("plan", "plan", "Collect the evidence and propose a plan; act on nothing"),
    "show": Verb("show", "show", "Show a plan as its reviewer needs it"),
    "why": Verb("why", "why", "Explain why a plan selects an object"),
    "why-not": Verb("why", "why_not", "Explain why a plan does not select an object"),
    "eval": Verb("evaluate", "evaluate", "Evaluate a workflow on stored snapshots"),
    "diff": Verb("diff", "diff", "Compare two workflows on stored snapshots"),
    "approve": Verb("approve", "approve", "Agree to one plan"),
    "strike": Verb("strike", "strike", "Strike rows from a plan"),
    "apply": Verb("apply", "apply", "Act on what an approved plan lists"),
    "undo": Verb("undo", "undo", "Plan to take back what was done, object by object"),
    "settle": Verb("settle", "settle", "Say what came of acts whose outcome nobody knows"),
    "runs": Verb("runs", "runs", "List what ran and how it ended"),
    "report": Verb("report", "report", "Write what a run came to, object by object"),
    "export": Verb("export", "export", "Write a run into a folder that can be checked offline"),
    "verify": Verb("verify", "verify", "Check that the record holds"),
    "conformance": Verb("conformance", "conformance", "Replay recorded exchanges through the connectors"),
    "audit-openapi": Verb("audit_openapi", "audit_openapi", "Say which lists of an API can be proven whole"),
    "serve": Verb("serve", "serve", "Run scheduled workflows when they are due"),
    "halt": Verb("halt", "halt", "Stop all acting at once, or allow it again"),
    "pause": Verb("pause", "pause", "Pause one workflow, or let it go on"),
    "lsp": Verb("lsp", "lsp", "Answer an editor on standard input and output"),
    "explain": Verb("explain", "explain", "Explain a code"),
}
