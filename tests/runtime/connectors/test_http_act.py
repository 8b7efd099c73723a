"""Writes over HTTP on single objects, as the target system saw them."""

from dataclasses import replace
from decimal import Decimal

import pytest
from tests.support.http_api import Answer, Api
from tests.support.reading_http import config, things

from fullcount.compiler.catalog import Idempotency
from fullcount.compiler.values import Cell, FieldState, present
from fullcount.runtime.connectors.base import ActCall, ErrorClass, Existence, Outcome, SourceError
from fullcount.runtime.connectors.effects import fields_set
from fullcount.runtime.connectors.http import CONNECTOR
from fullcount.runtime.evidence.codes import ActReason, Reason

RESOURCE = {
    "read": "/cursor/{id}",
    "not_found_is_gone": True,
    "version": "etag",
    "fields": {"id": "text", "owner": "text?", "n": "int", "etag": {"type": "text", "at": "$headers/etag"}},
    "lookup": {"id": "/cursor?id={id}"},
    "count": {"path": "/cursor/count", "at": "count"},
    "operations": {
        "delete": {"method": "DELETE", "path": "/cursor/{id}", "effect": "delete", "precondition": "if_match"},
        "remove": {"method": "DELETE", "path": "/cursor/{id}", "effect": "delete", "key_header": "Idempotency-Key"},
        "assign": {
            "method": "PATCH",
            "path": "/cursor/{id}",
            "body": {"owner": "{owner}", "n": "{n}"},
            "parameters": {"owner": "text", "n": "int"},
            "effect": "update",
            "precondition": "if_match",
            "undoes": ["assign"],
        },
    },
}
UNVERSIONED = {"version": None, "operations": {"remove": RESOURCE["operations"]["remove"]}}


@pytest.fixture
def api():
    """A server with five objects."""
    with Api(things(5)) as found:
        yield found


class Source:
    """Reader and actor of one source."""

    def __init__(self, api, **changes):
        self.config = config(api, "cursor", {**RESOURCE, **changes})
        self.resource = CONNECTOR.resources("api", self.config)["things"]

    async def read(self, key, *fields):
        reader = await CONNECTOR.open_reader("api", self.config)
        try:
            return await reader.read(self.resource, (key,), fields or tuple(self.resource.fields))
        finally:
            await reader.close()

    async def call(self, operation, key, **arguments):
        """Return the call for an object as it is now."""
        cells = (await self.read(key)).cells
        return ActCall(self.resource, operation, (key,), {"id": key, **arguments}, cells, "k-1")

    async def perform(self, call):
        actor = await CONNECTOR.open_actor("api", self.config)
        try:
            return await actor.perform(call)
        finally:
            await actor.close()

    async def took_effect(self, call):
        actor = await CONNECTOR.open_actor("api", self.config)
        try:
            return await actor.took_effect(call)
        finally:
            await actor.close()


@pytest.mark.requirement("R29", "R36")
async def test_object_that_changed_since_it_was_seen_is_not_written(api):
    """`If-Match` refuses at the target, whatever happened between the recheck and the write."""
    source = Source(api)
    call = await source.call("delete", "t0001")
    api.change("t0001", owner="somebody")
    result = await source.perform(call)
    assert (result.outcome, result.reason) == (Outcome.CHANGED, ActReason.PRECONDITION_FAILED)
    assert "t0001" in api.objects


@pytest.mark.requirement("R3", "R7")
@pytest.mark.parametrize("body", [{"message": "internal error"}, {"error": {"code": 5}}, {}])
async def test_good_status_without_the_object_is_no_object_whose_fields_are_empty(api, body):
    """What has none of the names of the object is not the object, so nothing is known of it, and nothing is absent."""
    source = Source(api)
    api.faults.append(lambda asked: Answer(200, body) if asked.path == "/cursor/t0001" else None)
    assert (await source.read("t0001")).existence is Existence.UNKNOWN


@pytest.mark.requirement("R29")
@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, "<html>Sign in</html>", {"content-type": "text/html"}),
        Answer(200, {"error": "backend unavailable"}),
        Answer(200, '{"deleted": {"i', {"content-type": "application/json"}),
    ],
)
async def test_good_status_with_a_word_against_it_is_no_write_that_was_done(api, answer):
    """Whether it happened is not known, and is found out by reading."""
    source = Source(api)
    call = await source.call("delete", "t0001")
    api.faults.append(lambda asked: answer if asked.method == "DELETE" else None)
    result = await source.perform(call)
    assert (result.outcome, result.reason) == (Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN)


