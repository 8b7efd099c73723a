"""Bad input, each with a clear error and exit code, and nothing changed."""

import contextlib
import os
import shutil
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support.workspaces import WORKFLOW

ERROR, USAGE, POLICY, STALE = 1, 2, 4, 6
FILE = f"workflows/{WORKFLOW}.fcw"


@dataclass(frozen=True)
class Bad:
    """One way to get it wrong: what is prepared, what is asked, and how it must end."""

    name: str
    arguments: tuple[str, ...]
    exit: int
    code: str
    says: tuple[str, ...] = ()
    prepare: object = None


def edited(old, new):
    """Replace a text of the workflow."""

    def prepare(bench):
        text = (bench.root / FILE).read_text()
        assert old in text
        (bench.root / FILE).write_text(text.replace(old, new, 1))

    return prepare


def configuration(text):
    def prepare(bench):
        (bench.root / "fullcount.toml").write_text(text)

    return prepare


def removed(path):
    def prepare(bench):
        (bench.root / path).unlink()

    return prepare


def content(path, data):
    def prepare(bench):
        (bench.root / path).write_bytes(data)

    return prepare


WORKFLOWS = (
    Bad("unknown clause", ("check",), ERROR, "FC002", ("limitt",), edited("limit ", "limitt ")),
    Bad("duplicate clause", ("check",), ERROR, "FC003", ("twice", "limit"), edited("limit ", "limit 3\n    limit ")),
    Bad("unknown field", ("check",), ERROR, "FC110", ("ownr",), edited("a.owner is absent", "a.ownr is absent")),
    Bad(
        "field the source lacks",
        ("check",),
        ERROR,
        "FC104",
        ("mail",),
        edited("locked: bool }", "locked: bool, mail: text }"),
    ),
    Bad(
        "missing claim",
        ("check",),
        ERROR,
        "FC301",
        ("complete", "people"),
        edited("verify people   { complete, ", "verify people { "),
    ),
    Bad("empty selector", ("check",), ERROR, "FC208", ("where",), edited("where not a.locked\n", "where true\n")),
    Bad(
        "wrong type", ("check",), ERROR, "FC201", ("idle",), edited("a.last_login < now - idle", "a.last_login < idle")
    ),
    Bad(
        "cron that can't be read",
        ("check",),
        ERROR,
        "FC505",
        ("cron",),
        edited('owner    "iam-team"', 'owner "iam-team"\n  schedule cron "every night"'),
    ),
    Bad(
        "plan of a workflow with mistakes",
        ("plan", FILE),
        ERROR,
        "FC694",
        ("fullcount check",),
        edited("limit ", "limitt "),
    ),
    Bad(
        "graph of a workflow with mistakes",
        ("graph", FILE),
        ERROR,
        "FC694",
        ("fullcount check",),
        edited("limit ", "limitt "),
    ),
)

FILES = (
    Bad("no configuration", ("check",), ERROR, "FC601", ("fullcount init",), removed("fullcount.toml")),
    Bad(
        "configuration that is no TOML", ("check",), ERROR, "FC602", ("fullcount.toml",), configuration("[workspace\n")
    ),
    Bad(
        "configuration that is not UTF-8",
        ("check",),
        ERROR,
        "FC602",
        ("fullcount.toml",),
        content("fullcount.toml", b"\xff\xfe"),
    ),
    Bad("configuration without a name", ("check",), ERROR, "FC604", ("workspace",), configuration("[workspace]\n")),
    Bad("unknown key", ("check",), ERROR, "FC603", ("stroe",), configuration('[workspace]\nname = "x"\nstroe = "y"\n')),
    Bad(
        "unknown connector",
        ("check",),
        ERROR,
        "FC606",
        ("ldpa",),
        configuration('[workspace]\nname = "x"\n[sources.a]\nconnector = "ldpa"\n'),
    ),
    Bad(
        "store that is no database",
        ("runs",),
        ERROR,
        "FC730",
        (),
        content(".fullcount/state.db", b"not a database at all, " * 99),
    ),
    Bad("file that is not there", ("check", "workflows/nope.fcw"), USAGE, "FC690", ("nope.fcw",)),
    Bad("plan of a file that is not there", ("plan", "workflows/nope.fcw"), USAGE, "FC690", ("nope.fcw",)),
    Bad("folder as a file", ("plan", "workflows"), USAGE, "FC690", ("workflows",)),
    Bad("file that is not UTF-8", ("plan", FILE), USAGE, "FC691", ("UTF-8",), content(FILE, b"workflow \xff\xfe {")),
    Bad("check of a file that is not UTF-8", ("check",), ERROR, "FC691", ("UTF-8",), content(FILE, b"\x80")),
    Bad("nothing to check", ("check", "."), USAGE, "FC692", (".fcw",), removed(FILE)),
    Bad("picture that can't be written", ("graph", FILE, "-o", "nowhere/graph.mmd"), USAGE, "FC690", ("nowhere",)),
    Bad("page that can't be written", ("show", "PLAN", "--html", "nowhere/review.html"), USAGE, "FC690", ("nowhere",)),
    Bad("export that can't be written", ("verify", "--export", "nowhere/j.jsonl"), USAGE, "FC690", ("nowhere",)),
    Bad("init onto a workspace", ("init",), USAGE, "FC698", ("nothing was written",)),
    Bad("init onto a file", ("init", "fullcount.toml"), USAGE, "FC698", ("nothing was written",)),
)

