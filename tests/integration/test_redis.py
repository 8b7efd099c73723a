"""Keys of a real Redis server: what SCAN guarantees while the world moves, and what it does not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.support.reading_redis import Source, codes, state
from tests.support.redis_server import running_redis
from tests.support.services import free_port

from fullcount.compiler.values import FieldState
from fullcount.runtime.connectors.base import Existence, Question, SourceError
from fullcount.runtime.connectors.redis import CONNECTOR
from fullcount.runtime.connectors.redis.patterns import fits
from fullcount.runtime.evidence.codes import Reason, WarningCode

pytestmark = pytest.mark.service("redis")


async def test_keys_are_complete_with_what_is_known_of_each(server, tmp_path):
    """To the cursor 0, and only those that match; a key that never expires is one without a time, not at 0."""
    expires = datetime(2100, 1, 1, tzinfo=UTC)
    server.many([("SET", "s:plain", "x"), ("RPUSH", "s:list", "x"), ("SET", "other", "x")])
    server.run("SET", "s:brief", "x", "PXAT", int(expires.timestamp() * 1000))
    envelope, rows = await Source(server.port, match="s:*").collect(tmp_path)
    assert (envelope.complete, set(rows)) == (True, {"s:plain", "s:list", "s:brief"})
    assert str(envelope.scope.consistency) == "interval"
    assert (rows["s:list"]["type"], rows["s:brief"]["type"]) == ("list", "string")
    assert (rows["s:brief"]["expires_at"], state(rows["s:plain"], "expires_at")) == (expires, FieldState.ABSENT)
    assert state(rows["s:plain"], "idle") is FieldState.PRESENT


@pytest.mark.requirement("R36")
async def test_no_key_is_an_empty_list_only_at_the_end(server, tmp_path):
    """Hundreds of keys that do not match are pages without rows, and the read goes on."""
    server.many([("SET", f"other:{n}", "x") for n in range(300)])
    envelope, rows = await Source(server.port, match="s:*", count=10).collect(tmp_path)
    assert (envelope.complete, rows) == (True, {})
    assert WarningCode.EMPTY_PAGE_WITH_CURSOR in [warning.code for warning in envelope.warnings]


@pytest.mark.requirement("R37")
@pytest.mark.parametrize("grows", [True, False], ids=["grows", "shrinks"])
async def test_keys_that_stay_are_all_found_while_the_table_is_rehashed(server, tmp_path, grows):
    """Thousands of keys come or go between two pages; every one that was there all the time is in the answer."""
    stay = {f"stay:{n}" for n in range(500)}
    pass_by = [f"pass:{n}" for n in range(4000)]
    server.many([("SET", key, "x") for key in stay])
    if not grows:
        server.many([("SET", key, "x") for key in pass_by])
    source = Source(server.port, count=50 if grows else 200)
    reader = Moving(await CONNECTOR.open_reader("cache", source.config))
    changes = [("SET", key, "x") if grows else ("DEL", key) for key in pass_by]
    reader.between = [changes[start : start + 1000] for start in range(0, len(changes), 1000)]
    reader.server = server
    try:
        envelope, rows = await source.collect(tmp_path, reader)
    finally:
        await reader.close()
    assert reader.between == []
    assert stay <= set(rows)
    assert envelope.complete or codes(envelope) == [Reason.SNAPSHOT_CHANGED]  # a key twice, idle for longer by then


class Moving:
    """A reader over a world that changes behind each page."""

    def __init__(self, reader):
        self._reader = reader

    def __getattr__(self, name):
        return getattr(self._reader, name)

    def scan(self, question):
        self._opened = self._reader.scan(question)
        return self

    async def __aenter__(self):
        self._scan = await self._opened.__aenter__()
        self.info = self._scan.info
        return self

    async def __aexit__(self, *error):
        await self._opened.__aexit__(*error)

    async def fetch(self, cursor):
        page = await self._scan.fetch(cursor)
        if self.between:
            self.server.many(self.between.pop(0))
        return page


@pytest.mark.requirement("R2", "R15", "R36")
async def test_scan_whose_connection_is_lost_is_over_and_is_not_carried_to_another(server, redis_front, tmp_path):
    """What was read stays a part; the very cursor would go on, and nobody knows over what."""
    server.many([("SET", f"key:{n}", "x") for n in range(3000)])
    source = Source(redis_front.port, count=100)
    with redis_front.cut(after=60_000):
        envelope, rows = await source.collect(tmp_path)
    assert codes(envelope) == [Reason.SOURCE_UNAVAILABLE]
    assert 0 < len(rows) < 3000
    envelope, rows = await source.collect(tmp_path)
    assert (envelope.complete, len(rows)) == (True, 3000)


@pytest.mark.requirement("R36")
async def test_scan_goes_on_over_no_new_connection_after_the_server_ended_the_old_one(server):
    """An administrator ends all connections between two pages: the third fetch is refused like the second."""
    server.many([("SET", f"key:{n}", "x") for n in range(500)])
    source = Source(server.port, count=50)
    reader = await CONNECTOR.open_reader("cache", source.config)
    try:
        async with reader.scan(Question("keys", source.resource, ("key",), None, 0)) as scan:
            page = await scan.fetch(None)
            server.run("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            for _ in range(2):
                with pytest.raises(SourceError) as refused:
                    await scan.fetch(page.cursor)
                assert (refused.value.reason.code, refused.value.retryable) == (Reason.SOURCE_UNAVAILABLE, False)
        server.run("SET", "one", "x")
        found = await reader.read(source.resource, ("one",), ("key", "type"))  # single questions lose nothing by it
        assert found.existence is Existence.FOUND
    finally:
        await reader.close()


@pytest.mark.requirement("R36")
async def test_reply_that_does_not_come_in_time_is_no_end(server, tmp_path):
    """The server holds all replies back for longer than the source waits."""
    source = Source(server.port, timeout=0.2)
    reader = await CONNECTOR.open_reader("cache", source.config)
    server.run("CLIENT", "PAUSE", "700", "ALL")
    try:
        with pytest.raises(SourceError) as refused:
            await reader.read(source.resource, ("a",), ("key",))
        assert refused.value.reason.code is Reason.TIME_BUDGET_EXCEEDED
    finally:
        await reader.close()


PART = ("ACL", "SETUSER", "part", "on", ">secret", "~app:*", "+select", "+hello", "+auth")


@pytest.fixture
def part(server, monkeypatch):
    """A source of a user who may read keys of one name only; what it may run besides is given."""
    monkeypatch.setenv("TEST_PASSWORD", "secret")
    server.many([("SET", "app:1", "x"), ("SET", "secret:1", "x")])

    def make(*may, **settings):
        server.run(*PART, *may)
        return Source(server.port, user="part", password={"env": "TEST_PASSWORD"}, **settings)

    return make


@pytest.mark.requirement("R7", "R36")
async def test_key_that_the_user_may_not_read_restricts_the_whole(part, tmp_path):
    """SCAN names it all the same, as Redis does; its fields are forbidden, and what is behind them unknown."""
    may = ("+scan", "+type", "+pexpiretime", "+object|idletime")
    envelope, rows = await part(*may).collect(tmp_path)
    assert codes(envelope) == [Reason.VISIBILITY_RESTRICTED]
    assert "secret:1" in envelope.completeness.reasons[0].detail
    assert (state(rows["secret:1"], "type"), state(rows["app:1"], "type")) == (FieldState.FORBIDDEN, FieldState.PRESENT)
    envelope, rows = await part(*may, match="app:*").collect(tmp_path)
    assert (envelope.complete, list(rows)) == (True, ["app:1"])
    reading = await part(*may).read("secret:1")
    assert (reading.existence, [reason.code for reason in reading.reasons]) == (
        Existence.UNKNOWN,
        [Reason.VISIBILITY_RESTRICTED],
    )


@pytest.mark.requirement("R7")
async def test_command_that_the_user_may_not_run_leaves_its_field_unknown(part, tmp_path):
    """The list is whole without it, and a key whose type may not be asked for is not gone."""
    source = part("+scan", "+pexpiretime", "+object|idletime", match="app:*")
    envelope, rows = await source.collect(tmp_path)
    assert (envelope.complete, state(rows["app:1"], "type")) == (True, FieldState.FORBIDDEN)
    assert WarningCode.PARTIAL_FIELD_SET in [warning.code for warning in envelope.warnings]
    reading = await source.read("app:2")
    assert reading.existence is not Existence.FOUND


@pytest.mark.requirement("R36")
async def test_user_who_may_not_scan_or_is_not_let_in_reads_nothing(part, tmp_path, monkeypatch):
    """Neither is an empty list."""
    envelope, rows = await part("+type").collect(tmp_path)
    assert (codes(envelope), rows) == ([Reason.VISIBILITY_RESTRICTED], {})
    monkeypatch.setenv("TEST_PASSWORD", "wrong")
    with pytest.raises(SourceError) as refused:
        await part("+scan").collect(tmp_path)
    assert refused.value.reason.code is Reason.AUTH_FAILED


async def test_idle_time_that_the_server_does_not_record_is_no_zero(server, tmp_path):
    """A server that evicts by frequency of use knows no last use."""
    server.run("SET", "a", "x")
    server.run("CONFIG", "SET", "maxmemory-policy", "allkeys-lfu")
    envelope, rows = await Source(server.port).collect(tmp_path)
    assert (envelope.complete, state(rows["a"], "idle")) == (True, FieldState.SOURCE_FAILED)


@pytest.mark.requirement("R36")
async def test_key_that_is_no_text_is_told_and_not_left_out(server, tmp_path):
    """It can't be listed, so the list is not complete."""
    server.run("SET", b"bad:\xff", "x")
    server.run("SET", "good", "x")
    envelope, rows = await Source(server.port).collect(tmp_path)
    assert (codes(envelope), list(rows)) == ([Reason.MALFORMED_RESPONSE], ["good"])


