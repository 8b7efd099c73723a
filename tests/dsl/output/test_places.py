"""Places as the tools of a repository name them."""

from __future__ import annotations

import pytest

from fullcount.dsl.output.places import Region, Root, region
from fullcount.dsl.source import Source

ROOT = Root("/home/ana/cleanups", "/home/ana/cleanups/teams")


@pytest.mark.parametrize(
    ("name", "path", "uri"),
    [
        ("x.fcw", "teams/x.fcw", "teams/x.fcw"),
        ("../workflows/x.fcw", "workflows/x.fcw", "workflows/x.fcw"),
        ("/home/ana/cleanups/a b/x#1.fcw", "a b/x#1.fcw", "a%20b/x%231.fcw"),
        ("/tmp/x.fcw", "/tmp/x.fcw", "file:///tmp/x.fcw"),
        ("../../cleanups2/x.fcw", "/home/ana/cleanups2/x.fcw", "file:///home/ana/cleanups2/x.fcw"),
        ("sub\\é.fcw", "teams/sub/é.fcw", "teams/sub/%C3%A9.fcw"),
    ],
)
def test_file_is_named_from_the_root_of_the_repository(name, path, uri):
    """However it was given; what lies outside is named in full."""
    assert ROOT.path(name) == path
    assert ROOT.uri(name) == uri


def test_region_counts_from_one_in_code_points():
    """Also beside characters that take two units elsewhere, and past the end."""
    source = Source("x", 'a\n"😀😀" b\n')
    sources = {"x": source}
    at = source.text.index("b")
    assert region(source.span(at, at + 1), sources) == Region(2, 6, 2, 7)
    assert region(source.span(0, at), sources) == Region(1, 1, 2, 6)
    assert region(source.span(500, 900), sources) == Region(3, 1, 3, 1)
    assert region(Source("y", "").span(0, 0), sources) is None
