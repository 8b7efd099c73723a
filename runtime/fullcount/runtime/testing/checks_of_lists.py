"""Checks of the declaration, and of lists: what a connector says of them is what is there, or it says why not."""

from __future__ import annotations

import asyncio

from fullcount.compiler.catalog import Effect, Resource, Visibility
from fullcount.compiler.claims import Consistency
from fullcount.runtime.collect.budget import Budget
from fullcount.runtime.connectors.base import Question, SourceError
from fullcount.runtime.connectors.field_types import can_identify
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Status
from fullcount.runtime.testing.bed import Bed, Fault, Rows, needed, require
from fullcount.runtime.testing.tap import Seen, read_all, reading

_PATIENCE = 20.0
"""Seconds after which a read that should long be over is given up."""
_SHORT = 0.2


async def the_declaration_is_complete_and_fits_together(bed: Bed) -> None:
    """Names, keys, marks, look-ups and operations speak of fields that are declared, and twice the same."""
    connector = bed.connector
    require(connector.name != "" and connector.version != "", "`name` or `version` is empty")
    closed = connector.config_model.model_config.get("extra") == "forbid"
    require(closed, "`config_model` lets settings pass that it does not know: say `extra='forbid'`")
    resources = connector.resources(bed.source, bed.config)
    require(resources == connector.resources(bed.source, bed.config), "`resources` differs from one call to the next")
    bed.declared()
    for name, resource in resources.items():
        named = (resource.source, resource.name)
        require(named == (bed.source, name), f"`{name}` calls itself {named}, not {(bed.source, name)}")
        _fields_fit(resource)
        _operations_fit(resource)


def _fields_fit(resource: Resource) -> None:
    require(len(resource.key) > 0, f"`{resource.name}` has no key")
    marks = [mark for mark in (resource.incarnation, resource.version) if mark is not None]
    for name in (*resource.key, *marks, *sorted(resource.lookup_fields)):
        require(name in resource.fields, f"`{resource.name}` names `{name}`, which is none of its fields")
    identifying = [*resource.key, *(mark for mark in (resource.incarnation,) if mark is not None)]
    for name in identifying:
        of = resource.fields[name]
        require(not of.optional and can_identify(of), f"`{name}` is `{of}`, which can't tell one object from another")


def _operations_fit(resource: Resource) -> None:
    for name, operation in resource.operations.items():
        require(operation.name == name, f"the operation `{name}` calls itself `{operation.name}`")
        bound = {parameter.key for parameter in operation.parameters.values() if parameter.key is not None}
        require(bound <= set(resource.key), f"`{name}` binds a parameter to {bound - set(resource.key)}, no key field")
        if operation.effect is not Effect.CREATE:
            require(bound == set(resource.key), f"`{name}` does not say by its parameters on which object it acts")
        require(operation.undoes <= set(resource.operations), f"`{name}` undoes what is no operation of its resource")
        for given, parameter in operation.parameters.items():
            fits = parameter.key is None or parameter.type == resource.fields[parameter.key]
            require(fits, f"`{name}({given})` is of another type than the key field that it must be given")


async def a_whole_list_is_complete_at_any_page_size(bed: Bed) -> None:
    """Every object once, with the values that are there, an end, and the guarantees that were declared."""
    resource, rows = bed.declared(), bed.rows()
    async with reading(bed) as reader:
        for page_rows in bed.page_rows:
            seen = await read_all(bed, reader, page_rows=page_rows)
            require(seen.envelope.complete, f"nothing was wrong, but the read is {seen.said} (pages of {page_rows})")
            require(
                sorted(seen.keys, key=str) == sorted(rows, key=str), f"{_differ(seen, rows)} (pages of {page_rows})"
            )
            _same_values(seen, rows)
            info = seen.infos[-1]
            raised = seen.envelope.scope.consistency
            require(raised.at_least(resource.consistency), f"declared `{resource.consistency}`, and read as `{raised}`")
            if resource.visibility is Visibility.VOUCHED:
                require(info.visibility == "all", f"visibility is vouched for, and was read as `{info.visibility}`")


