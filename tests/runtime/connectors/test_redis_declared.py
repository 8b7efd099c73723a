"""What a Redis source may say, and what is known of it before anything is contacted."""

import sys

import pytest
from pydantic import ValidationError

from fullcount.compiler.catalog import Visibility
from fullcount.runtime.connectors.redis.declaration import RedisConfig
from fullcount.runtime.connectors.registry import connector_named
from fullcount.runtime.workspace.errors import WorkspaceError


def settings(**changes):
    """Return a configuration with these changes."""
    return RedisConfig.model_validate({"host": "localhost", "resources": {"keys": {"match": "*"}}, **changes})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"resources": {}}, "at least 1"),
        ({"resources": {"keys": {}}}, "match"),
        ({"resources": {"keys": {"match": ""}}}, "at least 1"),
        ({"host": "cache.example.com", "password": {"env": "P"}}, "others can read"),
        ({"user": "reader"}, "needs a `password`"),
        ({"ca_file": "ca.pem"}, "without `tls = true`"),
        ({"count": 0}, "greater than or equal to 1"),
    ],
)
def test_configuration_that_can_not_be_meant_is_refused(changes, words):
    """Nothing is all keys by default, and no password goes where others can read it."""
    with pytest.raises(ValidationError) as refused:
        settings(**changes)
    assert words in str(refused.value)


def test_keys_are_declared_without_the_library_or_a_server(monkeypatch):
    """Fields, key and promises are known; there is no operation, so that no workflow can act there."""
    monkeypatch.setitem(sys.modules, "redis", None)
    resource = connector_named("redis").resources("cache", settings())["keys"]
    assert (resource.key, str(resource.consistency), resource.visibility) == (("key",), "interval", Visibility.VOUCHED)
    assert (set(resource.fields), resource.operations) == ({"key", "type", "expires_at", "idle"}, {})


async def test_library_that_is_not_installed_is_named(monkeypatch):
    """With what to install."""
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(WorkspaceError, match="not installed") as refused:
        await connector_named("redis").open_reader("cache", settings())
    assert refused.value.code == "FC611"
