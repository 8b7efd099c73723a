"""Each reason code, for full and for empty lists: carried unchanged from a reply to the outermost screen (R35), and the
act refused (R36).

The whole way is real: an HTTP server says what is missing, a dialect gives it its code, and the connector, the
collector, the store, the plan and the command line hand it on. One workspace serves all codes; nothing is written.
"""

from __future__ import annotations

import os

import pytest
from tests.support.workspaces import Bench

from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Status
from fullcount.runtime.testing import faults
from fullcount.runtime.testing.front import HttpFront, to

EVIDENCE, WAITING, USAGE = 3, 5, 2
DETAIL = "as the server said"

DIALECT = """\
title = "A source that says what is missing"
source = "https://example.org"
items = "items"
key = ["id"]
missing_field = "absent"
visibility = "all"
total = { at = "total" }
end = [{ name = "done", when = { body = { done = true } } }]
""" + "".join(
    f'[[finding]]\nwhen = {{ body = {{ "lacks/{code}" = true }} }}\nreason = "{code}"\ndetail = "{DETAIL}"\n'
    for code in Reason
)

SETTINGS = """\
[workspace]
name = "reasons"

[sources.web]
connector = "http"
dialect_file = "says.toml"
base_url = "{url}"

[sources.web.resources.accounts]
list = "/accounts"
read = "/accounts/{{id}}"
key = ["id"]
not_found_is_gone = true
consistency = "interval"
fields = {{ id = "text", owner = "text?" }}
[sources.web.resources.accounts.operations.remove]
method = "DELETE"
path = "/accounts/{{id}}"
effect = "delete"
closure = "none"

[sources.web.resources.people]
list = "/people"
key = ["id"]
consistency = "interval"
fields = {{ id = "text" }}

[roles]
ops = ["uid:{uid}"]
"""

RULES = """\
workflow remove_orphans {
  inventory accounts from web.accounts {
    key id
    fields { id: text, owner: text? }
  }
  inventory people from web.people {
    key id
    fields { id: text }
  }
  verify accounts { complete, fresh within 1h }
  verify people   { complete, fresh within 1h }
  propose remove from accounts as a {
    where a.owner is absent or no people as p where (p.id == a.owner)
    limit 5
    expect no people as p where (p.id == a.owner) because "this test is about lists"
    expect no accounts as x where (x.owner is present) because "this test is about lists"
  }
  approve remove { 1 of role "ops", expires after 1d }
  act remove with web.accounts.remove(id: a.id)
}

workflow remove_found {
  inventory accounts from web.accounts {
    key   id
    fields { id: text, owner: text? }
    scope starts_with(id, "a")
  }
  verify accounts { fresh within 1h }
  propose remove from accounts as a {
    bounded
    where a.owner is absent
    limit 5
  }
  approve remove { 1 of role "ops", expires after 1d }
  act remove with web.accounts.remove(id: a.id)
}
"""
FILE = "workflows/remove.fcw"
ACCOUNTS = [{"id": "a1", "owner": None}, {"id": "a2", "owner": "p1"}]
PEOPLE = [{"id": "p1"}]


@pytest.fixture(scope="module")
def front():
    """A server: the front itself, with nothing behind it."""
    with HttpFront("http://127.0.0.1:9") as made:
        yield made


@pytest.fixture(scope="module")
def bench(front, tmp_path_factory):
    """A workspace over that server."""
    made = Bench.__new__(Bench)
    made.root, made.uid = tmp_path_factory.mktemp("reasons"), os.getuid()
    (made.root / "workflows").mkdir()
    (made.root / "fullcount.toml").write_text(SETTINGS.format(url=front.url, uid=made.uid))
    (made.root / "says.toml").write_text(DIALECT)
    (made.root / FILE).write_text(RULES)
    return made


def body(items, *lacks):
    """Return a list that is at its end, and says for which reasons it is not all."""
    return faults.answer(200, {"items": items, "done": True, "lacks": dict.fromkeys(lacks, True)})


def plan(bench, front, workflow, accounts, people, exits):
    """Plan over these two replies; nothing may be written by that."""
    with front.fault(accounts, when=to("/accounts")), front.fault(people, when=to("/people")):
        planned = bench.plan("--workflow", workflow, file=FILE, exits=exits)
    assert [asked.method for asked in front.seen if asked.writes] == []
    return planned


def codes(envelope):
    """Return the reasons that an envelope in JSON gives."""
    return [reason["code"] for reason in envelope["completeness"]["reasons"]]


def findings(planned):
    """Return what is missing, of which inventory, as the refusals name it."""
    return {(each["inventory"], each["code"]) for refusal in planned["refusals"] for each in refusal["findings"]}


@pytest.mark.requirement("R35", "R1", "R21")
def test_without_a_reason_the_same_lists_license_a_plan(bench, front):
    """What is refused below is refused for its reason alone."""
    planned = plan(bench, front, "remove_orphans", body(ACCOUNTS), body(PEOPLE), WAITING)
    assert [row["key"] for row in planned["plan"]["rows"]] == [["a1"]]


@pytest.mark.requirement("R35", "R36", "R1", "R4", "R12", "R20", "R21")
@pytest.mark.parametrize("filled", [True, False], ids=["full", "empty"])
@pytest.mark.parametrize("code", list(Reason))
def test_a_list_that_lacks_something_full_or_empty_is_refused_by_its_code_and_never_licenses_cleanup(
    bench, front, code, filled
):
    """One code, the same at every layer, for the base as for the absence; and nothing that could be applied."""
    lists = (body(rows if filled else [], code) for rows in (ACCOUNTS, PEOPLE))
    planned = plan(bench, front, "remove_orphans", *lists, EVIDENCE)
    said = planned["envelopes"]
    assert {name: (codes(each), each["status"], each["work"]["rows"] > 0) for name, each in said.items()} == {
        name: ([code], Status.PARTIAL, filled) for name in ("accounts", "people")
    }
    assert all(each["completeness"]["reasons"][0]["detail"].endswith(DETAIL) for each in said.values())
    with bench.store() as store:
        kept = {each.inventory: each.model_dump(mode="json") for each in store.envelopes(planned["run_id"])}
    assert kept == said
    assert {("accounts", code), ("people", code)} <= findings(planned)
    assert (planned["state"], planned["plan_id"], planned["plan"]) == ("refused", None, None)
    assert bench.run("apply", planned["run_id"]).exit == USAGE, "there is nothing that could be applied"


@pytest.mark.requirement("R35", "R36", "R22", "R25")
def test_a_plan_over_what_was_found_bears_every_code_and_is_not_applied_without_a_person(bench, front):
    """Where a workflow takes only what was found, its plan, its digest and its screen say all that is missing."""
    every = [str(code) for code in Reason]
    planned = plan(bench, front, "remove_found", body(ACCOUNTS, *Reason), body(PEOPLE), WAITING)
    (certificate,) = planned["plan"]["certificates"]
    assert (certificate["incomplete"], codes(planned["envelopes"]["accounts"])) == (every, every)
    shown = bench.run("show", planned["plan_id"]).words
    assert [code for code in every if f"{code}: GET /accounts: {DETAIL}" not in shown] == []
    assert bench.run("apply", planned["plan_id"]).exit == WAITING
    assert [asked.method for asked in front.seen if asked.writes] == []
