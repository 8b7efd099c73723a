"""Texts that mean something (addresses, versions, JSON) and samples: one answer from Python and from DuckDB."""

from __future__ import annotations

import hashlib
import ipaddress
from decimal import Decimal
from fractions import Fraction
from itertools import count
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.lowered import UNREAD, const, field, truth_of, value_of
from tests.support.profiles import examples

from fullcount.compiler import ir
from fullcount.compiler.functions import FUNCTIONS
from fullcount.compiler.lower import json_text, networks, sampling, versions
from fullcount.compiler.types import BOOL, INT, PERCENT, TEXT
from fullcount.compiler.values import Cell, FieldState

SUBJECT = field("a", "subject", TEXT)


@pytest.fixture(scope="module")
def database():
    with duckdb.connect(config={"threads": 1}) as connection:
        yield connection


def by_sql(database: duckdb.DuckDBPyConnection, sql, *columns: list[str]) -> list[object]:
    """Evaluate an expression over columns `a`, `b` of texts; `sql` is given these and fresh names."""
    names = count()
    unnested = ", ".join(f"unnest(?::VARCHAR[]) AS {name}" for name, _ in zip("ab", columns, strict=False))
    expression = sql(*(f"t.{name}" for name, _ in zip("ab", columns, strict=False)), lambda: f"v{next(names)}")
    return [row[0] for row in database.execute(f"SELECT {expression} FROM (SELECT {unnested}) t", columns).fetchall()]


# ---------------------------------------------------------------------------------------------- networks

NETWORKS = (
    "10.0.0.0/8",
    "0.0.0.0/0",
    "192.168.1.1/32",
    "128.0.0.0/1",
    "::/0",
    "2001:db8::/32",
    "::ffff:0:0/96",
    "::1/128",
)
ODD = (
    "", " 10.0.0.1", "10.0.0.1\n", "10.0.0", "10.0.0.256", "010.0.0.1", "10.0.0.1/33", "10.0.0.1/", "10.0.0.1/08",
    ":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "::1.2.3", "1.2.3.4::", "fe80::1%eth0",
    "::/129",     "１０.0.0.1", "10.0.0.1\0", "0x0a.0.0.1", "167772161",
)  # fmt: skip


def reference(network: str, text: str) -> bool | None:
    """What the standard library says; it also reads zones and prefixes as masks, which are no part of the function."""
    _, _, prefix = text.partition("/")
    try:
        read = ipaddress.ip_interface(text)
    except ValueError:
        return None
    if "%" in text or ("/" in text and str(int(prefix) if prefix.isdecimal() else -1) != prefix):
        return None
    named = ipaddress.ip_network(network)
    if read.version != named.version:
        return False
    return read.ip in named and read.network.prefixlen >= named.prefixlen


@st.composite
def addresses(draw: st.DrawFn) -> str:
    """Addresses and networks in every spelling, and texts that nearly are."""
    kind = draw(st.integers(0, 4))
    if kind == 0:
        text = str(draw(st.ip_addresses(v=4)))
    elif kind == 1:
        address = draw(st.ip_addresses(v=6))
        text = draw(st.sampled_from((address.compressed, address.exploded, address.compressed.upper())))
    elif kind == 2:
        text = draw(st.sampled_from(("::ffff:", "::", "1:2:3:4:5:6:", "64:ff9b::"))) + str(draw(st.ip_addresses(v=4)))
    elif kind == 3:
        text = "".join(
            draw(st.lists(st.sampled_from(["1", "ab", ":", "::", ".", "0", "/", "255", "256"]), max_size=12))
        )
    else:
        return draw(st.sampled_from(ODD))
    return text + draw(st.sampled_from(("", "", "/0", "/8", "/24", "/32", "/64", "/128", "/129")))


@given(st.lists(addresses(), min_size=1, max_size=30))
@examples(300)
def test_cidr_contains_agrees_with_the_standard_library_and_with_sql(database, texts: list[str]):
    """Three readers of addresses give one answer, for whatever looks like one."""
    for name in NETWORKS:
        named = networks.network(name)
        assert named is not None
        expected = [reference(name, text) for text in texts]
        assert [networks.contains(named)(text) for text in texts] == expected
        assert by_sql(database, lambda a, fresh, n=named: networks.contains_sql(n, a, fresh), texts) == expected


@pytest.mark.parametrize("text", ODD)
def test_text_that_is_no_address_is_not_known_to_lie_anywhere(text: str):
    """Neither inside nor outside; also under `not`."""
    call = ir.Call("cidr_contains", (const("0.0.0.0/0", TEXT), SUBJECT), BOOL)
    assert truth_of(call, {"subject": text}) is None
    assert truth_of(ir.Not(call), {"subject": text}) is None


