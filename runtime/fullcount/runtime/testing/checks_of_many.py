"""Checks of what a reader may be able to do besides: read and look up several at once, and foresee what acting needs.

A reader without the protocol is skipped by its name: what it does not offer is never asked of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from unittest import SkipTest

from fullcount.compiler.catalog import Resource
from fullcount.compiler.values import Cell, Value
from fullcount.runtime.connectors.base import (
    Existence,
    ForeseesActing,
    LooksUpMany,
    Matches,
    Outcome,
    ReadsMany,
    SourceError,
    SourceReader,
)
from fullcount.runtime.testing.bed import Bed, Key, needed, require
from fullcount.runtime.testing.checks_of_objects import acting, seen_call, the_act
from fullcount.runtime.testing.tap import reading


def _reads_many(reader: SourceReader, resource: Resource) -> ReadsMany:
    if not isinstance(reader, ReadsMany) or reader.most_keys(resource) < 2:
        msg = "the reader does not read several objects at once (`ReadsMany`)"
        raise SkipTest(msg)
    return reader


async def objects_read_together_are_as_each_is_alone(bed: Bed) -> None:
    """Only what was asked for and is there, live, with the cells that a read of the one object gives."""
    resource, gone = bed.declared(), bed.some_key()
    async with reading(bed) as reader:
        many = _reads_many(reader, resource)
        await _read_as_alone(bed, reader, many, ())
        bed.remove(gone)
        bed.change(max(bed.rows(), key=str))
        await _read_as_alone(bed, reader, many, (gone,))


async def _read_as_alone(bed: Bed, reader: SourceReader, many: ReadsMany, gone: Sequence[Key]) -> None:
    resource, fields = bed.declared(), tuple(bed.declared().fields)
    # not all of them: what is there, and was not asked for, shall not come
    keys = [*gone, *sorted(bed.rows(), key=str)[1:]]
    for asked in _parts(keys, many.most_keys(resource)):
        found = await many.read_many(resource, asked, fields)
        strange = set(found) - set(asked)
        require(strange == set(), f"{list(asked)} were asked for together, and {strange} came")
        for key, cells in found.items():
            alone = await reader.read(resource, key, fields)
            said = f"{key} is found among several, and by itself it is `{alone.existence}`"
            require(alone.existence is Existence.FOUND, said)
            _same_cells(dict(cells), dict(alone.cells), f"{key}, read among several")


def _same_cells(together: Mapping[str, Cell], alone: Mapping[str, Cell], what: str) -> None:
    differ = sorted(name for name in {*together, *alone} if together.get(name) != alone.get(name))
    require(differ == [], f"{what}: {differ} is not as it is alone")


def _parts(asked: Sequence[Key], most: int) -> list[Sequence[Key]]:
    return [part for at in range(0, len(asked), most) if len(part := asked[at : at + most]) > 1]


async def look_ups_together_say_what_each_says_alone(bed: Bed) -> None:
    """Of each value the answer of its own look-up, or none; also of values that nothing has any more."""
    resource, rows, gone = bed.declared(), bed.rows(), bed.some_key()
    async with reading(bed) as reader:
        for field, most in _looks_up_many(reader, resource).items():
            known = {row[field] for row in rows.values() if field in row} - {None}
            values: list[Value] = sorted((value for value in known if value is not None), key=str)
            if gone in bed.rows():
                await _matches_as_alone(resource, reader, field, values[:most])
                bed.remove(gone)
            await _matches_as_alone(resource, reader, field, values[:most])


def _looks_up_many(reader: SourceReader, resource: Resource) -> dict[str, int]:
    """Return how many values one question may have, by field."""
    if isinstance(reader, LooksUpMany):
        found = {field: reader.most_values(resource, field) for field in sorted(resource.lookup_fields)}
        able = {field: most for field, most in found.items() if most > 1}
        if len(able) > 0:
            return able
    msg = "the reader does not look up several values at once (`LooksUpMany`)"
    raise SkipTest(msg)


async def _matches_as_alone(resource: Resource, reader: SourceReader, field: str, values: Sequence[Value]) -> None:
    if not isinstance(reader, LooksUpMany):
        return
    fields = tuple(dict.fromkeys((*resource.key, field)))
    answers = await reader.lookup_many(resource, field, values, fields)
    strange = set(answers) - set(values)
    require(strange == set(), f"{list(values)} were looked up by `{field}`, and there is an answer to {strange}")
    for value, matches in answers.items():
        alone = await reader.lookup(resource, field, value, fields)
        said = f"a look-up of {field}={value!r} among several"
        require(matches.complete == alone.complete, f"{said} is complete: {matches.complete}; alone {alone.complete}")
        require(_drawn(matches) == _drawn(alone), f"{said} has other objects than alone")


def _drawn(matches: Matches) -> Counter[tuple[tuple[str, str], ...]]:
    """Return the rows of an answer so that two can be compared: they come in no order."""
    return Counter(tuple(sorted((name, str(cell)) for name, cell in row.items())) for row in matches.rows)


async def what_is_asked_together_and_fails_says_nothing(bed: Bed) -> None:
    """While the source fails, several reads find nothing, and of no value is it said that nothing matches."""
    needed(bed.outage, "outage")
    if bed.outage is None:
        return
    resource, rows = bed.declared(), bed.rows()
    keys = sorted(rows, key=str)
    asked = 0
    async with reading(bed) as reader:
        if isinstance(reader, ReadsMany) and reader.most_keys(resource) > 1:
            asked += 1
            with bed.outage():
                try:
                    found = await reader.read_many(resource, keys[: reader.most_keys(resource)], resource.key)
                except SourceError:
                    found = {}
            require(len(found) == 0, f"the source failed, and {set(found)} was found among several")
        for field in sorted(resource.lookup_fields):
            if not isinstance(reader, LooksUpMany) or reader.most_values(resource, field) < 2:
                continue
            asked += 1
            values = sorted({value for row in rows.values() if (value := row.get(field)) is not None}, key=str)
            with bed.outage():
                try:
                    answers = await reader.lookup_many(
                        resource, field, values[: reader.most_values(resource, field)], resource.key
                    )
                except SourceError:
                    answers = {}
            sure = [value for value, matches in answers.items() if matches.complete]
            require(sure == [], f"the source failed, and look-ups of {sure} by `{field}` are complete")
    if asked == 0:
        msg = "the reader asks nothing together (`ReadsMany`, `LooksUpMany`)"
        raise SkipTest(msg)


async def what_keeps_from_acting_is_foreseen(bed: Bed) -> None:
    """Where the operation can't be done at all, a reader says why and writes nothing, and who acts looks again."""
    act, resource = the_act(bed), bed.declared()
    async with reading(bed) as reader:
        if not isinstance(reader, ForeseesActing):
            msg = "the reader does not foresee whether acting is possible (`ForeseesActing`)"
            raise SkipTest(msg)
        needed(bed.unfit, "unfit")
        if bed.unfit is None:
            return
        nothing = await reader.unfit(resource, act.operation)
        require(nothing is None, f"nothing is in the way, and `{act.operation}` is said to be impossible: {nothing}")
        key, before = bed.some_key(), dict(bed.rows())
        call = await seen_call(bed, act, key)
        with bed.unfit():
            why = await reader.unfit(resource, act.operation)
            require(why is not None, f"`{act.operation}` can't be done, and the reader foresees nothing of it")
            try:
                async with acting(bed) as actor:
                    outcome = (await actor.perform(call)).outcome
            except SourceError:
                outcome = Outcome.REFUSED
            left = outcome in {Outcome.REFUSED, Outcome.FAILED}
            require(left, f"`{act.operation}` can't be done, and it ended as `{outcome}`")
        require(dict(bed.rows()) == before, f"`{act.operation}` could not be done, and changed something")
        after = await reader.unfit(resource, act.operation)
        require(after is None, f"nothing is in the way any more, and the same reader says: {after}")
