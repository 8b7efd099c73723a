"""Foreign text in a command that people are told to type: one argument, whatever it is."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullcount.runtime.text import plain
from fullcount.runtime.typed import argument, object_argument, path_argument
from fullcount.runtime.undoing import _keys
from fullcount.runtime.workflow_files import MistakesError


@given(st.one_of(st.text(), st.sampled_from(["", " ", "x; rm -rf ~", "$(id)", "-x", "--help", "7", "[1]", "a\n", "'"])))
def test_an_object_s_key_is_one_argument_that_means_this_object_alone(text: str):
    """Never an option, never nothing, never a second command, and all of it can be seen."""
    written = object_argument((text,))
    (word,) = shlex.split(written)
    assert _keys(word) == [[text]]
    assert word != ""
    assert not word.startswith("-")
    assert plain(written) == written


@pytest.mark.parametrize("key", [(7,), ("eu; id", 3), (True,)])
def test_a_key_that_is_no_text_is_a_list_in_one_argument(key):
    """A number is told apart from a text of the same digits."""
    (word,) = shlex.split(object_argument(key))
    assert _keys(word) == [list(key)]


def test_a_name_of_a_file_can_not_begin_a_command_of_its_own():
    """The help of a workflow with mistakes is typed by whoever reads it."""
    assert shlex.split(MistakesError("a b; rm -rf ~.fcw").help) == ["fullcount", "check", "a b; rm -rf ~.fcw"]
    assert path_argument("-x.fcw") == "./-x.fcw"
    assert argument("a\x1b[0m'b\n") == "$'a\\u001b[0m\\u0027b\\u000a'"
