"""Foreign text in a command that people are told to type: one argument, whatever it is."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullcount.runtime import format as fmt
from fullcount.runtime.text import plain
from fullcount.runtime.typed import argument, object_argument, object_text, path_argument
from fullcount.runtime.typed_keys import meant, readings, shortened
from fullcount.runtime.understand.errors import NoAnswerError
from fullcount.runtime.workflow_files import MistakesError


@given(st.one_of(st.text(), st.sampled_from(["", " ", "x; rm -rf ~", "$(id)", "-x", "--help", "7", "[1]", "a\n", "'"])))
def test_an_object_s_key_is_one_argument_that_means_this_object_alone(text: str):
    """Never an option, never nothing, never a second command, and all of it can be seen."""
    written = object_argument((text,))
    (word,) = shlex.split(written)
    assert meant(word, [key for key in readings(word) if key in {(text,), ("another",)}]) == (text,)
    assert word != ""
    assert not word.startswith("-")
    assert plain(written) == written


@pytest.mark.parametrize("key", [(7,), ("eu; id", 3), (True,)])
def test_a_key_that_is_no_text_is_a_list_in_one_argument(key):
    """A number is told apart from a text of the same digits."""
    (word,) = shlex.split(object_argument(key))
    assert key in readings(word)
    assert object_text(key) == word


def test_a_name_of_a_file_can_not_begin_a_command_of_its_own():
    """The help of a workflow with mistakes is typed by whoever reads it."""
    assert shlex.split(MistakesError("a b; rm -rf ~.fcw").help) == ["fullcount", "check", "a b; rm -rf ~.fcw"]
    assert path_argument("-x.fcw") == "./-x.fcw"
    assert argument("a\x1b[0m'b\n") == "$'a\\u001b[0m\\u0027b\\u000a'"


HOSTILE = st.text(alphabet="ab7 /,'\"\\[]{}()n…\n\t\x1b\x07\u202e\u200b\u0301\u2028é", min_size=1, max_size=12)
KEYS = st.lists(st.one_of(HOSTILE, st.integers(-(10**20), 10**20), st.booleans()), min_size=1, max_size=3).map(tuple)


def resolved(text, keys):
    """Return which of the keys a text names, or what would name each alone."""
    could = {repr(key) for key in readings(text, len(keys[0]))}
    return meant(text, [key for key in keys if repr(key) in could] or shortened(text, keys))


@given(KEYS)
def test_a_key_typed_just_as_a_screen_shows_it_is_accepted(key):
    """Escapes, separators, quotes and brackets included; so is the argument of a printed command."""
    assert repr(resolved(fmt.key(key), [key])) == repr(key)
    assert repr(resolved(object_text(key), [key])) == repr(key)
    for limit in (3, 7):
        assert repr(resolved(fmt.key(key, limit), [key])) == repr(key)


@given(st.lists(HOSTILE, min_size=2, max_size=5, unique=True).map(lambda texts: [(text,) for text in texts]))
def test_a_key_as_it_is_shown_never_names_another_object(keys):
    """Where it could, it is refused."""
    for key in keys:
        could = [other for other in keys if other in readings(fmt.key(key), 1)]
        assert key in could
        if len(could) == 1:
            assert resolved(fmt.key(key), keys) == key
        else:
            with pytest.raises(NoAnswerError):
                resolved(fmt.key(key), keys)


def test_what_could_be_two_objects_is_refused_with_the_two():
    """A line break, and a backslash with an n."""
    with pytest.raises(NoAnswerError) as refused:
        resolved("a\\nb", [("a\nb",), ("a\\nb",)])
    assert (refused.value.code, refused.value.help) == (
        "FC681",
        """name one of them: '["a\\nb"]' or '["a\\\\nb"]'""",
    )
    keys = [("-x",), ('["-x"]',)]
    with pytest.raises(NoAnswerError) as refused:
        resolved('["-x"]', keys)
    assert [resolved(word, keys) for word in shlex.split(refused.value.help)[4::2]] == keys
    assert readings(" / ".join("a" * 40)) != ()
