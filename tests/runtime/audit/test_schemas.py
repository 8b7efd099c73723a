"""Schemas are read for what they promise in every case: references, compositions, versions."""

import pytest
from tests.support.openapi import CURSOR, PETS, audited, document, judged, reply

from fullcount.runtime.audit import schemas
from fullcount.runtime.audit.findings import Verdict
from fullcount.runtime.audit.schemas import Reader

NULLABLE = {"type": "string", "nullable": True}
END = reply("next_cursor", next_cursor=NULLABLE)
LOOSE = reply(next_cursor=NULLABLE)


@pytest.mark.parametrize(
    ("schema", "verdict"),
    [
        ({"oneOf": [END, reply()]}, Verdict.DEPENDS),
        ({"anyOf": [END, LOOSE]}, Verdict.DEPENDS),
        ({"oneOf": [END, {"$ref": "#/components/schemas/Gone"}]}, Verdict.DEPENDS),
        ({"oneOf": [END, {"$ref": "https://example.com/pets.json"}]}, Verdict.DEPENDS),
        ({"oneOf": [END, {**END, "title": "other"}]}, Verdict.PROVABLE),
        ({"allOf": [LOOSE, {"required": ["next_cursor"]}]}, Verdict.PROVABLE),
        ({"allOf": [reply(), {"required": ["next_cursor"], "properties": {"next_cursor": NULLABLE}}]},
         Verdict.PROVABLE),
        ({"allOf": [END, {"$ref": "https://example.com/pets.json"}]}, Verdict.PROVABLE),
        ({"allOf": [END, {"properties": {"next_cursor": {"type": "string"}}}]}, Verdict.DEPENDS),
    ],
)  # fmt: skip
def test_a_promise_holds_only_if_every_alternative_makes_it(schema, verdict):
    """`allOf` adds promises, `oneOf` and `anyOf` take away those that one of them lacks."""
    assert judged(schema, CURSOR).verdict is verdict


@pytest.mark.parametrize(
    ("version", "cursor", "verdict"),
    [
        ("3.0.3", {"type": "string", "nullable": True}, Verdict.PROVABLE),
        ("3.1.0", {"type": "string", "nullable": True}, Verdict.DEPENDS),
        ("3.1.0", {"type": ["string", "null"]}, Verdict.PROVABLE),
        ("3.1.0", {"anyOf": [{"type": "string"}, {"type": "null"}]}, Verdict.PROVABLE),
        ("3.2.0", {"oneOf": [{"type": "string"}, {"const": None}]}, Verdict.PROVABLE),
        ("3.0.3", {"allOf": [{"$ref": "#/components/schemas/C"}], "nullable": True}, Verdict.PROVABLE),
    ],
)
def test_null_is_read_as_the_documents_version_writes_it(version, cursor, verdict):
    """`nullable` is a word of 3.0; later it says nothing."""
    tree = document(reply("next_cursor", next_cursor=cursor), CURSOR, version=version)
    tree["components"] = {"schemas": {"C": {"type": "string"}}}
    assert audited(tree).judged[0].verdict is verdict


@pytest.mark.parametrize(("version", "verdict"), [("3.0.3", Verdict.DEPENDS), ("3.1.0", Verdict.PROVABLE)])
def test_what_stands_beside_a_reference_counts_from_3_1_on(version, verdict):
    """Before, readers ignore it, so that it promises nothing."""
    schema = {"$ref": "#/components/schemas/Page", "required": ["complete"]}
    tree = document(schema, version=version)
    tree["components"] = {"schemas": {"Page": reply(complete={"type": "boolean"})}}
    assert audited(tree).judged[0].verdict is verdict


def test_swagger_2_is_read_by_its_own_rules():
    """`schema` stands in the reply, a parameter says its type itself, and null is an extension."""
    ok = {"description": "ok", "schema": {"$ref": "#/definitions/Page"}}
    get = {"parameters": [{"name": "limit", "in": "query", "type": "integer", "maximum": 10}], "responses": {"200": ok}}
    tree = {
        "swagger": "2.0",
        "paths": {"/pets": {"get": get}},
        "definitions": {"Page": reply("next_url", next_url={"type": "string", "x-nullable": True})},
    }
    (one,) = audited(tree).judged
    assert one.verdict is Verdict.PROVABLE
    tree["definitions"]["Page"] = reply()
    (one,) = audited(tree).judged
    assert {str(each.code) for each in one.deciding} == {"COMPLETENESS_UNPROVABLE", "RESULT_LIMIT_REACHED"}


