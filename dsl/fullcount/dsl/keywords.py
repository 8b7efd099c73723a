"""The words of the language: which clauses stand in which block, and what each terminal is called in a message.

Parser, messages, recovery and editor support read these tables; a test holds them equal to the grammar.
"""

from __future__ import annotations

from typing import Final

FILE: Final = "file"

#: The clauses that each block takes, in canonical order. `file` is the block around everything.
CLAUSES: Final[dict[str, tuple[str, ...]]] = {
    FILE: ("edition", "import", "record", "define", "protect", "workflow"),
    "workflow": (
        "describe",
        "owner",
        "schedule",
        "param",
        "inventory",
        "verify",
        "propose",
        "approve",
        "act",
        "notify",
        "test",
    ),
    "inventory": ("key", "incarnation", "fields", "scope", "deadline", "expect"),
    "propose": ("bounded", "where", "except", "undecided", "expect", "keep", "pick", "limit", "show"),
    "act": ("undo", "backup", "cascades", "rate", "concurrency", "canary", "rehearse", "stop", "window"),
    "steps": ("rate", "concurrency", "canary", "stop", "window"),
    "test": ("now", "given", "before", "expect"),
}

#: Blocks that also hold entries of the form `name: …`.
LABELLED: Final = frozenset({"steps"})

#: The clauses that stand behind the operation of a step, in canonical order.
STEP_CLAUSES: Final = ("undo", "backup", "cascades", "rehearse", "after", "every")

#: Blocks whose entries are separated by commas, with the words that an entry starts with (empty: any name).
LISTS: Final[dict[str, tuple[str, ...]]] = {
    "verify": ("complete", "fresh", "snapshot", "visibility", "rows", "change", "count"),
    "approve": ("automatically", "otherwise", "expires"),
    "fields": (),
    "record": (),
}

#: The clauses that open a block of their own.
BLOCK_CLAUSES: Final = frozenset({"record", "workflow", "inventory", "verify", "propose", "approve", "act", "test"})

#: A short example of each clause, shown where one is missing or malformed.
EXAMPLES: Final[dict[str, str]] = {
    "edition": 'edition "2026"',
    "import": 'import "lib/people.fcw"',
    "record": "record person { id: text, active: bool }",
    "define": "define idle(last: timestamp?, made: timestamp) = (last else made) < now - 90d",
    "workflow": "workflow disable_orphans { … }",
    "protect": 'protect payroll from directory.accounts as a where (a.team == "payroll") because "it pays people"',
    "describe": 'describe "what this clean-up does"',
    "owner": 'owner "iam-team"',
    "schedule": 'schedule cron "0 2 * * *" timezone "Europe/Berlin" catch up within 4h',
    "param": "param idle: duration = 90d",
    "inventory": "inventory people from hr.employees { … }",
    "verify": "verify people { complete, fresh within 1h }",
    "propose": "propose disable from accounts as a { … }",
    "approve": 'approve disable { 2 of role "iam-admin" not by author, expires after 3d }',
    "act": "act disable with directory.update(id: a.id, locked: true) { … }",
    "notify": 'notify "ops-mail" on waiting, refused, stopped',
    "key": "key id",
    "incarnation": "incarnation entry_uuid",
    "fields": "fields { id: text, owner: text? }",
    "scope": 'scope environment == "production"',
    "deadline": "deadline 10m",
    "expect": 'expect id == "svc-canary"',
    "bounded": "bounded",
    "where": "where a.last_login < now - 90d",
    "except": "except in exemptions",
    "undecided": "undecided when s.last_used is absent",
    "keep": "keep at least 3 per a.team newest by a.created",
    "pick": "pick oldest 10 by a.created",
    "limit": "limit 50, 5%",
    "show": "show a.owner, a.last_login",
    "undo": "undo directory.update(id: a.id, locked: false)",
    "backup": "backup kept for 30d",
    "cascades": "cascades within limit",
    "rate": "rate 10 per second",
    "concurrency": "concurrency 4",
    "canary": "canary 5 then wait 15m",
    "rehearse": "rehearse restore",
    "stop": "stop after 3 failures or 1%",
    "window": 'window "Mon-Thu 09:00-16:00" timezone "Europe/Berlin"',
    "test": 'test "an account of nobody is disabled" { … }',
    "now": "now 2026-01-31T00:00:00Z",
    "given": 'given people partial RESULT_LIMIT_REACHED [{ id: "p1", active: true }]',
    "before": 'before act change accounts "a1" { owner: "p1" }',
    "complete": "complete",
    "fresh": "fresh within 1h",
    "snapshot": "snapshot pinned",
    "visibility": "visibility all",
    "rows": "rows at least 100",
    "change": "change at most 20%",
    "count": "count agrees with hr.headcount",
    "automatically": 'automatically when count <= 5 and reversible, otherwise 1 of role "ops"',
    "otherwise": 'otherwise 1 of role "ops"',
    "expires": "expires after 3d",
}

