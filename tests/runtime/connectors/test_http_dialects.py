"""Dialects: checked data, whose particular rules are asked before the general ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.support.workspaces import PROJECT

from fullcount.compiler.values import FieldState
from fullcount.runtime.connectors.http import CONNECTOR, catalogue, conditions, exchange, fields, paths
from fullcount.runtime.connectors.http.config import HttpConfig
from fullcount.runtime.connectors.http.following import carries_cursor
from fullcount.runtime.connectors.http.forms import Check, When
from fullcount.runtime.connectors.http.page import read_page
from fullcount.runtime.connectors.http.said import Said
from fullcount.runtime.connectors.http.scan import operation_for
from fullcount.runtime.workspace.errors import SettingError

OWN = """\
title = "Ours"
extends = "generic_http"
items = "things"
end = [{ name = "last_page", when = { body = { last = true } } }]
[[error]]
when = { status = 200, body = { trouble = { present = true } } }
reason = "SOURCE_UNAVAILABLE"
"""


def settings(**changes):
    """Return a configuration with these changes."""
    resource = {"list": "/things", "key": ["id"], "fields": {"id": "text"}, **changes.pop("resource", {})}
    base = {"dialect": "generic_http", "base_url": "https://api.example.com", "resources": {"things": resource}}
    return HttpConfig.model_validate(base | changes)


@pytest.mark.parametrize(
    "wrong",
    [
        "itmes = 'x'",
        "[[error]]\nreason = 'NO_SUCH'",
        "extends = 'nothing'",
        "[[operation]]\nname = 'a'\nkind = 'x'",
        "a =",
    ],
)
def test_dialect_that_does_not_fit_its_form_is_refused(tmp_path, wrong):
    """A misspelt rule would protect nothing: it is found when the dialect is read."""
    path = tmp_path / "own.toml"
    path.write_text(wrong + "\n")
    with pytest.raises(SettingError, match="own"):
        catalogue.load_dialect(path)


def test_every_shipped_dialect_fits_its_form_and_says_where_its_facts_stand():
    """All of them load, under every name, with the address of their documentation."""
    dialects = set(catalogue.shipped().values())
    assert len(dialects) > 35
    for dialect in dialects:
        assert dialect.source.startswith("https://"), dialect.name
        assert dialect.operations[-1].name == "any"


def test_dialect_of_ones_own_adds_to_the_one_that_it_extends(tmp_path):
    """Its rules stand first; what it does not say is the other's."""
    path = tmp_path / "ours.toml"
    path.write_text(OWN)
    dialect = catalogue.load_dialect(path)
    (operation,) = dialect.operations
    general = catalogue.dialect_named("generic_http").operations[-1]
    assert operation.items == "things"
    assert operation.error[0].reason == "SOURCE_UNAVAILABLE"
    assert operation.error[1:] == general.error
    assert operation.cursor == general.cursor


def test_unknown_api_is_read_by_its_family_or_by_the_plain_dialect():
    """What is not known proves the least."""
    assert catalogue.dialect_for("aws_sqs").name == "aws"
    assert catalogue.dialect_for("gcp_pubsub").name == "google_aip217"
    assert catalogue.dialect_for("something").name == "generic_http"


def test_most_particular_operation_reads_a_request():
    """The first operation that fits, wherever the API is mounted."""
    github = catalogue.dialect_named("github_rest")
    for path, name in {
        "/search/issues?q=x": "search",
        "/api/v3/repos/o/r": "object",
        "/repos/o/r/contributors": "contributors",
        "/orgs/o/repos": "repositories",
    }.items():
        assert operation_for(github, exchange.Request.to(path)).name == name, path


def test_what_is_encoded_in_a_step_of_a_path_stands_for_itself():
    """A digest in a path fits as it is meant, and an encoded slash makes no further step."""
    assert conditions.on_path("/v2/app/manifests/sha256%3Aab", "/manifests/sha256:*")
    assert not conditions.on_path("/v2/app/manifests/sha256%3Aa%2Fb", "/manifests/sha256:*/b")


@pytest.mark.parametrize(
    ("path", "found"),
    [("a/b", [1]), ("a/*", [1, [2, 3]]), ("a/[]", [[2, 3]]), ("a/c/1", [3]), ("x", []), ("n", [None]), ("**/b", [1])],
)
def test_place_that_is_not_there_is_no_null(path, found):
    """A place gives every match, nulls among them, and none where there is nothing."""
    assert paths.find({"a": {"b": 1, "c": [2, 3]}, "n": None}, path) == found


@pytest.mark.parametrize(
    ("test", "values", "holds"),
    [
        ("0", [0], True),
        (True, ["true"], True),
        (1, [True], False),
        (0, [False], False),
        (Check(present=False), [None], False),
        (Check(empty=True), [], True),
        (Check(empty=True), [0], False),
        (Check(over=0), ["12"], True),
        (Check(over=0), ["x"], False),
        (Check(none_of=["a"]), [], True),
        (Check(matches="^a"), [5], False),
    ],
)
def test_value_that_is_written_as_text_is_the_same_and_zero_is_not_empty(test, values, holds):
    """Numbers and booleans as text are themselves; zero is a value, and true is not one."""
    assert conditions.holds(test, values) is holds


def test_condition_on_an_unknown_key_is_refused():
    """A condition with a misspelt part would always hold."""
    with pytest.raises(ValidationError):
        When.model_validate({"stauts": 200})


