"""What the person on call reads when something did not go on: the cause, what was done, and what to type."""

import asyncio
import os
import socket
from datetime import UTC, datetime, timedelta

import pytest
from tests.support.workspaces import WORKFLOW

from fullcount.runtime.act.context import StopSignal
from fullcount.runtime.approve.identity import current_person
from fullcount.runtime.cli.reports import apply_report
from fullcount.runtime.plan.layout import to_text

POLICY, WAITING, EVIDENCE = 4, 5, 3
GONE = 2**22 + 1
"""A process number that this system never gives."""


def words(text):
    return " ".join(text.split())


def screen_of(bench, planned, **how):
    """Apply in this process and return the screen."""
    clock = how.pop("clock", None)
    with bench.engine(clock=clock) as engine:
        end = asyncio.run(engine.apply(planned["plan_id"], current_person(), **how))
        return words(to_text(apply_report(end, engine.store.head())))


def hold(bench, planned, holder):
    with bench.store() as store:
        store.claim_plan(planned["plan_id"], holder, timedelta(seconds=30))


# -- stopped -----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R39", "R31")
def test_plan_held_by_another_run_says_who_holds_it_until_when_and_what_to_do(bench):
    """The lease of a run that may have died is told with its end; nothing has to be removed by hand."""
    planned = bench.approved()
    hold(bench, planned, "elsewhere/4242/01RUN")
    ended = bench.run("apply", planned["plan_id"])
    assert ended.exit == POLICY
    assert "process 4242 on `elsewhere` (`01RUN`) is at work on the plan" in ended.words
    assert "if it has died, its hold ends by itself at" in ended.words
    assert f"nothing was done so far fullcount apply {planned['plan_id']}" in ended.words
    assert bench.locked() == set()


def test_holder_that_is_known_to_be_gone_is_said_so(bench):
    """On the same host a process can be looked for; one that is there, or cannot be told, counts as at work."""
    planned = bench.approved()
    hold(bench, planned, f"{socket.gethostname()}/{GONE}/01RUN")
    said = bench.run("apply", planned["plan_id"]).words
    assert "no longer runs" in said
    assert "wait: its hold ends by itself at" in said


def test_holder_that_runs_here_counts_as_at_work(bench):
    """This very process is there."""
    planned = bench.approved()
    hold(bench, planned, f"{socket.gethostname()}/{os.getpid()}/01RUN")
    assert "is at work on the plan" in bench.run("apply", planned["plan_id"]).words


@pytest.mark.requirement("R39")
def test_a_plan_whose_run_stopped_or_was_cut_off_is_not_shown_as_acted_on(bench):
    """`show` says so, and what goes on with it; only while a living process holds it, it is being acted on."""
    planned = bench.approved()
    plan_id, stop = planned["plan_id"], StopSignal()
    screen_of(bench, planned, stop=stop, progress=lambda _: stop.request("stopped by SIGTERM"))
    shown = bench.run("show", plan_id).words
    assert "STOPPED its last run ended before all of it was done" in shown
    assert f"fullcount apply {plan_id}" in shown
    assert "APPLYING" not in shown
    with bench.store() as store:
        run = store.begin_run(WORKFLOW, "apply", current_person(), plan_id=plan_id)
        store.claim_plan(plan_id, f"{socket.gethostname()}/{os.getpid()}/{run}", timedelta(seconds=30))
    assert "APPLYING it is being acted on" in bench.run("show", plan_id).words
    with bench.store() as store:
        fence = store.plan_lease(plan_id)
        store.release(fence)
        store.claim_plan(plan_id, f"{socket.gethostname()}/{GONE}/{run}", timedelta(seconds=30))
    cut_off = bench.run("show", plan_id).words
    assert f"CUT OFF process {GONE} on " in cut_off
    assert f"fullcount apply {plan_id}" in cut_off


@pytest.mark.requirement("R33", "R39")
def test_what_was_taken_back_is_said_of_the_plan_that_did_it(bench):
    """By `show`, a second apply and every form of the report; an undo is offered while there is something left."""
    planned = bench.approved()
    plan_id = planned["plan_id"]
    assert bench.run("apply", plan_id).exit == 0
    key, *others = [row["key"][0] for row in planned["plan"]["rows"]]
    undo = f"fullcount undo {plan_id}"
    assert "taken back" not in bench.run("show", plan_id).words + bench.run("apply", plan_id).words
    bench.undone(planned, key)
    assert "1 object taken back since" in bench.run("show", plan_id).words
    again = bench.run("apply", plan_id).words
    assert f"taken back 1 of {1 + len(others)} done, by an undo" in again
    assert undo in again
    assert undo in bench.run("report", plan_id, "--format", "html").said
    bench.undone(planned)
    every = 1 + len(others)
    assert f"{every} objects taken back since" in bench.run("show", plan_id).words
    assert bench.run("show", plan_id, "--json").json["taken_back"] == every
    again = bench.run("apply", plan_id).words
    assert (f"taken back {every} of {every} done" in again, undo in again) == (True, False)
    assert "to act again on what was taken back, plan again" in again
    page = bench.run("report", plan_id, "--format", "html").said
    assert (f"<dt>taken back</dt><dd>{every} by an undo</dd>" in page, undo in page) == (True, False)
    assert f'"plan","taken back","{every}"' in bench.run("report", plan_id, "--format", "csv").said
    assert bench.run("report", plan_id, "--format", "json").json["plan"]["taken_back"] == every


