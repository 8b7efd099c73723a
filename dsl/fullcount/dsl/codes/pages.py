"""The reference page of all codes, written from the registry.

`python -m fullcount.dsl.codes.pages > docs/reference/codes.md` renews it; a test holds it to be current.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from fullcount.dsl.codes import CODES, terminal
from fullcount.dsl.codes.change import change
from fullcount.dsl.codes.model import Code

_HEAD = """\
# Codes

Everything that Fullcount finds wrong has a code. `fullcount explain CODE` shows the same text in a terminal. Codes are
never renamed nor used again for something else.

Below a code stands how what is wrong (`-`) becomes right (`+`): a file, or what is typed at a terminal, in
[this workspace](#the-workspace-of-the-sessions). Some codes have none, because no text and no command brings them
about.

A warning can be allowed by a comment with a reason, on the line before it or at the end of its line; an error cannot:

```
# allow FC123: because the rule of May will use it
```
"""

_SESSIONS = """\
## The workspace of the sessions

Some examples are what is typed at a terminal, `$ fullcount …`. They take place in this workspace, by the user
`uid:1000`, after two plans of `accounts.fcw`. Of five accounts two are idle and nobody's: `a01` and `a02`.
In these examples stand for what differs each time:
"""

#: The first digit after `FC`, and what the codes with it are about.
_ROOMS = {
    "0": "The text of a file",
    "1": "Names",
    "2": "Types",
    "3": "Evidence",
    "4": "Approval",
    "5": "How much an act may do",
    "6": "The workspace and the command line",
    "7": "While it runs",
    "8": "Undoing",
    "9": "Mistakes of Fullcount itself",
}


def page(codes: Iterable[Code]) -> str:
    """Return the page of the codes, as Markdown."""
    by_room: dict[str, list[Code]] = {}
    for code in sorted(codes, key=lambda each: each.id):
        by_room.setdefault(_ROOMS[code.id[2]], []).append(code)
    parts = [_HEAD]
    for room, listed in by_room.items():
        parts.append(f"## {room}\n\n{_table(listed)}")
        parts += [_entry(code) for code in listed]
    return "\n".join([*parts, _workspace()])


def _table(codes: Iterable[Code]) -> str:
    rows = [f"| [{code.id}](#{code.id.lower()}) | {code.title.replace('|', chr(92) + '|')} |" for code in codes]
    return "\n".join(["| code | what was found |", "|---|---|", *rows]) + "\n"


def _entry(code: Code) -> str:
    text = f"### {code.id}\n\n*{code.severity}*: {code.title}\n\n{code.explanation.strip()}\n"
    return f"{text}\n{_change(code)}" if code.wrong else text


def _change(code: Code) -> str:
    """Return how the wrong example becomes the right one."""
    return "\n".join(["```diff", *change(code), "```"]) + "\n"


def _workspace() -> str:
    words = "\n".join(f"- `{word}`: {means}" for word, means in terminal.MEANT.items())
    parts = [_SESSIONS, f"{words}\n"]
    parts += [f"`{path}`:\n\n```\n{text}```\n" for path, text in terminal.FILES.items() if text != ""]
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page(CODES.values()))
