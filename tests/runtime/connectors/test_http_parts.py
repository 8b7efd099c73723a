"""HTTP sources that are split: every part read with its own paging, each object acted on in its own, or none at all."""

import pytest
from pydantic import ValidationError
from tests.support.http_api import Answer
from tests.support.http_parts import Regions, read_parts
from tests.support.reading_http import things

from fullcount.compiler.values import present
from fullcount.runtime.connectors.base import ActCall, Existence, Outcome, SourceError
from fullcount.runtime.connectors.http import CONNECTOR
from fullcount.runtime.connectors.http.config import HttpConfig
from fullcount.runtime.evidence.codes import Reason

pytestmark = pytest.mark.requirement("R18")

PARTS = [{"region": "eu"}, {"region": "us"}]
FIELDS = {"region": "text", "id": "text", "owner": "text?", "n": "int"}
WAYS = {
    "path": ({}, {"list": "/{region}/cursor"}),
    "query": ({}, {"list": "/cursor?region={region}"}),
    "header": ({"headers": {"X-Region": "{region}"}}, {"list": "/link"}),
    "base_url": ({"base_url": "{region}"}, {"list": "/link"}),
    "body": ({"dialect": "generic_http"}, {"list": "/cursor", "method": "POST", "body": {"region": "{region}"}}),
}
CLIENT = {"client_id": "c", "client_secret": {"env": "S"}}
OPERATIONS = {"delete": {"method": "DELETE", "path": "/{region}/cursor/{id}", "effect": "delete"}}


def settings(url, source=None, resource=None):
    """Return a configuration with a resource `things` that is split by region."""
    source = dict(source or {})
    base = f"{url}/{source.pop('base_url')}" if "base_url" in source else url
    whole = {"list": "/{region}/cursor", "key": ["region", "id"], "fields": FIELDS, **(resource or {})}
    given = {"dialect": "generic_http", "partitions": ["region"], "resources": {"things": whole}}
    return HttpConfig.model_validate({**given, "base_url": base, **source})


@pytest.fixture
def cloud():
    """Two regions with the same five ids each."""
    with Regions({"eu": things(5), "us": things(5)}) as made:
        yield made


def codes(envelope):
    """Return the reasons of an envelope."""
    return [reason.code for reason in envelope.completeness.reasons]


@pytest.mark.requirement("R36")
@pytest.mark.parametrize("status", [503, 404])
async def test_a_part_that_does_not_answer_makes_the_whole_incomplete_by_name(cloud, tmp_path, status):
    """What lies in a region that fails in the midst, or is not there, is not known; the other one is kept."""
    cloud.faults.append(
        lambda asked: Answer(status, {}) if asked.path.startswith("/us") and "cursor" in asked.query else None
    )
    envelope = await read_parts(settings(cloud.url), tmp_path, PARTS)
    assert not envelope.complete
    assert {reason.part for reason in envelope.completeness.reasons} == {"region=us"}
    assert [(part.values["region"], part.rows) for part in envelope.scope.parts] == [("eu", 5), ("us", 3)]


@pytest.mark.requirement("R3")
async def test_the_envelope_says_in_which_parts_a_canary_was_seen(tmp_path):
    """An empty list of one region is that of a reader whose rights were taken away there, for all that it shows."""
    with Regions({"eu": things(5), "us": []}) as cloud:
        envelope = await read_parts(settings(cloud.url), tmp_path, PARTS, canary=things(1)[0]["id"])
    assert (envelope.complete, envelope.work.canaries_seen) == (True, 1)
    assert [(part.canaries_seen, part.vouched) for part in envelope.scope.parts] == [(1, False), (0, False)]


@pytest.mark.parametrize("way", sorted(WAYS))
async def test_every_part_is_read_with_its_own_paging_wherever_it_is_named(cloud, tmp_path, way):
    """The same id in two regions is two objects, and each list ends by its own sign."""
    source, resource = WAYS[way]
    dialect = {"dialect": "github_rest"} if "link" in resource["list"] else {}
    envelope = await read_parts(settings(cloud.url, {**dialect, **source}, resource), tmp_path, PARTS)
    assert envelope.complete, envelope.completeness
    assert (envelope.work.rows, [part.rows for part in envelope.scope.parts]) == (10, [5, 5])


async def test_a_dialect_may_say_where_its_api_takes_the_part(cloud, tmp_path):
    """Its address and its headers have places; the source says what they are called by."""
    for number, text in enumerate(
        (f'base_url = "{cloud.url}/{{region}}"', f'base_url = "{cloud.url}"\nheaders.x-region = "{{region}}"')
    ):
        own = tmp_path / f"ours{number}.toml"
        own.write_text(f'extends = "generic_http"\n{text}\n')
        config = HttpConfig.model_validate(
            {
                "dialect_file": str(own),
                "partitions": ["region"],
                "resources": {"things": {"list": "/cursor", "key": ["region", "id"], "fields": FIELDS}},
            }
        )
        assert (await read_parts(config, tmp_path / "s", PARTS)).work.rows == 10


