"""A field that may not be written down decides, and is in nothing that anybody is shown or handed."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.requirement("R34")

SECRET = "hunter2-owner"
FILE = "workflows/disable_orphans.fcw"
ALLOWED = ("id", "entry_uuid", "row_version", "last_login", "locked")


def record(bench, *fields: str, resource: str = "directory.accounts") -> None:
    file = bench.root / "fullcount.toml"
    names = ", ".join(f'"{each}"' for each in fields)
    file.write_text(file.read_text().split("\n[record")[0] + f'\n[record.fields]\n"{resource}" = [{names}]\n')


@pytest.fixture
def bench(bench):
    """The owner of an orphan is a secret, and the rule shows no owner."""
    bench.sql("directory", f"UPDATE accounts SET owner = '{SECRET}' WHERE id = 'a02'")
    path = bench.root / FILE
    path.write_text(path.read_text().replace("a.owner, a.last_login", "a.last_login"))
    record(bench, *ALLOWED)
    return bench


@pytest.mark.parametrize(
    ("old", "new", "allowed", "what"),
    [
        ("show   a.last_login", "show   a.last_login, a.owner", ALLOWED, "owner.*it is shown"),
        ("show   a.last_login", "show   lower(a.owner else a.id)", ALLOWED, "owner.*it is shown"),
        ("show   a.last_login", "keep at least 1 per (a.owner else a.id) newest by a.last_login", ALLOWED, "groups"),
        ("not a.locked", 'not (a.owner is present and glob(a.owner, "x*"))', ALLOWED, "owner.*against a pattern"),
        ("not a.locked", "not a.locked", ("id", "entry_uuid", "row_version", "owner"), "last_login.*(shown|how long)"),
    ],
)
def test_a_workflow_that_would_write_it_down_is_refused(bench, old, new, allowed, what):
    """Shown as it is or within an expression, as a group, near a pattern, or by how long ago it was."""
    record(bench, *allowed)
    path = bench.root / FILE
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    ended = bench.run("plan", FILE)
    assert (ended.exit, "FC619" in ended.said) == (1, True), ended.said
    assert re.search(what, ended.words)
    assert SECRET not in ended.said


@pytest.mark.parametrize(
    ("fields", "resource", "what"),
    [
        (("id", "entry_uuid"), "directory.accounts", "leaves out `row_version`"),
        ((*ALLOWED, "ownr"), "directory.accounts", "did you mean `owner`"),
        (ALLOWED, "directory.account", "about no resource"),
    ],
)
def test_a_list_that_fits_nothing_is_an_error(bench, fields, resource, what):
    """A misspelt name would withhold something else than was meant."""
    record(bench, *fields, resource=resource)
    ended = bench.run("plan", FILE)
    assert (ended.exit, "FC604" in ended.said, what in ended.words) == (1, True, True), ended.said


def test_it_decides_and_is_in_nothing_that_is_shown_or_handed_out(bench, tmp_path):
    """Plan, pages, tables, approval, apply, undo, record, reports and the whole exported folder."""
    said = []

    def run(*arguments):
        ended = bench.run(*arguments)
        said.append(ended.said)
        return ended

    planned = bench.plan()
    assert {row["key"][0] for row in planned["plan"]["rows"]} == {"a01", "a02", "a03"}
    plan = planned["plan_id"]
    run("show", plan)
    run("show", plan, "--csv")
    run("show", plan, "--json")
    run("show", plan, "--html", tmp_path / "plan.html")
    bench.approve(planned)
    assert run("apply", plan, "--json").exit == 0
    assert bench.locked() == {"a01", "a02", "a03"}
    for form in ("csv", "json", "html"):
        run("report", plan, "--format", form, "-o", tmp_path / f"r.{form}")
    run("verify", "--export", tmp_path / "journal.jsonl")
    run("export", plan, "--to", tmp_path / "bundle")
    undo = run("undo", plan, "--json")
    assert undo.exit == 5
    bench.approve(undo.json)
    run("show", undo.json["plan_id"], "--json")
    assert run("apply", undo.json["plan_id"], "--json").exit == 0
    run("export", undo.json["plan_id"], "--to", tmp_path / "undone")
    run("runs", "--json")
    for verb in ("why", "why-not"):
        ended = run(verb, plan, "a02")
        assert (ended.exit, "FC619" in ended.said) == (1, True)
    assert run("eval", FILE, "--on", plan, "--all").exit == 0
    assert run("diff", FILE, FILE, "--on", plan, "--all", "--json").exit == 0
    assert bench.locked() == set()
    files = [path for path in tmp_path.rglob("*") if path.is_file() and bench.root not in path.parents]
    assert len(files) > 10
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
    assert [text for text in (*said, str(planned)) if SECRET in text] == []
    assert run("verify").exit == 0
