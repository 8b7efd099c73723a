"""Tests of workflows run the real engine: what it refuses at night, a test is refused, and for the same reason."""

from __future__ import annotations

import pytest
from tests.support.trials import GIVEN, PEOPLE, missed, one, tried, workspace

from fullcount.compiler.source_codes import Reason
from fullcount.runtime.connectors import registry
from fullcount.runtime.trials.rehearse import Theatre
from fullcount.runtime.trials.run import cases_of, run_cases
from fullcount.runtime.workflow_files import compile_file

ORPHAN = 'given accounts [{ id: "orphan", owner: absent }, { id: "owned" }]'


@pytest.mark.requirement("R1", "R21", "R36")
@pytest.mark.parametrize("reason", list(Reason))
@pytest.mark.parametrize("rows", ['[{ id: "p1" }, { id: "p2" }]', "empty"])
def test_incomplete_answer_for_whatever_reason_full_or_empty_refuses_and_never_selects(tmp_path, reason, rows):
    """Each reason of the one list comes through to the refusal under its own name."""
    result = one(tmp_path, f"{ORPHAN}\n given people partial {reason} {rows}\n expect refused {reason}")
    assert missed(result) == []


@pytest.mark.requirement("R21", "R36")
def test_every_way_in_which_verify_can_fail_is_refused(tmp_path):
    """Stale, too few, changed too much, counted differently, failed, warned: each has its code."""
    results = tried(
        tmp_path,
        f"""
        test "stale" {{ {ORPHAN} given people stale 25h [{{ id: "p1" }}, {{ id: "p2" }}] expect refused FC742 }}
        test "few"   {{ {ORPHAN} given people [{{ id: "p1" }}] expect refused FC743 }}
        test "moved" {{
          given accounts previously 100 rows [{{ id: "orphan", owner: absent }}] and 70 more {PEOPLE}
          expect refused FC744
        }}
        test "count" {{ {ORPHAN} {PEOPLE} given count hr.employees = 3 expect refused COUNT_MISMATCH }}
        test "down"  {{ {ORPHAN} given people failed SOURCE_UNAVAILABLE expect refused SOURCE_UNAVAILABLE }}
        test "replica" {{
          {ORPHAN} given people warned STALE_READ [{{ id: "p1" }}, {{ id: "p2" }}] expect refused STALE_READ
        }}
        test "over the limit" {{ given accounts [] and 11 more {{ owner: absent }} and 30 more {PEOPLE}
          expect count 11 expect refused FC711 }}
        """,
    )
    assert {name: missed(result) for name, result in results.items() if not result.passed} == {}


@pytest.mark.requirement("R7")
@pytest.mark.parametrize("state", ["not_requested", "forbidden", "failed", "truncated", "indeterminate"])
def test_field_that_is_not_known_leaves_the_object_undecided(tmp_path, state):
    """Of the states of a field only `absent` is knowledge."""
    body = f"""given accounts [{{ id: "dark", owner: {state} }}, {{ id: "owned" }}]
      {PEOPLE}
      expect plan empty
      expect undecided ["dark" because "owner"]"""
    assert missed(one(tmp_path, body)) == []


def test_absent_and_the_boundary_of_an_age_are_decided(tmp_path):
    """`<` is not `<=`, and an owner who left is no owner."""
    body = f"""given accounts [
        {{ id: "none", owner: absent }}, {{ id: "left", owner: "left" }}, {{ id: "owned" }},
        {{ id: "on the day", owner: absent, last_login: now - 90d }},
        {{ id: "elsewhere", owner: absent, team: "platform" }},
        {{ id: "safe", owner: absent, team: "security" }},
      ]
      {PEOPLE}
      expect plan ["none", "left"]
      expect kept ["safe" because "excepted", "owned" because "not matched"]"""
    assert missed(one(tmp_path, body)) == []


@pytest.mark.requirement("R22", "R36")
def test_what_changes_between_plan_and_act_is_seen_by_the_recheck(tmp_path):
    """Gone, changed, recreated, exempted, hidden, owned by somebody who came back; the rest is done."""
    names = ("gone", "used", "made anew", "spared", "dark", "hired", "same")
    rows = ", ".join(f'{{ id: "{name}", owner: absent }}' for name in names if name != "hired")
    body = f"""given accounts [{rows}, {{ id: "hired", owner: "left" }}] and 10 more
      {PEOPLE}
      before act remove accounts "gone"
      before act change accounts "used" {{ last_login: now }}
      before act recreate accounts "made anew" {{ entry_uuid: "e2" }}
      before act exempt "spared" in exemptions
      before act change accounts "dark" {{ owner: forbidden }}
      before act change people "left" {{ active: true }}
      expect count 7
      expect outcome "gone" = gone
      expect outcome "used" = changed
      expect outcome "made anew" = recreated
      expect outcome "spared" = refused FC760
      expect outcome "dark" = undecided
      expect outcome "hired" = changed
      expect outcome "same" = done"""
    assert missed(one(tmp_path, body)) == []


