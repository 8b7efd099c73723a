"""The audit of any document ends in a verdict or in its own error, and no promise taken away makes a list provable."""

import copy
import json

from hypothesis import given
from hypothesis import strategies as st
from tests.support.openapi import document
from tests.support.profiles import examples

from fullcount.runtime.audit import words
from fullcount.runtime.audit.auditing import audit, audit_bytes
from fullcount.runtime.audit.data import to_data
from fullcount.runtime.audit.documents import AuditError
from fullcount.runtime.audit.findings import Verdict
from fullcount.runtime.audit.report import report, report_one

NAMES = """\
openapi swagger info paths /pets /pets/{id} get post query parameters name in schema responses 200 2XX default content
application/json text/csv headers link type properties required items allOf oneOf anyOf $ref nullable description total
additionalProperties itemSchema maximum maxItems operationId next_cursor has_more data components schemas A definitions
produces requestBody x-nullable const writeOnly additionalOperations"""
KEYS = st.sampled_from(NAMES.split())
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        ["array", "object", "#/components/schemas/A", "#", "#/paths", "3.1.0", "3.0.3", "2.0", "null", "x"]
    ),
    st.text(max_size=5),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.one_of(KEYS, st.text(max_size=4)), inner)),
    max_leaves=25,
)


def finished(tree):
    """Audit a tree and make every form of its report."""
    try:
        found = audit(tree, "x.json")
    except AuditError:
        return None
    json.dumps(to_data(found, "x.json"))
    text = "\n".join([report(found, "x.json"), *(report_one(each) for each in found.judged)])
    assert text.replace("\n", "").isprintable()
    return found


@examples(100)
@given(VALUES, VALUES, st.sampled_from(["3.0.3", "3.1.0", "3.2.0"]))
def test_any_value_is_audited_or_refused_by_the_tools_own_error(anywhere, schema, version):
    """As the whole document, as a schema, as an operation, as a component: never a crash, never without end."""
    finished(anywhere)
    finished({"openapi": version, "paths": anywhere})
    finished({"openapi": version, "paths": {"/pets": {"get": anywhere}}})
    tree = document(schema, version=version)
    tree["components"] = {"schemas": {"A": schema}}
    finished(tree)
    tree["paths"]["/pets"]["get"]["parameters"] = [anywhere, {"name": anywhere, "schema": schema}]
    tree["paths"]["/pets"]["get"]["responses"]["404"] = anywhere
    finished(tree)


@examples(250)
@given(
    st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)), st.sampled_from(["x.json", "x.yaml", "x"])
)
def test_any_bytes_are_refused_or_read(data, name):
    """Whatever stands in the file."""
    try:
        audit_bytes(data, name)
    except AuditError as error:
        code = error.code
    else:
        code = "FC677"
    assert code in {"FC676", "FC677"}


SIGNS = st.fixed_dictionaries(
    {},
    optional={
        "next_cursor": st.sampled_from([{"type": "string"}, {"type": ["string", "null"]}, {"description": "Empty at the"
                                        " end of the list."}]),
        "complete": st.just({"type": "boolean"}),
        "has_more": st.just({"type": "boolean"}),
        "total": st.sampled_from([{"type": "integer"}, {"type": "integer", "description": "It is exact."}]),
        "incomplete_results": st.just({"type": "boolean"}),
    },
)  # fmt: skip
PARAMETERS = st.lists(st.sampled_from(["cursor", "page", "limit", "snapshot_id", "status"]), unique=True)


@examples(250)
@given(SIGNS, st.data(), PARAMETERS)
def test_no_promise_that_is_taken_away_makes_a_list_provable(signs, data, names):
    """Making a property optional, or adding an alternative without it, never raises the verdict (R2)."""
    items = {"type": "array", "items": {"type": "object"}}
    required = ["items", *data.draw(st.lists(st.sampled_from(sorted(signs)), unique=True) if signs else st.just([]))]
    schema = {"type": "object", "required": required, "properties": {"items": items, **signs}}
    kinds = {"page": "integer", "limit": "integer"}
    parameters = [{"name": name, "in": "query", "schema": {"type": kinds.get(name, "string")}} for name in names]

    def verdict(one):
        (found,) = audit(document(one, *parameters, version="3.1.0"), "x.json").judged
        return found.verdict

    before = verdict(schema)
    loose = copy.deepcopy(schema)
    loose["required"].remove(data.draw(st.sampled_from(required)))
    bare = {"type": "object", "required": ["items"], "properties": {"items": items}}
    assert verdict(loose).rank <= before.rank
    assert verdict({"oneOf": [schema, bare]}) is not Verdict.PROVABLE
    assert verdict({"oneOf": [schema, {"$ref": "other.json"}]}) is not Verdict.PROVABLE
    if before is Verdict.PROVABLE:
        assert {"complete", "next_cursor", "has_more"} & set(required)
        assert "page" not in names or {"cursor", "snapshot_id"} & set(names)


def test_the_families_of_names_are_as_names_are_compared():
    """A name that is not in small letters and digits alone would never be found."""
    families = {name: each for name, each in vars(words).items() if isinstance(each, frozenset)}
    assert len(families) > 20
    assert [name for each in families.values() for name in each if name != words.plain_name(name)] == []
    assert words.COMPLETE.isdisjoint(words.MORE | words.CUT_SHORT)
