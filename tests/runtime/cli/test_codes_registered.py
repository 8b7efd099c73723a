"""Each code that the program can say is explained, and each one that is explained can be said."""

import re

import pytest
from tests.support.workspaces import PROJECT

from fullcount.dsl.codes import CODES, RETIRED
from fullcount.runtime.evidence.codes import ActReason, Reason, WarningCode

CODE = re.compile(r"\bFC\d{3}\b")
ROOMS = ("dsl", "compiler", "runtime")


def sources():
    """Return the program's own files, without the list of codes itself, which would find every code in itself."""
    for room in ROOMS:
        for file in (PROJECT / room / "fullcount").rglob("*.py"):
            if file.parent != PROJECT / "dsl/fullcount/dsl/codes":
                yield file


@pytest.fixture(scope="module")
def used():
    """Every code in the sources, with the files that name it."""
    found = {}
    for file in sources():
        for code in CODE.findall(file.read_text(encoding="utf-8")):
            found.setdefault(code, set()).add(str(file.relative_to(PROJECT)))
    return found


@pytest.mark.requirement("R4", "R33")
def test_every_code_in_the_sources_is_registered(used):
    """A message never points at an explanation that is not there."""
    assert {code: files for code, files in used.items() if code not in CODES} == {}


def test_one_thing_is_said_by_one_code(used):
    """No two codes have one title, and one that was given up is neither given nor registered again."""
    assert len({code.title for code in CODES.values()}) == len(CODES)
    assert {code for code in RETIRED if code in used or code in CODES or RETIRED[code] not in CODES} == set()


def test_a_code_of_an_old_record_is_still_explained(bench):
    """By the one that says the same now."""
    for code, kept in RETIRED.items():
        ended = bench.run("explain", code)
        assert (ended.exit, ended.out.startswith(code), f"{kept}  " in ended.out) == (0, True, True)
        assert bench.run("explain", code, "--json").json["code"] == kept


@pytest.mark.requirement("R33")
def test_every_registered_code_is_used(used):
    """An explanation of what can't happen would send somebody looking for it."""
    assert [code for code in CODES if code not in used] == []


@pytest.mark.requirement("R4", "R33")
def test_every_code_can_be_explained_on_the_command_line(bench):
    """`fullcount explain` knows every code of the language, of sources and of acts."""
    for code in (*CODES, *Reason, *WarningCode, *ActReason):
        ended = bench.run("explain", code)
        assert ended.exit == 0
        assert ended.out.startswith(str(code))
        assert len(ended.out.split()) > 12, code