@pytest.mark.parametrize(
    "text", ["10.0.0.1", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "2001:db8::1/32", "x/8", "", "0.0.0.0", "::/129"]
)
def test_text_without_prefix_or_with_bits_behind_it_is_no_network(text: str):
    """A slip in a network selects other addresses than were meant."""
    assert networks.network(text) is None


def test_network_lies_in_a_network_as_a_whole_or_not_at_all():
    """A wider one overlaps, and is not contained."""
    inside = networks.contains(networks.network("10.0.0.0/8"))
    assert [inside(text) for text in ("10.0.0.0/8", "10.1.0.0/16", "0.0.0.0/0", "10.0.0.0/7")] == [
        True,
        True,
        False,
        False,
    ]


# ---------------------------------------------------------------------------------------------- versions

IN_ORDER = (
    "0.0.0-0", "0.0.0", "1.0.0-0", "1.0.0-9", "1.0.0-10", "1.0.0-99999999999999999999", "1.0.0--", "1.0.0-1a",
    "1.0.0-A", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11",
    "1.0.0-rc.1", "1.0.0", "1.9.9", "1.10.0", "2.0.0", "99999999999999999999.0.0", "100000000000000000000.0.0",
)  # fmt: skip
NO_VERSIONS = (
    "", "1", "1.0", "1.0.0.0", "01.0.0", "1.0.0-", "1.0.0-01", "1.0.0+", "1.0.0-a..b", "vv1.0.0", " 1.0.0", "1.0.0\n",
    "1.0.0-é", "1.0.0-a+b+c", "latest", "１.0.0",
)  # fmt: skip


def test_versions_are_ordered_as_the_specification_says(database):
    """By number, not by text; a pre-release before its release; more identifiers behind fewer."""
    pairs = [(a, b, (i > j) - (i < j)) for i, a in enumerate(IN_ORDER) for j, b in enumerate(IN_ORDER)]
    left, right, expected = ([pair[k] for pair in pairs] for k in range(3))
    assert [versions.compare(a, b) for a, b in zip(left, right, strict=True)] == expected
    assert by_sql(database, versions.compare_sql, left, right) == expected


@pytest.mark.parametrize("text", NO_VERSIONS)
def test_text_that_is_no_version_is_not_known_to_be_before_or_behind_one(text: str):
    """Neither on the left nor on the right."""
    for arguments in ((SUBJECT, const("1.0.0", TEXT)), (const("1.0.0", TEXT), SUBJECT)):
        call = ir.Call("semver_compare", arguments, INT)
        for operator in ("<", ">=", "!="):
            assert truth_of(ir.Compare(operator, call, const(0, INT)), {"subject": text}) is None


def test_build_metadata_and_a_leading_v_take_no_part_in_the_order():
    """As tags and the specification have it."""
    assert versions.compare("v1.0.0+a", "1.0.0+b") == 0
    assert versions.compare("v1.0.0-rc.1", "1.0.0-rc.1") == 0


@given(st.lists(st.text(st.sampled_from("v019.-+aZ"), max_size=14), min_size=1, max_size=20))
@examples(300)
def test_versions_are_read_alike_by_both(database, texts: list[str]):
    """Also where nearly none of them is one."""
    others = [*texts[1:], "1.0.0-9.a"]
    expected = [versions.compare(a, b) for a, b in zip(texts, others, strict=True)]
    assert by_sql(database, versions.compare_sql, texts, others) == expected


# ---------------------------------------------------------------------------------------------- JSON


def read(path: str, text: object) -> str:
    """What both lowerings find: `absent`, `unknown`, or the value."""
    call = ir.Call("json", (SUBJECT, const(path, TEXT)), TEXT)
    row = {"subject": text}
    absent = truth_of(ir.IsState(call, "absent"), row)
    if absent is not False:
        return "unknown" if absent is None else "absent"
    found = json_text.found(path)(str(text)).value
    assert value_of(call, const(found, TEXT), row) is True
    return f"={found}"