async def test_an_object_that_says_it_is_in_another_part_is_never_one_of_the_part_that_was_asked(cloud, tmp_path):
    """A parameter that the API passes over would put every object into every part."""
    for name, region in cloud.regions.items():
        for thing in region.objects.values():
            thing["zone"] = name
    told = {"fields": {**FIELDS, "region": {"type": "text", "at": "zone"}}, "read": "/{region}/cursor/{id}"}
    assert (await read_parts(settings(cloud.url, {}, told), tmp_path, PARTS)).complete
    cloud.faults.append(lambda asked: cloud.regions["eu"]._cursor(asked) if asked.path == "/us/cursor" else None)
    config = settings(cloud.url, {}, told)
    envelope = await read_parts(config, tmp_path, PARTS)
    assert codes(envelope) == [Reason.SCOPE_NOT_COVERED]
    assert envelope.completeness.reasons[0].part == "region=us"
    cloud.regions["us"].objects["t0001"]["zone"] = "eu"
    resource, reader = CONNECTOR.resources("cloud", config)["things"], await CONNECTOR.open_reader("cloud", config)
    looked = await reader.read(resource, ("us", "t0001"), ("region", "n"))
    assert (looked.existence, looked.reasons[0].code) == (Existence.UNKNOWN, Reason.SCOPE_NOT_COVERED)
    await reader.close()


@pytest.mark.requirement("R29")
async def test_an_object_is_read_and_written_in_the_part_that_its_key_names(cloud):
    """Recheck, comparison, write and the look whether it took effect go to one region, and to no other."""
    config = settings(cloud.url, {}, {"read": "/{region}/cursor/{id}", "operations": OPERATIONS})
    resource = CONNECTOR.resources("cloud", config)["things"]
    cloud.regions["us"].change("t0001", owner="somebody")
    reader, actor = await CONNECTOR.open_reader("cloud", config), await CONNECTOR.open_actor("cloud", config)
    try:
        assert await reader.identity() == await actor.identity()
        looked = await reader.read(resource, ("us", "t0001"), tuple(FIELDS))
        assert (looked.cells["region"], looked.cells["owner"]) == (present("us"), present("somebody"))
        call = ActCall(resource, "delete", ("us", "t0001"), {"region": "us", "id": "t0001"}, looked.cells, "k")
        elsewhere = ActCall(resource, "delete", ("eu", "t0001"), call.arguments, looked.cells, "k")
        assert (await actor.perform(elsewhere)).outcome is Outcome.CHANGED
        assert (await actor.perform(call)).outcome is Outcome.DONE
        assert await actor.took_effect(call) is not False
        for asked in (reader.lookup(resource, "id", "t0001", ("id",)), reader.count(resource)):
            with pytest.raises(SourceError, match="no listing of the whole"):
                await asked
    finally:
        await reader.close()
        await actor.close()
    assert [len(region.objects) for region in cloud.regions.values()] == [5, 4]


async def test_only_what_is_split_is_read_in_parts(cloud, tmp_path):
    """A resource may be split that stands beside others that are one list: the regions themselves, for one."""
    given = settings(cloud.url).model_dump(by_alias=True)["resources"]["things"]
    whole = {
        "list": "/eu/cursor",
        "key": ["id"],
        "fields": {"id": "text"},
        "count": {"path": "/eu/cursor/count", "at": "count"},
    }
    config = HttpConfig.model_validate(
        {
            "dialect": "generic_http",
            "base_url": cloud.url,
            "resources": {"things": {**given, "fields": FIELDS, "partitions": ["region"]}, "all": whole},
        }
    )
    resources = CONNECTOR.resources("cloud", config)
    assert {name: list(each.partitions) for name, each in resources.items()} == {"things": ["region"], "all": []}
    assert (await read_parts(config, tmp_path, PARTS)).work.rows == 10
    reader = await CONNECTOR.open_reader("cloud", config)
    assert await reader.count(resources["all"]) == 5
    await reader.close()


@pytest.mark.requirement("R28")
@pytest.mark.parametrize("value", ["", "..", "a/b", "evil.example", "x@y", "eu\n", "eu?x=1"])
async def test_a_value_that_would_lead_elsewhere_names_no_part(cloud, tmp_path, value):
    """In the address a value is one plain word; in a path what it has is encoded, never a step of its own."""
    in_host = {"base_url": "http://{region}.api.example.com", "plain_http": True}
    config = settings(cloud.url).model_copy(update=in_host)
    envelope = await read_parts(config, tmp_path, [{"region": value}])
    assert codes(envelope) == [Reason.SCOPE_NOT_COVERED]
    await read_parts(settings(cloud.url), tmp_path, [{"region": value}])
    assert [asked.path for asked in cloud.requests if asked.path.count("/") != 2] == []


