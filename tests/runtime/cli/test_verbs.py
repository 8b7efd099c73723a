"""The table of verbs and the verbs themselves say the same."""

import subprocess
import sys

import pytest
from tests.support.workspaces import environment

from fullcount.runtime.cli.main import help_text
from fullcount.runtime.cli.running import command_of
from fullcount.runtime.cli.verbs import VERBS


@pytest.mark.parametrize("name", VERBS)
def test_the_list_of_verbs_says_what_each_says_of_itself(name):
    """`fullcount --help` is made without importing the verbs; each begins its own help with the same words."""
    command = command_of(name)
    assert command.name == name
    assert f"{command.help} ".startswith(f"{VERBS[name].purpose}. ") or command.help == f"{VERBS[name].purpose}."


@pytest.mark.parametrize("name", VERBS)
def test_every_argument_and_option_says_what_it_is(name):
    """Nobody has to guess what a word on the command line does."""
    assert [each.name for each in command_of(name).params if not each.help] == []


def test_the_list_of_verbs_fits_a_terminal():
    """A line that is cut off or wrapped would not say what its verb is for."""
    assert [line for line in help_text().splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("arguments", [("appl", "x"), ("--frob",), ("-v",), ("",)])
def test_only_a_verb_by_its_whole_name_runs(bench, arguments):
    """A typo runs nothing, even where one verb begins that way."""
    ended = bench.run(*arguments)
    assert ended.exit == 2
    assert "FC699" in ended.err
    assert "fullcount --help" in ended.words


@pytest.mark.parametrize(
    ("words", "expected"), [("fullcount ev", {"eval", "evidence"}), ("fullcount fmt --d", {"--diff"})]
)
def test_a_shell_is_told_what_could_come_next(words, expected):
    """Completion knows the verbs, and the options of each."""
    asked = {"_FULLCOUNT_COMPLETE": "zsh_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(
        [sys.executable, "-c", "from fullcount.runtime.cli.main import main; main()"],
        env={**environment(), **asked},
        capture_output=True,
        text=True,
        check=True,
    )
    assert expected <= set(done.stdout.split())