@pytest.mark.requirement("R29", "R36")
async def test_write_without_a_condition_of_the_api_follows_on_a_comparison(api):
    """Where the API has no versions, the object is read and compared, and a change refuses the write."""
    source = Source(api, **UNVERSIONED)
    call = await source.call("remove", "t0001")
    api.change("t0001", owner="somebody")
    assert (await source.perform(call)).outcome is Outcome.CHANGED
    assert api.effects == []


@pytest.mark.requirement("R30")
async def test_what_is_made_without_a_key_is_not_looked_for_by_one(api):
    """The source gives the key, which only its answer tells: nothing is compared, and nobody knows if that was lost."""
    attach = {"method": "POST", "path": "/cursor", "effect": "create", "body": {"n": "{n}"}, "parameters": {"n": "int"}}
    named = attach | {"path": "/cursor/{id}"}
    source = Source(api, operations={"attach": attach, "named": named})
    operations = source.resource.operations
    assert [list(operations[name].parameters) for name in ("attach", "named")] == [["n"], ["id", "n"]]
    call = ActCall(source.resource, "attach", (), {"n": 7}, {}, "k-1")
    assert await source.took_effect(call) is None
    assert (await source.perform(call)).outcome in {Outcome.DONE, Outcome.FAILED}
    assert [(each.method, each.path) for each in api.requests][-1:] == [("POST", "/cursor")]


@pytest.mark.requirement("R22")
async def test_version_that_was_not_seen_refuses_the_write(api):
    """Nothing is sent without the condition that the operation is declared with."""
    source = Source(api)
    call = await source.call("delete", "t0001")
    unseen = {**call.expected, "etag": Cell(FieldState.FORBIDDEN, None)}
    blind = replace(call, expected=unseen)
    assert (await source.perform(blind)).outcome is Outcome.REFUSED
    assert api.effects == []


@pytest.mark.requirement("R29")
async def test_delete_and_update_reach_the_one_object(api):
    """Each write is one request, on the object that the key names, with the types of its parameters."""
    source = Source(api)
    assert (await source.perform(await source.call("delete", "t0001"))).outcome is Outcome.DONE
    assert (await source.perform(await source.call("assign", "t0002", owner="x", n=7))).outcome is Outcome.DONE
    assert api.effects == [("DELETE", "t0001"), ("PATCH", "t0002")]
    assert api.objects["t0002"] == {"id": "t0002", "owner": "x", "n": 7}


@pytest.mark.requirement("R29")
async def test_key_of_the_approval_goes_with_the_write(api):
    """An API that takes an idempotency key gets the one that was minted with the approval."""
    source = Source(api, **UNVERSIONED)
    await source.perform(await source.call("remove", "t0001"))
    assert api.requests[-1].headers["idempotency-key"] == "k-1"


@pytest.mark.requirement("R32", "R36")
@pytest.mark.parametrize("reached", [True, False])
async def test_lost_answer_is_unknown_and_is_settled_by_reading(api, reached):
    """No answer is never a guess; whether the write took effect is told by the object itself."""
    source = Source(api)
    call = await source.call("delete", "t0003")

    def lose(asked):
        if asked.method != "DELETE":
            return None
        if reached:
            api._one(asked, "t0003")
        return Answer(200, {"lost": "x" * 64}, cut=32)

    api.faults.append(lose)
    result = await source.perform(call)
    assert (result.outcome, result.reason) == (Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN)
    assert await source.took_effect(call) is reached


@pytest.mark.requirement("R32")
@pytest.mark.parametrize("version", ["etag", None])
@pytest.mark.parametrize("reached", [True, False])
async def test_a_write_that_sets_no_field_is_never_taken_for_done_by_reading(api, version, reached):
    """Nothing of the object says that it happened; that it did not, only a version that did not move says."""
    archive = {"method": "POST", "path": "/cursor/{id}", "effect": "update", "body": {"why": 9}}
    source = Source(api, version=version, operations={"archive": archive})
    call = await source.call("archive", "t0003")
    if reached:
        await source.perform(call)
        assert api.effects == [("POST", "t0003")]
    assert await source.took_effect(call) is (False if version is not None and not reached else None)