@pytest.mark.requirement("R7")
@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        # not JSON, or no one text for what is there
        ("$.a", None, "unknown"),
        ("$.a", UNREAD, "unknown"),
        ("$.a", Cell(FieldState.TRUNCATED, None), "unknown"),
        ("$.a", "", "unknown"),
        ("$.a", "{", "unknown"),
        ("$.a", '{"a":"x"', "unknown"),
        ("$.a", '{"a":"x"} x', "unknown"),
        ("$.a", "{'a':'x'}", "unknown"),
        ("$.a", '{"a":1,"a":2}', "unknown"),
        ("$.a", '{"a":1,"\\u0061":2}', "unknown"),
        ("$.a.b", '{"a":{"b":1,"b":2}}', "unknown"),
        ("$.a", '{"a":{}}', "unknown"),
        ("$.a", '{"a":[]}', "unknown"),
        ("$.a", '{"a":1.5}', "unknown"),
        ("$.a", '{"a":1e3}', "unknown"),
        ("$.a", '{"a":123456789012345678901}', "unknown"),
        ("$.a", '{"a":"\\ud800"}', "unknown"),
        # JSON that positively holds nothing there
        ("$.a", "{}", "absent"),
        ("$.a", "null", "absent"),
        ("$.a", '{"a":null}', "absent"),
        ("$.a", '{"A":"x"}', "absent"),
        ("$.a.b", '{"a":"x"}', "absent"),
        ("$[1]", '["x"]', "absent"),
        ("$[0]", '{"0":"x"}', "absent"),
        ("$.a", '["a"]', "absent"),
        # a value
        ("$.a", '{"a":""}', "="),
        ("$.a", '{"a":"x"}', "=x"),
        ("$.a", ' { "a" : -5 } ', "=-5"),
        ("$.a", '{"a":18446744073709551615}', "=18446744073709551615"),
        ("$.a", '{"a":true,"b":1,"b":2}', "=true"),
        ("$.a", '{"a":"q\\"\\u0000\\u00e9"}', '=q"\0é'),
        ('$["a b"][1]["*"]', '{"a b":[0,{"*":"deep"}]}', "=deep"),
        ('$["é"]', '{"é":"x"}', "=x"),
        ("$[0].a-b", '[{"a-b":"x"}]', "=x"),
    ],
)
def test_json_gives_a_value_or_says_why_there_is_none(path: str, text: object, expected: str):
    """What can't be read is unknown, what is positively not there is absent, and nothing is rounded."""
    assert read(path, text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "$", "a", "$a", "$.", "$..a", "$.*", "$[*]", "$[-1]", "$[01]", '$["', '$[""]', '$["a\\"b"]', "$.a b", "$[a]"],
)  # fmt: skip
def test_text_that_is_no_path_is_refused(text: str):
    """No wildcards, no indices from the end: a path leads to one place."""
    assert not json_text.is_path(text)


@given(st.lists(st.text(st.sampled_from('{}[]",:\\u0 ab1.-\0é'), max_size=20), min_size=1, max_size=20))
@examples(100)
def test_any_text_is_read_as_json_without_an_error(database, texts: list[str]):
    """The statement never fails on data, and agrees with the question for one text."""
    for path in ("$.a", "$[0].b"):
        found = by_sql(database, lambda a, fresh, p=path: json_text.found_sql(p, a, fresh), texts)
        one = [json_text.found(path)(text) for text in texts]
        assert [None if f is None else (f["absent"], f["value"]) for f in found] == [
            None if cell.state is FieldState.INDETERMINATE else (cell.state is FieldState.ABSENT, cell.value)
            for cell in one
        ]


# ---------------------------------------------------------------------------------------------- samples


@pytest.mark.parametrize("percent", ["0", "100", "-1", "100.1"])
def test_sample_of_nothing_or_of_everything_is_refused(percent: str):
    """It would be the same for every object."""
    with pytest.raises(ValueError, match="not a part"):
        sampling.border(Decimal(percent))


def test_sample_is_what_its_documentation_says():
    """SHA-256 of the UTF-8 bytes, as a number, below the percentage of 2^256."""
    for percent in ("0.1", "10", "33.3", "99.9"):
        test = sampling.sampled(sampling.border(Decimal(percent)))
        for text in ("", "a", "é😀", *map(str, range(200))):
            number = int.from_bytes(hashlib.sha256(text.encode()).digest())
            assert test(text) == (number < int(Fraction(percent) * 2**256 / 100))


def test_sample_holds_about_its_part_and_a_smaller_one_lies_within_it():
    """Raising the percentage adds objects and takes none away."""
    texts = [f"vol-{n}" for n in range(20_000)]
    ten, twenty = (
        {text for text in texts if sampling.sampled(sampling.border(Decimal(p)))(text)} for p in ("10", "20")
    )
    assert ten < twenty
    assert 0.09 < len(ten) / len(texts) < 0.11


@pytest.mark.parametrize("subject", ["", "a", "a\0b", "é😀", *map(str, range(30))])
def test_sample_is_the_same_in_both(subject: str):
    """Whatever the text holds; an unknown one is in no sample and out of none."""
    call = ir.Call("sample", (SUBJECT, ir.Const(Decimal("50"), PERCENT)), BOOL)
    assert truth_of(call, {"subject": subject}) in {True, False}
    assert truth_of(call, {"subject": None}) is None


def test_functions_are_documented_with_their_names():
    """Each function of the language stands in the reference."""
    text = (Path(__file__).parents[3] / "docs" / "reference" / "functions.md").read_text("utf-8")
    assert [name for name in FUNCTIONS if f"`{name}(" not in text] == []
