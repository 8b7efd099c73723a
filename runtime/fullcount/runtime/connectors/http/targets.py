"""Which listings are one and the same, however their addresses are written.

Guarantees: no listing stands for two parts. Two paths, or the values of two parts, that lead to one host, path, query,
body and headers give the same objects twice, and what one of them was meant to ask is asked by nobody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.connectors.http.speaking import requests_of
from fullcount.runtime.connectors.in_parts import not_covered
from fullcount.runtime.evidence.envelope import part_name
from fullcount.runtime.workspace.errors import SettingError

if TYPE_CHECKING:
    from fullcount.runtime.connectors.http.config import HttpConfig
    from fullcount.runtime.connectors.http.exchange import Request


def check_lists(config: HttpConfig) -> None:
    """Raise `SettingError` for a resource of which two lists are the same one."""
    for name, resource in config.resources.items():
        twice = _twice(requests_of(resource))
        if twice is not None:
            msg = f"`resources.{name}.list` names `{twice.target}` twice, so that its objects would be read twice"
            raise SettingError(msg, help="remove one of them, or say what the other one was meant to list")


def _twice(requests: Sequence[Request]) -> Request | None:
    seen = set()
    for request in requests:
        if request.place in seen:
            return request
        seen.add(request.place)
    return None


@dataclass(slots=True)
class Targets:
    """For which part each target was asked, as long as the source is open."""

    _asked: dict[tuple[Any, ...], dict[str, str]] = field(default_factory=dict)

    def ask(self, config: HttpConfig, resource: str, part: Mapping[str, str]) -> None:
        """Note the listings of one part, of which `config` is. Raises `SourceError` if another part has one of them."""
        requests = requests_of(config.resources[resource])
        twice = _twice(requests)
        if twice is not None:
            detail = f"of {part_name(part)} two lists are the same one: `{twice.target}`"
            raise SourceError(not_covered(detail))
        address = urlsplit(config.address)
        where = (resource, address.scheme.lower(), address.netloc.lower(), address.path.rstrip("/"))
        headers = tuple(sorted((name.lower(), value.strip()) for name, value in config.headers.items()))
        for request in requests:
            other = self._asked.setdefault((*where, headers, *request.place), dict(part))
            if other != part:
                detail = (
                    f"{part_name(part)} and {part_name(other)} lead to the same list, `{request.target}` at "
                    f"{address.netloc.lower()}: its objects would be counted twice, and one of the parts by nobody"
                )
                raise SourceError(not_covered(detail))