NAMES = (
    Bad("unknown workflow", ("plan", FILE, "--workflow", "nope"), USAGE, "FC693", (WORKFLOW,)),
    Bad("unknown proposal", ("plan", FILE, "--proposal", "nope"), USAGE, "FC693", ("disable",)),
    Bad("length below zero", ("plan", FILE, "--param", "idle=-5d"), USAGE, "FC695", ("-5d", "below zero")),
    Bad(
        "nothing to serve",
        ("serve",),
        USAGE,
        "FC692",
        ("workflows",),
        lambda bench: shutil.rmtree(bench.root / "workflows"),
    ),
    Bad("page onto a file", ("show", "PLAN", "--html", "fullcount.toml"), USAGE, "FC685", ("--force",)),
    Bad("page onto a workflow", ("show", "PLAN", "--html", FILE), USAGE, "FC685", ("--force",)),
    Bad("picture onto a workflow", ("graph", FILE, "-o", FILE), USAGE, "FC685", ("--force",)),
    Bad("export onto a file", ("verify", "--export", "fullcount.toml"), USAGE, "FC685", ("--force",)),
    Bad("unknown parameter", ("plan", FILE, "--param", "idel=60d"), USAGE, "FC695", ("idle",)),
    Bad("parameter of another type", ("plan", FILE, "--param", "idle=soon"), USAGE, "FC695", ("90d",)),
    Bad("parameter without a value", ("plan", FILE, "--param", "idle"), USAGE, "FC695", ("NAME=VALUE",)),
    Bad(
        "parameter given twice", ("plan", FILE, "--param", "idle=1d", "--param", "idle=2d"), USAGE, "FC695", ("twice",)
    ),
    Bad(
        "parameter that is missing",
        ("plan", FILE),
        USAGE,
        "FC695",
        ("team", "--param"),
        edited("param idle: duration = 90d", "param idle: duration = 90d\n  param team: text"),
    ),
    Bad("unknown plan", ("show", "01ZZZ"), USAGE, "FC713", ("fullcount runs",)),
    Bad("plan id that is none", ("apply", "../../etc/passwd"), USAGE, "FC713", ("fullcount runs",)),
    Bad("plan id that is empty", ("apply", ""), USAGE, "FC713", ("fullcount runs",)),
    Bad("ambiguous plan", ("apply", "0"), USAGE, "FC714", ("write more",)),
    Bad("undo of an unknown plan", ("undo", "01ZZZ"), USAGE, "FC798", ("fullcount runs",)),
    Bad("approval without a terminal or a digest", ("approve", "PLAN"), USAGE, "FC696", ("--digest",)),
    Bad(
        "approval of another digest", ("approve", "PLAN", "--digest", "0000-0000"), POLICY, "FC704", ("fullcount show",)
    ),
    Bad("approval and withdrawal at once", ("approve", "PLAN", "--digest", "x", "--revoke", "y"), USAGE, "FC696"),
    Bad("withdrawal without a reason", ("approve", "PLAN", "--revoke", " "), USAGE, "FC696", ("reason",)),
    Bad("withdrawal of what was not given", ("approve", "PLAN", "--revoke", "why"), POLICY, "FC709"),
    Bad("approval of a superseded plan", ("approve", "OLDER", "--digest", "OLDER"), STALE, "FC710", ("newer",)),
    Bad("anchor that is none", ("verify", "--anchor", "nonsense"), USAGE, "FC697", ("sha256",)),
    Bad("anchor without a hash", ("verify", "--anchor", "12"), USAGE, "FC697", ("sha256",)),
    Bad("anchor of a negative entry", ("verify", "--anchor", "-1:sha256:00"), USAGE, "FC697"),
    Bad("halt without a reason", ("halt", " "), USAGE, "FC699", ("reason",)),
    Bad("halt and release at once", ("halt", "why", "--release"), USAGE, "FC699"),
    Bad("unknown verb", ("plna", FILE), USAGE, "FC699", ("plan",)),
    Bad("unknown option", ("plan", FILE, "--force"), USAGE, "FC699", ("--force", "fullcount plan --help")),
    Bad("missing argument", ("plan",), USAGE, "FC699", ("fullcount plan --help",)),
    Bad("number that is none", ("runs", "--limit", "many"), USAGE, "FC699", ("--limit",)),
    Bad("limit of nothing", ("runs", "--limit", "0"), USAGE, "FC699", ("--limit",)),
    Bad("format that is none", ("graph", FILE, "--format", "png"), USAGE, "FC699", ("svg",)),
    Bad("unknown code", ("explain", "FC000"), USAGE, "FC699", ("FC000",)),
)


