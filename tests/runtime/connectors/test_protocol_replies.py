"""Decision functions of protocols: what was not read from its first part to its last is never complete."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.profiles import examples

from fullcount.compiler.values import FieldState
from fullcount.runtime.connectors.ldap.replies import SearchReply, judge_search
from fullcount.runtime.connectors.redis.replies import Answer, judge_scan
from fullcount.runtime.connectors.sql.replies import Statement, judge_read


def ranged(ranges):
    """Return one reply for each range of values of a group."""
    return [
        SearchReply(0, [{f"member;range={first}-{last}": ["cn=a"]}], ["cn=g"], cookie="", asked=["member"])
        for first, last in ranges
    ]


@pytest.mark.requirement("R2", "R38")
@settings(examples(60))
@given(st.lists(st.integers(1, 5), min_size=1, max_size=5), st.data())
def test_values_given_in_ranges_are_whole_only_from_the_first_to_the_last(sizes, data):
    """A range that was left out is a cut, wherever it stood and in whatever order the others came."""
    ends = [sum(sizes[: number + 1]) for number in range(len(sizes))]
    ranges = [(end - size, end - 1) for end, size in zip(ends, sizes, strict=True)]
    ranges[-1] = (ranges[-1][0], "*")
    kept = data.draw(st.lists(st.sampled_from(ranges), unique=True, min_size=1))
    judged = judge_search(ranged(kept), ["member"], active_directory=True)
    assert (len(judged.reasons) == 0) == (set(kept) == set(ranges))
    assert judged.states["member"] is (FieldState.PRESENT if set(kept) == set(ranges) else FieldState.TRUNCATED)


@pytest.mark.requirement("R2", "R38")
@settings(examples(60))
@given(st.lists(st.integers(1, 99).map(str), unique=True, max_size=5), st.data())
def test_a_scan_is_whole_only_from_cursor_0_by_the_cursors_that_were_given(cursors, data):
    """A page that is missing in a recorded scan is missing, though the last one says 0."""
    asked, given_ = ["0", *cursors], [*cursors, "0"]
    pages = [
        Answer("SCAN", asked_cursor=before, reply={"cursor": after, "keys": [before]})
        for before, after in zip(asked, given_, strict=True)
    ]
    kept = [page for page in pages if data.draw(st.booleans())]
    assert (len(judge_scan(kept).reasons) == 0) == (kept == pages)


@pytest.mark.requirement("R12")
@pytest.mark.parametrize(
    "sql",
    [
        "select id from t order by id limit 2",
        "select id from t order by id fetch first 2 rows only",
        "fetch 2 from c",
        "FETCH FORWARD 2 FROM c",
        "select id from t limit $1",
        "select id from t limit :most",
        "select id from t tablesample system (1)",
    ],
)
def test_rows_that_a_statement_itself_may_have_cut_are_not_all(sql):
    """Whatever the limit is called, and also if its number is not told."""
    assert len(judge_read([Statement(sql, "00000", [[1], [2]])]).reasons) == 1
    assert len(judge_read([Statement("select id from t", "00000", [[1], [2]])]).reasons) == 0
