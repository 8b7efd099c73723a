"""The errors of the workspace, in the words of the file."""

from __future__ import annotations

from collections.abc import Iterable

from fullcount.runtime.errors import FullcountError


class WorkspaceError(FullcountError):
    """The workspace's configuration is not usable: FC6xx, what was found where, and what to write instead."""


class SettingError(ValueError):
    """What a validator of a configuration model raises: a finding with its own code and its own help."""

    def __init__(self, message: str, *, code: str = "FC604", help: str = "") -> None:  # noqa: A002
        super().__init__(message)
        self.code = code
        self.message = message
        self.help = help


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `did you mean …?` for a near miss, else the list of what there is."""
    import difflib  # only ever needed to say what is wrong

    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"did you mean `{close[0]}`?"
    return "known here: " + ", ".join(f"`{known_name}`" for known_name in names) if names else ""