def given(bench, bad):
    """Prepare a case: two plans where it speaks of one, then what is wrong; return the arguments."""
    older = newer = None
    if {"PLAN", "OLDER", "0"} & set(bad.arguments) or bad.arguments[0] in {"show", "apply", "undo", "verify"}:
        older = bench.plan()
        bench.sql("directory", "UPDATE accounts SET owner = 'p1' WHERE id = 'a03'")
        newer = bench.plan()
    if bad.prepare is not None:
        (bench.root / ".fullcount").mkdir(exist_ok=True)
        bad.prepare(bench)
    arguments = list(bad.arguments)
    for place, argument in enumerate(arguments):
        if argument == "PLAN":
            arguments[place] = newer["plan_id"]
        elif argument == "OLDER":
            arguments[place] = older["digest"] if arguments[place - 1] == "--digest" else older["plan_id"]
    return arguments


@pytest.mark.requirement("R33", "R36")
@pytest.mark.parametrize("bad", [*WORKFLOWS, *FILES, *NAMES], ids=lambda bad: bad.name.replace(" ", "_"))
def test_bad_input_is_refused_with_a_code_and_what_to_do_and_changes_nothing(bench, bad):
    """Each wrong input ends with its own exit code, a code to look up, words that help, and everything as it was."""
    arguments = given(bench, bad)
    broken = bad.name == "store that is no database"
    before = None if broken else bench.everything()
    if arguments[0] == "check":  # shows mistakes of the language as what it is asked for, not as an error
        shown = bench.run(*arguments)
        found = bench.run(*arguments, "--json").json
        codes = [d["code"] for file in found.get("files", []) for d in file["diagnostics"]]
        codes = codes or [found["error"]["code"]]
    else:
        shown = bench.run(*arguments)
        error = bench.run(*arguments, "--json").json["error"]
        codes = [error["code"]]
        assert error["message"]

    assert shown.exit == bad.exit, shown.said
    assert codes == [bad.code]
    assert codes[0] in shown.said
    assert f"fullcount explain {codes[0]}" in shown.said
    assert "Traceback" not in shown.said
    for word in bad.says:
        assert word in shown.words
    if not broken:
        assert bench.everything() == before


@pytest.mark.requirement("R33")
def test_directory_without_configuration_changes_nothing_for_any_verb(tmp_path, bench):
    """Outside a workspace every verb says so, and none makes a store or a folder."""
    empty = tmp_path / "empty"
    empty.mkdir()
    asked = (
        ["check"], ["plan", "x.fcw"], ["graph", "x.fcw"], ["show", "01"], ["approve", "01"], ["apply", "01"],
        ["undo", "01"], ["runs"], ["verify"], ["serve"], ["halt"], ["halt", "why"],
    )  # fmt: skip
    for arguments in asked:
        ended = bench.run(*arguments, "--json", at=empty)
        assert (ended.exit, ended.json["error"]["code"]) == (ERROR, "FC601"), arguments
    assert list(empty.iterdir()) == []


@pytest.mark.requirement("R33")
@pytest.mark.skipif(not hasattr(os, "setresuid"), reason="needs a system with several users")
def test_unreadable_file_is_said_to_be_unreadable(bench):
    """A file that may not be read ends in its code and the system's reason."""
    if os.getuid() == 0:
        # the superuser may read everything; a loop of links nobody can
        (bench.root / "workflows/loop.fcw").symlink_to("loop.fcw")
    else:
        (bench.root / "workflows/loop.fcw").write_text("")
        (bench.root / "workflows/loop.fcw").chmod(0)
    ended = bench.run("plan", "workflows/loop.fcw", "--json")
    assert (ended.exit, ended.json["error"]["code"]) == (USAGE, "FC690")


