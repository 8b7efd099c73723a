"""`pytest -m requirement` ends with a list: each requirement, and the tests that hold it.

A pytest plugin, switched on in `tests/conftest.py`. A test names what it holds by `@pytest.mark.requirement("R2", …)`;
a name that nobody knows is an error, so that a slip can't make a requirement look held.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pytest

REQUIREMENTS: dict[str, str] = {
    "R1": "complete, complete and empty, partial, partial and empty are told apart",
    "R2": "completeness is an affirmative sign of the source, never inferred",
    "R3": "success of an exchange proves nothing about resource, visibility or snapshot",
    "R4": "one stable code per cause of incompleteness",
    "R5": "warnings are apart from reasons",
    "R6": "the scope says what was asked and covered",
    "R7": "seven states of a field; absent is only what the source says is absent",
    "R8": "a typed envelope carries it; a partial result never looks like a success",
    "R9": "a way on is a real one",
    "R10": "what promises a complete answer and can't give it fails",
    "R11": "one collecting loop pages to the end state",
    "R12": "limits of our own make a result incomplete, through every layer",
    "R13": "each connector states its pagination's guarantee",
    "R14": "an expired cursor is never a silent restart",
    "R15": "two attempts are never merged into one claim",
    "R16": "deadlines are inputs and outcomes",
    "R17": "rate limits and quotas are reported with the data so far",
    "R18": "a part that did not answer makes the whole incomplete and is named",
    "R19": "a found object and a missing one are two directions of inference",
    "R20": "partial data never licenses a conclusion from absence",
    "R21": "an act without a complete, bound inventory is refused in code",
    "R22": "every object is rechecked at the moment of the act",
    "R23": "warnings have a severity, an owner and a lifecycle",
    "R24": "no act without its approval",
    "R25": "the approver sees the decision",
    "R26": "people are asked only at the borders of policy",
    "R27": "identity comes from the authenticated session alone",
    "R28": "least function, permission and autonomy",
    "R29": "twice equals once; the key is minted with the approval",
    "R30": "the same key returns the stored result, or an error for other parameters",
    "R31": "a key outlives the retry window",
    "R32": "an unknown outcome is resolved by reading or by the same key",
    "R33": "results and errors say what happened, why, and what can be done",
    "R34": "every call is in a journal that can be audited",
    "R35": "every reason is held by contract tests, full and empty, through every layer",
    "R36": "a refused change is tested after each dangerous fixture",
    "R37": "paging under change is tested",
    "R38": "complete only when every element is accounted for, at any size",
    "R39": "rights, approval and idempotency each have tests of the refused case",
    "R40": "hostile objects are judged by the end state of the target",
    "R41": "the language of clean-up workflows",
    "R42": "a graph whose edges require typed evidence",
    "R43": "a runtime that rechecks every object",
    "R44": "declarative plans, nightly jobs, dry runs for review",
}
"""The requirements in one line each; names of scenarios (`C01`, `c7n-74`) may stand beside them."""

FIRST_LIGHT: tuple[str, ...] = (
    *("R1", "R2", "R3", "R7", "R8", "R11", "R12"),
    *(f"R{number}" for number in range(19, 23)),
    *("R24", "R27", "R29", "R30", "R31", "R32", "R33", "R34", "R36", "R39", "R41", "R42", "R43"),
)
"""What the first end-to-end path must hold by named tests."""

_SCENARIO = re.compile(r"[A-Z]\d{2}|c7n-\d{1,3}[a-z]?")
_PROPERTY = "requirements"
_COLLECTED: pytest.StashKey[list[tuple[str, str, list[str]]]] = pytest.StashKey()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Note on each test what it holds; the note travels with its result, also from a worker process."""
    for item in items:
        held = [name for mark in item.iter_markers("requirement") for name in mark.args]
        unknown = [name for name in held if name not in REQUIREMENTS and not _SCENARIO.fullmatch(str(name))]
        if unknown or (not held and item.get_closest_marker("requirement") is not None):
            raise pytest.UsageError(f"{item.nodeid}: unknown requirement {unknown}")
        if held:
            item.user_properties.append((_PROPERTY, held))


def pytest_collection_finish(session: pytest.Session) -> None:
    """With `--collect-only` no test has a result; then the list is of what was collected."""
    if session.config.getoption("collectonly", default=False):
        held = [(item.nodeid, dict(item.user_properties).get(_PROPERTY)) for item in session.items]
        session.config.stash[_COLLECTED] = [(test, "collected", names) for test, names in held if names is not None]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """List the requirements with their tests, when tests were chosen by that mark."""
    if "requirement" not in str(config.getoption("markexpr", "")):
        return
    write = terminalreporter.write_line
    terminalreporter.section("requirements")
    for line in report(config.stash.get(_COLLECTED, None) or _results(terminalreporter)):
        write(line)


def report(results: Iterable[tuple[str, str, list[str]]]) -> list[str]:
    """Return the lines for (test, outcome, what it holds): every requirement, its tests, and which have none."""
    tests: dict[str, dict[str, str]] = defaultdict(dict)
    for test, outcome, held in results:
        for name in held:
            tests[name][test] = outcome
    lines = []
    for name in sorted(tests, key=_order):
        outcomes = list(tests[name].values())
        counts = ", ".join(f"{outcomes.count(kind)} {kind}" for kind in dict.fromkeys(outcomes))
        lines.append(f"{name:<4} {REQUIREMENTS.get(name, 'a scenario')}  ({counts})")
        lines += [f"       {test}" for test in sorted({test.partition("[")[0] for test in tests[name]})]
    for title, wanted in (("of the first path", FIRST_LIGHT), ("of all", REQUIREMENTS)):
        missing = [name for name in wanted if name not in tests]
        lines.append(f"without a named test, {title}: {', '.join(missing) or 'none'}")
    return lines


def _order(name: str) -> tuple[bool, str, int]:
    kind = name.rstrip("0123456789")
    return kind != "R", kind, int(name.removeprefix(kind))


def _results(terminalreporter: Any) -> Iterable[tuple[str, str, list[str]]]:
    for outcome, results in terminalreporter.stats.items():
        for result in results:
            held = dict(getattr(result, "user_properties", ())).get(_PROPERTY)
            if held is not None and (getattr(result, "when", "call") == "call" or outcome in {"skipped", "error"}):
                yield result.nodeid, outcome, held