@pytest.mark.requirement("R33")
def test_stopped_apply_says_that_the_same_plan_goes_on(bench):
    """Asked to stop after the first object, it names the command and what is left."""
    planned = bench.approved()
    stop = StopSignal()
    said = screen_of(bench, planned, stop=stop, progress=lambda _: stop.request("stopped by SIGTERM"))
    assert "STOPPED 1 done" in said
    assert "more fullcount explain FC765" in said
    assert f"go on where it stopped (2 not started), nothing is done twice fullcount apply {planned['plan_id']}" in said
    assert bench.run("apply", planned["plan_id"]).exit == 0


@pytest.mark.requirement("R33")
def test_halted_apply_says_how_to_release_and_then_goes_on(bench):
    """The kill switch is no end of the plan."""
    planned = bench.approved()
    bench.run("halt", "pager")
    ended = bench.run("apply", planned["plan_id"], "--json")
    release, then = ended.json["report"]["next_steps"]
    assert "fullcount halt --release" in release
    assert then.endswith(f"fullcount apply {planned['plan_id']}")
    bench.run("halt", "--release")
    bench.run("pause", WORKFLOW, "pager")
    paused = bench.run("apply", planned["plan_id"], "--json").json["report"]["next_steps"]
    assert f"fullcount pause {WORKFLOW} --release" in " ".join(paused)


@pytest.mark.requirement("R33")
def test_outage_of_a_looked_up_source_leaves_objects_for_a_later_apply_and_names_it(bench):
    """No answer is no decision: the object is not used up, and the screen says which source was silent."""
    planned = bench.approved()
    (bench.root / "hr.db").rename(bench.root / "away.db")
    ended = bench.run("apply", planned["plan_id"])
    assert "2 not started" in ended.words  # a01 has no owner to look up
    assert "`people` could not be looked up in full by `id`: SOURCE_UNAVAILABLE" in ended.words
    assert "the sources gave no answer about 2 objects" in ended.words
    (bench.root / "away.db").rename(bench.root / "hr.db")
    assert bench.run("apply", planned["plan_id"]).exit == 0
    assert bench.locked() == {"a01", "a02", "a03"}


# -- refused -----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R25", "R39")
def test_apply_that_the_evidence_refuses_says_that_nothing_was_done(bench):
    """There is a plan and an approval: what did not happen is the act."""
    planned = bench.approved()
    said = screen_of(bench, planned, clock=lambda: datetime.now(UTC) + timedelta(hours=2))
    assert said.startswith("REFUSED disable_orphans · nothing was done")
    assert "nothing was proposed" not in said
    assert "keeps this plan's approval" in said


@pytest.mark.requirement("R25", "R39")
def test_apply_without_an_approval_is_headed_by_what_is_missing(bench):
    """It waits; nobody forbade it."""
    planned = bench.plan()
    ended = bench.run("apply", planned["plan_id"])
    assert (ended.exit, ended.words.startswith("NEEDS APPROVAL disable_orphans · nothing was done")) == (WAITING, True)


@pytest.mark.requirement("R25")
def test_plan_that_policy_refuses_says_that_nothing_was_proposed(bench):
    """And does not count what a believed answer would have led to: the evidence was whole."""
    bench.sql("directory", "CREATE TRIGGER sweep AFTER UPDATE ON accounts BEGIN DELETE FROM accounts; END")
    ended = bench.run("plan", "workflows/disable_orphans.fcw")
    assert ended.words.startswith("REFUSED BY POLICY disable_orphans · nothing was proposed")
    assert "if it had been believed" not in ended.words


def test_missing_database_file_is_named_with_its_path(bench):
    """`unable to open database file` tells nobody which one."""
    (bench.root / "hr.db").unlink()
    ended = bench.run("plan", "workflows/disable_orphans.fcw", "--json")
    assert ended.exit == EVIDENCE
    assert f"there is no file `{bench.root / 'hr.db'}`" in ended.said


