"""What tests have not seen of a rule is said, branch by branch."""

from __future__ import annotations

from tests.support.trials import PEOPLE, workspace

from fullcount.runtime.trials.session import Asked, run_tests
from fullcount.runtime.workflow_files import compile_file

ROWS = """given accounts [
    { id: "orphan", owner: absent }, { id: "owned" }, { id: "left", owner: "left" }, { id: "dark", owner: forbidden },
    { id: "used", last_login: now }, { id: "locked", locked: true }, { id: "other", team: "platform" },
    { id: "safe", owner: absent, team: "security" }, { id: "spared", owner: absent },
  ]"""


def seen(folder, tests):
    """Return what is missing of each part, by its text."""
    real, path = workspace(folder, tests)
    outcome = run_tests([(path, compile_file(path, real))], real, Asked(coverage=True), lambda _: None)
    assert outcome.passed, outcome.results
    return {part.text: part.missing for part in outcome.coverage["orphans"]}


def test_branch_that_no_test_has_seen_is_named(tmp_path):
    """One object that is selected shows one side of each atom, and nothing of what keeps or refuses."""
    missing = seen(
        tmp_path, f'test "t" {{ given accounts [{{ id: "a", owner: absent }}] and 1 more {PEOPLE} expect plan ["a"] }}'
    )
    assert missing["a.locked"] == ("true", "unknown")
    assert missing["a.owner is absent"] == ("unknown",)
    assert missing["except in exemptions"] == ("used",)
    assert missing['except when a.team == "security"'] == ("used",)
    assert missing["verify people: rows"] == ("refused",)


def test_what_tests_have_seen_is_not_missing(tmp_path):
    """True, false and unknown of an atom, also inside of a look into another inventory; an exemption that kept one."""
    missing = seen(
        tmp_path,
        f"""test "all" {{ {ROWS} {PEOPLE} given list exemptions = ["spared"]
          expect plan ["orphan", "left"] expect undecided ["dark"] }}
        test "few" {{ {ROWS} given people [{{ id: "p1" }}] expect refused FC743 }}""",
    )
    for part in (
        "a.owner is absent",
        "p.active",
        'team != "platform"',
        "except in exemptions",
        'except when a.team == "security"',
        "verify people: rows",
    ):
        assert missing[part] in ((), ("unknown",)), (part, missing)
    assert missing["a.owner is absent"] == ()
    assert missing["verify people: count"] == ("refused",)