@pytest.mark.requirement("R28")
async def test_key_can_never_lead_to_another_path(api):
    """A key is one step of the path, whatever it holds; one that can't be, names nothing."""
    source = Source(api)
    for key in ("..", ".", ""):
        assert (await source.read(key)).existence is Existence.UNKNOWN
    await source.read("../cursor/t0001?x=1#y")
    assert api.requests[-1].path == "/cursor/..%2Fcursor%2Ft0001%3Fx%3D1%23y"


async def test_object_that_is_not_found_is_gone_only_where_the_configuration_says_so(api):
    """404 may mean that the reader may not see the object."""
    assert (await Source(api).read("no")).existence is Existence.GONE
    assert (await Source(api, not_found_is_gone=False).read("no")).existence is Existence.UNKNOWN


async def test_single_object_is_read_with_its_version(api):
    """A field may stand in a header of the single read."""
    reading = await Source(api).read("t0001")
    assert reading.cells["etag"] == present('"1"')
    assert (await Source(api).read("t0000")).cells["owner"].state is FieldState.ABSENT


async def test_look_up_keeps_only_what_matches_and_reads_to_the_end(api):
    """The source may answer with more than was asked for; the answer is complete only at its end."""
    source = Source(api)
    reader = await CONNECTOR.open_reader("api", source.config)
    matches = await reader.lookup(source.resource, "id", "t0004", ("id", "owner"))
    assert (matches.complete, [row["id"].value for row in matches.rows]) == (True, ["t0004"])
    assert await reader.count(source.resource) == 5
    await reader.close()


BUSY = Answer(429, None, {"retry-after": "7"})
TROUBLES = {
    "too busy": (BUSY, Outcome.FAILED, ErrorClass.THROTTLE, 7.0),
    "in flight under the same key": (Answer(409, None), Outcome.UNKNOWN, None, None),
    "refused for good": (Answer(422, None), Outcome.FAILED, None, None),
}


@pytest.mark.requirement("R30", "R32")
@pytest.mark.parametrize("trouble", TROUBLES)
async def test_only_a_refusal_that_says_that_nothing_was_done_and_passes_may_be_tried_again(api, trouble):
    """A busy target says how long to wait; a call under way is unknown, and one with other parameters fails."""
    answer, outcome, kind, after = TROUBLES[trouble]
    source = Source(api, **UNVERSIONED)
    call = await source.call("remove", "t0001")
    api.faults.append(lambda asked: answer if asked.method == "DELETE" else None)
    result = await source.perform(call)
    assert (result.outcome, result.trouble, result.after) == (outcome, kind, after)
    assert "t0001" in api.objects


@pytest.mark.requirement("R31")
def test_an_operation_declares_how_long_its_key_lives_and_whether_it_escalates(api):
    """What a configuration says of repeating stands in the declaration; PUT and DELETE need no key to be harmless."""
    keyed = {"key_header": "Idempotency-Key", "key_life": 90_000}
    post = {"method": "POST", "path": "/cursor", "effect": "create", **keyed}
    operations = {**RESOURCE["operations"], "post": post}
    operations["remove"] = {**operations["remove"], "escalates": True}
    declared = Source(api, operations=operations).resource.operations
    assert (declared["post"].idempotency, declared["post"].key_life) == (Idempotency.KEY, 90_000_000_000)
    assert (declared["remove"].idempotency, declared["remove"].escalates) == (Idempotency.NATURAL, True)
    assert not declared["delete"].escalates


@pytest.mark.requirement("R24")
async def test_the_tenant_of_a_credential_is_a_fact_of_the_target_and_is_never_guessed(api):
    """Two credentials of one address may be of two tenants; what does not say so is not acted on."""
    tenants = {"Bearer a": "acme", "Bearer b": "other"}
    api.faults.append(
        lambda asked: (
            Answer(200, {"org": {"id": tenants.get(asked.headers.get("authorization"))}})
            if asked.path == "/me"
            else None
        )
    )
    secrets = {"auth": _bearer("a"), "act_auth": _bearer("b")}
    settings = config(api, "cursor", RESOURCE, tenant={"path": "/me", "at": "org/id"}, **secrets)
    reader = await CONNECTOR.open_reader("api", settings)
    actor = await CONNECTOR.open_actor("api", settings)
    assert (await reader.identity())["target_tenant"] == "acme"
    assert (await actor.identity())["target_tenant"] == "other"
    tenants.clear()
    with pytest.raises(SourceError) as found:
        await reader.identity()
    assert found.value.reason.code is Reason.AUTH_FAILED
    await reader.close()
    await actor.close()


