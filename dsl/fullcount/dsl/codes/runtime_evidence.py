"""FC736, FC737, FC742 to FC749: what a `verify` or an edge found missing at run time, besides the codes of sources."""

from __future__ import annotations

from fullcount.dsl.codes.examples import tried
from fullcount.dsl.codes.model import Code, Form
from fullcount.dsl.codes.terminal import PLAN, session

_ACCOUNTS = '[{ id: "kept" }, { id: "left", owner: "p9" }]\n'
_PEOPLE = 'given people [{ id: "p1" }, { id: "p2" }]'
_PLANNED = 'plan ["left"]'
_AT_LEAST = ("complete, fresh within 24h", "complete, fresh within 24h, rows at least 100")
_CHANGE = ("complete, fresh within 1h", "complete, fresh within 1h, change at most 20%")
_CANARY = ("    key id\n    incarnation", '    key id\n    expect id == "root"\n    incarnation')
_DELETE = 'sqlite3 hr.db "DELETE FROM employees WHERE WHICH"'
_UNSEEN = "refused RESULT_LIMIT_REACHED, FC746"

CODES: tuple[Code, ...] = (
    Code(
        "FC736",
        "far fewer rows than earlier certified readings had",
        "Where a conclusion rests on what is not in an inventory, each reading is held against the series of the last "
        "20 certified readings of the same question (source, resource, key, scope, parts), once there are 5. It is "
        "refused if it has fewer rows than the median less 3.5 scaled MADs, less a tenth of the median, and less one "
        "row, whichever of these allows most; or if it is empty and none of them was. A feed that was emptied in "
        "steps, a table that was half reloaded and a reader that lost a right all look like this, and each is as "
        "complete as its source can say.\n\n"
        "Find out what became of the collection. If it really became that small, say so in `verify`: with `change at "
        "most 60%` a reading may lie up to 60 % under the median as well as under the last reading. What is certified "
        "then is counted in the series, so that the clause can go again when that size is usual. A reading that is "
        "refused, or that only serves what rests on no absence, is not counted. Another `scope` begins a new series.",
        form=Form.COMMAND,
        wrong=session(*[PLAN] * 3, _DELETE.replace("WHICH", "id > 'p1'"), PLAN),
        right=session(*[PLAN] * 3, _DELETE.replace("WHICH", "id = 'p4'"), PLAN),
    ),
    Code(
        "FC737",
        "a warning came with every reading, and nobody resolved or accepted it",
        "A source told of the same doubt several readings in a row: `warnings_become_failures` of `[policy]` in "
        "`fullcount.toml`, 5 if nothing is said. A warning that everybody has learned to read over is no warning any "
        "more, so it becomes a failure: nothing is proposed or acted on until it is seen to. `fullcount runs` says "
        "since when it is there, how often it came and whose it is.\n\n"
        "Mend it at its cause; one complete reading without the warning begins the count anew. Or accept it in "
        "`fullcount.toml` with `[[accepted_warning]]`, for a resource, with an owner, a reason and a last day. "
        "Warnings that only describe how a source answers, as `TOTAL_ABSENT`, never become failures.",
    ),
    Code(
        "FC742",
        "the reading is too old for this use",
        "`fresh within` says how old a reading may be when it is used, counted from the moment at which the read "
        "began, because that is the oldest state that it can show. The reading at hand is older, or claims to be from "
        "the future, which only a wrong clock can bring about.\n\n"
        "What was true then is no evidence for now. Make a new plan: it reads again. If a read takes longer than its "
        "own `fresh within`, raise that bound knowingly or make the read faster with a narrower `scope`.",
        form=Form.TEST,
        wrong=tried(f"given accounts stale 2h {_ACCOUNTS}{_PEOPLE}", "refused FC742"),
        right=tried(f"given accounts {_ACCOUNTS}{_PEOPLE}", _PLANNED),
    ),
    Code(
        "FC743",
        "fewer rows than `rows at least` asks for",
        "The read was as complete as its source can say, but it has fewer rows than the workflow calls plausible. A "
        "feed that was emptied, a filter that lost its value and a table that was just reloaded all look like this.\n\n"
        "Look at the source first. Lower the bound only if the collection has really become that small.",
        form=Form.TEST,
        wrong=tried(f"given accounts {_ACCOUNTS}{_PEOPLE}", "refused FC743", _AT_LEAST),
        right=tried(f"given accounts {_ACCOUNTS}{_PEOPLE} and 98 more", _PLANNED, _AT_LEAST),
    ),
    Code(
        "FC744",
        "the number of rows moved by more than `change at most` allows",
        "The count is compared with that of the last certified reading of the same inventory. It counts both ways: a "
        "collection that shrank may have been cut off, one that grew may have had its filter dropped. A change from "
        "nothing to something is larger than any percentage.\n\n"
        "Find out what happened to the collection. If the change is real, run the plan once with a wider bound, and "
        "put it back: the reading that is certified then is what the next one is compared with.",
        form=Form.TEST,
        wrong=tried(f"given accounts previously 10 rows {_ACCOUNTS}{_PEOPLE}", "refused FC744", _CHANGE),
        right=tried(f"given accounts previously 10 rows {_ACCOUNTS.rstrip()} and 8 more\n{_PEOPLE}", _PLANNED, _CHANGE),
    ),
    Code(
        "FC745",
        "the pages do not belong together as well as the workflow asks",
        "`snapshot pinned` asks for rows of one instant, `snapshot interval` for every object that was there all "
        "through the read. The source declared one guarantee and gave a weaker one for this read, or shifts its pages "
        "while they are read.\n\n"
        "Read from a primary or in a mode that pins its snapshots, or ask for the weaker guarantee knowingly where "
        "the rule can bear it.",
    ),
    Code(
        "FC746",
        "nothing shows that the reader could see every object",
        "The source hides what its reader may not see without a word, and no canary was seen that would prove the "
        "contrary. A permission that was taken away looks exactly like objects that do not exist.\n\n"
        "Add an `expect` to the inventory that names an object which must always be seen, or read with an identity of "
        "which the connector can check that it sees everything.",
        form=Form.TEST,
        wrong=tried(f"given accounts partial RESULT_LIMIT_REACHED {_ACCOUNTS}{_PEOPLE}", _UNSEEN, _CANARY),
        right=tried(f"given accounts {_ACCOUNTS}{_PEOPLE}", _PLANNED, (_CANARY[0], _CANARY[1].replace("root", "kept"))),
    ),
    Code(
        "FC747",
        "the evidence at hand is not the evidence that the stage requires",
        "Each edge of the workflow's graph says which claims must hold before the next stage may start. What arrived "
        "on it is of another inventory, lacks a claim, or does not fit the reading that it names. Evidence is "
        "checked again at each edge, so a certificate alone is never enough.\n\n"
        "Make a new plan. If the workflow's file changed since the plan was made, that explains it.",
    ),
    Code(
        "FC748",
        "the independent count was not taken",
        "`count agrees with` compares the rows that were read with a count that the source gives on another path. "
        "There was no such count, so there is nothing to agree with; a missing count never counts as agreement.\n\n"
        "See whether the source of the count can be reached, and make the plan again.",
    ),
    Code(
        "FC749",
        "stored evidence is missing or was changed",
        "What was read is kept in files that are named by the hash of their content. One that a plan rests on is not "
        "there any more, or its bytes are not the ones that were written. Nothing may be concluded from it, and "
        "nothing that rests on it is acted on.\n\n"
        "If old snapshots are cleared away, that explains a missing one: make the plan again. A changed one was "
        "written to by something else than Fullcount; find out by whom before going on. `fullcount verify` lists all "
        "of them.",
        form=Form.COMMAND,
        wrong=session("rm -r .fullcount/snapshots", "fullcount why PLAN a01"),
        right=session("fullcount why PLAN a01"),
    ),
)
