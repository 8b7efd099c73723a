"""Exemption lists that stand in a source: read whole through its reader, when the plan is made and before each act."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from fullcount.compiler.claims import Consistency
from fullcount.runtime.evidence.codes import WarningCode
from fullcount.runtime.evidence.envelope import Completeness, Envelope, FieldSummary, Notice, Scope, Status, Work
from fullcount.runtime.exemption_lists import against
from fullcount.runtime.workspace.errors import WorkspaceError

pytestmark = pytest.mark.requirement("R28")

TABLE = """
[sources.cmdb]
connector = "sql"
url = "sqlite:///cmdb.db"
timezone = "UTC"

[sources.cmdb.resources.exceptions]
table = "exceptions"
key = ["id"]
fields = { id = "int", account = "text", owner = "text?", reason = "text", until = "date", flow = "text?" }

[exemptions.vip]
source = "cmdb"
resource = "exceptions"
key = ["account"]
owner = "owner"
reason = "reason"
expires = "until"
workflow = "flow"
"""
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
FILE = "workflows/disable_orphans.fcw"


def insert(bench, number, account, until="2999-12-31", owner="ops", flow=None):
    bench.sql("cmdb", "INSERT INTO exceptions VALUES (?, ?, ?, 'kept', ?, ?)", number, account, owner, until, flow)


def configure(bench, old="", new=""):
    path = bench.root / "fullcount.toml"
    text = path.read_text("utf-8").replace('[exemptions]\nexemptions = "exemptions.toml"\n', "") + TABLE
    assert old in text
    path.write_text(text.replace(old, new, 1) if old else text, encoding="utf-8")


@pytest.fixture
def bench(bench):
    configure(bench)
    bench.sql(
        "cmdb",
        "CREATE TABLE exceptions (id INTEGER PRIMARY KEY NOT NULL, account TEXT NOT NULL, owner TEXT,"
        " reason TEXT NOT NULL, until TEXT NOT NULL, flow TEXT)",
    )
    path = bench.root / FILE
    path.write_text(path.read_text("utf-8").replace("except in exemptions", "except in vip"), encoding="utf-8")
    return bench


def test_what_a_table_lists_is_kept_and_every_entry_is_accounted_for(bench):
    """Matched, unused and ended entries are counted; one for another workflow is none of this one."""
    insert(bench, 1, "a01")
    insert(bench, 2, "gone")
    insert(bench, 3, "a02", until="2020-01-01")
    insert(bench, 4, "a03", flow="another")
    planned = bench.plan()
    assert [row["key"] for row in planned["plan"]["rows"]] == [["a02"], ["a03"]]
    (use,) = planned["plan"]["lists"]
    assert (use["name"], use["place"], use["entries"]) == ("vip", "cmdb.exceptions", 3)
    assert (use["matched"], use["unused"], use["ended"]) == (1, 1, 1)
    said = bench.run("show", planned["plan_id"]).words
    assert "vip (cmdb.exceptions): 3 entries, 1 match, 1 match nothing, 1 ended" in said
    assert "ended and protects no longer: `a02` (2020-01-01)" in said


def test_an_entry_that_is_added_after_the_approval_keeps_its_object(bench):
    """The table is read again before each act, by the same reader."""
    planned = bench.approved()
    insert(bench, 1, "a02")
    ended = bench.run("apply", planned["plan_id"])
    assert bench.locked() == {"a01", "a03"}
    assert "FC760" in ended.said or "exempted" in ended.words, ended.said


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda bench: insert(bench, 1, "a01", owner=None), "no known `owner`"),
        (lambda bench: insert(bench, 1, "a01", owner=" "), "an empty `owner`"),
        (lambda bench: insert(bench, 1, "", owner="x"), "an empty `account`"),
        (lambda bench: insert(bench, 1, "a01", until="soon"), "no known `until`"),
        (lambda bench: bench.sql("cmdb", "DROP TABLE exceptions"), "was not read to its end"),
        (
            lambda bench: (insert(bench, 1, "a01"), insert(bench, 2, "a02"), cap(bench)),
            "CLIENT_LIMIT_REACHED",
        ),
    ],
)
def test_a_table_that_can_not_be_relied_on_is_an_error_never_a_shorter_list(bench, change, why):
    """When the plan is made, and between the approval and the act."""
    planned = bench.approved()
    change(bench)
    before = bench.target()
    ended = bench.run("plan", FILE)
    assert (ended.exit, "FC609" in ended.words, why in ended.words) == (1, True, True), ended.said
    ended = bench.run("apply", planned["plan_id"])
    assert (ended.exit, "`vip` (cmdb.exceptions) can't be relied on" in ended.words) == (1, True), ended.said
    assert bench.target() == before


def hide(bench):
    """Put a view in the place of the table, and say so: it shows what it likes."""
    bench.sql("cmdb", "ALTER TABLE exceptions RENAME TO every_exception")
    bench.sql("cmdb", "CREATE VIEW exceptions AS SELECT * FROM every_exception WHERE id > 1")
    path = bench.root / "fullcount.toml"
    text = path.read_text("utf-8")
    path.write_text(text.replace('table = "exceptions"\n', 'table = "exceptions"\nview = true\n'), encoding="utf-8")


def test_a_table_that_may_hide_rows_is_no_exemption_list(bench):
    """Read to its end is not enough: what is not shown is not there for anybody who concludes from the list."""
    insert(bench, 1, "a01")
    hide(bench)
    ended = bench.run("plan", FILE)
    assert (ended.exit, "FC609" in ended.words, "every object" in ended.words) == (1, True, True), ended.said


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"warnings": [Notice(code=WarningCode.STALE_READ, detail="3 h behind")]}, "3 h behind"),
        ({"scope": {"visibility": "unknown"}}, "every object"),
        ({"scope": {"started_at": NOW - timedelta(hours=2)}}, "old"),
        ({}, None),
    ],
)
def test_a_list_is_held_to_what_a_conclusion_from_absence_is_held_to(changes, why):
    """One snapshot, nothing hidden, of now, and no warning that blocks."""
    scope = Scope(
        source="cmdb", resource="exceptions", visibility="all", consistency=Consistency.PINNED, started_at=NOW,
        finished_at=NOW,
    )  # fmt: skip
    envelope = Envelope(
        inventory="vip",
        status=Status.COMPLETE,
        completeness=Completeness(complete=True),
        warnings=changes.get("warnings", []),
        scope=scope.model_copy(update=changes.get("scope", {})),
        work=Work(rows=1, rows_read=1, distinct_keys=1, end_marker="commit"),
        fields={"account": FieldSummary(states={"present": 1})},
        snapshot_digest="sha256:" + "0" * 64,
    )
    found = against(envelope, frozenset({"account"}), NOW)
    assert (found is None) if why is None else (found is not None and why in f"{found.message} {found.detail}"), found


def cap(bench):
    path = bench.root / "fullcount.toml"
    text = path.read_text("utf-8")
    path.write_text(text.replace('cmdb.db"\n', 'cmdb.db"\nmax_rows = 1\n'), encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('source = "cmdb"', 'source = "cmbd"', "did you mean `cmdb`?"),
        ('resource = "exceptions"', 'resource = "exeptions"', "did you mean `exceptions`?"),
        ('key = ["account"]', 'key = ["acount"]', "did you mean `account`?"),
        ('key = ["account"]', 'key = ["until"]', "`until` of `cmdb.exceptions` is `date`"),
        ('expires = "until"', 'expires = "reason"', "`reason` of `cmdb.exceptions` is `text`"),
        ('expires = "until"\n', "", "`exemptions.vip.expires` is missing"),
        ('owner = "owner"', 'owner = "owner"\nownr = "x"', "`exemptions.vip.ownr`"),
    ],
)
def test_a_table_that_its_source_can_not_be_is_an_error_of_the_configuration(bench, old, new, why):
    """Said with the file's own words, without asking the source."""
    path = bench.root / "fullcount.toml"
    head, tail = path.read_text("utf-8").split("[exemptions.vip]")
    assert old in tail
    path.write_text(f"{head}[exemptions.vip]{tail.replace(old, new, 1)}", encoding="utf-8")
    ended = bench.run("check", FILE)
    assert (ended.exit, why in ended.words) == (1, True), ended.said


def test_a_list_that_is_neither_a_path_nor_a_table_is_refused(bench):
    """A number is no list."""
    path = bench.root / "fullcount.toml"
    text = path.read_text("utf-8").split("[exemptions.vip]")[0]
    path.write_text(text + "[exemptions]\nvip = 5\n", encoding="utf-8")
    ended = bench.run("check", FILE)
    assert (ended.exit, "neither the path of a file nor a table" in ended.words) == (1, True)


def test_undo_does_not_need_the_list(bench):
    """What was done is taken back although the table is gone."""
    planned = bench.approved()
    assert bench.run("apply", planned["plan_id"]).exit == 0
    bench.sql("cmdb", "DROP TABLE exceptions")
    bench.undone(planned)
    assert bench.locked() == set()


def test_the_sync_way_refuses_a_table(bench):
    """Nothing can take the list as empty by asking for its file."""
    with bench.engine() as engine, pytest.raises(WorkspaceError):
        engine.workspace.exemptions("vip")
