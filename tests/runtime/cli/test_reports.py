"""What verbs say after what they planned."""

from __future__ import annotations

from fullcount.runtime.cli.reports import replaced_report


def test_an_undo_names_each_older_one_that_it_takes_the_place_of():
    """One line each, with the id."""
    told = str(replaced_report(["01OLD", "01OLDER"]))
    assert [line.split()[:4] for line in told.splitlines()] == [
        ["replaces", "the", "undo", "01OLD,"],
        ["replaces", "the", "undo", "01OLDER,"],
    ]
