"""Reports of runs: of every end, with nothing in them that can act, and nothing that was not meant to be told."""

from __future__ import annotations

import csv
import html
import json
import os
import re
import tracemalloc

import pytest
from sqlalchemy import insert
from tests.support.plans import cell, plan_row
from tests.support.records import full_history, tamper
from tests.support.stores import ANA, WORKFLOW, Office, lock

from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.entry import canonical_text
from fullcount.runtime.journal.runs_of import run_of
from fullcount.runtime.reports.gather import report_of
from fullcount.runtime.reports.lines import HEADINGS, csv_of, is_report, json_of
from fullcount.runtime.reports.page import ROWS, page_of
from fullcount.runtime.store import tables
from fullcount.runtime.store.errors import PlanNotFound
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import OutcomeEntry

RENDERERS = {"csv": csv_of, "json": json_of, "html": page_of}


@pytest.fixture
def office(tmp_path):
    with Office(tmp_path) as made:
        yield made


def written(store: Store, run: str, form: str) -> str:
    with report_of(store, run_of(store, run), "acme") as made:
        return "".join(RENDERERS[form](made))


def sections(text: str) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {}
    for line in csv.DictReader(text.splitlines()):
        found.setdefault(line["section"], []).append(line)
    return found


# -- what can't act ----------------------------------------------------------------------------------------------------

HOSTILE = (
    '=HYPERLINK("http://x")', "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1", "\r=1", "\uff1d1+1",
    "<script>alert(1)</script>", "</td><img src=x onerror=alert(1)>", "{{ 7*7 }}", "{% raw %}", "\x1b[2J\x1b]0;x\x07",
    "\u202egnp.exe", "a\u200bb", "\u2066x\u2069", 'x\n"y",1', "'; DROP TABLE runs; --", "&lt;b&gt;", "\ue000", "-5",
)  # fmt: skip


def hostile_run(office: Office) -> str:
    """An apply over objects with such keys, whose targets answer with such messages."""
    plan, run_id, fence = office.applying(*HOSTILE)
    plan_id = plan.document.plan_id
    outcomes = (Outcome.CHANGED, Outcome.REFUSED, Outcome.ALREADY_GONE)
    left = [
        OutcomeEntry((text,), outcomes[number % 3], reason="FC767", detail=text) for number, text in enumerate(HOSTILE)
    ]
    office.store.record_outcomes(plan_id, run_id, fence, left)
    office.store.finish_apply(plan_id, run_id, fence)
    stopped = {"code": "FC765", "message": HOSTILE[7]}
    counts = {"candidates": len(HOSTILE), "counts": {"refused": len(HOSTILE)}, "stopped_by": stopped}
    office.store.finish_run(run_id, "stopped", Exit.ERROR, counts)
    return run_id


@pytest.mark.requirement("R40")
def test_no_text_of_an_object_acts_in_a_spreadsheet(office):
    """Every cell that would begin a formula is text, and every object is one line."""
    text = written(office.store, hostile_run(office), "csv")
    rows = list(csv.reader(text.split("\r\n")))[:-1]
    assert tuple(rows[0]) == HEADINGS
    cells = [each for row in rows for each in row]
    assert [each for each in cells if each[:1] in set("=+@\t\r\n\uff1d") or re.match(r"-(?![0-9.]+$)", each)] == []
    assert {len(row) for row in rows} == {len(HEADINGS)}
    assert len([row for row in rows if row[0] == "object"]) == len(HOSTILE)


@pytest.mark.requirement("R40")
@pytest.mark.parametrize("form", RENDERERS)
def test_no_text_of_an_object_reaches_a_terminal_as_more_than_text(office, form):
    """No escape, no override of direction, nothing invisible: what is there is shown written out."""
    text = written(office.store, hostile_run(office), form)
    for character in (
        "\x1b\x07\u202e\u200b\u2066\u2069\ue000\uff1d" if form == "json" else "\x1b\x07\u202e\u200b\u2066\ue000"
    ):
        assert character not in text
    assert r"\u202e" in text


@pytest.mark.requirement("R40")
def test_no_text_of_an_object_is_markup_on_the_page(office):
    """No script, no handler, nothing loaded; the page forbids both itself, and says every text as it is."""
    page = written(office.store, hostile_run(office), "html")
    assert re.findall(r"<(script|img|iframe|object|link|form)\b", page) == []
    assert re.findall(r"\son\w+=", re.sub(r">[^<]*<", "><", page)) == []
    assert "default-src 'none'; style-src 'sha256-" in page
    assert "alert(1)" in html.unescape(page)
    assert "{{ 7*7 }}" in page
    assert re.findall(r"(?:src|href)=", re.sub(r">[^<]*<", "><", page)) == []


