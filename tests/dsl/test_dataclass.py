"""The values of the language behave as those of the standard library's decorator."""

import copy
import dataclasses
import pickle
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullcount.dsl import tree
from fullcount.dsl.dataclass import dataclass, field
from fullcount.dsl.diagnostics import Diagnostics


def pair(*, frozen):
    """Make one class with each decorator."""

    def made(decorate):
        body = {
            "__module__": __name__,
            "__annotations__": {"a": "int", "b": "list[int]", "c": "str", "d": "object"},
            "b": field(default_factory=list),
            "c": field(default="x", repr=False),
            "d": field(default=1.5, compare=False),
        }
        return decorate(slots=True, frozen=frozen)(type("Made", (), body))

    return made(dataclass), made(dataclasses.dataclass)


PAIRS = {frozen: pair(frozen=frozen) for frozen in (True, False)}
VALUES = st.one_of(st.integers(-2, 2), st.just(Decimal("NaN")), st.text(max_size=1), st.lists(st.none(), max_size=1))
ARGUMENTS = st.lists(VALUES, min_size=1, max_size=4)


def hash_of(value):
    try:
        return hash(value)
    except TypeError:
        return None


@given(ARGUMENTS, ARGUMENTS, st.booleans())
def test_objects_are_made_shown_compared_and_hashed_alike(first, second, frozen):
    """Whatever the fields hold, both decorators give objects that look, compare and hash the same."""
    ours, theirs = PAIRS[frozen]
    assert repr(ours(*first)) == repr(theirs(*first))
    assert (ours(*first) == ours(*second)) == (theirs(*first) == theirs(*second))
    assert hash_of(ours(*first)) == hash_of(theirs(*first))


@pytest.mark.parametrize("frozen", [True, False])
def test_equality_is_of_one_class_and_of_the_compared_fields(frozen):
    """An object equals another of its class with the same compared fields, and nothing else."""
    for cls in PAIRS[frozen]:
        assert cls(1, [2], "x", 1) == cls(1, [2], "x", 2)
        assert cls(1) != cls(2)
        assert cls(1) != (1, [], "x", 1.5)
        assert cls(Decimal("NaN")) != cls(Decimal("NaN"))


@pytest.mark.parametrize("arguments", [((), {}), ((1, 2, 3, 4, 5), {}), ((1,), {"a": 2}), ((1,), {"e": 2})])
def test_wrong_arguments_are_refused(arguments):
    """What the standard class does not take is not taken, the first time as every other."""
    positional, named = arguments
    for cls in PAIRS[True]:
        for _ in range(2):
            with pytest.raises(TypeError):
                cls(*positional, **named)


def test_a_frozen_object_stays_as_it_is():
    """Fields can be neither set nor deleted, and no other attribute added."""
    name = tree.Name("x", None)
    for change in (
        lambda: setattr(name, "text", "y"),
        lambda: setattr(name, "other", 1),
        lambda: delattr(name, "text"),
    ):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change()
    assert not hasattr(name, "__dict__")


def test_the_functions_of_the_standard_library_take_the_objects():
    """`fields`, `replace`, `asdict`, `copy` and `pickle` work as with any dataclass."""
    node = tree.KeepDecl(3, None, "newest", None, None, None)
    assert [part.name for part in dataclasses.fields(node)] == list(tree.KeepDecl.__match_args__)
    assert dataclasses.is_dataclass(tree.KeepDecl)
    assert dataclasses.replace(node, count=4).count == 4
    assert dataclasses.asdict(node)["order"] == "newest"
    assert copy.deepcopy(node) == node == pickle.loads(pickle.dumps(node))


def test_a_subclass_without_fields_of_its_own_has_those_of_its_base():
    """A plain subclass is made, compared and taken apart as its base is."""

    class Sub(Diagnostics):
        pass

    assert [part.name for part in dataclasses.fields(Sub)] == ["_items"]
    assert len(Sub()) == 0


def test_forms_that_are_not_made_here_are_refused():
    """Whoever needs more than plain fields in slots is told so, and gets nothing that only looks right."""
    with pytest.raises(TypeError, match="slots"):
        dataclass(slots=False)
    with pytest.raises(TypeError, match="plain fields"):
        dataclass(slots=True)(type("Made", (), {"__annotations__": {"a": "ClassVar[int]"}}))
