"""Which workflows are served when files, or what they import, change under the service."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from fullcount.runtime.service.scheduled import ScheduledWorkflows
from fullcount.runtime.workspace import Workspace

LIBRARY = "define unused(last: timestamp, than: duration) = last < now - than\n"


@pytest.fixture
def served(bench):
    """The served workflows of a workspace whose workflow imports a library."""
    path = bench.root / "workflows" / "disable_orphans.fcw"
    text = path.read_text()
    if "schedule" not in text:
        text = text.replace('owner    "iam-team"', 'owner    "iam-team"\n  schedule every 6h', 1)
    path.write_text('import "lib.fcw"\n' + text)
    (bench.root / "workflows" / "lib.fcw").write_text(LIBRARY)
    return ScheduledWorkflows(Workspace.load(bench.root), bench.root / "workflows")


def names(served: ScheduledWorkflows) -> list[str]:
    return [each.workflow.name for each in served()]


def test_workflow_whose_import_breaks_or_goes_is_served_no_more_and_that_is_said_once(served, bench):
    """An old version of a definition never decides in place of the one that stands there."""
    library = bench.root / "workflows" / "lib.fcw"
    assert names(served) == ["disable_orphans"]
    library.unlink()
    with capture_logs() as logs:
        assert names(served) == []
        assert names(served) == []
    assert len(logs) == 1
    library.write_text(LIBRARY)
    assert names(served) == ["disable_orphans"]


def test_change_of_an_imported_file_alone_is_taken_up(served, bench):
    """Also when the workflow's own file stays as it was, and the size of the imported one too."""
    before = served()
    assert served() == before
    (bench.root / "workflows" / "lib.fcw").write_text(LIBRARY.replace("unused", "nobody"))
    assert [dict(each.sources) for each in served()] != [dict(each.sources) for each in before]


def test_file_of_shared_names_is_no_workflow_and_no_mistake(served):
    """A library in the folder of workflows is simply not scheduled."""
    with capture_logs() as logs:
        assert names(served) == ["disable_orphans"]
    assert logs == []
