"""`fullcount test`: a line for each test, the reasons of each failure, and an exit code that a pipeline can trust."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

import pytest
from tests.support.trials import GIVEN, workspace
from tests.support.workspaces import Bench, too_wide

GOOD = f'test "an orphan is locked" {{ {GIVEN} expect plan ["orphan"] }}'
BAD = f'test "nobody is locked" {{ {GIVEN} expect plan empty }}'


SMALL = """\
workflow small {
  inventory people from hr.employees { key id fields { id: text, active: bool } }
  verify people { complete, fresh within 1h }
  propose report from people as p { where p.active }

  test "someone" {
    given  people [{ id: "p1", active: true }]
    expect count 1
  }
}
"""


@pytest.fixture
def desk(tmp_path):
    """A command line in a workspace of declared sources."""
    return Bench.at(tmp_path)


def test_failing_test_is_an_error_that_says_what_came_and_why(desk):
    """Exit 1; the place, what was expected, what came, and the trace of the object that came too much."""
    workspace(desk.root, f"{GOOD}\n{BAD}")
    ended = desk.run("test")
    assert ended.exit == 1
    assert "passed  an orphan is locked" in ended.out
    assert "FAILED  nobody is locked" in ended.out
    assert "workflows/orphans.fcw:" in ended.out
    assert "expected  plan empty" in ended.out
    assert 'came      plan ["orphan"]' in ended.out
    assert "CANDIDATE  orphan" in ended.out
    assert "2 tests: 1 passed, 1 failed" in ended.out
    assert too_wide(ended.out, 112) == []
    assert not (desk.root / ".fullcount").exists()


@pytest.mark.parametrize(("arguments", "words"), [((), "there is no test in 1 file"), (("-k", "x"), "with `x` in its")])
def test_run_of_no_tests_does_not_pass(desk, arguments, words):
    """Nothing was tried, so nothing was shown."""
    workspace(desk.root, "" if not arguments else GOOD)
    ended = desk.run("test", *arguments)
    assert (ended.exit, "FC660" in ended.err, words in ended.words) == (2, True, True)


def test_mistake_in_a_test_is_shown_and_nothing_is_run(desk):
    """A file that does not compile has no tests to believe."""
    workspace(desk.root, f'{GOOD}\ntest "x" {{ {GIVEN} expect plan ["nobody"] }}')
    ended = desk.run("test")
    assert (ended.exit, ended.out) == (1, "")
    assert "error[FC173]" in ended.err
    assert desk.run("check", "workflows").exit == 1


def test_results_are_the_same_as_json_and_as_junit(desk):
    """A build server and a script read what a person reads."""
    workspace(desk.root, f"{GOOD}\n{BAD}")
    ended = desk.run("test", "--json", "--junit", "out.xml")
    assert ended.exit == 1
    assert ended.json["ok"] is False
    assert [(each["test"], each["passed"]) for each in ended.json["tests"]] == [
        ("an orphan is locked", True),
        ("nobody is locked", False),
    ]
    (miss,) = ended.json["tests"][1]["misses"]
    assert (miss["expected"], miss["came"]) == ("plan empty", 'plan ["orphan"]')
    suite = Xml.parse(desk.root / "out.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert suite[1][0].get("message") == 'expected plan empty, came plan ["orphan"]'


def test_only_the_tests_that_are_named_are_run(desk):
    """`-k` takes a part of the name, in any case."""
    workspace(desk.root, f"{GOOD}\n{BAD}")
    ended = desk.run("test", "-k", "ORPHAN")
    assert (ended.exit, "1 test: 1 passed" in ended.out) == (0, True)


def test_surviving_mutants_fail_only_where_a_number_was_allowed(desk):
    """Without `--allow` they are a report; `--allow 0` is for a pipeline. A failing test makes no mutants."""
    workspace(desk.root)
    (desk.root / "workflows" / "orphans.fcw").write_text(SMALL, "utf-8")
    ended = desk.run("test", "--mutate")
    assert ended.exit == 0
    assert "SURVIVED" in ended.out
    assert desk.run("test", "--mutate", "--allow", "0", "--json").exit == 1
    assert desk.run("test", "--allow", "0").exit == 2
    workspace(desk.root, BAD)
    assert "no mutants were made" in desk.run("test", "--mutate").out
