"""Whether rows come in the order that was asked for: paging by key skips rows when they do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from fullcount.runtime.connectors.http import paths
from fullcount.runtime.connectors.http.exchange import Request
from fullcount.runtime.connectors.http.forms import Operation


@dataclass(slots=True)
class Order:
    """Watches one field over all pages. Values that can't be compared with each other prove nothing."""

    field: str
    descending: bool
    _last: Any = None

    @classmethod
    def asked(cls, operation: Operation, request: Request) -> Order | None:
        """Return the order that a request asks for; None if it asks for none, or for one by several fields."""
        for name in operation.order:
            text = request.asked(name)
            if text is not None and text != "" and "," not in text:
                descending = text.startswith("-") or text.endswith((":desc", " desc", "+desc"))
                return cls(text.lstrip("-+").split(":")[0].split(" ")[0].split("+")[0], descending)
        return None

    def holds(self, items: Sequence[Any]) -> bool:
        """Return whether the rows go on in order."""
        for item in items:
            value, before = paths.first(item, self.field), self._last
            self._last = value
            comparable = type(value) is type(before) and isinstance(value, (int, Decimal, str))
            if comparable and (value > before if self.descending else value < before):
                return False
        return True