def _differ(seen: Seen, rows: Rows) -> str:
    twice = sorted({key for key in seen.keys if seen.keys.count(key) > 1}, key=str)
    missing, extra = set(rows) - set(seen.keys), set(seen.keys) - set(rows)
    return f"not each object once: missing {missing or 'none'}, made up {extra or 'none'}, more than once {twice}"


def _same_values(seen: Seen, rows: Rows) -> None:
    for key, cells in seen.objects:
        for name, value in rows[key].items():
            require(cells[name].value == value, f"`{name}` of {key} is {value!r}, and was read as {cells[name]}")


async def the_end_is_said_once_and_never_beside_a_cursor(bed: Bed) -> None:
    """The last page says that it is; no other does, and no cursor comes twice."""
    async with reading(bed) as reader:
        for page_rows in bed.page_rows:
            seen = await read_all(bed, reader, page_rows=page_rows)
            for pages in seen.passes:
                ends = [number for number, page in enumerate(pages, 1) if page.end is not None]
                require(ends == [len(pages)], f"of {len(pages)} pages, {ends} say that they are the end")
                both = any(page.end is not None and page.cursor is not None for page in pages)
                require(not both, "a page is the end and has a cursor to a next one")
                cursors = [page.cursor for page in pages if page.cursor is not None]
                require(len(set(cursors)) == len(cursors), "a cursor comes twice: nothing tells that from a loop")


async def nothing_there_is_complete_and_empty(bed: Bed) -> None:
    """An empty source is an answer, and not the same as one that could not be read."""
    needed(bed.empty, "empty")
    if bed.empty is not None:
        bed.empty()
    async with reading(bed) as reader:
        seen = await read_all(bed, reader)
        require(seen.envelope.complete and seen.envelope.empty, f"there is nothing, and the read is {seen.said}")
        for fault in bed.faults:
            with fault.begin(1):
                cut = await read_all(bed, reader)
            said = f"{fault.name} before anything came, and the read of nothing is {cut.said}"
            require(not cut.envelope.complete and cut.envelope.empty, said)


async def a_list_cut_anywhere_says_why(bed: Bed) -> None:
    """Each fault at each page: not complete, with a reason of its kind, and without rows that are not there."""
    require(len(bed.faults) > 0, "the bed has no `faults`: what is never cut short shows nothing")
    rows = bed.rows()
    async with reading(bed) as reader:
        pages = len((await read_all(bed, reader)).passes[0])
        for fault in bed.faults:
            for number in range(1, pages + 1) if fault.by_page else (1,):
                with fault.begin(number):
                    seen = await read_all(bed, reader)
                _cut(seen, fault, number, rows)
        again = await read_all(bed, reader)
        require(again.envelope.complete, f"all faults are over, and the same reader is {again.said}")


def _cut(seen: Seen, fault: Fault, number: int, rows: Rows) -> None:
    where = f"{fault.name} at page {number}"
    require(not seen.envelope.complete, f"{where}: the read is {seen.said}")
    codes = {reason.code for reason in seen.envelope.completeness.reasons}
    wanted = ", ".join(sorted(fault.reasons))
    require(len(codes & fault.reasons) > 0, f"{where}: the read is {seen.said}, and none of {wanted}")
    require(set(seen.keys) <= set(rows), f"{where}: objects came that are not there")
    ended = any(page.end is not None for page in seen.pages)
    told = any(len(page.reasons) > 0 for page in seen.pages) or len(seen.infos) == 0 or len(seen.infos[-1].reasons) > 0
    counted = {Reason.COUNT_MISMATCH, Reason.VISIBILITY_RESTRICTED, Reason.SNAPSHOT_CHANGED}
    require(not ended or told or len(codes & counted) > 0, f"{where}: a page says all the same that it is the end")


