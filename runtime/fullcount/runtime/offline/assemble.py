"""Making `verify.py`: the modules of this room, one after the other in one file. Not part of that file itself.

Guarantees: nothing is imported in it but the standard library, and no name is defined twice; both are checked here.
"""

from __future__ import annotations

import ast
import sys
from functools import lru_cache
from pathlib import Path
from typing import Final

_ROOM: Final = "fullcount.runtime.offline"
ORDER: Final = (
    "canonical", "ed25519", "sshsig", "signers", "statements", "votes", "kinds", "journal", "instants", "plans",
    "programs", "leases", "slots", "notices", "rehearsals", "clocks", "pace", "facts", "approvals", "acts", "undos",
    "replaying", "attest", "files", "bundle", "story",
)  # fmt: skip
_END: Final = '\n\nif __name__ == "__main__":\n    sys.exit(main(sys.argv[1:]))\n'


@lru_cache(maxsize=1)
def verifier() -> str:
    """Return the text of the stand-alone `verify.py`."""
    imports: set[str] = set()
    names: dict[str, str] = {}
    bodies = [_body(name, imports, names) for name in ORDER]
    story = ast.get_docstring(ast.parse(_source("story")), clean=False)
    head = f'#!/usr/bin/env python3\n"""{story}"""\n\nfrom __future__ import annotations\n\n'
    return head + "\n".join(sorted(imports, key=_import_order)) + "\n" + "".join(bodies) + _END


def _import_order(line: str) -> tuple[bool, str]:
    return line.startswith("from "), line


def _source(name: str) -> str:
    return (Path(__file__).parent / f"{name}.py").read_text("utf-8")


def _body(name: str, imports: set[str], names: dict[str, str]) -> str:
    source = _source(name)
    lines = source.splitlines(keepends=True)
    title = (ast.get_docstring(ast.parse(source)) or "").splitlines()
    for node in ast.parse(source).body:
        docstring = node.lineno == 1 and isinstance(node, ast.Expr)
        if isinstance(node, ast.Import | ast.ImportFrom) or docstring or _is_all(node):
            _check_import(name, node, imports)
            for number in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[number] = ""
            continue
        for defined in _defined(node):
            if defined in names:
                raise ValueError(f"`{defined}` of {name} is defined by {names[defined]} as well")
            names[defined] = name
    comment = "".join(f"# {line}".rstrip() + "\n" for line in title)
    return f"\n\n# -- {name} {'-' * (113 - len(name))}\n{comment}\n\n" + "".join(lines).strip("\n") + "\n"


def _check_import(name: str, node: ast.stmt, imports: set[str]) -> None:
    if isinstance(node, ast.ImportFrom) and node.module is not None:
        if node.module.startswith(f"{_ROOM}.") or node.module == "__future__":
            if any(each.asname for each in node.names):
                raise ValueError(f"{name} renames what it imports")
            return
        if node.module.partition(".")[0] in sys.stdlib_module_names:
            imports |= {f"from {node.module} import {each.name}" for each in node.names}
            return
    elif isinstance(node, ast.Import) and all(each.name in sys.stdlib_module_names for each in node.names):
        imports |= {f"import {each.name}" for each in node.names}
        return
    elif isinstance(node, ast.Expr | ast.Assign):
        return
    raise ValueError(f"{name} imports something that is not of the standard library")


def _is_all(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__"


def _defined(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Assign(targets=targets):
            return [each.id for each in targets if isinstance(each, ast.Name)]
    return []
