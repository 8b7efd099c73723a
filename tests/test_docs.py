"""What the pages of the language show is what compiles."""

import re
from pathlib import Path

import pytest
from tests.support.catalogs import EXAMPLE
from tests.support.compiling import loader_of

from fullcount.compiler.pipeline import compile_source
from fullcount.dsl.codes.examples import TIDY
from fullcount.dsl.fmt import format_source
from fullcount.dsl.source import Source
from fullcount.runtime.workspace.exemptions import read_exemptions
from fullcount.runtime.workspace.workspace import Workspace

DOCS = Path(__file__).parent.parent / "docs" / "reference"
BLOCKS = re.findall(r"^```fcw ?(\w*)\n(.*?)^```$", (DOCS / "language.md").read_text(), re.MULTILINE | re.DOTALL)
FILES = {"known.csv": "team\nops\n"}


def whole(place: str, text: str) -> str:
    """The file that a block stands for: itself, or the small example with the clauses of one of its parts replaced."""
    if place in ("", "file"):
        return text
    changed = re.sub(rf"(  {place} disable [^{{]*{{)[^}}]*}}", lambda m: f"{m[1]}\n{text}  }}", TIDY, count=1)
    assert changed != TIDY
    if "idle" in text:
        changed = changed.replace("{\n", "{\n  param idle: duration = 90d\n", 1)
    return changed.replace("last_login: timestamp? }", "last_login: timestamp?, locked: bool }")


@pytest.mark.parametrize(("place", "text"), BLOCKS, ids=lambda part: part[:12].strip())
def test_what_the_page_of_the_language_shows_compiles(place, text):
    """Each block of the page compiles without a finding, where it says that it stands."""
    made = compile_source(Source("page.fcw", whole(place, text)), EXAMPLE, loader_of(FILES))
    assert [(found.code, found.message) for found in made.diagnostics] == []


def test_the_page_shows_the_canonical_layout():
    """The workflow at the top is laid out as `fullcount fmt` would."""
    _, text = BLOCKS[0]
    assert format_source(Source("page.fcw", text))[0] == text


def test_the_page_of_the_configuration_is_a_workspace(tmp_path):
    """The file that the page shows is read as it is, its exemption list and its other parts as well."""
    blocks = dict(re.findall(r"^```toml ?(\w*)\n(.*?)^```$", (DOCS / "configuration.md").read_text(), re.M | re.S))
    (tmp_path / "exemptions.toml").write_text(blocks["exemptions"])
    part = (
        blocks["part"]
        + """
[sources.hr.resources.exceptions]
table  = "exceptions"
key    = ["account"]
fields = { account = "text", owner = "text", reason = "text", until = "date" }
"""
    )
    (tmp_path / "fullcount.toml").write_text(blocks[""] + part)
    workspace = Workspace.load(tmp_path)
    assert set(workspace.written_roles) == {"iam-admin", "on-call"}
    assert [entry.owner for entry in read_exemptions(tmp_path / "exemptions.toml")] == ["payments"]


def test_links_between_pages_lead_somewhere():
    """Every relative link in the documentation, and in the README, names a file, and a heading that is in it."""
    root = DOCS.parent.parent
    pages = [root / "README.md", root / "CONTRIBUTING.md", *DOCS.glob("*.md"), *(root / "docs").glob("how-to/*.md")]
    for page in pages:
        for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text()):
            path, _, heading = target.partition("#")
            aim = page if path == "" else (page.parent / path)
            assert aim.exists(), f"{page.name}: {target}"
            if heading:
                titles = re.findall(r"^#+ (.+)$", aim.read_text(), re.MULTILINE)
                slugs = [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]
                assert heading in slugs, f"{page.name}: {target}"
