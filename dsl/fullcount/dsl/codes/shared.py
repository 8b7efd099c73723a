"""FC14x: what files share: imports, records, definitions."""

from __future__ import annotations

from fullcount.dsl.codes.examples import TIDY, WHERE, tidy
from fullcount.dsl.codes.model import Code

_IDLE = "define idle(last: timestamp?, made: timestamp) = (last else made) < now - 90d\n"
_ACCOUNT = (
    "record account { id: text, entry_uuid: text, owner: text?, team: text, created: timestamp,"
    " last_login: timestamp? }\n"
)
_FIELDS = TIDY.splitlines()[4].strip()
_LIBRARY = (("lib/accounts.fcw", _IDLE),)
_USING = tidy((WHERE, "idle(a.last_login, a.created)"))
_IMPORTING = 'import "lib/accounts.fcw"\n\n' + _USING


def _fields(clause: str) -> str:
    return tidy((_FIELDS, clause))


CODES: tuple[Code, ...] = (
    Code(
        id="FC140",
        title="a file to import that is not there",
        explanation=(
            "`import` takes the path of a file, starting at the folder of the file that imports. Nothing is there, or "
            "it can't be read as text, so nobody can say what the names it would bring stand for."
        ),
        wrong='import "lib/acounts.fcw"\n\n' + _USING,
        right=_IMPORTING,
        files=_LIBRARY,
    ),
    Code(
        id="FC141",
        title="a path that can't be imported",
        explanation=(
            "A path to import starts at the folder of the file that imports, has `/` between its folders, ends in "
            "`.fcw` and stays within the workspace: what a clean-up means must not depend on files that its reviewers "
            "do not see."
        ),
        wrong='import "/etc/fullcount/accounts.fcw"\n\n' + _USING,
        right=_IMPORTING,
        files=_LIBRARY,
    ),
    Code(
        id="FC142",
        title="files that import each other in a circle",
        explanation=(
            "A file can't need itself before it can be read. The finding shows the whole circle.\n\n"
            "Move what the files share into a file of its own, which imports none of them."
        ),
        wrong=_IMPORTING,
        wrong_files=(("lib/accounts.fcw", 'import "accounts.fcw"\n' + _IDLE),),
        right=_IMPORTING,
        files=_LIBRARY,
    ),
    Code(
        id="FC143",
        title="unknown record",
        explanation=(
            "`fields NAME` and `...NAME` bring the fields of a `record`, which stands in this file or in one that it "
            "imports. There is none of this name."
        ),
        wrong=_ACCOUNT + "\n" + _fields("fields acount"),
        right=_ACCOUNT + "\n" + _fields("fields account"),
    ),
    Code(
        id="FC144",
        title="definitions that use each other in a circle",
        explanation=(
            "A definition stands for its expression, which is written out wherever it is used. One that uses itself, "
            "directly or through others, would have no end."
        ),
        wrong="define idle(last: timestamp) = old(last)\ndefine old(at: timestamp) = idle(at)\n\n" + TIDY,
        right=_IDLE + "\n" + _USING,
    ),
    Code(
        id="FC145",
        title="definitions that grow too large",
        explanation=(
            "A rule is at most 100 levels deep, and a definition comes to at most 5,000 parts, once the definitions "
            "that it uses are written out. A few definitions that each use another twice grow beyond what anyone can "
            "review."
        ),
        wrong="define d0(x: int) = x + x\n"
        + "".join(f"define d{n}(x: int) = d{n - 1}(x) + d{n - 1}(x)\n" for n in range(1, 14))
        + "\n"
        + TIDY,
        right=_IDLE + "\n" + _USING,
    ),
    Code(
        id="FC146",
        title="a definition with the name of a function",
        explanation=(
            "The functions of the language mean the same in every rule. A definition can't take the name of one, so "
            "that a reader need not look up which of the two is meant."
        ),
        wrong=_IDLE.replace("idle", "lower") + "\n" + TIDY,
        right=_IDLE + "\n" + _USING,
    ),
    Code(
        id="FC147",
        title="records that spread each other in a circle",
        explanation="A record that brings its own fields, directly or through others, would have no end.",
        wrong="record person { ...worker, id: text }\nrecord worker { ...person, active: bool }\n\n" + TIDY,
        right=_ACCOUNT + "\n" + _fields("fields { ...account }"),
    ),
)
