"""The README of each room tells the truth: a newcomer finds every file, and no file that is not there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("dsl", "compiler", "runtime")


def _held(room):
    """What stands in a room: its modules, and its rooms with code in them."""
    folder = ROOT / room / "fullcount" / room
    modules = {path.name for path in folder.glob("*.py")} - {"__init__.py"}
    return modules, {path.name for path in folder.iterdir() if any(path.glob("*.py"))}


@pytest.mark.parametrize("room", ROOMS)
def test_every_file_and_every_room_stands_in_the_readme(room):
    """What is not named there is not found."""
    text = (ROOT / room / "README.md").read_text("utf-8")
    modules, rooms = _held(room)
    assert len(modules) > 5
    assert [name for name in sorted(modules) if not re.search(rf"\b{re.escape(name)}", text)] == []
    assert [name for name in sorted(rooms) if f"`{name}/" not in text] == []


@pytest.mark.parametrize("room", ROOMS)
def test_every_file_that_a_readme_names_is_there(room):
    """A name that leads nowhere costs more than none."""
    text = (ROOT / room / "README.md").read_text("utf-8")
    there = {path.name for path in (ROOT / room).rglob("*.py")}
    named = {name.rsplit("/", 1)[-1] for name in re.findall(r"`([\w/]+\.py)`", text) if not name.startswith("tests/")}
    assert named - there == set()


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_is_empty(room):
    """A folder that only promises something is a door that opens on a wall."""
    for folder in (path for path in (ROOT / room / "fullcount" / room).rglob("*/") if path.name != "__pycache__"):
        held = [path for path in folder.iterdir() if path.name != "__pycache__"]
        empty = all(path.name == "__init__.py" and path.stat().st_size < 200 for path in held)
        assert not empty, folder
