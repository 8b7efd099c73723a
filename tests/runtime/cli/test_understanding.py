"""`evidence`, `why`, `why-not`, `eval`, `diff` on a real workspace: they ask, and change nothing."""

import json

import pytest
from tests.support.workspaces import ANSI, HARMFUL, WORKFLOW, too_wide

FILE = f"workflows/{WORKFLOW}.fcw"
ERROR, USAGE, REFUSED = 1, 2, 3


def version(bench, name, *changes):
    """Write another version of the workflow and return its path."""
    text = (bench.root / FILE).read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    (bench.root / name).write_text(text)
    return name


def longer(bench):
    return version(bench, "longer.fcw", ("duration = 90d", "duration = 300d"))


# -- refused ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "exit_code", "code"),
    [
        (("why", "PLAN", "nobody"), USAGE, "FC680"),
        (("why-not", "PLAN", "nobody"), USAGE, "FC680"),
        (("why", "01ZZZZ", "a01"), USAGE, "FC713"),
        (("why", "PLAN"), USAGE, "FC699"),
        (("why",), USAGE, "FC699"),
        (("evidence", "nowhere.fcw"), USAGE, "FC690"),
        (("evidence", FILE, "--workflow", "other"), USAGE, "FC693"),
        (("eval", FILE), USAGE, "FC699"),
        (("eval", FILE, "--on", "01ZZZZ"), USAGE, "FC683"),
        (("eval", FILE, "--on", "PLAN", "--param", "idle=soon"), USAGE, "FC695"),
        (("eval", FILE, "--on", "PLAN", "--proposal", "other"), USAGE, "FC693"),
        (("diff", FILE, "--on", "PLAN"), USAGE, "FC699"),
        (("diff", FILE, "nowhere.fcw", "--on", "PLAN"), USAGE, "FC690"),
        (("diff", FILE, FILE, "--on", "PLAN", "--param", "other=1"), USAGE, "FC695"),
    ],
)
def test_a_question_that_can_not_be_put_ends_with_its_code(bench, arguments, exit_code, code):
    """One clear message with a code, in text and JSON, and nothing is changed."""
    plan_id = bench.plan()["plan_id"]
    before = bench.everything()
    filled = [plan_id if argument == "PLAN" else argument for argument in arguments]
    shown, told = bench.run(*filled), bench.run(*filled, "--json")
    assert (shown.exit, told.exit) == (exit_code, exit_code)
    assert f"error[{code}]" in shown.err
    assert told.json["error"]["code"] == code
    assert bench.everything() == before


def test_a_file_with_mistakes_is_neither_explained_nor_evaluated(bench):
    """What does not compile means nothing; the mistakes are shown."""
    plan_id = bench.plan()["plan_id"]
    wrong = version(bench, "wrong.fcw", ("a.owner is absent", "a.ownr is absent"))
    for arguments in (("evidence", wrong), ("eval", wrong, "--on", plan_id), ("diff", FILE, wrong, "--on", plan_id)):
        ended = bench.run(*arguments)
        assert ended.exit == ERROR
        assert "FC694" in ended.err
        assert "ownr" in ended.err


def test_an_inventory_that_was_not_read_is_not_empty(bench):
    """A workflow that asks for more than the plan has is refused, with what to do."""
    plan_id = bench.plan()["plan_id"]
    renamed = version(
        bench,
        "renamed.fcw",
        ("inventory people", "inventory staff"),
        ("verify people ", "verify staff "),
        ("no people as", "no staff as"),
    )
    ended = bench.run("eval", renamed, "--on", plan_id)
    assert ended.exit == USAGE
    assert "`staff` was not read by plan" in ended.words
    assert "it has the rows of `accounts`, `people`" in ended.words


def test_rows_that_were_changed_on_disk_explain_nothing(bench):
    """A snapshot that is not what it was is an error, for every question."""
    plan = bench.plan()
    for path in (bench.root / ".fullcount").rglob("*.parquet"):
        path.write_bytes(path.read_bytes()[:-1] + b"x")
    for arguments in (("why", plan["plan_id"], "a01"), ("eval", FILE, "--on", plan["plan_id"])):
        ended = bench.run(*arguments)
        assert (ended.exit, "FC749" in ended.err) == (REFUSED, True)
        assert "Traceback" not in ended.said


# -- answered ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R25")
def test_every_object_of_a_plan_can_be_asked_for(bench):
    """Selected or not, each object has an explanation with the verdict that the plan has."""
    bench.exempt("a01")
    plan = bench.plan()
    selected = {row["key"][0] for row in plan["plan"]["rows"]}
    assert selected == {"a02", "a03"}
    for number in range(1, 13):
        key = f"a{number:02}"
        for verb in ("why", "why-not"):
            found = bench.run(verb, plan["plan_id"][:20], key, "--json").json
            assert found["verdict"] == ("candidate" if key in selected else "kept")
    text = bench.run("why-not", plan["plan_id"], "a01").out
    assert text.startswith("KEPT  a01\n")
    assert "exempted by list `exemptions` until 2999-12-31" in text


@pytest.mark.requirement("R19")
def test_the_evidence_of_a_file_needs_neither_store_nor_sources(bench):
    """Pure over the text: nothing is connected to and no store is made."""
    for name in ("directory.db", "hr.db"):
        (bench.root / name).unlink()
    shown = bench.run("evidence", FILE)
    assert shown.exit == 0
    assert f"absence  {FILE}:" in shown.out
    assert "`no people …` is true for everyone whose row was not returned" in shown.words
    assert not bench.state.exists()
    bench.rule("second", file="both.fcw")
    both = bench.root / "workflows/both.fcw"
    both.write_text((bench.root / FILE).read_text() + both.read_text())
    found = bench.run("evidence", "workflows/both.fcw", "--json").json
    assert [each["workflow"] for each in found["proposals"]] == [WORKFLOW, "second"]
    one = bench.run("evidence", "workflows/both.fcw", "--workflow", "second", "--json").json
    assert [each["workflow"] for each in one["proposals"]] == ["second"]


