"""Recorded exchanges: what is made of them is what has to be, and a wrong verdict is never passed over."""

import json
import random
from base64 import b64encode
from itertools import chain, groupby
from pathlib import Path

import pytest
from click.testing import CliRunner
from pydantic import ValidationError
from tests.support.profiles import examples

from fullcount.runtime.cli.conformance import conformance
from fullcount.runtime.conformance.case import Case, CaseError, load
from fullcount.runtime.conformance.replay import by_plain_http, replay
from fullcount.runtime.evidence.codes import BLOCKING_WARNINGS, Decision

HERE = Path(__file__).parent
FILES = ("cases.jsonl", "own.jsonl")
CASES = [case for file in FILES for case in load(HERE / file)]
BLIND = [list(cases) for _, cases in groupby(load(HERE / "blind.jsonl"), key=lambda case: case.api)]
"""Cases that were written from what is known of the APIs, without a look at what is made of them: by their API."""


@pytest.mark.requirement("R35", "R36")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_recorded_exchange_gets_the_verdict_that_it_must(case):
    """Through the real client, the dialect of the API and the one collecting loop, or its protocol's functions."""
    (replayed,) = replay([case])
    assert replayed.agrees, "; ".join(map(str, replayed.differences))


@pytest.mark.requirement("R35", "R36")
@pytest.mark.parametrize("cases", BLIND, ids=lambda cases: cases[0].api)
def test_exchanges_that_no_rule_was_made_for_get_the_verdict_that_they_must(cases):
    """The rules hold for the kind, not for the examples by which they were found."""
    wrong = {one.case.id: "; ".join(map(str, one.differences)) for one in replay(cases) if not one.agrees}
    assert wrong == {}


@pytest.mark.requirement("R2")
def test_no_case_says_act_beside_a_reason_a_blocking_warning_or_an_unknown_field():
    """The cases themselves keep the rules that every verdict keeps."""
    for case in chain(CASES, *BLIND):
        expect = case.expect
        assert expect.complete == (expect.reasons == [])
        if expect.decision is Decision.ACT:
            assert expect.complete
            assert not set(expect.warnings) & BLOCKING_WARNINGS
            assert set((expect.field_states or {}).values()) <= {"present", "absent"}
        assert (expect.decision is Decision.RESTART) == (expect.continuation == "restart")


def replayed_file(tmp_path, **changes):
    """Return how the verb ends on one case whose expectation was changed, and what it printed."""
    case = json.loads((HERE / "own.jsonl").read_text(encoding="utf-8").splitlines()[0])
    case["expect"] |= changes
    path = tmp_path / "case.jsonl"
    path.write_text(json.dumps(case), encoding="utf-8")
    ended = CliRunner().invoke(conformance, ["replay", str(path)])
    return ended.exit_code, ended.output


@pytest.mark.requirement("R33")
@pytest.mark.parametrize(
    "changes",
    [
        {"complete": True},
        {"reasons": ["COUNT_MISMATCH"]},
        {"continuation": "restart"},
        {"decision": "act"},
        {"field_states": {"nothing": "present"}},
        {"warnings": ["STALE_INDEX"]},
    ],
)
def test_each_kind_of_disagreement_is_printed_and_fails(tmp_path, changes):
    """Whatever differs, the verb says what was expected and what was found, counts it, and ends with an error."""
    code, out = replayed_file(tmp_path, **changes)
    first, last = out.splitlines()
    assert (code, last) == (1, "0 of 1 agree")
    assert "expected" in first
    assert "found" in first


def test_agreement_ends_well_and_further_warnings_are_no_disagreement(tmp_path):
    """A warning that does not block may be there or not."""
    assert replayed_file(tmp_path, warnings=["SHORT_PAGE"]) == (0, "1 of 1 agree\n")


def test_a_line_that_is_no_case_is_an_error_and_names_its_place(tmp_path):
    """A file that is only half understood proves nothing."""
    path = tmp_path / "case.jsonl"
    path.write_text((HERE / "own.jsonl").read_text(encoding="utf-8").splitlines()[0] + "\n{}\n", encoding="utf-8")
    with pytest.raises(CaseError, match="line 2") as found:
        list(load(path))
    assert "://" not in str(found.value)


def spelt(**changes):
    """Return a plain complete case with parts of its one exchange written in another way."""
    request = {"method": "GET", "path": "/items", **changes.pop("request", {})}
    body = {"items": [{"id": 1}], "next_cursor": None, "total": 1}
    response = {"status": 200, "headers": {}, "body": body, **changes.pop("response", {})}
    expect = {"complete": True, "reasons": [], "continuation": None, "decision": "act"}
    step = {"request": request, "response": response}
    return {"id": "a", "api": "generic_http", "phase": "read", "exchange": [step], "expect": expect, **changes}


@pytest.mark.requirement("R33")
def test_lines_that_are_no_cases_do_not_hide_what_the_others_show(tmp_path):
    """Each is named, and counts as one that does not agree."""
    path = tmp_path / "case.jsonl"
    lines = ["{}", json.dumps(spelt()), '{"id": "b"', json.dumps(spelt()), json.dumps(spelt(id="c", phase="look"))]
    path.write_text("\n".join(lines), encoding="utf-8")
    ended = CliRunner().invoke(conformance, ["replay", str(path)])
    *named, last = ended.output.splitlines()
    assert (ended.exit_code, last) == (1, "1 of 5 agree")
    assert [line.partition("line ")[2][0] for line in named] == ["1", "3", "4", "5"]


TEXT = '{"items": [{"id": 1}], "next_cursor": null}'