@pytest.mark.parametrize(
    "parts",
    [
        {"A": {"$ref": "#/components/schemas/A"}},
        {"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}},
        {"A": {"allOf": [{"$ref": "#/components/schemas/A"}]}},
        {"A": {"oneOf": [{"$ref": "#/components/schemas/A"}, {"$ref": "#/components/schemas/A"}]}},
        {f"{'A' if n == 0 else f'A{n}'}": {"allOf": [{"$ref": f"#/components/schemas/A{n + 1}"}] * 2}
         for n in range(60)},
        {f"{'A' if n == 0 else f'A{n}'}": {"$ref": f"#/components/schemas/A{n + 1}"} for n in range(5000)},
    ],
)  # fmt: skip
def test_a_schema_that_is_made_of_itself_ends_the_reading_and_proves_nothing(parts):
    """Circles, towers and doublings are named as unread; the operation is not judged, and the audit not proven."""
    tree = document({"$ref": "#/components/schemas/A"})
    tree["components"] = {"schemas": parts}
    audit = audited(tree)
    assert (audit.judged, len(audit.unjudged), audit.proven) == ((), 1, False)


def test_many_large_schemas_share_one_budget(monkeypatch):
    """A document whose every operation is as large as can be read comes to an end, and what was not read is named."""
    monkeypatch.setattr(schemas, "BUDGET", 100)
    monkeypatch.setattr(schemas, "WHOLE", 500)
    tower = {"allOf": [reply("complete", complete={"type": "boolean"}), *[{"title": "x"}] * 60]}
    tree = document(tower)
    tree["paths"] = {f"/pets{n}": tree["paths"]["/pets"] for n in range(20)}
    audit = audited(tree)
    assert {str(each.verdict) for each in audit.judged} == {"provable"}
    assert (len(audit.judged) + len(audit.unjudged), 3 < len(audit.judged) < 10, audit.proven) == (20, True, False)


def test_items_may_hold_items_of_their_own_kind():
    """A tree of objects is no circle: only what is made of itself is."""
    tree = document(reply("complete", complete={"type": "boolean"}, items={"$ref": "#/components/schemas/Nodes"}))
    node = {"type": "object", "properties": {"children": {"$ref": "#/components/schemas/Nodes"}}}
    tree["components"] = {"schemas": {"Nodes": {"type": "array", "items": node}}}
    assert audited(tree).proven


def test_references_out_of_the_document_are_named_and_not_followed():
    """Files and addresses alike; what they hold is not guessed at."""
    tree = document({"$ref": "common.yaml#/Page"})
    tree["paths"]["/others"] = {"$ref": "https://example.com/others.json"}
    audit = audited(tree)
    assert audit.remote == ("common.yaml#/Page", "https://example.com/others.json")
    assert "leads out of the document" in audit.unjudged[0].why


def test_pointers_are_read_with_their_escapes():
    """`~1`, `~0` and percent signs name what they stand for; a path into nothing leads to nothing."""
    document_ = {"a/b": {"c~d": {"e f": [{"x": 1}]}}}
    reader = Reader(document_, "3.1.0")
    assert reader.target({"$ref": "#/a~1b/c~0d/e%20f/0"}) == ({"x": 1}, "")
    for ref in ("#/a", "#/a~1b/c~0d/e%20f/1", "#/a~1b/c~0d/e%20f/x", "#name"):
        assert reader.target({"$ref": ref})[0] is None


def test_what_is_only_written_is_no_part_of_a_reply():
    """A property that stands in requests alone affirms nothing."""
    schema = reply("complete", complete={"type": "boolean", "writeOnly": True}, items=PETS)
    assert judged(schema).verdict is not Verdict.PROVABLE