@pytest.mark.requirement("R20")
def test_no_source_is_needed_and_nothing_is_stored(bench):
    """`why`, `eval` and `diff` answer from snapshots alone: without the databases, without a journal entry."""
    plan_id = bench.plan()["plan_id"]
    other = longer(bench)
    journal = bench.journal()
    snapshots = {path: path.stat().st_mtime_ns for path in (bench.root / ".fullcount").rglob("*.parquet")}
    for name in ("directory.db", "hr.db"):
        (bench.root / name).unlink()
    for arguments in (
        ("why", plan_id, "a02"),
        ("eval", FILE, "--on", plan_id),
        ("diff", FILE, other, "--on", plan_id),
    ):
        assert bench.run(*arguments).exit == 0
    assert bench.journal() == journal
    assert {p: p.stat().st_mtime_ns for p in (bench.root / ".fullcount").rglob("*.parquet")} == snapshots


def test_eval_selects_what_the_plan_lists_and_what_another_value_would(bench):
    """The same file gives the plan's rows; a parameter gives others, and the instant is the plan's."""
    plan = bench.plan()
    same = bench.run("eval", FILE, "--on", plan["plan_id"], "--json").json
    assert [row["key"] for row in same["rows"]] == sorted(row["key"] for row in plan["plan"]["rows"])
    assert same["sums"] == plan["plan"]["sums"]
    wider = bench.run("eval", FILE, "--on", plan["plan_id"], "--param", "idle=3d", "--json").json
    assert [row["key"][0] for row in wider["rows"]] == ["a01", "a02", "a03", "a05"]
    assert wider["parameters"] == {"idle": "3d"}


def test_a_run_that_was_refused_can_be_evaluated_on(bench):
    """What was read of it is enough to try a rule on; from what was not read nothing is concluded."""
    bench.configure(hr_limit=2)
    refused = bench.plan(exits=3)
    found = bench.run("eval", FILE, "--on", refused["run_id"], "--json").json
    assert found["incomplete"] == ["people"]
    assert [row["key"] for row in found["rows"]] == [["a01"]]
    assert {row["key"][0] for row in found["undecided"]} >= {"a02", "a03"}
    assert f"run {refused['run_id']}" in bench.run("runs").out


def test_a_run_that_made_a_plan_stands_for_its_plan(bench):
    """The run and its plan are the same evidence; so are the runs that acted on it."""
    bench.approve(plan := bench.plan())
    applied = bench.run("apply", plan["plan_id"])
    assert applied.exit == 0
    runs = [row["run_id"] for row in bench.run("runs", "--json").json["runs"]]
    assert len(runs) == 2
    for run_id in runs:
        found = bench.run("eval", FILE, "--on", run_id, "--json").json
        assert found["on"] == f"plan {plan['plan_id']}"


def test_diff_says_what_moves_and_what_the_edit_can_do(bench):
    """A longer threshold can only shrink; taken back, it can only grow; nothing moves that did not."""
    plan_id, other = bench.plan()["plan_id"], longer(bench)
    shrunk = bench.run("diff", FILE, other, "--on", plan_id, "--json").json
    assert (shrunk["answer"], shrunk["enter"]) == ("can only shrink", [])
    assert [each["key"][0] for each in shrunk["leave"]] == ["a01", "a02", "a03"]
    grown = bench.run("diff", other, FILE, "--on", plan_id, "--json").json
    assert (grown["answer"], grown["leave"]) == ("can only grow", [])
    shown = bench.run("diff", FILE, other, "--on", plan_id)
    assert shown.exit == 0
    assert shown.out.startswith("CAN ONLY SHRINK  3 -> 0 of 12 accounts")
    lax = version(bench, "lax.fcw", ("duration = 90d", "duration = 300d"), ("limit  5, 50%", "limit  50, 50%"))
    unknown = bench.run("diff", FILE, lax, "--on", plan_id)
    assert unknown.out.startswith("UNKNOWN")
    assert "`limit` is 50, not 5" in unknown.words


def test_foreign_text_stays_harmless_in_every_answer(bench):
    """No escape, override or line break of a source reaches the screen; JSON is ASCII."""
    name = "\x1b[31mroot\u202e\r\nDONE"
    bench.sql(
        "directory",
        "INSERT INTO accounts VALUES (?, 'uuid-x', ?, '2020-01-01T00:00:00+00:00', 0, 1)",
        name,
        f"gone {name}",
    )
    plan_id, other = bench.plan()["plan_id"], longer(bench)
    for arguments in (
        ("why", plan_id, name),
        ("why", plan_id, f"{name}!"),
        ("eval", FILE, "--on", plan_id),
        ("eval", FILE, "--on", name),
        ("diff", FILE, other, "--on", plan_id),
        ("evidence", FILE),
    ):
        shown, told = bench.run(*arguments), bench.run(*arguments, "--json")
        assert not ANSI.search(shown.said), arguments
        assert not HARMFUL.search(shown.said.replace("\n", "")), arguments
        assert too_wide(shown.said) == [], arguments
        assert json.loads(told.out) is not None
        assert told.out.isascii()


@pytest.mark.parametrize("verb", ["evidence", "why", "why-not", "eval", "diff"])
def test_the_help_names_what_the_verb_takes(bench, verb):
    """Every verb explains itself."""
    shown = bench.run(verb, "--help")
    assert shown.exit == 0
    assert "--json" in shown.out
    assert f"\n  {verb}" in bench.run("--help").out
