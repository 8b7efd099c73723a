"""Findings for editors, for GitHub and for code scanning: the form, and that user text cannot break it."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests.support.profiles import examples

from fullcount.dsl.codes import CODES
from fullcount.dsl.diagnostics import Diagnostic, Edit, Fix, Label, Severity
from fullcount.dsl.output.concise import to_concise
from fullcount.dsl.output.data import to_json
from fullcount.dsl.output.github import to_github
from fullcount.dsl.output.places import Root
from fullcount.dsl.output.sarif import to_sarif
from fullcount.dsl.source import Source

ROOT = Root("/r", "/r/cleanups")
SOURCE = Source("workflows/a.fcw", 'workflow w {\n  ownr "x"\n\n  ownr "x"\n}\n')
SOURCES = {SOURCE.name: SOURCE}


def _finding(start: int = 15, **changes) -> Diagnostic:
    span = SOURCE.span(start, start + 4)
    given = {
        "why": "it may protect",
        "help": "did you mean `owner`?",
        "labels": (Label(SOURCE.span(0, 8), "in this"),),
        "fix": Fix("write `owner`", (Edit(span, "owner"),), safe=True),
    }
    return Diagnostic("FC002", "`ownr` is not a clause", span, **{**given, **changes})


WARNING = Diagnostic("FC020", "it mixes", SOURCE.span(0, 20), Severity.WARNING)


def test_nothing_found_is_nothing_said():
    """No finding, no line; a SARIF run without results says that there were none."""
    assert to_concise([], SOURCES) == ""
    assert to_github([], SOURCES, ROOT) == ""
    (run,) = to_sarif([], SOURCES, ROOT, version="1.0.0")["runs"]
    assert run["results"] == []


def test_concise_form_is_one_line_for_each_finding():
    """Path, line, column, severity, code, message: what editors parse."""
    assert to_concise([WARNING, _finding()], SOURCES) == (
        "workflows/a.fcw:1:1: warning[FC020]: it mixes\nworkflows/a.fcw:2:3: error[FC002]: `ownr` is not a clause\n"
    )


def test_github_form_names_the_file_from_the_root_and_columns_only_within_a_line():
    """An annotation over several lines has no columns."""
    assert to_github([WARNING, _finding()], SOURCES, ROOT) == (
        "::warning file=cleanups/workflows/a.fcw,line=1,endLine=2,title=fullcount FC020::it mixes\n"
        "::error file=cleanups/workflows/a.fcw,line=2,endLine=2,col=3,endColumn=7,title=fullcount FC002::"
        "`ownr` is not a clause%0Awhy: it may protect%0Ahelp: did you mean `owner`?\n"
    )


@pytest.mark.requirement("R40")
def test_text_of_a_user_cannot_forge_a_command_or_a_property():
    """Line breaks, percent signs, commas and colons come out encoded."""
    evil = "50%\n::set-output name=x::y\r,file=z"
    source = Source(f"a,b:c%{chr(10)}.fcw", "x")
    out = to_github([Diagnostic("FC001", evil, source.span(0, 1), help=evil)], {source.name: source}, ROOT)
    assert out.count("\n") == 1
    head, _, message = out.removeprefix("::error ").partition("::")
    assert [part.partition("=")[0] for part in head.split(",")] == [
        "file",
        "line",
        "endLine",
        "col",
        "endColumn",
        "title",
    ]
    assert "50%25" in message
    assert "%" not in re.sub(r"%(25|0A|0D|3A|2C)", "", out)


def test_data_carries_the_fix():
    """An editor can apply it: title, whether it is safe, each edit with its place."""
    (found,) = to_json([_finding()], SOURCES)["diagnostics"]
    assert found["fix"] == {
        "title": "write `owner`",
        "safe": True,
        "edits": [
            {
                "file": SOURCE.name,
                "start": {"line": 2, "column": 3, "offset": 15},
                "end": {"line": 2, "column": 7, "offset": 19},
                "replacement": "owner",
            }
        ],
    }


# ---------------------------------------------------------------------------------------------- SARIF


def _object(required: dict, optional: dict | None = None) -> dict:
    """Return the schema of an object with exactly these properties."""
    properties = {**required, **(optional or {})}
    return {"type": "object", "required": list(required), "properties": properties, "additionalProperties": False}


def _list(items: dict) -> dict:
    return {"type": "array", "items": items}


TEXT = {"type": "string", "minLength": 1}
POSITIVE = {"type": "integer", "minimum": 1}
INDEX = {"type": "integer", "minimum": 0}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
MESSAGE = _object({"text": TEXT})
REGION = _object(dict.fromkeys(["startLine", "startColumn", "endLine", "endColumn"], POSITIVE))
ARTIFACT = _object({"uri": {"type": "string", "format": "uri-reference", "minLength": 1}}, {"uriBaseId": TEXT})
PHYSICAL = _object({"artifactLocation": ARTIFACT}, {"region": REGION})
#: The parts of the SARIF 2.1.0 schema that are used, closed so that no property is misspelt.
SCHEMA = _object(
    {
        "$schema": TEXT,
        "version": {"const": "2.1.0"},
        "runs": _list(
            _object(
                {
                    "tool": _object(
                        {
                            "driver": _object(
                                {
                                    "name": TEXT,
                                    "version": TEXT,
                                    "semanticVersion": {"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
                                    "rules": _list(
                                        _object(
                                            {
                                                "id": {"type": "string", "pattern": r"^FC\d{3}$"},
                                                "shortDescription": MESSAGE,
                                                "fullDescription": MESSAGE,
                                                "help": _object({"text": TEXT, "markdown": TEXT}),
                                                "defaultConfiguration": _object({"level": LEVEL}),
                                            }
                                        )
                                    ),
                                }
                            )
                        }
                    ),
                    "columnKind": {"enum": ["unicodeCodePoints", "utf16CodeUnits"]},
                    "results": _list(
                        _object(
                            {
                                "ruleId": TEXT,
                                "ruleIndex": INDEX,
                                "level": LEVEL,
                                "message": MESSAGE,
                                "locations": _list(_object({"physicalLocation": PHYSICAL})),
                                "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
                            },
                            {
                                "relatedLocations": _list(
                                    _object({"id": INDEX, "physicalLocation": PHYSICAL, "message": MESSAGE})
                                ),
                                "fixes": _list(
                                    _object(
                                        {
                                            "description": MESSAGE,
                                            "artifactChanges": _list(
                                                _object(
                                                    {
                                                        "artifactLocation": ARTIFACT,
                                                        "replacements": _list(
                                                            _object(
                                                                {
                                                                    "deletedRegion": REGION,
                                                                    "insertedContent": _object(
                                                                        {"text": {"type": "string"}}
                                                                    ),
                                                                }
                                                            )
                                                        ),
                                                    }
                                                )
                                            ),
                                        }
                                    )
                                ),
                            },
                        )
                    ),
                }
            )
        ),
    }
)


def _sarif(*found: Diagnostic, sources=None) -> dict:
    document = json.loads(json.dumps(to_sarif(found, SOURCES if sources is None else sources, ROOT, version="1.2.3")))
    Draft202012Validator(SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(document)
    return document["runs"][0]


def test_sarif_run_names_the_tool_and_the_rules_that_were_broken():
    """Each rule once, from the registry; each result points at its rule."""
    run = _sarif(_finding(), WARNING, _finding(28))
    assert (run["tool"]["driver"]["name"], run["tool"]["driver"]["version"]) == ("fullcount", "1.2.3")
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["FC002", "FC020"]
    assert rules[0]["shortDescription"]["text"] == CODES["FC002"].title
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert [result["level"] for result in run["results"]] == ["error", "warning", "error"]


def test_sarif_result_has_its_place_its_labels_and_its_fix():
    """From the root of the repository, in code points."""
    (result,) = _sarif(_finding())["results"]
    place = {
        "artifactLocation": {"uri": "cleanups/workflows/a.fcw", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 2, "startColumn": 3, "endLine": 2, "endColumn": 7},
    }
    assert result["locations"] == [{"physicalLocation": place}]
    assert result["relatedLocations"][0]["message"]["text"] == "in this"
    ((change,),) = [fix["artifactChanges"] for fix in result["fixes"]]
    assert change["replacements"] == [{"deletedRegion": place["region"], "insertedContent": {"text": "owner"}}]
    assert result["message"]["text"] == "`ownr` is not a clause\nwhy: it may protect\nhelp: did you mean `owner`?"


def test_fingerprint_stays_while_lines_move_and_tells_two_findings_on_equal_lines_apart():
    """A service must know a finding again after an edit elsewhere, and must not merge two."""
    prints = [
        each["partialFingerprints"]["primaryLocationLineHash"] for each in _sarif(_finding(), _finding(28))["results"]
    ]
    assert len(set(prints)) == 2
    moved = Source(SOURCE.name, "# one more line\n" + SOURCE.text.replace("  ownr", "      ownr", 1))
    at = moved.text.index("ownr")
    (result,) = _sarif(Diagnostic("FC002", "m", moved.span(at, at + 4)), sources={moved.name: moved})["results"]
    assert result["partialFingerprints"]["primaryLocationLineHash"] == prints[0]


@pytest.mark.requirement("R40")
def test_text_of_a_user_is_no_link_in_sarif():
    """`[x](y)` would be one."""
    (result,) = _sarif(Diagnostic("FC001", "see [this](http://evil.example)\x1b[31m", SOURCE.span(0, 1)))["results"]
    assert "](" not in result["message"]["text"]
    assert "\x1b" not in result["message"]["text"]


@examples(300)
@given(st.text(), st.text(min_size=1), st.integers(0, 60), st.integers(0, 60))
def test_every_form_takes_every_text(text: str, name: str, start: int, length: int):
    """Any message, any path, any place: each form stays what it is."""
    source = Source(name, text)
    span = source.span(start, start + length)
    item = Diagnostic("FC001", text or "m", span, labels=(Label(span, text or "m"),), help=text)
    item = Diagnostic(
        **{**{n: getattr(item, n) for n in item.__slots__}, "fix": Fix("t", (Edit(span, text),), safe=False)}
    )
    sources = {name: source}
    json.dumps(to_json([item], sources))
    for out in (to_concise([item], sources), to_github([item], sources, ROOT)):
        assert out.count("\n") == 1
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", out)
    _sarif(item, sources=sources)
