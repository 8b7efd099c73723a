"""The language server answers a real editor: a process of its own, message by message, one for all of these tests."""

from __future__ import annotations

import sys

import pytest
from tests.support.editor import Editor, RefusedError
from tests.support.workspaces import WORKFLOW, Bench

from fullcount.dsl.fmt import format_source
from fullcount.dsl.source import Source
from fullcount.runtime.cli.lsp import lsp
from fullcount.runtime.errors import FullcountError

pytestmark = pytest.mark.slow

UNITS = {
    "utf-8": lambda text: len(text.encode()),
    "utf-16": lambda text: len(text.encode("utf-16-le")) // 2,
}
WIDE = "🚀é中😀!"
"""Characters of one, two, three and four bytes; of one and of two units."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """A small real workspace."""
    return Bench(tmp_path_factory.mktemp("editors") / "bench")


@pytest.fixture(scope="module")
def session(bench):
    """An editor that works in it all the time. The server ends in good order, and nothing made it say a word."""
    with Editor(bench.root) as started:
        yield started
        assert started.quit() == (0, "")


@pytest.fixture
def editor(session):
    """The editor, nothing open in it before and after."""
    yield session
    session.close_all()


@pytest.fixture
def file(bench):
    """The workflow."""
    return bench.root / "workflows" / f"{WORKFLOW}.fcw"


@pytest.fixture
def text(file):
    """What stands in the workflow."""
    return file.read_text()


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
    """A text after the edits of the protocol, counted in UTF-16."""
    raw = text.encode("utf-16-le")
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + 2 * UNITS["utf-16"](line + "\n"))

    def offset(at):
        return starts[at["line"]] + 2 * at["character"]

    for edit in sorted(edits, key=lambda e: offset(e["range"]["start"]), reverse=True):
        start, end = offset(edit["range"]["start"]), offset(edit["range"]["end"])
        raw = raw[:start] + edit["newText"].encode("utf-16-le") + raw[end:]
    return raw.decode("utf-16-le")


def codes(found):
    return [each["code"] for each in found]


# -- diagnostics -------------------------------------------------------------------------------------------------------


def test_without_the_extra_it_is_said_what_to_install(monkeypatch):
    """Whoever has only `fullcount` learns the one command that is missing."""
    monkeypatch.setitem(sys.modules, "pygls", None)
    with pytest.raises(FullcountError, match="the language server is not installed") as raised:
        lsp.callback()
    assert (raised.value.code, raised.value.help) == ("FC611", "pip install 'fullcount[lsp]'")


def test_a_mistake_is_shown_where_it_is_typed_and_goes_when_it_is_mended(editor, file, text):
    """Opening, changing and closing a file; what is shown is what `fullcount check` says."""
    assert editor.open(file) == []
    wrong = text.replace("a.owner is absent", "a.ownr is absent")
    editor.change(file, wrong)
    (found,) = editor.diagnostics(file)
    assert (found["code"], found["severity"], cut(wrong, found["range"])) == ("FC110", 1, "ownr")
    assert "did you mean `owner`" in found["message"]
    assert editor.now(file, text) == []
    editor.now(file, wrong)
    assert editor.close(file) == []


def test_three_mistakes_are_shown_in_their_three_places(editor, file, text):
    """One in the form of the text does not hide the others, nor is any of them said twice."""
    wrong = text.replace("limit  5", "limt  5").replace("stop after 3 failures", "stop aftr 3 failures")
    wrong = wrong.replace('owner    "iam-team"', "owner    iam")
    found = editor.open(file, wrong)
    assert [cut(wrong, each["range"]) for each in found] == ["iam", "limt", "aftr"]


def test_typing_is_not_interrupted_by_every_stroke(editor, file, text):
    """Many changes in a row are checked once, and what is shown belongs to the last one."""
    editor.open(file)
    for number in range(20):
        editor.change(file, text.replace("90d", f"9{'0' * number}q"))
    editor.change(file, text.replace("limit  5", "limt  5"))
    assert codes(editor.diagnostics(file)) == ["FC002"]


def test_a_workspace_that_cannot_be_used_is_said_and_the_form_is_still_looked_at(editor, bench, file, text):
    """A broken fullcount.toml is shown at the file's start, beside what is wrong with the text itself."""
    configuration = bench.root / "fullcount.toml"
    right = configuration.read_bytes()
    configuration.write_text("[workspace\n")
    try:
        assert codes(editor.open(file, text.replace("limit  5", "limt  5"))) == ["FC602", "FC002"]
    finally:
        configuration.write_bytes(right)
    assert editor.now(file, text) == []


