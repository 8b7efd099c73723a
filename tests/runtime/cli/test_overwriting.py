"""A verb that writes a file replaces what it wrote itself, an empty file, or what it was told to; nothing else."""

import os

import pytest
from tests.support.workspaces import WORKFLOW

FILE = f"workflows/{WORKFLOW}.fcw"
WRITING = (
    ("show", "PLAN", "--html", "out"),
    ("graph", FILE, "-o", "out"),
    ("graph", FILE, "--format", "dot", "-o", "out"),
    ("graph", FILE, "--format", "svg", "-o", "out"),
    ("graph", FILE, "--json", "-o", "out"),
    ("verify", "--export", "out"),
)


@pytest.fixture
def run(bench):
    """Run a command with the id of a plan that is there."""
    plan_id = bench.plan()["plan_id"]
    return lambda *arguments: bench.run(*(plan_id if argument == "PLAN" else argument for argument in arguments))


@pytest.mark.parametrize("content", [b"notes", b"<html>mine</html>", b"\xff\xfe\x00", b"{}", b"\n"])
def test_a_file_of_somebody_else_is_left_alone(bench, run, content):
    """Whatever it holds, and whichever verb; `--force` is the way to mean it."""
    out = bench.root / "out"
    for arguments in WRITING:
        out.write_bytes(content)
        ended = run(*arguments)
        assert (ended.exit, "FC685" in ended.said) == (2, True), (arguments, ended.said)
        assert out.read_bytes() == content
        assert run(*arguments, "--force").exit == 0
        assert out.read_bytes() != content


def test_what_the_verb_wrote_before_is_replaced(bench, run):
    """The same command twice is no trouble; an empty file holds nothing that could be lost."""
    out = bench.root / "out"
    for arguments in WRITING:
        out.write_bytes(b"")
        assert [run(*arguments).exit for _ in range(2)] == [0, 0], arguments


def test_one_form_does_not_replace_another(bench, run):
    """A page is no picture and no journal."""
    for first in WRITING:
        for second in WRITING:
            if second[0] == first[0]:
                continue
            (bench.root / "out").unlink(missing_ok=True)
            assert run(*first).exit == 0
            assert run(*second).exit == 2, (first, second)


def test_what_is_no_file_is_written_to(bench, run):
    """A device or a pipe holds nothing."""
    for arguments in WRITING:
        assert run(*(os.devnull if argument == "out" else argument for argument in arguments)).exit == 0