# -- what is told ------------------------------------------------------------------------------------------------------


def secret_run(office: Office) -> str:
    """An apply whose objects have a field, and acts have arguments and backups, that are nobody's business."""
    secret = cell("hunter2-field")
    rows = tuple(
        plan_row(key, fields=plan_row(key).fields | {"token": secret}, arguments={"id": key, "password": "hunter2-arg"})
        for key in ("a", "b")
    )
    document = office.document("a", "b")
    from fullcount.runtime.plan.digest import sealed

    plan = office.store.save_plan(sealed(document.model_copy(update={"rows": rows})))
    office.approve(plan)
    run_id, fence = office.begin(plan)
    plan_id = plan.document.plan_id
    office.store.begin_apply(plan_id, run_id, fence)
    office.store.record_intents(plan_id, run_id, fence, [lock("a", password="hunter2-arg"), lock("b")])
    done = [OutcomeEntry((key,), Outcome.DONE, before={"token": "hunter2-before"}) for key in ("a", "b")]
    office.store.record_outcomes(plan_id, run_id, fence, done)
    office.store.finish_apply(plan_id, run_id, fence)
    office.store.finish_run(run_id, "done", Exit.DONE, {"candidates": 2, "counts": {"done": 2}})
    return run_id


@pytest.mark.parametrize("form", RENDERERS)
def test_no_field_argument_or_backup_of_an_object_is_in_a_report(office, form):
    """A report has a place for keys, outcomes and reasons, and for nothing else of an object."""
    text = written(office.store, secret_run(office), form)
    assert "hunter2" not in text
    assert "directory.update" in text or form == "html"


@pytest.mark.parametrize("form", RENDERERS)
def test_a_report_says_all_that_there_is_to_say_of_an_apply(office, form):
    """Sums, each object's outcome, approvals, evidence, runs, the canary, digest and both heads."""
    plan_id = full_history(office)
    runs = [run for run in office.store.runs(50) if run.plan_id == plan_id]
    apply = next(run for run in runs if run.kind == "apply")
    text = html.unescape(written(office.store, apply.run_id, form))
    plan = office.store.load_plan(plan_id)
    said = (
        plan.document.digest, "ana (uid:4001)", "bo (uid:4002)", "last_login is newer", apply.run_id, "102",
        "the first 3 were acted on", f"{office.store.head().seq}:{office.store.head().hash}",
    )  # fmt: skip
    for each in said:
        assert each in text, each
    assert is_report(text)


def test_the_sums_of_the_csv_add_up_and_every_object_has_one_line(office):
    """As in the record."""
    plan_id = full_history(office)
    apply = next(run for run in office.store.runs(50) if run.plan_id == plan_id and run.kind == "apply")
    found = sections(written(office.store, apply.run_id, "csv"))
    sums = {line["name"]: int(line["value"]) for line in found["sum"]}
    assert sums.pop("all of them") == sum(sums.values()) == 5
    assert [(line["name"], line["value"]) for line in found["object"]] == [
        ("d", "changed"), ("a", "done"), ("b", "done"), ("c", "done"), ("e", "done"),
    ]  # fmt: skip
    undo = next(run for run in office.store.runs(50) if run.kind == "undo")
    undone = json.loads(written(office.store, undo.plan_id, "json"))  # of a plan: its latest run
    assert (undone["run"]["kind"], undone["counts"]["done"], undone["planned"]) == ("undo", 1, 2)
    assert [(each["key"], each["outcome"]) for each in undone["objects"]] == [(["b"], "changed"), (["a"], "done")]


@pytest.mark.parametrize("form", RENDERERS)
def test_a_refused_run_has_a_report_with_its_reasons(office, form):
    """There is no plan and no object, and why is said with the way on."""
    run_id = office.store.begin_run(WORKFLOW, "plan", ANA)
    office.store.record_envelope(run_id, WORKFLOW, office.cut_short("people"))
    finding = {"code": "FC736", "message": "far below", "ways_on": ["look at the source"]}
    refused = {"refusals": [{"stage": "verify", "ground": "evidence", "findings": [finding]}]}
    office.store.finish_run(run_id, "refused", Exit.REFUSED_BY_EVIDENCE, refused)
    text = written(office.store, run_id, form)
    for each in ("FC736", "far below", "RESULT_LIMIT_REACHED"):
        assert each in text
    assert ("REFUSED" in text) == (form == "html")


