"""Whatever the bytes are: a document that means one thing, or a clear error with a code."""

import builtins
import json

import pytest
from tests.support.openapi import document, reply

from fullcount.runtime.audit import documents
from fullcount.runtime.audit.auditing import audit_bytes
from fullcount.runtime.audit.documents import AuditError, read_document

BOMB = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
)


@pytest.mark.parametrize(
    ("data", "name", "says"),
    [
        (b"", "x.yaml", "is empty"),
        (b"  \n", "x.json", "is empty"),
        (b"\xff\xfe\x00", "x.json", "is not UTF-8"),
        (b"PK\x03\x04\0\0", "x.zip", "zero byte"),
        (b"{", "x.json", "line 1, column 2"),
        (b'{"a": 1, "a": 2}', "x.json", "the key `a` twice"),
        (b'{"a": NaN}', "x.json", "`NaN`, which is no number"),
        (b'{"a": -Infinity}', "x.json", "`-Infinity`"),
        (b'{"a": 1e999}', "x.json", "no finite number"),
        (b'{"a": ' + b"1" * 5000 + b"}", "x.json", "too long"),
        (b"[" * 300 + b"]" * 300, "x.json", "nested more than"),
        (b"[" * 200_000 + b"]" * 200_000, "x.json", "nested more than"),
        (b"a: [", "x.yaml", "is no YAML: did not find expected node content, line 2, column 1"),
        (b"a: 1\na: 2\n", "x.yaml", "line 2: the key `a` comes twice"),
        (b"a: .nan\n", "x.yaml", "no finite number"),
        (b"a: 1e999\n", "x.yaml", "no finite number"),
        (b"a: &a [*a]\n", "x.yaml", "inside of what it names"),
        (b"a: *nobody\n", "x.yaml", "names nothing"),
        (b"a: !!python/object/apply:os.system [ls]\n", "x.yaml", "the tag"),
        (b"a: !include other.yaml\n", "x.yaml", "the tag"),
        (b"[a]: 1\n", "x.yaml", "a key that is no text"),
        (b"{{x}}\n", "x.yaml", "is no"),
        (b"a: 1\n--- \nb: 2\n", "x.yaml", "2 documents"),
        (b"<<: [1]\n", "x.yaml", "takes in what is no mapping"),
        (b"a: \x01\n", "x.yaml", "does not allow"),
        (b"- " * 300 + b"x", "x.yaml", "nested more than"),
        (BOMB.encode(), "x.yaml", "aliases counted as often"),
    ],
)
def test_bytes_that_are_no_document_are_refused_with_their_place(data, name, says):
    """The code is FC676, the message says what was found, and nothing is guessed."""
    with pytest.raises(AuditError) as caught:
        read_document(data, name)
    assert (caught.value.code, says in caught.value.message) == ("FC676", True), caught.value.message


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"[]", "a list where"),
        (b"just a text\n", "a text where"),
        (b"{}", "neither `openapi` nor `swagger`"),
        (b'{"asyncapi": "3.0.0"}', "neither `openapi` nor `swagger`"),
        (b'{"openapi": "4.0.0", "paths": {}}', "`4.0.0`"),
        (b'{"openapi": {}, "paths": {}}', "says it is in version"),
        (b'{"swagger": "1.2", "paths": {}}', "`1.2`"),
        (b'{"openapi": "3.1.0"}', "describes no operation"),
        (b'{"openapi": "3.1.0", "paths": {"/a": {"summary": "x"}}}', "describes no operation"),
        (b'{"openapi": "3.1.0", "paths": [1]}', "describes no operation"),
    ],
)
def test_documents_that_are_none_of_openapi_are_refused(data, says):
    """An audit of nothing would end well; the code is FC677."""
    with pytest.raises(AuditError) as caught:
        audit_bytes(data, "x.yaml")
    assert (caught.value.code, says in caught.value.message) == ("FC677", True), caught.value.message


def test_yaml_without_its_library_says_what_to_install(monkeypatch):
    """The code is FC678; JSON needs nothing."""
    real = builtins.__import__

    def without(name, *rest):
        if name == "yaml":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(AuditError) as caught:
        read_document(b"a: 1\n", "x.yaml")
    assert (caught.value.code, "fullcount[openapi]" in caught.value.help) == ("FC678", True)
    assert read_document(b'{"a": 1}', "x.json") == {"a": 1}


def test_a_file_that_is_too_large_is_not_read(monkeypatch):
    """The limit is told, and nothing of the file is judged."""
    monkeypatch.setattr(documents, "SIZE", 10)
    with pytest.raises(AuditError, match="more than the 10"):
        read_document(b'{"openapi": "3.0.0"}', "x.json")


def test_yaml_is_read_by_the_core_schema_of_yaml_1_2():
    """`no` and `on` are texts, keys are what stands there, and aliases and merges mean what they name."""
    text = b"""\
on: yes
200: 010
null: ~
text: "1"
tagged: !!str 1
numbers: [1, -2.5, 1e3, 0x1f]
truth: [true, False]
empty:
base: &base {a: 1, b: 2}
more: {<<: *base, b: 3}
again: *base
"""
    assert read_document(text, "x.yaml") == {
        "on": "yes", "200": 10, "null": None, "text": "1", "tagged": "1", "numbers": [1, -2.5, 1000.0, 31],
        "truth": [True, False], "empty": None, "base": {"a": 1, "b": 2}, "more": {"a": 1, "b": 3},
        "again": {"a": 1, "b": 2},
    }  # fmt: skip


def test_json_and_yaml_say_the_same():
    """One document in both forms has one audit."""
    import yaml

    tree = document(reply("complete", complete={"type": "boolean"}))
    one = audit_bytes(json.dumps(tree).encode(), "x.json")
    assert (
        one
        == audit_bytes(yaml.safe_dump(tree).encode(), "x.yaml")
        == audit_bytes(b"\xef\xbb\xbf" + json.dumps(tree).encode(), "x")
    )
    assert one.proven
