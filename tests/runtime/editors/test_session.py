"""The language server answers a real editor: a process of its own, message by message."""

from __future__ import annotations

import pytest
from tests.support.editor import Editor, RefusedError
from tests.support.workspaces import WORKFLOW, Bench

pytestmark = pytest.mark.slow

UNITS = {
    "utf-8": lambda text: len(text.encode()),
    "utf-16": lambda text: len(text.encode("utf-16-le")) // 2,
    "utf-32": len,
}


@pytest.fixture
def bench(tmp_path):
    """A small real workspace."""
    return Bench(tmp_path / "bench")


@pytest.fixture
def file(bench):
    """Its workflow."""
    return bench.root / "workflows" / f"{WORKFLOW}.fcw"


@pytest.fixture
def editor(bench):
    """An editor that works in it."""
    with Editor(bench.root) as started:
        yield started


def place(text, needle, more=0, units=UNITS["utf-16"]):
    """Where a piece of text begins, or a number of characters behind: line and character."""
    offset = text.index(needle) + more
    line = text.count("\n", 0, offset)
    start = text.rfind("\n", 0, offset) + 1
    return line, units(text[start:offset])


def cut(text, found, units=UNITS["utf-16"]):
    """What stands in a range of one line."""
    assert found["start"]["line"] == found["end"]["line"]
    line = text.split("\n")[found["start"]["line"]]
    at = [
        next(i for i in range(len(line) + 1) if units(line[:i]) >= found[end]["character"]) for end in ("start", "end")
    ]
    return line[at[0] : at[1]]


def applied(text, edits):
    """A text after the edits of the protocol."""
    lines = text.split("\n")
    starts = [sum(len(line) + 1 for line in lines[:i]) for i in range(len(lines) + 1)]
    offset = lambda at: starts[at["line"]] + at["character"]  # noqa: E731
    for edit in sorted(edits, key=lambda e: offset(e["range"]["start"]), reverse=True):
        start, end = offset(edit["range"]["start"]), offset(edit["range"]["end"])
        text = text[:start] + edit["newText"] + text[end:]
    return text


def test_a_mistake_is_shown_where_it_is_typed_and_goes_when_it_is_mended(editor, file):
    """Opening, changing and closing a file; what is shown is what `fullcount check` says."""
    text = file.read_text()
    assert editor.open(file) == []
    wrong = text.replace("a.owner is absent", "a.ownr is absent")
    editor.change(file, wrong)
    (found,) = editor.diagnostics(file)
    assert (found["code"], found["severity"], cut(wrong, found["range"])) == ("FC110", 1, "ownr")
    assert "did you mean `owner`" in found["message"]
    editor.change(file, text)
    assert editor.diagnostics(file) == []
    editor.change(file, wrong)
    editor.close(file)
    assert editor.diagnostics(file) == []


def test_typing_is_not_interrupted_by_every_stroke(editor, file):
    """Many changes in a row are checked once, and what is shown belongs to the last one."""
    text = file.read_text()
    editor.open(file)
    for number in range(20):
        editor.change(file, text.replace("90d", f"9{'0' * number}q"))
    editor.change(file, text.replace("limit  5", "limt  5"))
    assert [each["code"] for each in editor.diagnostics(file)] == ["FC002"]


@pytest.mark.parametrize("encodings", [None, ["utf-16"], ["utf-8", "utf-16"], ["utf-32", "utf-8"], ["ebcdic"]])
def test_places_are_right_behind_characters_of_every_width(bench, file, encodings):
    """😀 is four bytes, two units or one character; the editor chooses what is counted, and UTF-16 is what all know."""
    chosen = (encodings or ["utf-16"])[0]
    chosen = chosen if chosen in UNITS else "utf-16"
    units = UNITS[chosen]
    with Editor(bench.root, encodings) as editor:
        assert editor.capabilities["positionEncoding"] == chosen
        _check_places(editor, file, units)
        assert editor.quit()[0] == 0


def _check_places(editor, file, units):
    text = file.read_text().replace("not a.locked", 'a.owner != "😀é\u4e2d" and not a.lockd and a.id != "x"')
    (found,) = (each for each in editor.open(file, text) if each["code"] == "FC110")
    assert cut(text, found["range"], units) == "lockd"
    line, character = place(text, "a.lockd", 1, units)
    editor.change(file, text.replace("a.lockd", "a."))
    editor.diagnostics(file)
    items = editor.at(file, line, character + 1, "completion")["items"]
    assert "locked" in [each["label"] for each in items]
    edit = items[0]["textEdit"]["range"]
    assert edit["start"] == edit["end"] == {"line": line, "character": character + 1}