def test_a_file_outside_of_any_workspace_is_read_all_the_same(editor, tmp_path):
    """Only its form can be looked at, and nothing is said about what is not there."""
    path = tmp_path / "alone.fcw"
    assert codes(editor.open(path, "workflow w { limt }")) == ["FC002"]
    assert editor.at(path, 0, 12, "completion")["items"] != []


# -- texts of every kind -----------------------------------------------------------------------------------------------


def _places_are_right(editor, file, text, units):
    """A finding, a completion, a definition and a quick fix behind wide characters on their line."""
    wide = text.replace("where not a.locked", f'where a.owner != "{WIDE}" and not a.lockd')
    (found,) = (each for each in editor.open(file, wide) if each["code"] == "FC110")
    assert cut(wide, found["range"], units) == "lockd"
    line, character = place(wide, "a.lockd", 2, units)
    assert found["range"]["start"] == {"line": line, "character": character}
    (action,) = editor.about(file, "codeAction", range=found["range"], context={"diagnostics": [found]})
    ((edit,),) = action["edit"]["changes"].values()
    assert (edit["range"], edit["newText"]) == (found["range"], "locked")
    meant = editor.at(file, line, character - 2, "definition")
    assert cut(wide, meant["range"], units) == "a"
    half = wide.replace("a.lockd", "a.")
    editor.now(file, half)
    item = next(each for each in editor.at(file, line, character, "completion")["items"] if each["label"] == "locked")
    at = {"line": line, "character": character}
    assert item["textEdit"]["range"] == {"start": at, "end": at}


def test_places_are_right_behind_characters_of_every_width(editor, file, text):
    """😀 is two units of UTF-16, which is what an editor counts in that does not say."""
    assert editor.capabilities["positionEncoding"] == "utf-16"
    _places_are_right(editor, file, text, UNITS["utf-16"])


def test_an_editor_may_count_in_what_it_likes_best(bench, file, text):
    """Of what it offers the first that is known is taken: here bytes, of which 😀 is four."""
    with Editor(bench.root, ["ebcdic", "utf-8", "utf-16"]) as other:
        assert other.capabilities["positionEncoding"] == "utf-8"
        _places_are_right(other, file, text, UNITS["utf-8"])
        assert other.quit() == (0, "")


def test_lines_that_end_as_on_windows_are_lines(editor, file, text):
    """Places, renaming and layout are those of the same text with `\\n`, and its line ends stay as they are."""
    windows = text.replace("\n", "\r\n")
    wrong = windows.replace("a.owner is absent", "a.ownr is absent")
    (found,) = editor.open(file, wrong)
    assert (found["code"], cut(wrong, found["range"])) == ("FC110", "ownr")
    assert editor.now(file, windows) == []
    edits = editor.at(file, *place(windows, "as a {", 3), "rename", newName="account")["changes"][file.as_uri()]
    assert editor.now(file, applied(windows, edits)) == []
    (edit,) = editor.about(file, "formatting", options={"tabSize": 2, "insertSpaces": True})
    assert set(edit["newText"].split("\n")[:-1]) == {line + "\r" for line in edit["newText"].split("\r\n")[:-1]}
    assert editor.now(file, edit["newText"]) == []
    assert editor.about(file, "formatting", options={"tabSize": 2, "insertSpaces": True}) is None


