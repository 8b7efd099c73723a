"""Who is in each role, as far as this system knows: for `check`, which asks whether enough of them could ever agree.

The guard never asks this: it goes by the members as they are written, and by process credentials.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


class People(Mapping[str, frozenset[str]]):
    """Who is in each role, each person once: a name and the number it stands for are one. Looked up when asked for.

    A name that this system does not know stands for itself: a workspace is often checked where its people have no
    account.
    """

    def __init__(self, roles: Mapping[str, Sequence[str]]) -> None:
        self.written = roles

    def __getitem__(self, role: str) -> frozenset[str]:
        from fullcount.runtime.approve.identity import uid_of

        found = ((member, uid_of(member)) for member in self.written[role])
        return frozenset(member if uid is None else f"uid:{uid}" for member, uid in found)

    def __iter__(self) -> Iterator[str]:
        return iter(self.written)

    def __len__(self) -> int:
        return len(self.written)