def test_a_place_past_the_end_of_a_line_is_its_end(editor, file):
    """Editors ask about places that are not there, after a change that they have not told yet."""
    editor.open(file)
    for line, character in ((0, 10_000), (10_000, 0)):
        assert "items" in editor.at(file, line, character, "completion")
        assert editor.at(file, line, character, "definition") is None


def test_completion_knows_the_clauses_the_catalogue_and_the_names(editor, file):
    """What can be written follows from the grammar, from fullcount.toml and from what is declared."""
    text = file.read_text()
    editor.open(file)

    def proposed(old, new):
        changed = text.replace(old, new.replace("|", ""), 1)
        editor.change(file, changed)
        editor.diagnostics(file)
        at = place(changed, changed[text.index(old) :], new.index("|"))
        return {each["label"]: each for each in editor.at(file, *at, "completion")["items"]}

    assert {"where", "limit", "show", "keep"} <= set(proposed("where not", "wh| not"))
    assert list(proposed("from hr.employees", "from hr.|")) == ["employees", "headcount"]
    assert {"id", "active"} == set(proposed("p.id ==", "p.| =="))
    assert "update" in proposed("directory.update(id", "directory.|(id")
    assert "iam-admin" in proposed('role "iam-admin"', 'role "iam|"')
    assert "people" in proposed("no people as", "no | as")
    assert "exemptions" in proposed("except in exemptions", "except in |")
    field = proposed("id: text, active: bool", "id: text, |")["active"]
    assert (field["textEdit"]["newText"], field["detail"]) == ("active: bool", "bool")


def test_hovering_shows_the_type_and_what_a_conclusion_rests_on(editor, file):
    """A field with its type; a use of an inventory with its direction, what it requires and what promises that."""
    text = file.read_text()
    editor.open(file)

    def said(text, needle, more):
        return editor.at(file, *place(text, needle, more), "hover")["contents"]["value"]

    assert "owner: text?" in said(text, "a.owner", 2)
    use = said(text, "no people as", 3)
    assert "absence" in use
    assert "requires `complete`: promised by `complete`" in use
    unpromised = text.replace("verify people   { complete, ", "verify people { ")
    editor.change(file, unpromised)
    assert [each["code"] for each in editor.diagnostics(file)] == ["FC301"]
    assert "requires `complete`: **promised by nothing yet**" in said(unpromised, "no people as", 3)
    assert "update(id: text" in said(unpromised, "directory.update(id: a.id, locked: true)", 12)
    assert editor.at(file, 0, 0, "hover") is not None


def test_a_name_leads_to_its_declaration_and_to_every_use(editor, file):
    """Rows, parameters, inventories, proposals and fields."""
    text = file.read_text()
    editor.open(file)
    for needle, more, declared in (
        ("no people as", 3, "people"),
        ("now - idle", 6, "idle"),
        ("a.owner is", 0, "a"),
        ("act disable", 4, "disable"),
    ):
        found = editor.at(file, *place(text, needle, more), "definition")
        assert (found["uri"], cut(text, found["range"])) == (file.as_uri(), declared)
    found = editor.at(file, *place(text, "a.owner is", 2), "definition")
    assert found["range"]["start"] == dict(zip(("line", "character"), place(text, "owner: text?"), strict=True))
    places = editor.at(file, *place(text, "no people as", 3), "references", context={"includeDeclaration": True})
    assert [cut(text, each["range"]) for each in places] == ["people"] * 3
    places = editor.at(file, *place(text, "no people as", 3), "references", context={"includeDeclaration": False})
    assert len(places) == 2


def test_a_rename_changes_every_use_and_nothing_that_is_only_called_alike(editor, file):
    """The row `a` is not the `a` of another word, nor a text."""
    text = file.read_text()
    editor.open(file)
    found = editor.at(file, *place(text, "as a {", 3), "rename", newName="account")
    changed = applied(text, found["changes"][file.as_uri()])
    assert changed.count("account.") == text.count(" a.") + text.count("(a.")
    assert " a." not in changed
    editor.change(file, changed)
    assert editor.diagnostics(file) == []


@pytest.mark.parametrize(
    ("needle", "more", "new", "why"),
    [
        ("as a {", 3, "p", "taken for something else"),
        ("as a {", 3, "now", "word of the language"),
        ("as a {", 3, "1a", "not a name"),
        ("a.owner is", 2, "proprietor", "its source"),
        ("hr.employees", 1, "x", "fullcount.toml"),
        ("param idle", 6, "a", "taken for something else"),
        ("workflow", 1, "x", "no name here"),
    ],
)
def test_a_rename_that_would_change_what_is_meant_is_refused(editor, file, needle, more, new, why):
    """A name that is taken, reserved, or not ours to choose."""
    text = file.read_text()
    editor.open(file)
    with pytest.raises(RefusedError, match=why):
        editor.at(file, *place(text, needle, more), "rename", newName=new)