def test_a_half_written_file_has_an_answer_to_every_question(editor, file, text):
    """Broken off anywhere, with half a character in it, or empty: nothing fails, and nothing is changed by guessing."""
    half = [text[: len(text) * part // 7] for part in range(7)]
    for broken in [*half, f'{text[:400]}"\ud83d', "}" * 50 + text, "((((" * 300, "\ufeff\r\r\n\u2028\x00"]:
        (editor.now if half[0] != broken else editor.open)(file, broken)
        line = broken.count("\n")
        for method in ("completion", "hover", "definition"):
            editor.at(file, line, 3, method)
        editor.about(file, "documentSymbol")
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": line, "character": 99}}
        editor.about(file, "codeAction", range=whole, context={"diagnostics": []})
        assert broken == "" or editor.about(file, "formatting", options={"tabSize": 2, "insertSpaces": True}) is None


def test_a_place_past_the_end_of_a_line_is_its_end(editor, file):
    """Editors ask about places that are not there, after a change that they have not told yet."""
    editor.open(file)
    for line, character in ((0, 10_000), (10_000, 0)):
        assert "items" in editor.at(file, line, character, "completion")
        assert editor.at(file, line, character, "definition") is None


def test_a_text_that_was_never_saved_is_known_by_its_name_in_the_editor(editor, text):
    """It belongs to the folder the editor works in, so its workspace's catalogue is known."""
    wrong = text.replace("a.owner is absent", "a.ownr is absent")
    assert codes(editor.open("untitled:Untitled-1", wrong)) == ["FC110"]
    found = editor.at("untitled:Untitled-1", *place(wrong, "no people as", 3), "definition")
    assert (found["uri"], cut(wrong, found["range"])) == ("untitled:Untitled-1", "people")


def test_a_file_keeps_the_address_that_the_editor_gave_it(editor, bench, text, tmp_path):
    """Through a symbolic link, or with letters written another way, it is the same file and the editor's own name."""
    link = tmp_path / "link"
    link.symlink_to(bench.root)
    address = f"{link.as_uri()}/workflows/disable%5Forphans.fcw"
    wrong = text.replace("a.owner is absent", "a.ownr is absent")
    (found,) = editor.open(address, wrong)
    (action,) = editor.about(address, "codeAction", range=found["range"], context={"diagnostics": [found]})
    assert list(action["edit"]["changes"]) == [address]
    assert editor.close(address) == []


def test_imports_are_taken_as_they_stand_in_the_editor(editor, bench, file, text):
    """A definition in an unsaved file is what its users see; it is found, and renamed everywhere."""
    shared = bench.root / "workflows" / "shared.fcw"
    shared.write_text("define idle_for(at: timestamp) = at < now - 30d\n")
    try:
        using = 'import "shared.fcw"\n' + text.replace("a.last_login < now - idle", "unused(a.last_login)")
        assert codes(editor.open(file, using))[:1] == ["FC118"]
        unsaved = "define unused(at: timestamp) = at < now - 30d\n"
        editor.open(shared, unsaved)
        assert "FC118" not in codes(editor.diagnostics(file))
        found = editor.at(file, *place(using, "unused(a", 1), "definition")
        assert (found["uri"], cut(unsaved, found["range"])) == (shared.as_uri(), "unused")
        found = editor.at(file, *place(using, '"shared.fcw"', 3), "definition")
        assert found["uri"] == shared.as_uri()
        edit = editor.at(file, *place(using, "unused(a", 1), "rename", newName="dormant")
        assert {uri: len(edits) for uri, edits in edit["changes"].items()} == {file.as_uri(): 1, shared.as_uri(): 1}
        editor.now(shared, unsaved.replace("now", "nwo"))
        (found,) = (each for each in editor.diagnostics(file) if "shared.fcw" in each["message"])
        (there,) = found["relatedInformation"]
        assert there["location"]["uri"] == shared.as_uri()
    finally:
        shared.unlink()


# -- what can be written, and what it is -------------------------------------------------------------------------------


def test_completion_knows_the_clauses_the_catalogue_and_the_names(editor, file, text):
    """What can be written follows from the grammar, from fullcount.toml and from what is declared."""
    editor.open(file)

    def proposed(old, new):
        changed = text.replace(old, new.replace("|", ""), 1)
        editor.change(file, changed)
        at = place(changed, changed[text.index(old) :], new.index("|"))
        return {each["label"]: each for each in editor.at(file, *at, "completion")["items"]}

    assert {"where", "limit", "show", "keep"} <= set(proposed("where not", "wh| not"))
    assert list(proposed("from hr.employees", "from hr.|")) == ["employees", "headcount"]
    assert {"id", "active"} == set(proposed("p.id ==", "p.| =="))
    assert "update" in proposed("directory.update(id", "directory.|(id")
    assert {"id", "locked"} <= set(proposed("update(id: a.id, locked: true)", "update(|)"))
    assert "iam-admin" in proposed('role "iam-admin"', 'role "iam|"')
    assert "people" in proposed("no people as", "no | as")
    assert "exemptions" in proposed("except in exemptions", "except in |")
    field = proposed("id: text, active: bool", "id: text, |")["active"]
    assert (field["textEdit"]["newText"], field["detail"]) == ("active: bool", "bool")


def test_hovering_shows_the_type_and_what_a_conclusion_rests_on(editor, file, text):
    """A field with its type; a use of an inventory with its direction, what it requires and what promises that."""
    editor.open(file)

    def said(text, needle, more):
        return editor.at(file, *place(text, needle, more), "hover")["contents"]["value"]

    assert "owner: text?" in said(text, "a.owner", 2)
    use = said(text, "no people as", 3)
    assert "absence" in use
    assert "requires `complete`: promised by `complete`" in use
    unpromised = text.replace("verify people   { complete, ", "verify people { ")
    assert codes(editor.now(file, unpromised)) == ["FC301"]
    assert "requires `complete`: **promised by nothing yet**" in said(unpromised, "no people as", 3)
    assert "update(id: text" in said(unpromised, "directory.update(id: a.id, locked: true)", 12)
    assert editor.at(file, 0, 0, "hover") is not None


def test_a_name_leads_to_its_declaration_and_to_every_use(editor, file, text):
    """Rows, parameters, inventories, proposals and fields."""
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


def test_the_outline_is_what_the_file_declares(editor, file):
    """The workflow with its clauses under their names."""
    editor.open(file)
    (workflow,) = editor.about(file, "documentSymbol")
    assert (workflow["name"], workflow["detail"]) == (WORKFLOW, "workflow")
    named = [(each["detail"], each["name"]) for each in workflow["children"]]
    assert named[:3] == [("param", "idle"), ("inventory", "accounts"), ("inventory", "people")]
    assert ("act", "disable") in named


# -- changes -----------------------------------------------------------------------------------------------------------


def test_a_rename_that_would_change_what_is_meant_is_refused(editor, file, text):
    """A name that is taken, reserved, not ours to choose, or in a text of which not everything can be read."""
    editor.open(file)
    for needle, more, new, why in (
        ("as a {", 3, "p", "taken for something else"),
        ("as a {", 3, "now", "word of the language"),
        ("as a {", 3, "1a", "not a name"),
        ("a.owner is", 2, "proprietor", "its source"),
        ("hr.employees", 1, "x", r"fullcount\.toml"),
        ("param idle", 6, "a", "taken for something else"),
        ("workflow", 1, "x", "no name here"),
    ):
        with pytest.raises(RefusedError, match=why):
            editor.at(file, *place(text, needle, more), "rename", newName=new)
    with pytest.raises(RefusedError, match="its source"):
        editor.at(file, *place(text, "a.owner is", 2), "prepareRename")
    broken = text.replace("limit  5", "limt  5")
    editor.change(file, broken)
    with pytest.raises(RefusedError, match="has mistakes"):
        editor.at(file, *place(broken, "as a {", 3), "rename", newName="account")


def test_a_rename_changes_every_use_and_nothing_that_is_only_called_alike(editor, file, text):
    """The row `a` is not the `a` of another word, nor a text."""
    editor.open(file)
    at = place(text, "as a {", 3)
    assert cut(text, editor.at(file, *at, "prepareRename")) == "a"
    found = editor.at(file, *at, "rename", newName="account")
    changed = applied(text, found["changes"][file.as_uri()])
    assert changed.count("account.") == text.count(" a.") + text.count("(a.")
    assert " a." not in changed
    assert editor.now(file, changed) == []


def test_the_layout_is_that_of_fmt_and_a_text_with_mistakes_is_left_alone(editor, file, text):
    """Formatting in the editor and on the command line is one thing, whatever the editor's own taste is."""
    options = {"options": {"tabSize": 8, "insertSpaces": False}}
    editor.open(file, text.replace("limit", "limt"))
    assert editor.about(file, "formatting", **options) is None
    editor.change(file, text)
    edits = editor.about(file, "formatting", **options)
    formatted = applied(text, edits)
    assert formatted == format_source(Source("x.fcw", text))[0]
    editor.change(file, formatted)
    assert editor.about(file, "formatting", **options) is None


def test_what_a_finding_says_how_to_mend_is_offered(editor, file, text):
    """The quick fix is the finding's own; applied, the finding is gone. Asked for anything else, there is none."""
    wrong = text.replace("a.owner is absent", "a.ownr is absent")
    (found,) = editor.open(file, wrong)
    asked = {"range": found["range"], "context": {"diagnostics": [found]}}
    (action,) = editor.about(file, "codeAction", **asked)
    assert (action["kind"], action["diagnostics"][0]["code"]) == ("quickfix", "FC110")
    elsewhere = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
    assert editor.about(file, "codeAction", **{**asked, "range": elsewhere}) == []
    organize = {"diagnostics": [], "only": ["source.organizeImports"]}
    assert editor.about(file, "codeAction", **{**asked, "context": organize}) == []
    assert editor.now(file, applied(wrong, action["edit"]["changes"][file.as_uri()])) == []