@pytest.mark.parametrize(
    ("source", "resource", "words"),
    [
        ({}, {"list": "/cursor"}, "no place for `region`"),
        ({}, {"list": ["/{region}/cursor", "/other"]}, "no place for `region`"),
        ({}, {"list": "/{region}/{zone}"}, "`{zone}`, which `partitions` does not name"),
        ({}, {"read": "/cursor/{id}"}, "`resources.things.read` has no place"),
        ({}, {"detail": "/cursor/{id}"}, "`resources.things.detail` has no place"),
        ({}, {"lookup": {"id": "/{region}/cursor?id={id}"}}, "speaks for the others"),
        ({}, {"count": {"path": "/{region}/count", "at": "n"}}, "speaks for the others"),
        ({}, {"key": ["region"]}, "names parts only"),
        ({}, {"fields": {**FIELDS, "region": "text?"}, "key": ["id"]}, "is `text?`"),
        ({"partitions": ["region", "region"]}, {}, "names one twice"),
        ({"base_url": "{zone}"}, {}, "`base_url` has `{zone}`"),
        ({"auth": {"oauth2": {**CLIENT, "token_url": "https://a.example/{region}"}}}, {}, "one credential"),
        ({"dialect": "docker_registry"}, {"list": "/v2/app/tags/list?region={region}"}, "no place for `region`"),
        (
            {},
            {
                "read": "/{region}/cursor/{id}",
                "operations": {"delete": {**OPERATIONS["delete"], "path": "/{region}/cursor"}},
            },
            "on which object",
        ),
    ],
)
def test_requests_that_do_not_fit_the_parts_are_errors_of_the_configuration(source, resource, words):
    """A part that a request can't name would be answered for another."""
    with pytest.raises(ValidationError) as refused:
        settings("https://api.example.com", source, resource)
    assert words in str(refused.value)


@pytest.mark.requirement("R28")
@pytest.mark.parametrize(
    "address", ["https://{region}", "https://api.{region}", "https://{region}.com", "https://a:{region}"]
)
def test_no_value_chooses_the_domain_that_credentials_go_to(address):
    """Values come from data, and may choose among the hosts of one domain at most."""
    with pytest.raises(ValidationError, match="value"):
        HttpConfig.model_validate({**settings("https://a.example.com").model_dump(by_alias=True), "base_url": address})


async def test_a_part_may_stand_in_the_address_alone(cloud):
    """Then no path repeats it, and the key still says where an object is."""
    resource = {"list": "/cursor", "read": "/cursor/{id}", "not_found_is_gone": True}
    config = settings(cloud.url, {"base_url": "{region}"}, resource)
    reader = await CONNECTOR.open_reader("cloud", config)
    del cloud.regions["us"].objects["t0001"]
    things_ = CONNECTOR.resources("cloud", config)["things"]
    found = [(await reader.read(things_, (region, "t0001"), ("n",))).existence for region in ("eu", "us")]
    await reader.close()
    assert found == [Existence.FOUND, Existence.GONE]


@pytest.mark.parametrize("twin", ["/{region}/cursor?a=1&b=2", "/{region}/cursor?b=2&a=1", "/{region}/%63ursor?a=1&b=2"])
def test_two_lists_of_a_resource_that_are_the_same_one_are_refused(twin):
    """Whatever its address is spelt like: its objects would be read twice, and what was meant by it not at all."""
    with pytest.raises(ValidationError, match="twice"):
        settings("https://api.example.com", resource={"list": ["/{region}/cursor?a=1&b=2", twin]})
    settings("https://api.example.com", resource={"list": ["/{region}/cursor?a=1&b=2", "/{region}/cursor?a=2&b=1"]})


@pytest.mark.requirement("R3")
async def test_parts_whose_values_lead_to_the_same_list_are_no_two_parts(tmp_path):
    """`a` with `bc` and `ab` with `c` make one path: the second part is refused by name, and nothing is complete."""
    resource = {"list": "/{org}{region}/cursor", "key": ["org", "region", "id"], "fields": {"org": "text", **FIELDS}}
    with Regions({"abc": things(5)}) as cloud:
        split = settings(cloud.url, {"partitions": ["org", "region"]}, resource)
        envelope = await read_parts(split, tmp_path, [{"org": "a", "region": "bc"}, {"org": "ab", "region": "c"}])
    (reason,) = envelope.completeness.reasons
    assert reason.code is Reason.SCOPE_NOT_COVERED
    assert "the same list, `/abc/cursor`" in reason.detail
    assert [part.rows for part in envelope.scope.parts] == [5, 0]
