"""The guard is the only way to a write: shown on the syntax tree of the whole run time."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import fullcount.runtime
from fullcount.runtime.act import guard as guard_module

pytestmark = pytest.mark.requirement("R24", "R27", "R28")

ROOT = Path(next(iter(fullcount.runtime.__path__)))
KIT = "testing/"
"""It tries connectors on systems made for the purpose, and another test holds that no command knows it."""

PROTOCOL = {
    "identity", "perform", "took_effect", "back_up", "close", "open", "scan", "read", "lookup", "count", "collateral",
}  # fmt: skip
"""What an actor is asked for. Whatever else one of them offers is a way to write."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def modules() -> dict[str, ast.Module]:
    paths = {str(path.relative_to(ROOT)): path for path in ROOT.rglob("*.py")}
    return {name: ast.parse(path.read_text()) for name, path in paths.items() if not name.startswith(KIT)}


def functions() -> Iterator[tuple[str, str, Function]]:
    """Every function with its module and its name, methods with that of their class."""
    for name, module in modules().items():
        for node in module.body:
            if isinstance(node, Function):
                yield name, node.name, node
            elif isinstance(node, ast.ClassDef):
                for method in node.body:
                    if isinstance(method, Function):
                        yield name, f"{node.name}.{method.name}", method


def called(node: ast.AST) -> set[str]:
    """The names of what is mentioned within: a reference that is handed on counts as a call."""
    attributes = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
    return attributes | {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def users_of(name: str) -> set[str]:
    return {f"{module}: {function}" for module, function, node in functions() if name in called(node)}


def test_every_path_to_a_connectors_perform_goes_through_the_guard():
    """Up the graph of calls from `perform` there is one function, and above it only the two verbs that act."""
    assert users_of("perform") == {"act/perform.py: perform_guarded"}
    assert users_of("perform_guarded") == {"act/group.py: GroupRunner._tried"}
    assert {user for user in users_of("GroupRunner") if "apply" in user or "undo" in user} == {
        "act/apply.py: _Applying._go_on",
        "act/undo.py: _Undoing._go_on",
    }


def test_the_door_asks_first_and_calls_only_when_nothing_was_found():
    """`perform_guarded` is three statements: ask, return what was found, call."""
    (door,) = [node for module, name, node in functions() if (module, name) == ("act/perform.py", "perform_guarded")]
    ask, leave, call = door.body[1:]  # after its docstring
    assert ast.unparse(ask) == "finding = guard(given)"
    assert ast.unparse(leave) == "if finding is not None:\n    return finding"
    assert ast.unparse(call) == "return await actor.perform(call)"
    (asked,) = [node for module, name, node in functions() if (module, name) == ("act/guard.py", "guard")]
    assert [each.arg for each in asked.args.args] == ["given"]
    checks = {name for _, name, node in functions() if _ == "act/guard.py" and name.startswith("_")}
    used = {check.__name__ for check in guard_module.CHECKS}
    assert checks - used == {"_again", "_withdrawn"}  # what findings say, and no checks


def test_nobody_reaches_perform_by_a_name_that_is_put_together():
    """There is no text `perform` that could be looked up, and no look-up of a name that is not written out."""
    for name, module in modules().items():
        for node in ast.walk(module):
            if isinstance(node, ast.Constant):
                assert node.value not in {"perform", "perform_guarded"}, name
        if name.startswith(("act/", "approve/")):
            for node in ast.walk(module):
                dynamic = isinstance(node, ast.Call) and ast.unparse(node.func) in {"getattr", "eval", "exec"}
                assert not dynamic or len(node.args) == 3 or isinstance(node.args[1], ast.Constant), name


def test_what_an_actor_writes_with_is_used_by_its_own_perform_alone():
    """A public method of an actor beside the protocol is called in `perform` of a connector, and nowhere else."""
    extra: set[str] = set()
    for name, module in modules().items():
        for node in module.body:
            methods = {each.name for each in getattr(node, "body", []) if isinstance(each, Function)}
            if name.startswith("connectors/") and isinstance(node, ast.ClassDef) and "perform" in methods:
                extra |= {each for each in methods - PROTOCOL if not each.startswith("_")}
    assert extra == {"write"}
    callers = {
        f"{m}: {f}" for m, f, node in functions() if m.startswith(("connectors/", "act/")) and _calls(node, extra)
    }
    assert callers == {
        "connectors/http/actor.py: HttpActor.perform",
        "connectors/http/split.py: SplitActor.perform",
        "connectors/sql/actor.py: SqlActor.perform",
        "connectors/sql/split.py: SplitActor.perform",
    }


def _calls(node: ast.AST, names: set[str]) -> bool:
    """Whether something like `actor.write(…)` or `self.write(…)` is called within."""
    return any(
        isinstance(each, ast.Call)
        and isinstance(each.func, ast.Attribute)
        and each.func.attr in names
        and ast.unparse(each.func.value) in {"self", "actor", "self._actor"}
        for each in ast.walk(node)
    )


@pytest.mark.parametrize(
    "room", ["act/", "approve/", "store/ledger", "store/rounds", "store/controls", "store/applying"]
)
def test_no_environment_variable_and_no_option_is_looked_at_where_it_is_decided(room):
    """What the guard looks at comes from the store, the workspace and the system's user database."""
    forbidden = {"environ", "getenv", "argv", "click"}
    for name, module in modules().items():
        if name.startswith(room):
            assert called(module).isdisjoint(forbidden), name


def test_what_the_guard_looks_at_is_put_together_in_one_place():
    """Nobody hands the guard facts of their own."""
    assert users_of("GuardInputs") - {"act/perform.py: perform_guarded"} - {
        user for user in users_of("GuardInputs") if user.startswith("act/guard.py")
    } == {"act/watch.py: Watch.inputs"}
