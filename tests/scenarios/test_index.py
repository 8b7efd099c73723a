"""No scenario is forgotten: each has a test that is named by it and marked with it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tests.scenarios.index import ELSEWHERE, SCENARIOS

HERE = Path(__file__).parent


def _marked() -> dict[str, set[str]]:
    """Return the names of the tests here, with the ids that each is marked with."""
    found: dict[str, set[str]] = {}
    for path in sorted(HERE.glob("test_*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                marks = [each for each in node.decorator_list if "requirement" in ast.unparse(each)]
                held = {arg.value for mark in marks if isinstance(mark, ast.Call) for arg in mark.args}
                found[node.name] = {str(name) for name in held}
    return found


def _begins(name: str, of: str) -> bool:
    return name.startswith(f"test_{of.lower().replace('-', '_')}_")


@pytest.mark.parametrize("of", SCENARIOS)
def test_every_scenario_has_a_test_that_bears_its_id(of):
    """One that has none yet is listed as such, with the reason, and only as long as it has none."""
    tests = [name for name, held in _marked().items() if _begins(name, of) and of in held]
    assert (len(tests) > 0) is (of not in ELSEWHERE), tests


def test_every_test_here_is_of_a_scenario_that_is_listed():
    """A slip in a name would hold nothing."""
    strays = [
        name
        for name, held in _marked().items()
        if held and not any(_begins(name, of) and of in held for of in SCENARIOS)
    ]
    assert strays == []
    assert ELSEWHERE.keys() <= SCENARIOS.keys()