def test_a_rename_in_a_text_with_mistakes_is_refused(editor, file):
    """Where not everything can be read, not every use can be found."""
    text = file.read_text().replace("limit  5", "limt  5")
    editor.open(file, text)
    with pytest.raises(RefusedError, match="has mistakes"):
        editor.at(file, *place(text, "as a {", 3), "rename", newName="account")


def test_imports_are_taken_as_they_stand_in_the_editor(editor, bench, file):
    """A definition in an unsaved file is what its users see; it is found, and renamed everywhere."""
    shared = bench.root / "workflows" / "shared.fcw"
    shared.write_text("define idle_for(at: timestamp) = at < now - 30d\n")
    text = 'import "shared.fcw"\n' + file.read_text().replace("a.last_login < now - idle", "unused(a.last_login)")
    assert [each["code"] for each in editor.open(file, text)][:1] == ["FC118"]
    unsaved = "define unused(at: timestamp) = at < now - 30d\n"
    editor.open(shared, unsaved)
    while any(each["code"] == "FC118" for each in editor.diagnostics(file)):
        pass
    found = editor.at(file, *place(text, "unused(a", 1), "definition")
    assert (found["uri"], cut(unsaved, found["range"])) == (shared.as_uri(), "unused")
    found = editor.at(file, *place(text, '"shared.fcw"', 3), "definition")
    assert found["uri"] == shared.as_uri()
    edit = editor.at(file, *place(text, "unused(a", 1), "rename", newName="dormant")
    assert {uri: len(edits) for uri, edits in edit["changes"].items()} == {file.as_uri(): 1, shared.as_uri(): 1}


def test_the_layout_is_that_of_fmt_and_a_text_with_mistakes_is_left_alone(editor, file):
    """Formatting in the editor and on the command line is one thing."""
    text = file.read_text()
    editor.open(file)
    options = {"options": {"tabSize": 8, "insertSpaces": False}}
    edits = editor.ask("textDocument/formatting", {"textDocument": {"uri": file.as_uri()}, **options})
    formatted = edits[0]["newText"]
    editor.change(file, formatted)
    assert editor.ask("textDocument/formatting", {"textDocument": {"uri": file.as_uri()}, **options}) is None
    editor.change(file, text.replace("limit", "limt"))
    assert editor.ask("textDocument/formatting", {"textDocument": {"uri": file.as_uri()}, **options}) is None


def test_what_a_finding_says_how_to_mend_is_offered(editor, file):
    """The quick fix is the finding's own; applied, the finding is gone."""
    text = file.read_text().replace("a.owner is absent", "a.ownr is absent")
    (found,) = editor.open(file, text)
    (action,) = editor.ask(
        "textDocument/codeAction",
        {"textDocument": {"uri": file.as_uri()}, "range": found["range"], "context": {"diagnostics": [found]}},
    )
    assert (action["kind"], action["diagnostics"][0]["code"]) == ("quickfix", "FC110")
    editor.change(file, applied(text, action["edit"]["changes"][file.as_uri()]))
    assert editor.diagnostics(file) == []


def test_the_outline_is_what_the_file_declares(editor, file):
    """The workflow with its clauses under their names."""
    editor.open(file)
    (workflow,) = editor.ask("textDocument/documentSymbol", {"textDocument": {"uri": file.as_uri()}})
    assert (workflow["name"], workflow["detail"]) == (WORKFLOW, "workflow")
    named = [(each["detail"], each["name"]) for each in workflow["children"]]
    assert named[:3] == [("param", "idle"), ("inventory", "accounts"), ("inventory", "people")]
    assert ("act", "disable") in named


def test_a_workspace_that_cannot_be_used_is_said_and_the_form_is_still_looked_at(editor, bench, file):
    """A broken fullcount.toml is shown at the file's start, beside what is wrong with the text itself."""
    (bench.root / "fullcount.toml").write_text("[workspace\n")
    found = editor.open(file, file.read_text().replace("limit  5", "limt  5"))
    assert [each["code"] for each in found] == ["FC602", "FC002"]


def test_a_file_outside_of_any_workspace_is_read_all_the_same(tmp_path):
    """Only its form can be looked at, and nothing is said about what is not there."""
    path = tmp_path / "alone.fcw"
    with Editor(tmp_path) as editor:
        assert [each["code"] for each in editor.open(path, "workflow w { limt }")] == ["FC002"]
        assert editor.at(path, 0, 12, "completion")["items"] != []


def test_a_session_ends_in_good_order_and_says_nothing(editor, file):
    """No word on standard error, exit code 0."""
    editor.open(file)
    assert editor.quit() == (0, "")
