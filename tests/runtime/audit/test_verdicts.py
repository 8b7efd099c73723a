"""What an OpenAPI document lets a caller prove: the verdict on each kind of sign, the refused case first."""

import copy

import pytest
from tests.support.openapi import CURSOR, EXACT, LIMIT, PAGE, PETS, audited, codes, document, judged, reply

from fullcount.runtime.audit.findings import Kind, Verdict
from fullcount.runtime.audit.report import merged

NULLABLE = {"type": "string", "nullable": True}
FLAG = {"type": "boolean"}

UNPROVABLE = {
    "a bare list": (PETS, ()),
    "a bare list with pages": (PETS, (PAGE, LIMIT)),
    "a list with a limit": (reply(), (LIMIT,)),
    "a list with offset and limit": (reply(), (PAGE, LIMIT)),
    "a cursor that is sent and never given": (reply(), (CURSOR,)),
    "the number of a page": (reply("count", count={"type": "integer"}), (PAGE,)),
    "an estimate": (reply("total", total={"type": "integer", "description": "An estimate."}), (PAGE,)),
}


@pytest.mark.requirement("R2")
@pytest.mark.parametrize("name", UNPROVABLE)
def test_without_a_sign_of_the_end_a_list_is_unprovable(name):
    """Neither sizes nor positions nor numbers end a list."""
    schema, parameters = UNPROVABLE[name]
    one = judged(schema, *parameters)
    assert one.verdict is Verdict.UNPROVABLE
    assert one.proofs == ()
    assert "COMPLETENESS_UNPROVABLE" in codes(one, deciding=True)


CONSTANT = {
    "a flag that can only be true": (reply("complete", complete={"type": "boolean", "enum": [True]}), ()),
    "a flag of one value in parts": (
        reply("complete", complete={"allOf": [{"type": "boolean"}, {"oneOf": [{"const": True}, {"enum": [True]}]}]}),
        (),
    ),
    "a cursor that is always empty": (
        reply("next_cursor", next_cursor={"type": "string", "const": "", "description": "Empty at the end."}),
        (CURSOR,),
    ),
    "`has_more` that is never true": (
        reply("has_more total", has_more={"type": "boolean", "const": False}, total=EXACT),
        (CURSOR,),
    ),
}


@pytest.mark.requirement("R2")
@pytest.mark.parametrize("name", CONSTANT)
def test_a_sign_that_can_not_be_otherwise_affirms_nothing(name):
    """What every reply says says nothing of the last one."""
    schema, parameters = CONSTANT[name]
    one = judged(schema, *parameters)
    assert one.verdict is Verdict.DEPENDS
    assert one.proofs == ()
    assert any("is the same in every reply" in found.says for found in one.deciding)


DEPENDS = {
    "a cursor that may be left out": (reply(next_cursor=NULLABLE), (CURSOR,)),
    "a cursor that is never null": (reply("next_cursor", next_cursor={"type": "string"}), (CURSOR,)),
    "a position that may be null": (reply("end_cursor", end_cursor=NULLABLE), (CURSOR,)),
    "a flag that may be left out": (reply(complete=FLAG), ()),
    "a flag that may be null": (reply("complete", complete={"type": "boolean", "nullable": True}), ()),
    "has_more alone": (reply("has_more", has_more=FLAG), (CURSOR,)),
    "has_more with a total of unknown worth": (
        reply("has_more total", has_more=FLAG, total={"type": "integer"}), (CURSOR,),
    ),
    "has_more with an exact total that may be left out": (reply("has_more", has_more=FLAG, total=EXACT), (CURSOR,)),
    "has_more with a number of exact matches": (
        reply("has_more total", has_more=FLAG, total={"type": "integer", "description": "Number of exact matches."}),
        (CURSOR,),
    ),
    "a next that no parameter takes and that is no address": (reply("next", next=NULLABLE), ()),
    "an exact total alone": (reply("total", total=EXACT), (CURSOR,)),
    "incomplete_results": (reply("incomplete_results", incomplete_results=FLAG), (CURSOR,)),
    "a cursor inside of what may be left out": (
        reply(meta={"type": "object", "required": ["next"], "properties": {"next": NULLABLE}}), (CURSOR,),
    ),
    "a cursor that is null when something failed": (
        reply("next_cursor", next_cursor={**NULLABLE, "description": "Null at the end, or if the search timed out."}),
        (CURSOR,),
    ),
    "a description that says what the end is not": (
        reply("next", next={"type": "string", "description": "An empty page does not mean the last page."}), (CURSOR,),
    ),
}  # fmt: skip