@pytest.mark.parametrize(("wait", "fresh", "code"), [("90m", "1h", "FC742"), ("3h", "1d", "FC707")])
def test_time_that_passes_makes_evidence_and_approval_old(tmp_path, wait, fresh, code):
    """After 90 minutes the accounts are too old to act on; where they may be older, the approval runs out."""
    body = f'{GIVEN} before act wait {wait} expect plan ["orphan"] expect refused {code}'
    assert missed(one(tmp_path, body, fresh=fresh)) == []


def test_what_is_counted_after_a_canary_is_what_the_test_says_and_never_none_by_itself(tmp_path):
    """The rest is not started when there are more than may be, or the test gives no count."""
    both = f'given accounts [{{ id: "a", owner: absent }}, {{ id: "b", owner: absent }}] and 10 more {PEOPLE}'
    stopped = 'expect refused FC777 expect outcome "a" = done expect outcome "b" = not_started'
    results = tried(
        tmp_path,
        f"""
        test "alerts" {{ {both} given count hr.headcount = 3 {stopped} }}
        test "unsaid" {{ {both} {stopped} }}
        test "quiet" {{ {both} given count hr.headcount = 2 expect outcome "a" = done expect outcome "b" = done }}
        """,
        act="canary 1 then wait 15m then at most 2 of hr.headcount",
    )
    assert {name: missed(result) for name, result in results.items()} == {"alerts": [], "unsaid": [], "quiet": []}


def test_window_holds_and_canary_is_waited_for(tmp_path):
    """On a Saturday nothing is done; on a weekday a canary's wait passes at once, as the service would come back."""
    window = 'window "Mon-Fri 09:00-16:00" timezone "UTC"\n    canary 1 then wait 15m'
    both = f'given accounts [{{ id: "a", owner: absent }}, {{ id: "b", owner: absent }}] and 10 more {PEOPLE}'
    results = tried(
        tmp_path,
        f"""
        test "saturday" {{ now 2026-11-28T10:00:00Z {both}
          expect refused FC774 expect outcome "a" = not_started }}
        test "friday" {{ now 2026-11-27T10:00:00Z {both} expect outcome "a" = done expect outcome "b" = done }}
        """,
        act=window,
    )
    assert {name: missed(result) for name, result in results.items()} == {"saturday": [], "friday": []}


def test_a_rehearsed_restore_is_played_as_well(tmp_path):
    """The object that is restored and locked again is done once, and the rest follows."""
    both = f'given accounts [{{ id: "a", owner: absent }}, {{ id: "b", owner: absent }}] and 10 more {PEOPLE}'
    body = f'test "it" {{ {both} expect outcome "a" = done expect outcome "b" = done }}'
    results = tried(tmp_path, body, act="canary 1 then wait 15m\n    rehearse restore")
    assert [missed(result) for result in results.values()] == [[]]


def test_protections_of_the_workspace_hold_in_tests_and_their_fields_belong_to_the_rows(tmp_path):
    """A rule is tested under what no workflow may take; a field that only a protection reads must be said."""
    real, path = workspace(tmp_path, f'test "it" {{ {GIVEN} expect plan ["orphan"] }}')
    (tmp_path / "protect.fcw").write_text(
        'protect versions from directory.accounts as a where (a.row_version > 5) because "in use"\n', "utf-8"
    )
    compiled = compile_file(path, real)
    assert "FC172" in [each.code for each in compiled.diagnostics]
    text = path.read_text("utf-8").replace("groups: [], locked: false", "groups: [], locked: false, row_version: 9")
    tests = 'expect plan empty expect kept ["orphan" because "protected by `versions`"]'
    path.write_text(text.replace('expect plan ["orphan"]', tests), "utf-8")
    compiled = compile_file(path, real)
    with Theatre() as theatre:
        (result,) = run_cases(cases_of(path, compiled), real, theatre)
    assert missed(result) == []


@pytest.mark.requirement("R28")
def test_no_connector_is_ever_opened_by_a_test(tmp_path, monkeypatch):
    """Whatever the sources are configured with, a test reads and acts on its own world alone."""

    async def opened(*_):
        raise AssertionError("a test opened a connector")

    declared = registry.connector_named("declared")
    monkeypatch.setattr(type(declared), "open_reader", opened)
    monkeypatch.setattr(type(declared), "open_actor", opened)
    assert missed(one(tmp_path, f'{GIVEN} expect outcome "orphan" = done')) == []


def test_tests_do_not_see_each_other(tmp_path):
    """What one did is not there for the next: no plan, no approval, no object."""
    body = f'{{ {GIVEN} expect plan ["orphan"] expect outcome "orphan" = done }}'
    results = tried(tmp_path, f'test "one" {body}\n test "two" {body}')
    assert [result.passed for result in results.values()] == [True, True]


def test_what_is_asked_of_a_population_is_asked_of_a_sample_only_where_it_is_expected(tmp_path):
    """A test of two accounts need not hold one of each kind that the rule names; it can still try the refusal."""
    alone = f'given accounts [{{ id: "a", owner: "left" }}] and 3 more {PEOPLE}'
    results = tried(
        tmp_path,
        f"""
        test "few" {{ {alone} expect plan ["a"] }}
        test "nobody is of the security team" {{ {alone} expect refused FC792 }}
        """,
    )
    assert {name: missed(result) for name, result in results.items()} == {
        "few": [],
        "nobody is of the security team": [],
    }
