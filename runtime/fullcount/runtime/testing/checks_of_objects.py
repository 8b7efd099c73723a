"""Checks of single objects: reading, looking up, counting, and acting on them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from fullcount.compiler.catalog import Effect, Idempotency
from fullcount.compiler.values import Cell
from fullcount.runtime.connectors.base import (
    TARGET_FACTS,
    ActCall,
    ActResult,
    Existence,
    Outcome,
    Reading,
    SourceActor,
    SourceError,
    SourceReader,
)
from fullcount.runtime.evidence.codes import ActReason
from fullcount.runtime.testing.bed import Act, Bed, Key, needed, require
from fullcount.runtime.testing.tap import reading

_SIDE_EFFECTS = ("perform", "took_effect")


async def a_reading_session_can_not_act(bed: Bed) -> None:
    """What a dry run is handed has no way to write."""
    async with reading(bed) as reader:
        found = [name for name in _SIDE_EFFECTS if hasattr(reader, name)]
        require(found == [], f"the reader has {found}: reading and acting are two objects")


async def an_identity_names_the_target_and_no_secret(bed: Bed) -> None:
    """Who reads and where is stable, the same for reading and acting, and free of credentials."""
    async with reading(bed) as reader:
        first, second = await reader.identity(), await reader.identity()
        require(dict(first) == dict(second), "the identity differs from one call to the next")
        target = {name: value for name, value in first.items() if name.startswith(TARGET_FACTS)}
        require(len(target) > 0, f"no fact of the identity begins with `{TARGET_FACTS}`, so nothing names the system")
        shown = [secret for secret in bed.secrets if secret in repr(dict(first))]
        require(shown == [], "the identity shows a secret")
    if bed.act is not None:
        async with acting(bed) as actor:
            other = {name: value for name, value in (await actor.identity()).items() if name.startswith(TARGET_FACTS)}
            require(other == target, f"the reader's target is {target}, the actor's {other}")


async def an_object_is_read_as_it_is_now(bed: Bed) -> None:
    """Found, with every field that was asked for and the values that are there, also after they changed."""
    key = bed.some_key()
    async with reading(bed) as reader:
        first = await _look(bed, reader, key)
        _as_it_is(bed, key, first)
        bed.change(key)
        second = await _look(bed, reader, key)
        _as_it_is(bed, key, second)
        version = bed.declared().version
        if version is not None:
            same = first.cells[version] == second.cells[version]
            require(not same, f"the object changed, and its version `{version}` did not")


async def _look(bed: Bed, reader: SourceReader, key: Key) -> Reading:
    resource = bed.declared()
    return await reader.read(resource, key, tuple(resource.fields))


def _as_it_is(bed: Bed, key: Key, looked: Reading) -> None:
    require(looked.existence is Existence.FOUND, f"{key} is there, and was read as `{looked.existence}`")
    missing = set(bed.declared().fields) - set(looked.cells)
    require(missing == set(), f"{missing} was asked for and not answered")
    for name, value in bed.rows()[key].items():
        require(looked.cells[name].value == value, f"`{name}` is {value!r}, and was read as {looked.cells[name]}")


async def an_object_that_is_gone_is_not_found(bed: Bed) -> None:
    """Gone, or unknown with a reason; never found."""
    key = bed.some_key()
    bed.remove(key)
    async with reading(bed) as reader:
        looked = await _look(bed, reader, key)
        require(looked.existence is not Existence.FOUND, "a removed object was found")
        said = looked.existence is Existence.GONE or len(looked.reasons) > 0
        require(said, "whether the object is there is unknown, and nothing says why")


async def a_recreated_object_is_another_one(bed: Bed) -> None:
    """The same key, made again, has another incarnation or version."""
    needed(bed.recreate, "recreate")
    resource, key = bed.declared(), bed.some_key()
    marks = [mark for mark in (resource.incarnation, resource.version) if mark is not None]
    async with reading(bed) as reader:
        first = await _look(bed, reader, key)
        if bed.recreate is not None:
            bed.recreate(key)
        second = await _look(bed, reader, key)
        require(second.existence is Existence.FOUND, f"the recreated object was read as `{second.existence}`")
        told = any(first.cells[mark] != second.cells[mark] for mark in marks)
        require(
            told, f"another object of the same key has the same {' and '.join(marks) or 'marks, as there are none'}"
        )


async def a_look_that_fails_says_nothing_of_absence(bed: Bed) -> None:
    """While the source fails, an object is not gone, a look-up is not complete, and there is no count."""
    needed(bed.outage, "outage")
    if bed.outage is None:
        return
    resource, key = bed.declared(), bed.some_key()
    row = bed.rows()[key]
    async with reading(bed) as reader:
        with bed.outage():
            try:
                looked = await _look(bed, reader, key)
                require(
                    looked.existence is Existence.UNKNOWN, f"the source failed, and the object is {looked.existence}"
                )
                require(len(looked.reasons) > 0, "nothing says why it is unknown")
            except SourceError:
                pass
            for field in sorted(resource.lookup_fields):
                value = row.get(field)
                if value is None:
                    continue
                try:
                    matches = await reader.lookup(resource, field, value, resource.key)
                    require(not matches.complete, f"the source failed, and a look-up by `{field}` is complete")
                except SourceError:
                    pass
            if resource.counted:
                try:
                    count = await reader.count(resource)
                    require(False, f"the source failed, and its count is {count}")
                except SourceError:
                    pass


async def a_look_up_finds_all_that_match_or_may(bed: Bed) -> None:
    """Every object with the value, and every one without a value there, if it calls itself complete."""
    resource, rows = bed.declared(), bed.rows()
    async with reading(bed) as reader:
        for field in sorted(resource.lookup_fields):
            known = {row[field] for row in rows.values() if field in row}
            for value in sorted((value for value in known if value is not None), key=str):
                wanted = {key for key, row in rows.items() if field in row and row[field] in (value, None)}
                matches = await reader.lookup(resource, field, value, resource.key)
                found = {tuple(row[name].value for name in resource.key) for row in matches.rows}
                require(matches.complete, f"nothing was wrong, and a look-up of {field}={value!r} is not complete")
                missed = wanted - found
                require(missed == set(), f"a look-up of {field}={value!r} is complete without {missed}")


async def a_count_is_of_what_is_there(bed: Bed) -> None:
    """The independent count agrees with what is there, also after a change."""
    resource = bed.declared()
    if not resource.counted:
        return
    async with reading(bed) as reader:
        for _ in range(2):
            count, there = await reader.count(resource), len(bed.rows())
            require(count == there, f"there are {there} objects, and the count is {count}")
            bed.put()


# --- acts -------------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def acting(bed: Bed) -> AsyncIterator[SourceActor]:
    """Open the actor of a bed, and close it."""
    actor = await bed.connector.open_actor(bed.source, bed.config)
    try:
        yield actor
    finally:
        await actor.close()


async def seen_call(bed: Bed, act: Act, key: Key) -> ActCall:
    """Return a call on an object as it is now."""
    resource = bed.declared()
    async with reading(bed) as reader:
        cells: Mapping[str, Cell] = (await _look(bed, reader, key)).cells
    bound = {
        name: key[resource.key.index(parameter.key)]
        for name, parameter in resource.operations[act.operation].parameters.items()
        if parameter.key is not None
    }
    return ActCall(resource, act.operation, key, {**bound, **act.arguments(key)}, cells, "conformance-1")


def _same_but(bed: Bed, key: Key | None, before: Mapping[Key, object], what: str) -> None:
    after = dict(bed.rows())
    others = {each for each in {*before, *after} if each != key and before.get(each) != after.get(each)}
    require(others == set(), f"{what}: {others} changed as well")


async def an_act_does_what_it_says_and_nothing_else(bed: Bed) -> None:
    """Done, its object alone is another one or gone, and reading tells so."""
    act = the_act(bed)
    key, before = bed.some_key(), dict(bed.rows())
    call = await seen_call(bed, act, key)
    async with acting(bed) as actor:
        result = await actor.perform(call)
        require(result.outcome is Outcome.DONE, f"nothing stood against it, and it ended as {_ended(result)}")
        require(bed.rows().get(key) != before[key], "it says that it is done, and the object is as it was")
        _same_but(bed, key, before, "the act")
        told = await actor.took_effect(call)
        require(told is not False, "it was done, and `took_effect` says that it was not")


def the_act(bed: Bed) -> Act:
    """Return the operation to try; skips a bed that has none."""
    needed(bed.act, "act")
    assert bed.act is not None  # noqa: S101 - `needed` has skipped
    return bed.act


def _ended(result: ActResult) -> str:
    return f"`{result.outcome}`" + (f" ({result.reason})" if result.reason is not None else "")


async def an_object_that_changed_is_left_alone(bed: Bed) -> None:
    """Whoever changed it since it was seen is not overwritten."""
    act = the_act(bed)
    key = bed.some_key()
    call = await seen_call(bed, act, key)
    bed.change(key)
    await _refused(bed, call, (Outcome.CHANGED,), "the object changed since it was seen")


async def _refused(bed: Bed, call: ActCall, outcomes: Sequence[Outcome], why: str) -> None:
    before = dict(bed.rows())
    async with acting(bed) as actor:
        result = await actor.perform(call)
    require(result.outcome in outcomes, f"{why}, and the act ended as {_ended(result)}")
    if result.outcome is Outcome.CHANGED:
        named = result.reason is ActReason.PRECONDITION_FAILED
        require(named, f"{why}, and the reason is {result.reason}, not {ActReason.PRECONDITION_FAILED}")
    _same_but(bed, None, before, why)


async def an_object_that_is_gone_is_not_made_again(bed: Bed) -> None:
    """Acting on what is no longer there changes nothing, and says so."""
    act = the_act(bed)
    if bed.declared().operations[act.operation].effect is Effect.CREATE:
        return
    key = bed.some_key()
    call = await seen_call(bed, act, key)
    bed.remove(key)
    gone = (Outcome.ALREADY_GONE, Outcome.CHANGED, Outcome.REFUSED)
    await _refused(bed, call, gone, "the object is gone since it was seen")


async def an_object_that_was_made_again_is_left_alone(bed: Bed) -> None:
    """The key is the same, the object is another one."""
    act = the_act(bed)
    needed(bed.recreate, "recreate")
    key = bed.some_key()
    call = await seen_call(bed, act, key)
    if bed.recreate is not None:
        bed.recreate(key)
    await _refused(bed, call, (Outcome.CHANGED,), "the object was made anew since it was seen")


async def doing_it_twice_is_doing_it_once(bed: Bed) -> None:
    """The same call again, as its declared idempotency says, leaves everything as it is."""
    act = the_act(bed)
    key = bed.some_key()
    declared = bed.declared().operations[act.operation]
    promised = declared.idempotency
    if promised is Idempotency.NONE or declared.escalates:
        return  # it is never done twice
    call = await seen_call(bed, act, key)
    async with acting(bed) as actor:
        first = await actor.perform(call)
        require(first.outcome is Outcome.DONE, f"nothing stood against it, and it ended as {_ended(first)}")
        after_once = dict(bed.rows())
        second = await actor.perform(call)
    harmless = (Outcome.DONE, Outcome.ALREADY_GONE, Outcome.CHANGED, Outcome.REFUSED)
    require(second.outcome in harmless, f"the same call again ended as {_ended(second)}")
    _same_but(bed, None, after_once, f"the same call again, by idempotency `{promised}`")


async def a_lost_answer_is_unknown_and_told_by_reading(bed: Bed) -> None:
    """A write whose answer is lost is neither done nor failed; `took_effect` finds out, without writing."""
    act = the_act(bed)
    needed(act.lose_reply, "act.lose_reply")
    if act.lose_reply is None:
        return
    call = await seen_call(bed, act, bed.some_key())
    async with acting(bed) as actor:
        with act.lose_reply():
            result = await actor.perform(call)
        unknown = (result.outcome, result.reason) == (Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN)
        require(unknown, f"the answer was lost, and the act ended as {_ended(result)}")
        after_write = dict(bed.rows())
        told = await actor.took_effect(call)
        require(told is not False, "the write took effect, and `took_effect` says that it did not")
        _same_but(bed, None, after_write, "`took_effect`")
