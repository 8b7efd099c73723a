"""FC6xx: the workspace's configuration, its sources and its exemption lists.

No text of a workflow can produce these. Where `fullcount.toml`, or a file that it names, is what is wrong, that file is
their example; where it takes a command as well, a session.
"""

from __future__ import annotations

from fullcount.dsl.codes.model import Code, Form
from fullcount.dsl.codes.terminal import APPLY, APPROVE, PLAN, edited, session

_SETTINGS = """\
[workspace]
name = "acme"

[sources.directory]
connector = "sql"
url = "sqlite:///data/directory.db"

[sources.directory.resources.accounts]
table  = "accounts"
key    = ["id"]
fields = { id = "text", owner = "text?" }

[sources.directory.resources.people]
table  = "people"
key    = ["id"]
fields = { id = "text" }

[exemptions]
kept = "kept.toml"

[ids]
"directory.accounts.owner" = "directory.people"
"""
_KEPT = """\
[[exemption]]
key     = "svc-billing"
owner   = "payments"
reason  = "moves to the new directory in March"
expires = 2027-03-31
"""
_FILES = (("kept.toml", _KEPT),)


def _settings(old: str = "", new: str = "") -> str:
    if old not in _SETTINGS:
        raise ValueError(f"the example has no `{old}`")
    return _SETTINGS.replace(old, new, 1) if old != "" else _SETTINGS


def _protect(field: str) -> str:
    return (
        "protect board from directory.accounts as a\n"
        f'  where (a.{field} is present and a.{field} == "board") because "the board\'s own accounts"\n'
    )


_FROM_ENVIRONMENT = ('url = "sqlite:///hr.db"', 'url = { env = "HR_DATABASE" }')
_SHOP = """\
[sources.code]
connector = "git"
repository = "shop"
base = "main"

"""
_BRANCHES = """\
workflow merged_branches {
  inventory branches from code.branches {
    key name
    fields { name: text, merged: bool }
  }

  verify branches { complete, fresh within 1h }

  propose merged from branches as b {
    where b.merged
    limit 5, 50%
  }
}
"""
_BOARD = """\
protect board from directory.accounts as a where (a.id == "a05") because "the board's own account"
"""


