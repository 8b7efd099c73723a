"""What nothing takes back needs as many people as the workspace says."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.catalogs import EXAMPLE

from fullcount.compiler.pipeline import compile_source
from fullcount.dsl.codes.examples import tidy
from fullcount.dsl.source import Source

UPDATE = "directory.update(id: a.id, locked: true) {\n    undo directory.update(id: a.id, locked: false)\n  }"
DELETE = "directory.delete(id: a.id)"


def codes(needed: int, *changes: tuple[str, str]) -> list[str]:
    """Return the codes of a workflow whose plans 2 people approve, where the workspace asks for so many."""
    compiled = compile_source(Source("rules.fcw", tidy(*changes)), replace(EXAMPLE, irreversible=needed))
    return [each.code for each in compiled.diagnostics]


@pytest.mark.requirement("R24")
@pytest.mark.parametrize(
    ("needed", "act", "found"),
    [
        (3, DELETE, ["FC415"]),
        (3, UPDATE.replace("undo directory.update(id: a.id, locked: false)", "stop after 1 failure"), ["FC415"]),
        (2, DELETE, []),
        (3, UPDATE, []),
        (3, f"{DELETE} {{ backup kept for 30d }}", []),
    ],
)
def test_an_act_without_a_way_back_needs_the_people_that_the_workspace_asks_for(needed, act, found):
    """An undo and a backup are ways back; two people are not three."""
    assert codes(needed, (UPDATE, act)) == found