@pytest.mark.parametrize(
    "case",
    [
        spelt(note="x", response={"took": 3}),
        spelt(response={"headers": None}),
        spelt(response={"headers": [["Content-Type", "application/json"], ["X-A", "1"], ["X-A", "2"]]}),
        spelt(response={"headers": {"X-Name": "caf\u00e9 \u2603"}}),
        spelt(response={"status": "200"}),
        spelt(response={"status": 200.0}),
        spelt(response={"body": TEXT, "headers": {"CONTENT-TYPE": "application/json"}}),
        spelt(response={"body": b64encode(TEXT.encode()).decode(), "encoding": "base64"}),
        spelt(request={"method": "get", "headers": None}),
        spelt(request={"path": "items", "query": {"limit": 5}}),
        spelt(request={"path": "", "url": "https://api.example/items"}),
        spelt(api="Generic-HTTP"),
    ],
)
def test_a_recording_may_be_spelt_in_several_ways(case):
    """Recorders differ in how they write what was exchanged, and none of that is said by the source."""
    (replayed,) = replay([Case.model_validate(case)])
    assert replayed.agrees, replayed.differences


@pytest.mark.requirement("R15")
@pytest.mark.parametrize(("pinned", "reasons"), [(None, {"SNAPSHOT_CHANGED"}), ("8", set())])
def test_pages_of_a_client_that_did_not_pin_them_are_of_two_states(pinned, reasons):
    """What the connector would have sent does not make one state of what another client was given."""
    sent = [{"key": "aw==", "range_end": "bA=="}, {"key": "azAA", "range_end": "bA==", "revision": pinned}]
    bodies = [
        {"header": {"revision": "8"}, "kvs": [{"key": "azA="}], "more": True, "count": "2"},
        {"header": {"revision": "9"}, "kvs": [{"key": "azE="}], "count": "1"},
    ]
    steps = [
        {"request": {"method": "POST", "path": "/v3/kv/range", "body": ask}, "response": {"status": 200, "body": body}}
        for ask, body in zip(sent, bodies, strict=True)
    ]
    (replayed,) = replay([Case.model_validate(spelt(api="etcd", exchange=steps))])
    assert replayed.verdict.reasons == reasons


def test_the_same_case_twice_is_an_error_and_names_both_places(tmp_path):
    """Otherwise "N of M agree" counts one case as two."""
    path = tmp_path / "case.jsonl"
    line = (HERE / "own.jsonl").read_text(encoding="utf-8").splitlines()[0]
    path.write_text(f"{line}\n\n{line}\n", encoding="utf-8")
    with pytest.raises(CaseError, match=r"line 3: the case .* is there already, in line 1"):
        list(load(path))


def test_an_api_of_which_nothing_is_known_is_named(tmp_path):
    """It is judged as plain HTTP, and a slip of its name would pass unseen."""
    path = tmp_path / "case.jsonl"
    lines = (HERE / "own.jsonl").read_text(encoding="utf-8").splitlines()
    case = next(each for each in map(json.loads, lines) if each["api"] == "generic_http")
    path.write_text(json.dumps(case | {"api": "githb"}) + "\n", encoding="utf-8")
    out = CliRunner().invoke(conformance, ["replay", str(path)]).output
    assert "note: nothing is known of `githb`" in out
    path.write_text(json.dumps(case) + "\n", encoding="utf-8")
    assert "note:" not in CliRunner().invoke(conformance, ["replay", str(path)]).output
    assert not any(map(by_plain_http, CASES))


@pytest.mark.parametrize("case", CASES[::9], ids=lambda case: case.id)
def test_verdict_rests_on_the_exchange_alone(case):
    """What a case is called, what its story says and what it expects do not change what is found."""
    named = dict.fromkeys(case.expect.field_states or {}, "present") or None
    blank = case.expect.model_copy(update={"complete": True, "reasons": [], "field_states": named})
    blind = case.model_copy(update={"id": "x", "story": "", "expect": blank, "client": case.limits})
    (seeing,), (unseeing,) = replay([case]), replay([blind])
    assert seeing.verdict == unseeing.verdict


# --- answers of no form ----------------------------------------------------------------------------------------------

ODD = (None, 0, -1, "", "x", [], {}, True, 1.5, [None], {"a": 1}, [[]], "true", 10**30)


def places(value, at=()):
    """Yield the path of each value below one."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield (*at, key)
        yield from places(each, (*at, key))


def damaged(document, rng):
    """Return a case with one value of an answer, or of a request, taken away or replaced."""
    document = json.loads(json.dumps(document))
    part = rng.choice(document["exchange"])[rng.choice(("response", "response", "request"))]
    *way, last = rng.choice(list(places(part)))
    for key in way:
        part = part[key]
    if isinstance(part, dict) and rng.random() < 0.3:
        del part[last]
    else:
        part[last] = json.loads(json.dumps(rng.choice(ODD)))
    return document


@pytest.mark.requirement("R2", "R33")
@pytest.mark.parametrize("api", sorted({case.api for case in CASES}))
def test_whatever_is_answered_gets_a_verdict_or_is_named_as_no_case(api):
    """A damaged answer is judged, and a damaged recording is refused when it is read: neither stops the replay."""
    lines = chain.from_iterable((HERE / file).read_text("utf-8").splitlines() for file in (*FILES, "blind.jsonl"))
    documents = [document for document in map(json.loads, lines) if document["api"] == api]
    rng = random.Random(api)
    for _ in range(examples(60).max_examples):
        try:
            case = Case.model_validate(damaged(rng.choice(documents), rng))
        except ValidationError:
            continue
        (replayed,) = replay([case])
        verdict = replayed.verdict
        assert verdict.complete == (len(verdict.reasons) == 0)