@pytest.mark.requirement("R2")
@pytest.mark.parametrize("name", DEPENDS)
def test_a_sign_that_may_be_left_out_or_mean_something_else_depends(name):
    """Its absence looks like the end; a dialect would have to declare it, and the finding says what."""
    schema, parameters = DEPENDS[name]
    one = judged(schema, *parameters)
    assert one.verdict is Verdict.DEPENDS
    assert one.proofs == ()
    assert all(each.declare != "" for each in one.deciding)


PROVABLE = {
    "a cursor that is null at the end": (reply("next_cursor", next_cursor=NULLABLE), (CURSOR,)),
    "a cursor described as empty at the end": (
        reply("next", next={"type": "string", "description": "Empty if there are no more pages."}), (CURSOR,),
    ),
    "an address that is null at the end": (
        reply("links", links={"type": "object", "required": ["next"], "properties": {"next": NULLABLE}}), (),
    ),
    "an address by its format": (reply("next", next={**NULLABLE, "format": "uri"}), ()),
    "a flag for the last page": (reply("isLast", isLast=FLAG), (CURSOR,)),
    "a flag and no pages": (reply("complete", complete=FLAG), ()),
    "has_more with an exact total": (reply("has_more total", has_more=FLAG, total=EXACT), (CURSOR,)),
}  # fmt: skip


@pytest.mark.requirement("R2")
@pytest.mark.parametrize("name", PROVABLE)
def test_a_sign_that_every_reply_carries_proves_the_end(name):
    """The proof is named, and what else is missing does not take it back."""
    schema, parameters = PROVABLE[name]
    one = judged(schema, *parameters)
    assert (one.verdict, len(one.proofs) > 0, one.deciding) == (Verdict.PROVABLE, True, ())
    assert {"PARTIAL_ERRORS", "VISIBILITY_RESTRICTED", "RATE_LIMITED"} <= codes(one)


@pytest.mark.parametrize(
    ("required", "says", "verdict"),
    [
        (False, "Has the next page.", Verdict.DEPENDS),
        (True, "Has the licence.", Verdict.DEPENDS),
        (True, "Has rel=next but on the last page.", Verdict.PROVABLE),
    ],
)
def test_a_link_header_proves_the_end_only_where_every_reply_has_it_for_that(required, says, verdict):
    """A header that was lost on the way looks like the last page; one for other relations says nothing of pages."""
    headers = {"Link": {"required": required, "description": says, "schema": {"type": "string"}}}
    assert judged(PETS, LIMIT, headers=headers).verdict is verdict


@pytest.mark.requirement("R13")
def test_pages_by_position_prove_nothing_whatever_end_they_have():
    """What is deleted on one page moves another item past it, unless a snapshot pins the pages."""
    schema = reply("last", last=FLAG)
    one = judged(schema, PAGE)
    assert (one.verdict, codes(one, deciding=True)) == (Verdict.DEPENDS, {"UNSTABLE_ORDER"})
    address = reply("next", next={"type": "string", "format": "uri", "nullable": True})
    assert codes(judged(address, PAGE), deciding=True) == {"UNSTABLE_ORDER"}
    assert judged(schema, PAGE, {"name": "token", "in": "query"}).verdict is Verdict.DEPENDS
    pinned = {"name": "snapshot_id", "in": "query", "schema": {"type": "string"}}
    assert judged(schema, PAGE, pinned).verdict is Verdict.PROVABLE


def test_a_page_that_is_a_text_takes_the_cursor_that_is_one():
    """A token is not a position, even where its parameter is called `page`; a number is."""
    schema = reply("next_page", next_page=NULLABLE)
    assert judged(schema, {**PAGE, "schema": {"type": "string"}}).verdict is Verdict.PROVABLE
    assert judged(schema, PAGE).verdict is Verdict.DEPENDS


def test_a_cursor_that_no_parameter_takes_is_no_way_on():
    """The first page could be told from the last one, and the rest never read."""
    one = judged(reply("next_cursor", next_cursor=NULLABLE))
    assert (one.verdict, codes(one, deciding=True)) == (Verdict.DEPENDS, {"MORE_PAGES_AVAILABLE"})


def test_a_limit_without_a_way_on_is_told():
    """Behind the highest `limit` lies what can't be asked for; so does what is behind `maxItems`."""
    capped = {**LIMIT, "schema": {"type": "integer", "maximum": 100}}
    assert "RESULT_LIMIT_REACHED" in codes(judged(reply(), capped), deciding=True)
    assert "RESULT_LIMIT_REACHED" in codes(judged({**PETS, "maxItems": 50}), deciding=True)
    assert "RESULT_LIMIT_REACHED" not in codes(judged(reply(next_cursor=NULLABLE), capped, CURSOR))