def flipped(text, at):
    return text[:at] + ("0" if text[at] != "0" else "1") + text[at + 1 :]


@pytest.mark.requirement("R33", "R34")
def test_plan_with_any_byte_changed_is_never_used(bench):
    """Wherever a stored plan is damaged, it is not shown, not approved and not applied."""
    planned = bench.approved()
    plan_id = planned["plan_id"]
    with contextlib.closing(sqlite3.connect(bench.state)) as db, db:
        (text,) = db.execute("SELECT document FROM plans").fetchone()
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f"DROP TRIGGER {name}")
    size = len(text)
    for at in (0, size // 5, size // 2, size - 2):
        with contextlib.closing(sqlite3.connect(bench.state)) as db, db:
            db.execute("UPDATE plans SET document = ?", (flipped(text, at),))
        asked = (
            ("show", plan_id),
            ("apply", plan_id),
            ("undo", plan_id),
            ("approve", plan_id, "--digest", planned["digest"]),
        )
        for arguments in asked:
            ended = bench.run(*arguments, "--json")
            assert (ended.exit, ended.json["error"]["code"]) == (ERROR, "FC715"), (at, arguments)
        assert bench.run("verify").exit == ERROR
    assert bench.locked() == set()


@pytest.mark.requirement("R39")
def test_approval_at_a_terminal_without_an_answer_approves_nothing(bench, monkeypatch):
    """An empty answer, a wrong one and the end of input are each no yes."""
    planned = bench.plan()
    for answer in ("\n", "yes\n", "y\n", planned["plan_id"] + "\n", ""):
        master, slave = os.openpty()
        os.write(master, answer.encode() or b"\x04")
        with open(slave, closefd=True) as terminal:  # noqa: PTH123 - a descriptor, not a path
            monkeypatch.setattr("sys.stdin", terminal)
            ended = bench.run("approve", planned["plan_id"])
        os.close(master)
        assert ended.exit == USAGE, ended.said
        assert "FC696" in ended.err
    assert bench.run("apply", planned["plan_id"]).exit == 5
    assert bench.locked() == set()


@pytest.mark.requirement("R24")
def test_approval_at_a_terminal_shows_the_plan_and_takes_its_digest(bench, monkeypatch):
    """At a terminal the plan is shown first, and the digest that it shows is the yes."""
    planned = bench.plan()
    digest = planned["digest"].removeprefix("sha256:")
    master, slave = os.openpty()
    os.write(master, f"{digest[:4]}-{digest[4:8]}\n".encode())
    with open(slave, closefd=True) as terminal:  # noqa: PTH123 - a descriptor, not a path
        monkeypatch.setattr("sys.stdin", terminal)
        ended = bench.run("approve", planned["plan_id"])
    os.close(master)
    assert ended.exit == 0, ended.said
    assert ended.out.index("a01") < ended.out.index("APPROVED")


def test_cron_of_sixty_fires_an_hour_is_warned_of(bench):
    """`* 1 * * *` is probably not what was meant: said by `check`, and not an error."""
    bench.rule(schedule='schedule cron "* 1 * * *"')
    ended = bench.run("check")
    assert ended.exit == 0
    assert "warning[FC507]" in ended.out
    assert "60 times a day" in ended.out


def test_init_makes_a_workspace_that_checks_and_never_overwrites(bench, tmp_path):
    """What `init` makes compiles at once; a second `init`, also onto a dangling link, changes nothing."""
    fresh = tmp_path / "fresh"
    assert bench.run("init", fresh, at=tmp_path).exit == 0
    checked = bench.run("check", at=fresh)
    assert (checked.exit, "warning" in checked.said) == (0, False)
    assert "incarnation entry_uuid" in (fresh / "workflows" / "lock_idle_accounts.fcw").read_text()
    made = {path: path.read_bytes() for path in fresh.rglob("*") if path.is_file()}
    assert bench.run("init", fresh, at=tmp_path).exit == USAGE
    assert {path: path.read_bytes() for path in fresh.rglob("*") if path.is_file()} == made
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "fullcount.toml").symlink_to(tmp_path / "outside.toml")
    assert bench.run("init", linked, at=tmp_path).exit == USAGE
    assert not Path(tmp_path / "outside.toml").exists()
