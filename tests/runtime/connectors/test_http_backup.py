"""Backups of objects of an HTTP API: the body as it was read, sent back where nothing stands."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import ValidationError
from tests.support.http_api import Answer, Api
from tests.support.reading_http import config, things

from fullcount.runtime.connectors.base import ActCall, Outcome, SourceError, StoredBackup
from fullcount.runtime.connectors.http import CONNECTOR

RESOURCE = {
    "read": "/cursor/{id}",
    "not_found_is_gone": True,
    "operations": {
        "delete": {"method": "DELETE", "path": "/cursor/{id}", "effect": "delete", "closure": "none"},
        "restore": {
            "method": "PUT",
            "path": "/cursor/{id}",
            "effect": "create",
            "restores": True,
            "undoes": ["delete"],
            "set_by_source": ["made"],
        },
    },
}


@pytest.fixture
def api():
    """A server with two objects, which makes the object that is sent to a free place."""
    with Api([{**each, "note": "hers", "price": 1.5, "made": 1} for each in things(2)]) as found:

        def made(asked):
            key = asked.path.rpartition("/")[2]
            if asked.method != "PUT" or key in found.objects:
                return None
            found.objects[key] = {**asked.body, "made": 2}
            found.versions[key] = 1
            return Answer(201, found.objects[key])

        found.faults.append(made)
        yield found


@pytest.fixture
async def actor(api):
    """The writing side."""
    found = await CONNECTOR.open_actor("api", config(api, "cursor", RESOURCE))
    yield found
    await found.close()


async def call_of(api, actor, operation="delete") -> ActCall:
    """Return the call for the first object, with a backup of it as it is now."""
    settings = config(api, "cursor", RESOURCE)
    resource = CONNECTOR.resources("api", settings)["things"]
    reader = await CONNECTOR.open_reader("api", settings)
    seen = await reader.read(resource, ("t0000",), tuple(resource.fields))
    await reader.close()
    call = ActCall(resource, operation, ("t0000",), {"id": "t0000"}, seen.cells, "k-1")
    return replace(call, backup=StoredBackup("sha256:0", 1, await actor.back_up(call)))


@pytest.mark.requirement("R36")
async def test_an_object_that_changed_where_nobody_looked_is_not_deleted(api, actor):
    """A member that is no field of the resource was changed since the backup."""
    call = await call_of(api, actor)
    api.objects["t0000"]["note"] = "somebody else's"
    assert (await actor.perform(call)).outcome is Outcome.CHANGED
    assert api.effects == []


async def test_nothing_is_restored_over_what_stands_there(api, actor):
    """Nor without what the backup holds."""
    restore = replace(await call_of(api, actor), operation="restore", expected={})
    assert (await actor.perform(restore)).outcome is Outcome.CHANGED
    lost = replace(restore, backup=StoredBackup("sha256:0", 1, None))
    assert (await actor.perform(lost)).outcome is Outcome.REFUSED
    assert api.effects == []


async def test_what_can_not_be_sent_back_as_it_is_is_not_backed_up(api, actor):
    """A number that a program would round, and a body that is not the API's JSON."""
    api.faults.insert(0, lambda asked: Answer(200, '{"id": "t0000", "n": 0, "price": 0.12345678901234567890}'))
    with pytest.raises(SourceError, match="can't be sent back"):
        await call_of(api, actor)


def test_a_restore_has_no_body_of_its_own(api):
    """What is sent is the object as it was stored, and it makes the object anew."""
    restore = {**RESOURCE["operations"]["restore"], "body": {"id": "{id}"}}
    with pytest.raises(ValidationError, match="restores an object"):
        config(api, "cursor", {**RESOURCE, "operations": {**RESOURCE["operations"], "restore": restore}})


async def test_a_deleted_object_comes_back_but_for_what_the_api_sets(api, actor):
    """Every other member is as it was; whether it came back can be told by reading."""
    before = dict(api.objects["t0000"])
    call = await call_of(api, actor)
    assert (await actor.perform(call)).outcome is Outcome.DONE
    restore = replace(call, operation="restore", expected={})
    assert await actor.took_effect(restore) is False
    assert (await actor.perform(restore)).outcome is Outcome.DONE
    assert api.objects["t0000"] == {**before, "made": 2}
    assert await actor.took_effect(restore) is True
    api.objects["t0000"]["note"] = "another"
    assert await actor.took_effect(restore) is None