def test_an_api_that_disclaims_its_list_is_believed():
    """A flag does not outweigh the words that the list may not be whole."""
    items = {**PETS, "description": "At most what was found in time; may be incomplete."}
    assert judged(reply("complete", complete=FLAG, items=items)).verdict is Verdict.UNPROVABLE
    one = judged(reply("complete", complete=FLAG), description="Results may be incomplete under load.")
    assert one.verdict is Verdict.UNPROVABLE
    assert "may be incomplete" in one.deciding[0].says


@pytest.mark.parametrize("media", ["application/x-ndjson", "text/event-stream", "application/json-seq", "text/csv"])
def test_a_stream_that_was_cut_off_looks_like_one_that_ended(media):
    """A stream is never provable from its schema; a last record makes it one that depends."""
    one = judged({"type": "object", "properties": {"id": {"type": "string"}}}, media=media)
    assert (one.kind, one.verdict) == (Kind.STREAM, Verdict.UNPROVABLE)
    ended = {"oneOf": [{"properties": {"id": {"type": "string"}}}, {"properties": {"done": FLAG}}]}
    assert judged(ended, media=media).verdict is Verdict.DEPENDS


@pytest.mark.parametrize(
    ("schema", "verdict"),
    [
        ({"type": "integer"}, Verdict.UNPROVABLE),
        ({"type": "object", "properties": {"count": {"type": "integer"}}}, Verdict.UNPROVABLE),
        (
            {"type": "object", "required": ["count"], "properties": {"count": {"type": "integer"}, "timed_out": FLAG}},
            Verdict.DEPENDS,
        ),
        (
            {"type": "object", "required": ["complete"], "properties": {"n": {"type": "integer"}, "complete": FLAG,
             "count": {"type": "integer"}}},
            Verdict.PROVABLE,
        ),
        ({"type": "integer", "description": "The exact number of pets."}, Verdict.PROVABLE),
    ],
)  # fmt: skip
def test_a_number_over_many_must_say_that_it_counts_them_all(schema, verdict):
    """A count of what a shard had left is a count as well."""
    one = judged(schema, path="/pets/count")
    assert (one.kind, one.verdict) == (Kind.AGGREGATE, verdict)


def test_a_search_is_asked_for_its_index_and_its_time():
    """What a search does not say is told apart from what a list does not say."""
    one = judged(reply("complete", complete=FLAG), {"name": "q", "in": "query", "schema": {"type": "string"}})
    assert one.kind is Kind.SEARCH
    assert {"STALE_INDEX", "TIME_BUDGET_EXCEEDED", "SCOPE_NOT_COVERED"} <= codes(one)


def test_what_evidence_lacks_besides_the_end_is_named_by_its_code():
    """Each gap has a code of the one list, and is gone when the schema closes it."""
    status = {"name": "status", "in": "query", "schema": {"type": "string", "default": "active"}}
    items = {"type": "array", "items": {"type": "object", "properties": {"owner": {"type": "string"}}}}
    bare = {"type": "object", "properties": {"items": items, "next_cursor": NULLABLE}}
    lacking = {
        "MALFORMED_RESPONSE", "PARTIAL_ERRORS", "DEFAULT_SCOPE_APPLIED", "SCOPE_NOT_COVERED", "VISIBILITY_RESTRICTED",
        "RATE_LIMITED", "PARTIAL_FIELD_SET", "TOTAL_ABSENT", "NO_SNAPSHOT", "CURSOR_EXPIRED",
    }  # fmt: skip
    assert lacking <= codes(judged(bare, CURSOR, status))
    some = {"type": "string"}
    whole = reply(
        "next_cursor", next_cursor=NULLABLE, errors=some, scope=some, visibility=some, snapshot=some, total=EXACT
    )
    tree = document(whole, CURSOR, status)
    replies = tree["paths"]["/pets"]["get"]["responses"]
    replies["429"] = {"description": "slow down", "headers": {"Retry-After": {"schema": some}}}
    replies["410"] = {"description": "expired"}
    assert codes(audited(tree).judged[0]) <= {"DEFAULT_SCOPE_APPLIED", "TOTAL_ESTIMATED"}