def test_link_header_is_read_by_its_relations():
    """Addresses may hold commas; one entry may have several relations."""
    header = '<https://a/?x=1,2>; rel="next", <https://b/>; rel="last first"'
    assert exchange.links(header) == {"next": "https://a/?x=1,2", "last": "https://b/", "first": "https://b/"}
    assert exchange.links("") == {}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dialect": "githb_rest"}, "did you mean"),
        ({"base_url": "http://api.example.com", "auth": {"bearer": {"env": "T"}}}, "others can read"),
        ({"base_url": "https://u:p@api.example.com"}, "no password"),
        ({"headers": {"Authorization": "x"}}, "secret"),
        ({"auth": {"bearer": {"env": "T"}, "basic": {"user": "u", "password": {"env": "T"}}}}, "exactly one"),
        ({"resource": {"key": ["no"]}}, "`key` names `no`"),
        ({"resource": {"list": "https://elsewhere/things"}}, "a path begins"),
        ({"resource": {"operations": {"drop": {"method": "DELETE", "path": "/t/{id}", "effect": "delete"}}}}, "`read`"),
        (
            {
                "resource": {
                    "read": "/t/{id}",
                    "operations": {"drop": {"method": "DELETE", "path": "/t", "effect": "delete"}},
                }
            },
            "does not say on which object",
        ),
        (
            {
                "resource": {
                    "read": "/t/{id}",
                    "version": "n",
                    "fields": {"id": "text", "n": "int"},
                    "operations": {
                        "drop": {
                            "method": "DELETE",
                            "path": "/t?version={$n}",
                            "effect": "delete",
                            "precondition": "in_request",
                        }
                    },
                }
            },
            "does not say on which object",
        ),
        (
            {
                "resource": {
                    "read": "/t/{id}",
                    "operations": {
                        "drop": {"method": "DELETE", "path": "/t/{id}", "effect": "delete", "precondition": "if_match"}
                    },
                }
            },
            "the resource has none",
        ),
    ],
)
def test_configuration_that_can_not_be_meant_is_refused(changes, words):
    """What would read or write something else than was meant is found before anything is contacted."""
    with pytest.raises(ValidationError) as refused:
        settings(**changes)
    assert words in str(refused.value)


def test_resources_are_declared_without_contacting_anything():
    """The compiler learns fields, key, operations and what the pages are worth."""
    resource = CONNECTOR.resources("api", settings())["things"]
    assert (resource.key, str(resource.consistency), str(resource.visibility)) == (("id",), "interval", "unknown")
    pinned = settings(dialect="kubernetes", resource={"list": "/api/v1/pods"})
    assert str(CONNECTOR.resources("api", pinned)["things"].consistency) == "pinned"


def test_reference_names_every_shipped_dialect():
    """What is shipped is listed where readers look for it."""
    page = (PROJECT / "docs/reference/http.md").read_text(encoding="utf-8")
    assert [name for name in catalogue.shipped() if f"`{name}`" not in page] == []


SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=2)
ITEMS = st.lists(
    st.dictionaries(st.sampled_from(["a", "b", "a.b"]), SCALARS | st.dictionaries(st.just("b"), SCALARS), max_size=3)
)


@pytest.mark.requirement("R7")
@given(ITEMS, st.sampled_from([None, "a", "a/b", "b/a", "a.b"]), st.sampled_from(["a", "b", "a.b"]))
def test_column_read_at_once_says_the_same_as_value_by_value(items, at, name):
    """The fast way and the careful way give the same values and the same states."""
    operation = catalogue.dialect_named("generic_http").operations[-1]
    asked = exchange.Exchange(exchange.Request.to("/things"), exchange.Reply(200))
    fast = fields.columns_of(operation, asked, Said(items=items), {name: fields.Place(at)})
    careful = Said(items=items, lost_fields={(-1, "none"): FieldState.FORBIDDEN})
    assert fast == fields.columns_of(operation, asked, careful, {name: fields.Place(at)})


def followed(dialect, target, reply, **given):
    """Return the request for the page after one with this body."""
    asked = exchange.Request.to(target, **given)
    operation = operation_for(catalogue.dialect_named(dialect), asked)
    said = read_page(operation, exchange.Exchange(asked, exchange.Reply(200, {}, reply)), 1)
    return said, said.following.request


def test_version_list_goes_on_behind_the_very_version_it_ended_at():
    """The key alone would pass over the other versions of it."""
    body = {"IsTruncated": True, "Versions": [{"Key": "a", "VersionId": "1"}]}
    said, following = followed("aws_s3", "/b?versions", {**body, "NextKeyMarker": "a", "NextVersionIdMarker": "1"})
    assert (following.asked("key-marker"), following.asked("version-id-marker")) == ("a", "1")
    assert said.end is None


def test_count_of_a_range_is_of_what_is_left_of_it():
    """etcd counts from the key that is asked for: with what came before it, the total is the same on every page."""
    body = {"header": {"revision": "8"}, "kvs": [{"key": "azE="}], "more": True, "count": "2"}
    said, _ = followed("etcd", "/v3/kv/range", body, method="POST", body={"key": "azAA", "revision": "8"})
    assert (said.total.value, said.total.exact) == (3, True)


def test_request_that_goes_on_is_known_by_what_it_carries():
    """A recorded or stored request is resumed by its cursor, never by a position or the first key of a range."""
    carrying = [("microsoft_graph", "/v1.0/users?$skiptoken=X"), ("stripe", "/v1/charges?starting_after=c")]
    plain = [("microsoft_graph", "/v1.0/users?$top=2"), ("scim", "/Users?startIndex=1"), ("stripe", "/v1/charges")]
    for expected, pairs in ((True, carrying), (False, plain)):
        for dialect, target in pairs:
            asked = exchange.Request.to(target)
            assert carries_cursor(operation_for(catalogue.dialect_named(dialect), asked), asked) is expected, target
