"""Records: fields under a name, brought into inventories."""

from __future__ import annotations

import pytest
from tests.support.compiling import FIELDS, compiled, with_rule, workflow

RECORD = f"record account {{ {FIELDS} }}\n"
PLAIN = with_rule("a.locked")


def with_fields(clause: str) -> str:
    return PLAIN.replace(f"fields {{ {FIELDS} }}", clause)


def found(text: str) -> list[tuple[str, str]]:
    result = compiled(text)
    return [(f.code, result.sources[f.span.source].slice(f.span)) for f in result.diagnostics]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (RECORD + with_fields("fields acount"), [("FC143", "acount")]),
        (RECORD + with_fields("fields { ...acount }"), [("FC143", "acount")]),
        (RECORD + with_fields("fields { ...account, team: text }"), [("FC101", "team")]),
        (RECORD + with_fields("fields { team: text, ...account }"), [("FC101", "...account")]),
        ("record a { id: text, id: text }\n" + PLAIN, [("FC101", "id")]),
        ("record a { ...b }\nrecord b { ...c }\nrecord c { ...a }\n" + PLAIN, [("FC147", "a")]),
        ("record a { ...a }\n" + PLAIN, [("FC147", "a")]),
        ("record a { ...nobody }\n" + PLAIN, [("FC143", "nobody")]),
        ("record a { id: string }\n" + PLAIN, [("FC214", "string")]),
        (RECORD.replace("team: text", "taem: text") + with_fields("fields account"), [("FC104", "account")]),
        (RECORD.replace("team: text", "team: string") + with_fields("fields account"), [("FC214", "string")]),
        (RECORD.replace("logins: int", "logins: text") + with_fields("fields account"), [("FC105", "account")]),
    ],
)
def test_record_that_does_not_fit_is_one_error_at_the_place_to_change(text: str, expected: list[tuple[str, str]]):
    """A mistake in a record is told there; what the source does not have is told at the inventory that asks for it."""
    assert found(text) == expected


def test_field_that_the_source_does_not_have_shows_where_the_record_declares_it():
    """The inventory is where it fails, the record is where it stands."""
    (finding,) = compiled(RECORD.replace("team: text", "taem: text") + with_fields("fields account")).diagnostics
    assert "taem" in finding.note
    assert "record `account`" in finding.labels[0].text


@pytest.mark.parametrize(
    "text",
    [
        RECORD + with_fields("fields account"),
        RECORD + with_fields("fields { ...account }"),
        RECORD.replace("team: text, ", "") + with_fields("fields { ...account, team: text }"),
        "record core { id: text, entry_uuid: text }\n"
        + RECORD.replace("id: text, entry_uuid: text", "...core")
        + with_fields("fields account"),
    ],
)
def test_inventory_with_a_record_reads_what_it_would_read_with_its_fields_written_out(text: str):
    """A record is a way of writing, and nothing of it is left in the program."""
    inventory, plain = workflow(text).inventories["accounts"], workflow(PLAIN).inventories["accounts"]
    assert dict(inventory.fields) == dict(plain.fields)
    assert workflow(RECORD + with_fields("fields account")) == workflow(PLAIN)