@pytest.mark.parametrize("name", [*UNPROVABLE, *DEPENDS])
def test_what_is_to_be_added_is_enough(name):
    """With the parts that the findings name the same list is provable, but for pages by position."""
    schema, parameters = {**UNPROVABLE, **DEPENDS}[name]
    one = judged(schema, *parameters)
    adds = [each.add for each in one.findings if each.add is not None]
    envelope = {} if schema is PETS else copy.deepcopy(schema)
    parts = merged(each for each in adds if "properties" in each)
    for named in parts["properties"]:
        envelope.get("properties", {}).pop(named, None)
    mended = merged([parts, envelope])
    more = merged(each for each in adds if "parameters" in each)
    again = judged(mended, *parameters, *more.get("parameters", ()), *([] if CURSOR in parameters else [CURSOR]))
    assert again.verdict is Verdict.PROVABLE, again.deciding


# -- what counts as a list --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "path", "method"),
    [
        ({"type": "object", "properties": {"id": {"type": "string"}, "tags": PETS}}, "/pets/{id}", "get"),
        ({"type": "object", "properties": {"items": PETS}}, "/orders/{id}", "get"),
        ({"type": "object", "properties": {"name": {"type": "string"}}}, "/me", "get"),
        ({"type": "object", "properties": {"count": {"type": "integer"}}}, "/summary/{id}", "get"),
        (PETS, "/pets", "post"),
        (PETS, "/pets", "delete"),
        (PETS, "/pets", "put"),
    ],
)
def test_one_object_and_writes_are_no_lists(schema, path, method):
    """The list inside of one object, and what a write answers with, are not spoken of."""
    audit = audited(document(schema, LIMIT if method == "post" else {}, path=path, method=method))
    assert (audit.judged, audit.unjudged) == ((), ())


@pytest.mark.parametrize(
    ("schema", "at"),
    [
        (PETS, ""),
        ({"type": "object", "properties": {"data": PETS}}, "data"),
        ({"type": "object", "properties": {"value": PETS}}, "value"),
        ({"type": "object", "properties": {"pets": PETS}}, "pets"),
        ({"type": "object", "properties": {"edges": PETS, "page_info": {"type": "object"}}}, "edges"),
        ({"type": "object", "properties": {"data": {"type": "object", "properties": {"animals": PETS}},
                                           "total": {"type": "integer"}}}, "data/animals"),
        ({"type": "object", "properties": {"hits": {"type": "object", "properties": {"hits": PETS}}}}, "hits/hits"),
        ({"type": "object", "additionalProperties": {"type": "object", "properties": {"x": {}}}}, ""),
    ],
)  # fmt: skip
def test_lists_are_found_where_apis_put_them(schema, at):
    """At the root, under the usual names, under the name of the path, in an envelope, and as a map."""
    one = judged(schema)
    assert one.way is not None
    assert one.way.items == at


@pytest.mark.parametrize("method", ["post", "query"])
def test_a_search_by_post_is_a_list(method):
    """What asks by a body asks all the same; its body takes the cursor."""
    body = {"content": {"application/json": {"schema": {"properties": {"cursor": {"type": "string"}}}}}}
    schema = reply("next_cursor", next_cursor={"type": ["string", "null"]})
    one = judged(schema, path="/pets/search", method=method, version="3.2.0", requestBody=body)
    assert (one.kind, one.verdict) == (Kind.SEARCH, Verdict.PROVABLE)


@pytest.mark.requirement("R2")
def test_the_worst_reply_decides():
    """A caller can't choose which of the described replies it gets."""
    tree = document(reply("complete", complete=FLAG))
    tree["paths"]["/pets"]["get"]["responses"]["206"] = {"content": {"application/json": {"schema": reply()}}}
    (one,) = audited(tree).judged
    assert one.verdict is Verdict.UNPROVABLE
    assert "UNEXPECTED_STATUS" in codes(one)


def test_what_a_document_does_not_describe_is_named_and_never_passes():
    """A reply without a schema may be a list: it is not judged, and the document is not proven."""
    tree = document(reply("complete", complete=FLAG))
    tree["paths"]["/health"] = {"get": {"responses": {"200": {"description": "ok"}}}}
    tree["paths"]["/things"] = {"get": {"parameters": [LIMIT], "responses": {"200": {"description": "ok"}}}}
    audit = audited(tree)
    assert [each.path for each in audit.unjudged] == ["/health"]
    assert [(each.path, each.verdict.value) for each in audit.judged] == [
        ("/things", "unprovable"), ("/pets", "provable"),
    ]  # fmt: skip
    assert not audit.proven
