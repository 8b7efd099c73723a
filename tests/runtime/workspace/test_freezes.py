"""Freezes in `fullcount.toml`: what can't be read is never none, and each look is a new one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from fullcount.runtime.workspace import Workspace, WorkspaceError

HEAD = '[workspace]\nname = "w"\n\n'
YEAR = '[[freeze]]\nfrom = 2026-12-20T00:00:00+01:00\nto = 2027-01-04T00:00:00+01:00\nreason = "end of the year"\n'


def written(tmp_path, text):
    (tmp_path / "fullcount.toml").write_text(HEAD + text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ("from = 2026-12-20T00:00:00+01:00\n", "", "FC604", "`freeze[1].from` is missing"),
        ("to = 2027-01-04T00:00:00+01:00\n", "", "FC604", "`freeze[1].to` is missing"),
        ('reason = "end of the year"\n', "", "FC604", "`freeze[1].reason` is missing"),
        ('"end of the year"', '" "', "FC604", "`freeze[1].reason`"),
        ("2026-12-20T00:00:00+01:00", "2026-12-20T00:00:00", "FC604", "expected an instant with its offset"),
        ("2026-12-20T00:00:00+01:00", "2026-12-20", "FC604", "expected an instant with its offset"),
        ("2026-12-20T00:00:00+01:00", '"2026-12-20T00:00:00Z"', "FC604", "expected an instant with its offset"),
        ("2027-01-04T00:00:00+01:00", "2026-12-20T00:00:00+01:00", "FC604", "ends before it begins"),
        ("reason", "resaon", "FC603", "`freeze[1].resaon` is not a key that is known here"),
    ],
)
def test_a_freeze_that_is_not_whole_is_an_error(tmp_path, old, new, code, said):
    """When the workspace is loaded, and when it is looked at again."""
    assert old in YEAR
    with pytest.raises(WorkspaceError) as raised:
        Workspace.load(written(tmp_path, YEAR.replace(old, new)))
    assert (raised.value.code, said in raised.value.message) == (code, True), raised.value.message
    workspace = Workspace.load(written(tmp_path, YEAR))
    written(tmp_path, YEAR.replace(old, new))
    with pytest.raises(WorkspaceError) as raised:
        workspace.freezes()
    assert raised.value.code == code


@pytest.mark.parametrize("spoil", [lambda path: path.unlink(), lambda path: path.write_bytes(b"\xff= [")])
def test_freezes_that_can_not_be_read_are_an_error(tmp_path, spoil):
    """A configuration that is gone or broken in the middle of an apply stops it."""
    workspace = Workspace.load(written(tmp_path, YEAR))
    spoil(tmp_path / "fullcount.toml")
    with pytest.raises(WorkspaceError) as raised:
        workspace.freezes()
    assert raised.value.code == "FC602"


def test_freezes_are_half_open_and_in_order_of_time(tmp_path):
    """The first instant is frozen, the last one is not."""
    early = YEAR.replace("2026-12-20", "2026-05-01").replace("2027-01-04", "2026-05-02").replace("end of", "start of")
    first, second = Workspace.load(written(tmp_path, YEAR + early)).freezes()
    assert (first.reason, second.reason) == ("start of the year", "end of the year")
    start, end = datetime(2026, 12, 19, 23, tzinfo=UTC), datetime(2027, 1, 3, 23, tzinfo=UTC)
    assert (second.start, second.end) == (start, end)
    assert [second.holds_at(at) for at in (start, end)] == [True, False]


def test_each_look_reads_the_file_anew(tmp_path):
    """A freeze that is added holds at once; without one nothing is frozen."""
    workspace = Workspace.load(written(tmp_path, ""))
    assert workspace.freezes() == ()
    written(tmp_path, YEAR)
    assert [freeze.reason for freeze in workspace.freezes()] == ["end of the year"]
