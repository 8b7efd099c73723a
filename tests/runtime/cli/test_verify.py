"""What `fullcount verify` prints: whether the record holds, and, apart from that, whether backups are lost."""

from __future__ import annotations

import pytest

from fullcount.runtime.cli.verify import _say
from fullcount.runtime.journal.entry import Head
from fullcount.runtime.journal.report import About, Problem, VerifyReport

LOST = Problem(
    About.BACKUP, 7, 'a backup is lost: ["a1"] of the plan `P` can\'t be restored any more (it is not there)'
)
WRONG = Problem(About.ACT, 5, "it was changed")


@pytest.mark.requirement("R34", "R39")
@pytest.mark.parametrize(
    ("problems", "first", "changed", "lost"),
    [
        ((WRONG, LOST), "DOES NOT VERIFY  1 problem", True, True),
        ((WRONG,), "DOES NOT VERIFY  1 problem", True, False),
        ((LOST,), "VERIFIED  9 entries", False, True),
        ((), "VERIFIED  9 entries", False, False),
    ],
)
def test_a_lost_backup_is_said_apart_from_the_record(capsys, problems, first, changed, lost):
    """A record that is whole is not said to have been changed; either ends with another code than 0."""
    report = VerifyReport(entries=9, head=Head(seq=9, hash="sha256:00"), problems=problems, checked={"act": 1})
    _say(report)
    said = capsys.readouterr().out
    assert said.startswith(first)
    assert ("something changed the record" in said, "BACKUPS LOST  1" in said) == (changed, lost)
    assert (report.exit == 0) is (problems == ())