def _bearer(text):
    return {"bearer": {"command": ["printf", text]}}


CONSTANT = {
    "fields": {
        "id": "text",
        "state": {"type": "text", "at": "is/state"},
        "shut": "bool",
        "n": "int",
        "price": "decimal",
        "owner": "text?",
    },
    "version": None,
    "operations": {
        "off": {
            "method": "PATCH",
            "path": "/cursor/{id}",
            "body": {"is": {"state": "off"}, "shut": True, "n": 0, "price": 1.5, "owner": "{whose}"},
            "parameters": {"whose": "text"},
            "effect": "update",
            "undoes": ["off"],
        },
        "shut": {"method": "POST", "path": "/cursor/{id}/shut", "effect": "update"},
        "told": {"method": "POST", "path": "/cursor/{id}/shut", "effect": "update", "sets": {"shut": True}},
        "why": {"method": "PATCH", "path": "/cursor/{id}", "body": {"shut": True, "why": "old"}, "effect": "update"},
    },
}


def test_sets_of_an_operation_is_refused_where_it_names_what_can_not_be_set(api):
    """No field, the key, a value of another type, something that is no update."""
    off = CONSTANT["operations"]["told"]
    wrong = [{"nobody": 1}, {"id": "x"}, {"shut": "true"}, {"n": True}, {"owner": "{whose}"}]
    for operation in [*(off | {"sets": each} for each in wrong), off | {"effect": "delete"}]:
        with pytest.raises(ValueError, match=r"`operations\.told\.sets"):
            Source(api, **(CONSTANT | {"operations": {"told": operation}}))


@pytest.mark.requirement("R22", "R32")
def test_what_a_body_sets_is_told_by_where_it_stands_and_what_it_does_not_tell_is_said(api):
    """Constants at any depth and parameters of any name; an action says nothing, unless `sets` does."""
    resource = Source(api, **CONSTANT).resource
    off = fields_set(resource, resource.operations["off"], {"id": "t1", "whose": "ana"})
    assert (off.fields, off.more) == (
        {"owner": "ana", "state": "off", "shut": True, "n": 0, "price": Decimal("1.5")},
        False,
    )
    found = {name: fields_set(resource, each, {"id": "t1"}) for name, each in resource.operations.items()}
    assert {name: each.more for name, each in found.items()} == {
        "off": False,
        "shut": True,
        "told": False,
        "why": True,
    }
    assert (found["shut"].fields, found["told"].fields) == ({}, {"shut": True})


@pytest.mark.requirement("R32")
async def test_a_constant_that_is_there_shows_that_a_call_took_effect(api):
    """Its answer was lost: done, if what the body sets stands there; surely not, if the object is as it was."""
    source = Source(api, **CONSTANT)
    api.change("t0001", **{"is": {"state": "on"}, "shut": False, "price": 2.5, "owner": "bo"})
    call = await source.call("off", "t0001", whose="ana")
    assert await source.took_effect(call) is False
    assert (await source.perform(call)).outcome is Outcome.DONE
    assert await source.took_effect(call) is True
    api.change("t0001", shut=False)
    assert await source.took_effect(call) is None, "somebody else wrote since: nobody can tell"


@pytest.mark.requirement("R32")
@pytest.mark.parametrize(("before", "told"), [(False, True), (True, None), (None, None)])
async def test_what_stood_there_before_shows_nothing_of_a_call_that_sets_more(api, before, told):
    """It sets something besides that nobody can see: done only if what can be seen is known to have been otherwise."""
    source = Source(api, **CONSTANT)
    api.change("t0001", shut=False if before is None else before)
    call = await source.call("why", "t0001")
    if before is None:
        call = replace(call, expected={name: cell for name, cell in call.expected.items() if name != "shut"})
    api.change("t0001", shut=True)
    assert await source.took_effect(call) is told
