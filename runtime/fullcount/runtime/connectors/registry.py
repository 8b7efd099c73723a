"""From the name in `connector = "…"` to its declaration.

The built-in ones stand in a table, so that no installed package can take their names and nothing has to be searched;
others are found by their entry point. Only the one that is asked for is imported.
"""

from __future__ import annotations

from importlib import import_module

from fullcount.runtime.connectors.base import Connector

GROUP = "fullcount.connectors"

_BUILT_IN = {
    "declared": "fullcount.runtime.connectors.declared:CONNECTOR",
    "sql": "fullcount.runtime.connectors.sql:CONNECTOR",
    "files": "fullcount.runtime.connectors.files:CONNECTOR",
    "git": "fullcount.runtime.connectors.git:CONNECTOR",
    "http": "fullcount.runtime.connectors.http:CONNECTOR",
    "redis": "fullcount.runtime.connectors.redis:CONNECTOR",
    "mail": "fullcount.runtime.connectors.messages.mail:CONNECTOR",
    "webhook": "fullcount.runtime.connectors.messages.webhook:CONNECTOR",
}


class UnknownConnectorError(LookupError):
    """No connector has this name. `known` are the names that there are."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(name)
        self.known = known


def is_built_in(name: str) -> bool:
    """Whether a connector comes with Fullcount."""
    return name in _BUILT_IN


def connector_named(name: str) -> Connector:
    """Return a connector's declaration. Raises `UnknownConnectorError`."""
    place = _BUILT_IN.get(name)
    if place is not None:
        module, _, attribute = place.partition(":")
        found: Connector = getattr(import_module(module), attribute)
        return found
    from importlib.metadata import entry_points  # as slow as a parser's import, and seldom needed

    installed = entry_points(group=GROUP)
    matching = [entry for entry in installed if entry.name == name]
    if len(matching) != 1:
        raise UnknownConnectorError(name, tuple(sorted({*_BUILT_IN, *(entry.name for entry in installed)})))
    loaded: Connector = matching[0].load()
    return loaded
