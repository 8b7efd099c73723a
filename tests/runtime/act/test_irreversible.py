"""An approval of what can't be taken back holds only while as many people stand behind it as the workspace asks for."""

from __future__ import annotations

import pytest
from tests.support.acting import DAY, Orphans
from tests.support.applying import Stage, figures


@pytest.mark.requirement("R24")
async def test_too_few_people_license_nothing_that_is_final(tmp_path):
    """The workspace asks for two by now, and one agreed: nothing is deleted."""
    stage = Stage(tmp_path, Orphans(operation="delete"))
    plan = await stage.approved()
    report = await stage.apply(plan, irreversible_approvals=lambda: 2)
    assert (figures(report), report.stopped_by.code) == ({"not_started": 3}, "FC779")
    assert stage.source.effects == []
    assert figures(await stage.apply(plan)) == {"done": 3}


@pytest.mark.parametrize("world", [{}, {"operation": "delete", "backup": DAY}])
async def test_what_can_be_taken_back_needs_no_more_people_than_its_workflow_says(tmp_path, world):
    """An update with its undo, and a deletion with a backup."""
    stage = Stage(tmp_path, Orphans(**world))
    assert figures(await stage.apply(await stage.approved(), irreversible_approvals=lambda: 2)) == {"done": 3}
