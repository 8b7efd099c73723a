"""`fullcount audit-openapi` on files: what it prints, how it ends, and that it never writes unasked."""

import json

import pytest
from tests.support.openapi import CURSOR, PAGE, PETS, document, reply
from tests.support.workspaces import HARMFUL

DONE, ERROR, USAGE, REFUSED = 0, 1, 2, 3
END = reply("next_cursor", next_cursor={"type": "string", "nullable": True})


@pytest.fixture
def spec(bench):
    """Write a document and return its name."""

    def write(tree, name="api.json"):
        (bench.root / name).write_bytes(tree if isinstance(tree, bytes) else json.dumps(tree).encode())
        return name

    return write


@pytest.mark.parametrize(
    ("data", "arguments", "exit_code", "code"),
    [
        (b"{", (), ERROR, "FC676"),
        (b"\x00", (), ERROR, "FC676"),
        (b"{}", (), ERROR, "FC677"),
        (json.dumps(document(END)).encode(), ("--operation", "GET /pet"), USAGE, "FC679"),
        (json.dumps(document(END)).encode(), ("--dialect", "own.toml"), USAGE, "FC699"),
    ],
)
def test_what_can_not_be_audited_ends_with_its_code(bench, spec, data, arguments, exit_code, code):
    """In text and in JSON, and nothing is written."""
    name = spec(data)
    for more in ((), ("--json",)):
        ended = bench.run("audit-openapi", name, *arguments, *more)
        assert (ended.exit, code in ended.said) == (exit_code, True), ended.said
    assert not (bench.root / "own.toml").exists()


def test_an_address_is_not_fetched(bench):
    """What is named must be a file; the message says to save it first."""
    ended = bench.run("audit-openapi", "https://example.com/openapi.json")
    assert (ended.exit, "FC690" in ended.said, "not fetched" in ended.said) == (USAGE, True, True)


@pytest.mark.requirement("R2")
def test_one_list_that_can_not_be_proven_ends_with_3(bench, spec):
    """The report names it first, with its reasons and what to add; JSON has the same."""
    tree = document(END, CURSOR)
    tree["paths"]["/owners"] = document(PETS, PAGE)["paths"]["/pets"]
    name = spec(tree)
    ended = bench.run("audit-openapi", name)
    assert ended.exit == REFUSED
    assert ended.out.index("GET /owners") < ended.out.index("GET /pets")
    assert "1 unprovable · 0 that a dialect decides · 1 provable" in ended.out
    data = bench.run("audit-openapi", name, "--json").json
    assert [(each["path"], each["verdict"]) for each in data["judged"]] == [
        ("/owners", "unprovable"), ("/pets", "provable"),
    ]  # fmt: skip
    assert (data["proven"], data["judged"][0]["findings"][0]["code"]) == (False, "UNSTABLE_ORDER")


def test_lists_that_can_all_be_proven_end_with_0(bench, spec):
    """So does a document without any list; one whose replies are not described does not."""
    assert bench.run("audit-openapi", spec(document(END, CURSOR))).exit == DONE
    one = document({"type": "object", "properties": {"name": {"type": "string"}}}, path="/me")
    ended = bench.run("audit-openapi", spec(one))
    assert (ended.exit, "no operation returns a list" in ended.out) == (DONE, True)
    ended = bench.run("audit-openapi", spec(document({}, path="/me")))
    assert (ended.exit, "not judged" in ended.out) == (REFUSED, True)


def test_one_operation_is_shown_in_full(bench, spec):
    """By its method and path or its name, with all parts to add, each of them JSON."""
    name = spec(document(PETS, PAGE, operationId="listPets"))
    by_name = bench.run("audit-openapi", name, "--operation", "listPets")
    by_path = bench.run("audit-openapi", name, "--operation", "GET /pets")
    assert (by_name.exit, by_name.out) == (REFUSED, by_path.out)
    part = by_name.out.partition("add to the schema of its reply\n")[2].partition("\n\n")[0]
    assert json.loads(part)["required"][:2] == ["items", "next_cursor"]


def test_a_dialect_is_begun_and_never_written_over(bench, spec):
    """Somebody may have completed it by now: it takes `--force`."""
    arguments = ("audit-openapi", spec(document(END, CURSOR)), "--operation", "GET /pets", "--dialect", "own.toml")
    assert bench.run(*arguments).exit == DONE
    assert 'query = "cursor"' in (bench.root / "own.toml").read_text()
    (bench.root / "own.toml").write_text("mine")
    ended = bench.run(*arguments)
    assert (ended.exit, "FC685" in ended.said, (bench.root / "own.toml").read_text()) == (USAGE, True, "mine")
    assert bench.run(*arguments, "--force").exit == DONE


@pytest.mark.requirement("R40")
def test_names_in_a_document_do_nothing_to_a_screen_or_a_dialect(bench, spec):
    """Paths, titles, fields and references may hold anything."""
    import tomllib

    evil = '\x1b[2J\u202e\ud800"]\n'
    schema = reply(evil, **{evil: {"type": "string"}, "next": {"type": "string"}})
    tree = document(
        schema, {"name": evil, "in": "query", "schema": {"default": evil}}, path=f"/{evil}", operationId=evil
    )
    tree["info"]["title"] = evil
    tree["paths"]["/x"] = {"$ref": evil}
    name = spec(tree)
    for more in (
        (),
        ("--json",),
        ("--operation", f"GET /{evil}"),
        ("--operation", f"GET /{evil}", "--dialect", "d.toml"),
    ):
        ended = bench.run("audit-openapi", name, *more)
        assert ended.exit in {DONE, REFUSED}, ended.said
        assert HARMFUL.search(ended.said) is None
    assert tomllib.loads((bench.root / "d.toml").read_text())["items"] == "items"
