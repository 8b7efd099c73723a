"""What binds a plan to the configuration it was made with."""

import pytest

from fullcount.runtime.connectors.http import speaking
from fullcount.runtime.versions import version_of
from fullcount.runtime.workspace import Workspace

CONFIGURATION = """\
[workspace]
name = "w"

[sources.api]
connector = "http"
dialect_file = "ours.toml"
base_url = "http://127.0.0.1:1"

[sources.api.resources.things]
list = "/things"
key = ["id"]
fields = { id = "text" }
"""
RULES = 'extends = "generic_http"\n'


@pytest.fixture
def version(tmp_path):
    """The version text of the source as a process of its own would have it, with these rules in its file."""
    (tmp_path / "fullcount.toml").write_text(CONFIGURATION)

    def read(rules):
        (tmp_path / "ours.toml").write_text(rules)
        speaking._of_file.cache_clear()
        return version_of(Workspace.load(tmp_path), "api")

    return read


@pytest.mark.requirement("R24")
def test_a_plan_is_bound_to_the_rules_in_files_that_the_configuration_names(version):
    """Other rules behind the same path are another connector: the guard refuses, as it does for another version."""
    assert version(RULES) == version(RULES)
    assert version(RULES) != version(f'{RULES}items = "things"\n')