def test_an_apply_that_was_killed_or_stopped_has_a_report_that_says_so(office):
    """What was meant and has no outcome is unknown, what was never meant not started, and how to go on is said."""
    plan, run_id, fence = office.applying("a", "b", "c")
    plan_id = plan.document.plan_id
    office.store.record_intents(plan_id, run_id, fence, [lock("a"), lock("b")])
    office.store.record_outcomes(plan_id, run_id, fence, [OutcomeEntry(("a",), Outcome.DONE)])
    page = written(office.store, run_id, "html")
    assert "UNFINISHED" in page
    assert f"fullcount apply {plan_id}" in page
    assert "3 proposed = 1 done + 0 failed + 1 outcome unknown + 1 not started" in page
    rows = sections(written(office.store, run_id, "csv"))["object"]
    assert [(row["name"], row["value"]) for row in rows] == [("b", "unknown"), ("c", "not_started"), ("a", "done")]


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("UPDATE plans SET candidates = 9", "the plan's own sums do not hold"),
        ("UPDATE plans SET document = 'nothing'", "the plan's document can't be read"),
        ("UPDATE runs SET summary = replace(summary, '\"done\":4', '\"done\":7')", "do not add up to its objects"),
        ("UPDATE runs SET exit = 7", "the run itself found that its sums do not hold"),
    ],
)
def test_a_run_whose_sums_do_not_hold_still_has_a_report_and_it_says_invalid(tmp_path, statement, why):
    """In every form, before anything else."""
    with Office(tmp_path) as office:
        plan, run_id, fence = office.applying("a", "b", "c", "d")
        plan_id = plan.document.plan_id
        office.store.record_intents(plan_id, run_id, fence, [lock(key) for key in "abcd"])
        done = [OutcomeEntry((key,), Outcome.DONE) for key in "abcd"]
        office.store.record_outcomes(plan_id, run_id, fence, done)
        office.store.finish_apply(plan_id, run_id, fence)
        office.store.finish_run(run_id, "done", Exit.DONE, {"candidates": 4, "counts": {"done": 4}})
    tamper(tmp_path / "state.db", statement)
    with Store.open(f"sqlite:///{tmp_path / 'state.db'}") as store:
        assert why in html.unescape(written(store, run_id, "html"))
        assert "INVALID" in written(store, run_id, "html")
        found = json.loads(written(store, run_id, "json"))
        assert (found["valid"], why in found["invalid_because"]) == (False, True)
        assert "NO" in [line["value"] for line in sections(written(store, run_id, "csv"))["run"]]


def test_what_is_no_run_and_no_plan_is_refused(office):
    """By the code of plans."""
    with pytest.raises(PlanNotFound, match="there is no plan"):
        run_of(office.store, "01JDZ8")


@pytest.mark.slow
def test_many_objects_cost_no_memory(office, tmp_path):
    """All are in CSV and JSON, the page has the first and says so; memory stays that of a few rows.

    `FULLCOUNT_REPORT_OBJECTS=100000` tries it with as many as a large plan has.
    """
    objects = int(os.environ.get("FULLCOUNT_REPORT_OBJECTS", "5200"))
    plan, run_id, _ = office.applying("a")
    plan_id = plan.document.plan_id
    with office.store.writing() as tx:
        keys = [{"plan_id": plan_id, "object_key": canonical_text([f"o{n:06d}"])} for n in range(objects - 1)]
        tx.session.execute(insert(tables.PlanObject), keys)
    tamper(tmp_path / "state.db", f"UPDATE plans SET candidates = {objects}")
    for form in ("csv", "html"):
        with report_of(office.store, run_of(office.store, run_id), "acme") as made:
            pieces = RENDERERS[form](made)
            next(iter(pieces))
            tracemalloc.start()
            lines = sum(piece.count("not_started") for piece in pieces)
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        assert peak < 4_000_000, (form, peak)
        assert lines >= objects or form == "html"
    page = written(office.store, run_id, "html")
    assert f"The first {ROWS:,} of {objects:,}" in page
