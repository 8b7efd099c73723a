"""What one compilation is made of: files that import files, refused first."""

from __future__ import annotations

import pytest
from tests.support.compiling import compiled, with_rule

from fullcount.compiler.imports import MAX_FILES
from fullcount.dsl.diagnostics import Diagnostic

IDLE = "define idle(at: timestamp) = at < now - 90d\n"
RULE = with_rule("idle(a.created)")


def imports(*paths: str) -> str:
    return "".join(f'import "{path}"\n' for path in paths)


def found(text: str, **files: str) -> list[Diagnostic]:
    return list(compiled(text, {name.replace("_", "/") + ".fcw": held for name, held in files.items()}).diagnostics)


def codes(text: str, **files: str) -> list[str]:
    return [finding.code for finding in found(text, **files)]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.fcw", "FC140"),
        ("lib/a.fcw", "FC140"),
        ("", "FC141"),
        (".fcw", "FC141"),
        ("lib//a.fcw", "FC141"),
        ("lib/", "FC141"),
        ("lib/a.txt", "FC141"),
        ("/etc/a.fcw", "FC141"),
        ("~/a.fcw", "FC141"),
        ("C:/a.fcw", "FC141"),
        ("lib\\\\a.fcw", "FC141"),
        ("../a.fcw", "FC141"),
        ("lib/../../a.fcw", "FC141"),
        ("lib\\n/a.fcw", "FC141"),
    ],
)
def test_file_that_is_not_there_or_may_not_be_read_is_one_error_at_its_path(path: str, code: str):
    """The names that it would have brought are not reported as unknown on top of that."""
    (finding,) = found(imports(path) + RULE)
    assert finding.code == code
    assert finding.help != ""


def test_file_that_imports_itself_is_refused():
    """It would have to be read before it can be read."""
    (finding,) = found(imports("tidy.fcw") + with_rule("a.locked"))
    assert finding.code == "FC142"


@pytest.mark.parametrize(
    ("files", "circle"),
    [
        ({"b": imports("tidy.fcw")}, "`tidy.fcw` -> `b.fcw` -> `tidy.fcw`"),
        ({"b": imports("c.fcw"), "c": imports("b.fcw")}, "`b.fcw` -> `c.fcw` -> `b.fcw`"),
        (
            {"b": imports("lib/c.fcw"), "lib_c": imports("../d.fcw"), "d": imports("b.fcw")},
            "`b.fcw` -> `lib/c.fcw` -> `d.fcw` -> `b.fcw`",
        ),
    ],
)
def test_files_that_import_each_other_are_refused_with_the_whole_circle(files: dict[str, str], circle: str):
    """Each file and each import on the way round is shown, whichever way the reading came in."""
    (finding,) = found(imports("b.fcw") + with_rule("a.locked"), **files)
    assert finding.code == "FC142"
    assert circle in finding.message
    assert len(finding.labels) == circle.count("->") - 1


def test_mistake_in_an_imported_file_is_told_in_that_file():
    """One run shows the mistakes of every file, each in its own text."""
    spans = [finding.span.source for finding in found(imports("b.fcw") + RULE, b="define idle(at: timestamp = 3\n")]
    assert spans == ["b.fcw"]


@pytest.mark.parametrize(
    ("own", "other"),
    [
        (IDLE, IDLE),
        ("record idle { id: text }\n", IDLE),
        ("record person { id: text }\n", "record person { id: text }\n"),
    ],
)
def test_one_name_in_two_files_is_refused_with_both_places(own: str, other: str):
    """Neither hides the other, be they records or definitions."""
    (finding,) = found(imports("b.fcw") + own + with_rule("a.locked"), b=other)
    assert finding.code == "FC101"
    assert (finding.span.source, finding.labels[0].span.source) == ("tidy.fcw", "b.fcw")


def test_names_of_two_imported_files_that_clash_are_refused():
    """The file that imports both declares nothing of the kind, and is wrong all the same."""
    (finding,) = found(imports("b.fcw", "c.fcw") + with_rule("a.locked"), b=IDLE, c=IDLE)
    assert (finding.span.source, finding.labels[0].span.source) == ("c.fcw", "b.fcw")


def test_file_imported_twice_by_one_file_is_refused():
    """By whichever path: the second says nothing that the first did not."""
    (finding,) = found(imports("b.fcw", "lib/../b.fcw") + RULE, b=IDLE)
    assert finding.code == "FC101"


def test_more_files_than_anyone_reviews_are_refused():
    """A chain without end ends."""
    files = {f"f{n}": imports(f"f{n + 1}.fcw") for n in range(MAX_FILES + 5)}
    assert "FC141" in codes(imports("f0.fcw") + with_rule("a.locked"), **files)


def test_file_that_two_others_import_is_read_once():
    """Its names do not clash with themselves."""
    assert codes(imports("b.fcw", "c.fcw") + RULE, b=imports("d.fcw"), c=imports("d.fcw"), d=IDLE) == []


def test_path_starts_at_the_folder_of_the_file_that_imports():
    """Not at the folder of the first file, nor at that of the process."""
    assert codes(imports("lib/b.fcw") + RULE, lib_b=imports("c.fcw"), lib_c=IDLE) == []
    assert codes(imports("lib/b.fcw") + RULE, lib_b=imports("c.fcw"), c=IDLE) == ["FC140"]


def test_workflows_of_an_imported_file_are_left_to_that_file():
    """The program holds what the file itself declares, and all texts are at hand for messages."""
    other = with_rule("idle(a.created)").replace("workflow tidy", "workflow other")
    result = compiled(imports("b.fcw") + RULE, {"b.fcw": IDLE + other})
    assert result.program is not None
    assert [workflow.name for workflow in result.program.workflows] == ["tidy"]
    assert set(result.sources) == {"tidy.fcw", "b.fcw"}


def test_file_of_shared_names_compiles_to_an_empty_program():
    """A library is checked like any other file, and plans nothing."""
    result = compiled(IDLE)
    assert result.program is not None
    assert result.program.workflows == ()


def test_file_that_declares_nothing_is_refused_also_when_it_imports():
    """It was more likely cut short than meant."""
    assert codes(imports("b.fcw"), b=IDLE) == ["FC124"]