async def test_replica_is_read_with_a_warning_and_answers_no_recheck(server, tmp_path):
    """It may lag behind, and here its primary is not even there."""
    server.run("SET", "a", "x")
    server.run("CONFIG", "SET", "replica-serve-stale-data", "yes")
    server.run("REPLICAOF", "127.0.0.1", "1")
    envelope, rows = await Source(server.port).collect(tmp_path)
    assert (envelope.complete, list(rows)) == (True, ["a"])
    assert WarningCode.STALE_READ in [warning.code for warning in envelope.warnings if warning.blocking]
    assert (await Source(server.port).read("a")).existence is Existence.UNKNOWN
    server.run("CONFIG", "SET", "replica-serve-stale-data", "no")
    envelope, rows = await Source(server.port).collect(tmp_path)
    assert (codes(envelope), rows) == ([Reason.SOURCE_UNAVAILABLE], {})


async def test_single_key_is_read_or_gone(server):
    """With what is known of it, or positively not there."""
    server.run("SET", "a", "x", "EX", 1000)
    reading = await Source(server.port).read("a")
    assert reading.existence is Existence.FOUND
    left = timedelta(microseconds=reading.cells["expires_at"].value) - (
        datetime.now(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    )
    assert timedelta(seconds=900) < left <= timedelta(seconds=1000)
    assert (await Source(server.port).read("b")).existence is Existence.GONE
    assert (await Source(server.port, match="s:*").read("a")).existence is Existence.GONE


def test_key_fits_a_pattern_as_the_server_says(server):
    """A look-up finds no key that the list leaves out, and leaves none out that it has."""
    keys = ["s:1", "s:12", "s:", "S:1", "xs:1", "a*b", "aXb", "é", "éa", "s:\n1", "a\\b", "", "s?1", "s.1"]
    server.many([("SET", key, "x") for key in keys])
    for pattern in ("*", "s:*", "s:?", "s?1", "a\\*b", "a*b", "??", "?", "é*", "**", "*1", "s:**1", "a\\\\b", "s\\?1"):
        assert sorted(key for key in keys if fits(pattern, key)) == sorted(server.run("KEYS", pattern)), pattern
    assert fits("s:[12]", "s:1") is None


@pytest.mark.requirement("R18", "R36")
async def test_server_of_a_cluster_never_answers_for_all_of_it(tmp_path):
    """It has a part of the keys at most, and says so; a key that another one has is not gone."""
    with running_redis("--cluster-enabled", "yes", "--cluster-port", str(free_port())) as member:
        member.run("CLUSTER", "ADDSLOTSRANGE", 0, 8000)
        member.run("CONFIG", "SET", "cluster-require-full-coverage", "no")
        source = Source(member.port)
        envelope, _ = await source.collect(tmp_path)
        assert codes(envelope) == [Reason.SCOPE_NOT_COVERED]
        assert await existence(source, "a") is Reason.SOURCE_UNAVAILABLE  # of a slot that nobody serves


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("MOVED 3999 127.0.0.1:6381", Reason.SCOPE_NOT_COVERED),
        ("ASK 3999 127.0.0.1:6381", Reason.SCOPE_NOT_COVERED),
        ("LOADING Redis is loading the dataset in memory", Reason.SOURCE_UNAVAILABLE),
        ("MASTERDOWN Link with MASTER is down", Reason.SOURCE_UNAVAILABLE),
        ("CLUSTERDOWN The cluster is down", Reason.SOURCE_UNAVAILABLE),
        ("BUSY Redis is busy running a script", Reason.RATE_LIMITED),
        ("NOAUTH Authentication required.", Reason.AUTH_FAILED),
        ("NOPERM this user has no permissions", Reason.VISIBILITY_RESTRICTED),
        ("ERR unknown command", Reason.UNEXPECTED_STATUS),
    ],
)
def test_refusal_is_judged_by_the_word_that_the_server_gave(server, reply, reason):
    """Whatever the library makes of it."""
    from redis._parsers.base import BaseParser

    from fullcount.runtime.connectors.redis import session

    found = session.failed("SCAN", session.said_by(BaseParser.parse_error(reply)))
    assert (found.reason.code, found.reason.detail) == (reason, f"SCAN: {reply}")


async def existence(source, key):
    """Return whether a key is there, or why that is not known."""
    try:
        return (await source.read(key)).existence
    except SourceError as error:
        return error.reason.code