CODES: tuple[Code, ...] = (
    Code(
        id="FC601",
        title="there is no fullcount.toml",
        explanation="""\
Neither the folder this was run in nor any folder above it has a `fullcount.toml`. Without it no source is known, so
nothing can be checked or run: a workflow means something only against the resources that its sources declare.

Run the command inside a workspace, or make one with `fullcount init`.""",
        form=Form.COMMAND,
        wrong=session("cd ..", "fullcount runs"),
        right=session("fullcount runs"),
    ),
    Code(
        id="FC602",
        title="fullcount.toml can't be read",
        explanation="""\
The file is there, but it can't be opened, is not UTF-8, or is not TOML. The message has the place. Nothing was taken
from it: a configuration that is read in part could leave out a role, a protection or an exemption list.""",
        form=Form.SETTINGS,
        wrong=_settings('name = "acme"', "name = acme"),
        right=_settings(),
        files=_FILES,
    ),
    Code(
        id="FC603",
        title="unknown key in the configuration",
        explanation="""\
A table of `fullcount.toml`, or of an exemption list, has a key that means nothing there. It is an error rather than
ignored, because a misspelt setting that is ignored is a safety that you believe to have and do not.

The message has the path of the key, and the nearest one that is known.""",
        form=Form.SETTINGS,
        wrong=_settings("url =", "ulr ="),
        right=_settings(),
        files=_FILES,
    ),
    Code(
        id="FC604",
        title="a setting is missing or has a wrong value",
        explanation="""\
A setting that is needed is not there, is of the wrong type, or does not fit the others: a key that `fields` does not
have, a writable version, a time zone that does not exist. The message has the path and what was expected. It does not
repeat the value, which may be a secret.""",
        form=Form.SETTINGS,
        wrong=_settings('key    = ["id"]', 'key    = ["uid"]'),
        right=_settings(),
        files=_FILES,
    ),
    Code(
        id="FC605",
        title="a secret is not where the configuration says",
        explanation="""\
Credentials stand in `fullcount.toml` by reference only: `{ env = "NAME" }` or `{ file = "path" }`. The variable is not
set for this user, or the file can't be read, or what was found is empty. References are resolved at the moment a
connection is opened, so `fullcount check` passes without them.

Scheduled runs often have fewer variables than your shell: look at the environment of the service.""",
        form=Form.COMMAND,
        wrong=session(PLAN),
        right=session(f"HR_DATABASE=sqlite:///hr.db {PLAN}"),
        files=edited("fullcount.toml", _FROM_ENVIRONMENT),
    ),
    Code(
        id="FC606",
        title="unknown connector",
        explanation="""\
`connector = "…"` names one that is neither built in nor installed. Built in are `sql` and `git`; other packages offer
theirs under the entry point group `fullcount.connectors`, and can't take the name of a built-in one.""",
        form=Form.SETTINGS,
        wrong=_settings('"sql"', '"sqll"'),
        right=_settings(),
        files=_FILES,
    ),
    Code(
        id="FC607",
        title="an address can't be used",
        explanation="""\
A database address has a scheme that is not spoken (`sqlite://` and `postgresql://` are), names no file or database, or
has a password in it. A password in the file would be in the repository and in every copy of it: write

    url = { url = "postgresql://user@host/database", password = { env = "NAME" } }

or put the whole address elsewhere, with `url = { env = "NAME" }` or `url = { file = "path" }`.

An SQLite address with a relative path, `sqlite:///data/x.db`, is relative to the folder of `fullcount.toml`.""",
        form=Form.SETTINGS,
        wrong=_settings("sqlite://", "mysql://"),
        right=_settings(),
        files=_FILES,
    ),
    Code(
        id="FC608",
        title="a declared table or column does not fit the database",
        explanation="""\
`fullcount.toml` declares a table or a column that the database does not have, or a field as a type that its column
can't be. The read ends as failed: a rule over a column that is not there can have no meaning.

Look at the table's definition, then correct `table`, `schema` or `fields`. A view is declared with `view = true`;
it may hide rows without a word, and the compiler then asks for a canary.""",
        form=Form.COMMAND,
        wrong=session(f"{PLAN} --json"),
        right=session(f"{PLAN} --json"),
        files=edited("fullcount.toml"),
        wrong_files=edited("fullcount.toml", ('"accounts"', '"acounts"')),
    ),
    Code(
        id="FC609",
        title="an exemption list can't be used",
        explanation="""\
The list is not configured, its file is missing or is not TOML, or an entry lacks its key, owner, reason or end. A list
that can't be read is never taken for an empty one: the objects on it would lose their protection.

    [[exemption]]
    key     = "svc-billing"
    owner   = "payments"
    reason  = "moves to the new directory in March"
    expires = 2027-03-31""",
        form=Form.SETTINGS,
        wrong=_settings(),
        right=_settings(),
        files=_FILES,
        wrong_files=(("kept.toml", _KEPT.replace('owner   = "payments"\n', "")),),
    ),
    Code(
        id="FC610",
        title="a source that fullcount.toml does not have",
        explanation="""\
A source was asked for that `fullcount.toml` does not configure under `[sources.NAME]`.""",
        form=Form.COMMAND,
        wrong=session(APPROVE, "sed -i s/sources.hr/sources.people/ fullcount.toml", APPLY),
        right=session(APPROVE, APPLY),
    ),
    Code(
        id="FC611",
        title="a package that is needed here is not installed",
        explanation="""\
What not everybody needs is installed by name: PostgreSQL with `pip install "fullcount[postgres]"`, Redis with
`pip install "fullcount[redis]"`, the language server of `fullcount lsp` with `pip install "fullcount[lsp]"`.""",
    ),
    Code(
        id="FC612",
        title="times without an offset are not instants",
        explanation="""\
A field is declared as `timestamp`, and the database keeps times without a time zone in it. What instant such a time
means is known to whoever writes it, not to the database. A guess would be wrong by hours, enough to make what was used
this morning look idle.

Say what they mean with `timezone = "UTC"` (or another zone) in `[sources.NAME]`. Times that a zone's clock shows twice
or never stay unknown even then.""",
        form=Form.COMMAND,
        wrong=session(f"{PLAN} --json"),
        right=session(f"{PLAN} --json"),
        files=edited("fullcount.toml"),
        wrong_files=edited("fullcount.toml", ('timezone = "UTC"\n', "")),
    ),
    Code(
        id="FC613",
        title="the repository can't be used",
        explanation="""\
The folder that a `git` source names is not a git repository, or has no branch of the name that `base` says. Without a
base branch nothing can be said to be merged, so nothing is listed at all.""",
        form=Form.COMMAND,
        wrong=session("mkdir shop", "fullcount plan branches.fcw --json"),
        right=session(
            "git init --quiet --initial-branch=main shop",
            "git -C shop commit --quiet --allow-empty --message first",
            "fullcount plan branches.fcw --json",
        ),
        files=(*edited("fullcount.toml", ("[roles]", f"{_SHOP}[roles]")), ("branches.fcw", _BRANCHES)),
    ),
    Code(
        id="FC614",
        title="protections can't be read",
        explanation="""\
What no workflow may take is read from `protect.fcw` beside `fullcount.toml`, and from every `.fcw` file in the folder
`protect` there. One of these can't be opened or is not UTF-8; or the folder has a file of another name, or a link to
another folder, from which nothing would be read. Nothing runs then, and an apply under way stops: a protection that is
lost without a word is a deletion.

Give protections names that end in `.fcw`, and put everything else somewhere else.""",
        form=Form.COMMAND,
        wrong=session(PLAN),
        right=session(PLAN),
        files=(("protect/board.fcw", _BOARD),),
        wrong_files=(("protect/board.md", _BOARD),),
    ),
    Code(
        id="FC615",
        title="the protections have mistakes",
        explanation="""\
As long as one of the workspace's protections does not compile, nobody can say what is protected. No plan is made, and
an apply under way stops before its next object.

`fullcount check` shows each mistake with its place.""",
        form=Form.SETTINGS,
        wrong=_settings(),
        right=_settings(),
        files=(*_FILES, ("protect.fcw", _protect("owner"))),
        wrong_files=(*_FILES, ("protect.fcw", _protect("onwer"))),
    ),
    Code(
        id="FC616",
        title="a protection where only some workflows would see it",
        explanation="""\
A protection holds for every workflow of the workspace; that is what it is for. It is read from `protect.fcw` beside
`fullcount.toml`, and from every `.fcw` file in the folder `protect` there. In any other file it would guard the
workflows of that file and no others, while whoever reads it believes that nobody can take these objects.

Move it to `protect.fcw`.""",
        form=Form.COMMAND,
        wrong=session("fullcount check board.fcw"),
        right=session("fullcount check protect.fcw"),
        files=(("protect.fcw", _BOARD),),
        wrong_files=(("board.fcw", _BOARD),),
    ),
    Code(
        id="FC617",
        title="an id of what is not there",
        explanation="""\
A line of `[ids]` says which field holds ids of which resource, as `"directory.accounts.owner" = "hr.employees"`. The
field, or the resource that it names, is not among those that the sources declare, or the two are of different types.
Rules would then be checked against something else than the workspace has, so nothing runs until the line is right.""",
        form=Form.SETTINGS,
        wrong=_settings('"directory.people"', '"directory.poeple"'),
        right=_settings(),
        files=_FILES,
    ),
)