async def a_cursor_of_another_scan_is_refused(bed: Bed) -> None:
    """A cursor that this scan did not give never begins it anew, or goes on somewhere else, without a word."""
    resource = bed.declared()
    question = Question(resource.name, resource, tuple(resource.fields), None, 0, min(bed.page_rows))
    async with reading(bed) as reader, reader.scan(question) as scan:
        await scan.fetch(None)
        try:
            page = await scan.fetch("no cursor of this scan")
        except SourceError:
            return
        require(len(page.reasons) > 0, f"a strange cursor was answered with {page.rows} rows and no reason")


async def changes_between_pages_break_no_promise(bed: Bed) -> None:
    """Objects made, changed and removed between two pages: complete only with everything that was there throughout."""
    async with reading(bed) as reader:
        pages = len((await read_all(bed, reader)).passes[0])
        for number in range(1, pages):
            before = bed.rows()

            def meddle(page: int, at: int = number) -> None:
                if page == at:
                    keys = sorted(bed.rows(), key=str)
                    bed.put()
                    bed.change(keys[-1])
                    bed.remove(keys[0])

            seen = await read_all(bed, reader, between=meddle)
            if seen.envelope.complete:
                _keeps_its_promise(seen, before, bed.rows(), number)


def _keeps_its_promise(seen: Seen, before: Rows, after: Rows, number: int) -> None:
    where = f"after a change behind page {number}"
    consistency, keys = seen.envelope.scope.consistency, set(seen.keys)
    throughout = set(before) & set(after)
    require(
        throughout <= keys, f"{where}: {throughout - keys} was there all the time, and the read is complete without"
    )
    require(keys <= set(before) | set(after), f"{where}: {keys - set(before) - set(after)} was never there")
    if consistency is Consistency.PINNED:
        states = [state for state in (before, after) if set(state) == keys]
        require(len(states) > 0, f"{where}: the read calls itself pinned, and is of no one state")
        _same_values(seen, states[0])


async def the_deadline_holds_while_a_source_is_silent(bed: Bed) -> None:
    """A source that says nothing is left at the deadline, and the read says so."""
    needed(bed.hang, "hang")
    if bed.hang is None:
        return
    async with reading(bed) as reader:
        with bed.hang():
            try:
                async with asyncio.timeout(_PATIENCE):
                    seen = await read_all(bed, reader, budget=Budget(deadline=_SHORT, retries=0))
            except TimeoutError:
                require(False, f"a read with a deadline of {_SHORT} s had not ended after {_PATIENCE:g} s")
                return
        codes = {reason.code for reason in seen.envelope.completeness.reasons}
        require(Reason.TIME_BUDGET_EXCEEDED in codes, f"the source was silent, and the read is {seen.said}")


async def our_own_limits_are_said(bed: Bed) -> None:
    """A bound of the collector, or of the connector itself, is a reason of its own, never an end."""
    async with reading(bed) as reader:
        first = await read_all(bed, reader)
        if len(first.passes[0]) > 1:
            seen = await read_all(bed, reader, budget=Budget(max_pages=1, retries=0))
            _limited(seen, "a bound of one page")
    if bed.capped is not None:
        capped = await bed.connector.open_reader(bed.source, bed.capped)
        try:
            _limited(await read_all(bed, capped), "the connector's own limit")
        finally:
            await capped.close()


def _limited(seen: Seen, what: str) -> None:
    codes = {reason.code for reason in seen.envelope.completeness.reasons}
    partial = seen.envelope.status is not Status.COMPLETE
    require(partial and Reason.CLIENT_LIMIT_REACHED in codes, f"{what} cut the read, which is {seen.said}")


async def objects_that_are_hidden_are_missed(bed: Bed) -> None:
    """Where visibility is vouched for, a reader that sees less says so."""
    if bed.declared().visibility is not Visibility.VOUCHED:
        return
    if bed.hide is None:
        require(bed.nothing_hides != "", "visibility is vouched for: the bed needs `hide`, or says why `nothing_hides`")
        return
    async with reading(bed) as reader:
        with bed.hide():
            seen = await read_all(bed, reader)
        require(not seen.envelope.complete, f"objects were hidden from the reader, and the read is {seen.said}")