#: Words that start a quantifier, a test of a list, or an aggregate when `NAME as` follows.
QUANTIFIERS: Final = ("some", "no")
LIST_QUANTIFIERS: Final = ("any", "all")
AGGREGATES: Final = ("count", "min", "max", "sum", "avg")

#: Words that stand for a value or an operator wherever a value is read; no parameter or row may take such a name.
RESERVED: Final = frozenset(
    {"true", "false", "now", "never", "unknown", "all", "not", "and", "or", "in", "is", "else", "null", "nil", "none"}
)

#: Words that join or test values; where a value is read, they are a value that was forgotten.
OPERATORS: Final = frozenset({"and", "or", "not", "in", "is", "else"})

#: What other languages call a missing value.
NULL_WORDS: Final = frozenset({"null", "nil", "none", "None", "NULL", "Null", "undefined"})

#: Terminals that are shown in a message by what they mean; every other word terminal is shown as it is written.
_MEANINGS: Final[dict[str, str]] = {
    "NAME": "a name",
    "STRING": "a text in double quotes",
    "NUMBER": "a number",
    "QUANTITY": "a number with a unit",
    "MOMENT": "a date or a time",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "COMMA": "`,`",
    "COLON": "`:`",
    "DOT": "`.`",
    "SPREAD": "`...`",
    "OPTIONAL": "`?`",
    "EQUAL": "`==`",
    "UNEQUAL": "`!=`",
    "AT_MOST": "`<=`",
    "AT_LEAST": "`>=`",
    "LESS": "`<`",
    "GREATER": "`>`",
    "ASSIGN": "`=`",
    "PLUS": "`+`",
    "MINUS": "`-`",
    "STAR": "`*`",
    "SLASH": "`/`",
    "CLAIM_COUNT": "`count`",
    "ALL_OF": "`all`",
    "LIST_FILE": "`file`",
    "GIVEN_PARAM": "`param`",
    "GIVEN_COUNT": "`count`",
    "GIVEN_LIST": "`list`",
    "LABEL": "the name of a step",
    "$END": "the end of the file",
}

#: Words with two terminals, because they mean two things.
_SPELT: Final = {
    "CLAIM_COUNT": "count",
    "ALL_OF": "all",
    "LIST_FILE": "file",
    "GIVEN_PARAM": "param",
    "GIVEN_COUNT": "count",
    "GIVEN_LIST": "list",
}

#: Terminals that are neither words nor in `_MEANINGS`, and are never expected of anyone.
IGNORED: Final = frozenset({"COMMENT", "WHITE"})

#: What can begin a value, what can go on after one.
VALUE_START: Final = frozenset({"NAME", "STRING", "NUMBER", "QUANTITY", "MOMENT", "LPAR", "LSQB"})
VALUE_WORDS: Final = frozenset(
    {"NOT", "MINUS", "SOME", "NO", "ANY", "ALL_OF", "COUNT", "MIN", "MAX", "SUM", "AVG", "LIST_FILE"}
)
AFTER_VALUE: Final = frozenset(
    {
        "OR", "AND", "NOT", "IN", "IS", "ELSE", "EQUAL", "UNEQUAL", "LESS", "AT_MOST", "GREATER", "AT_LEAST",
        "ASSIGN", "PLUS", "MINUS", "STAR", "SLASH", "DOT", "LSQB",
    }
)  # fmt: skip

#: The words that carry a value on, so that a line starting with one continues the line before.
CONTINUATIONS: Final = frozenset(
    {
        "or", "and", "not", "in", "is", "else", "of", "needs", "where", "as", "per", "newest", "oldest", "by",
        "column", "may",
    }
)  # fmt: skip


def word(terminal: str) -> str | None:
    """Return the word that a keyword terminal is written as, or None for punctuation and literals."""
    if terminal in _SPELT:
        return _SPELT[terminal]
    if terminal in _MEANINGS or terminal in IGNORED:
        return None
    return terminal.lower()


def meaning(terminal: str) -> str:
    """Return what a terminal is called in a message."""
    known = _MEANINGS.get(terminal)
    return known if known is not None else f"`{terminal.lower()}`"