def test_file_that_is_no_database_is_named_with_its_path(bench):
    """The path stands in every message about an SQLite file."""
    (bench.root / "hr.db").write_text("nothing of the kind" * 100)
    ended = bench.run("plan", "workflows/disable_orphans.fcw", "--json")
    assert f"`{bench.root / 'hr.db'}`: file is not a database" in ended.said


def test_missing_file_at_the_act_is_named_with_its_path(bench):
    """The acting side says the same, and that the plan goes on."""
    planned = bench.approved()
    (bench.root / "directory.db").rename(bench.root / "away.db")
    report = bench.run("apply", planned["plan_id"], "--json").json["report"]
    assert f"there is no file `{bench.root / 'directory.db'}`" in report["stopped_by"]["message"]
    assert report["next_steps"][-1].endswith(f"fullcount apply {planned['plan_id']}")


# -- compared and named ------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R25")
def test_comparison_with_a_plan_of_other_parameters_says_so(bench):
    """A number that another parameter made is not one that the world made."""
    bench.plan()
    same = bench.plan()
    assert same["plan"]["since"]["differs"] == []
    other = bench.plan("--param", "idle=1d")
    assert other["plan"]["since"]["differs"] == ["idle was 90d"]
    assert "when idle was 90d: +1 new, 0 gone" in bench.run("show", other["plan_id"]).words
    assert "when idle was 1d" in bench.run("show", bench.plan()["plan_id"]).words


@pytest.mark.requirement("R25")
def test_comparison_with_a_plan_of_another_rule_says_so(bench):
    """The file was edited in between."""
    bench.plan()
    file = bench.root / "workflows" / "disable_orphans.fcw"
    file.write_text(file.read_text().replace("not a.locked\n      and ", ""))
    assert bench.plan()["plan"]["since"]["differs"] == ["the rule was another"]


@pytest.mark.requirement("R25")
def test_comparison_with_a_plan_of_other_exceptions_limit_or_scope_says_so(bench):
    """Whatever decides which objects are taken is compared, not the rule alone."""
    bench.plan()
    file = bench.root / bench.rule(limit="4, 50%", scope='id != "a99"')
    file.write_text(file.read_text().replace("except in exemptions", ""))
    assert bench.plan()["plan"]["since"]["differs"] == [
        "the exceptions were others",
        "the limit was another",
        "the scope of `accounts` was another",
    ]


@pytest.mark.requirement("R24")
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("{digest:.2}", "is too short"),
        ("sha256:{digest:.7}", "is too short"),
        ("", "no digest was given"),
        ("zz", "is not a digest"),
        ("{digest:.8}!", "is not a digest"),
        ("00000000", "is not that of the plan"),
    ],
)
def test_digest_that_names_nothing_is_refused_for_its_own_reason(bench, given, said):
    """Too short, none at all, no digest, or that of something else: each is told apart, and nothing is approved."""
    planned = bench.plan()
    text = given.format(digest=planned["digest"].removeprefix("sha256:"))
    ended = bench.run("approve", planned["plan_id"], "--digest", text, "--json")
    assert (ended.exit, ended.json["error"]["code"], said in ended.json["error"]["message"]) == (POLICY, "FC704", True)
    assert bench.run("apply", planned["plan_id"]).exit == WAITING


@pytest.mark.parametrize("form", ["{0}", "sha256:{0}", "{0:.8}", "{0:.4}-{0:.8}", "{0:.20}"])
def test_digest_approves_in_every_form_in_which_it_is_shown(bench, form):
    """The whole one, and each beginning of it that is as long as the short form."""
    planned = bench.plan()
    whole = planned["digest"].removeprefix("sha256:")
    text = f"{whole[:4]}-{whole[4:8]}" if "-" in form else form.format(whole)
    assert bench.run("approve", planned["plan_id"], "--digest", text).exit == 0


def test_plan_asked_for_by_its_digest_is_named_by_its_id(bench):
    """The two stand side by side on the screen, and are easily mistaken."""
    planned = bench.plan()
    whole = planned["digest"].removeprefix("sha256:")
    for text in (f"{whole[:4]}-{whole[4:8]}", planned["digest"], whole[:8]):
        ended = bench.run("show", text, "--json")
        assert (ended.exit, ended.json["error"]["code"]) == (2, "FC713")
        assert planned["plan_id"] in ended.json["error"]["help"]


def test_beginning_of_an_id_that_two_plans_share_names_both(bench):
    """Nothing is guessed."""
    first, second = bench.plan(), bench.plan()
    ended = bench.run("show", first["plan_id"][:4], "--json")
    assert (ended.exit, ended.json["error"]["code"]) == (2, "FC714")
    assert first["plan_id"] in ended.json["error"]["message"]
    assert second["plan_id"] in ended.json["error"]["message"]
