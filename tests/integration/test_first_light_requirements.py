"""Every requirement of the first end-to-end path is held by a named test."""

import ast
from pathlib import Path

import pytest
from tests.support.requirements_report import FIRST_LIGHT, REQUIREMENTS, report

TESTS = Path(__file__).resolve().parents[1]


def marked(file):
    """Return what the tests of a file are marked to hold, without importing it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.requirement":
            yield from (argument.value for argument in node.args if isinstance(argument, ast.Constant))


def test_every_requirement_of_the_first_path_has_a_named_test():
    """`pytest -m requirement` lists each of them with at least one test."""
    held = {name for file in TESTS.rglob("test_*.py") for name in marked(file)}
    assert [name for name in FIRST_LIGHT if name not in held] == []


def test_report_names_each_requirement_with_its_tests_and_those_without():
    """The list has a line for each requirement that is held, its tests below, and the rest at the end."""
    lines = report(
        [
            ("tests/a.py::test_one[x]", "passed", ["R2", "C01"]),
            ("tests/a.py::test_one[y]", "failed", ["R2"]),
            ("tests/b.py::test_two", "passed", ["R10"]),
        ]
    )
    assert lines[0] == f"R2   {REQUIREMENTS['R2']}  (1 passed, 1 failed)"
    assert lines[1] == "       tests/a.py::test_one"
    assert [line.split()[0] for line in lines if not line.startswith(" ")][:3] == ["R2", "R10", "C01"]
    assert "R1, R3" in lines[-1]
    assert lines[-2].startswith("without a named test, of the first path: R1, R3")


@pytest.mark.parametrize("name", sorted(REQUIREMENTS, key=lambda name: int(name[1:])))
def test_requirement_has_a_line_of_text(name):
    """Each requirement can be read in one line beside its tests."""
    assert 10 < len(REQUIREMENTS[name]) < 90
    assert not REQUIREMENTS[name].endswith(".")
