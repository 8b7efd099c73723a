"""`fullcount lsp`: what an editor starts to understand workflows. Connects to nothing."""

from __future__ import annotations

from fullcount.runtime.cli import options
from fullcount.runtime.errors import FullcountError


@options.command()
def lsp() -> None:
    """Answer an editor on standard input and output. Editors start it by themselves; see docs/editors."""
    try:
        import pygls  # noqa: F401 - an extra, which only editors need
    except ModuleNotFoundError as error:
        raise FullcountError(
            "FC611", "the language server is not installed", help="pip install 'fullcount[lsp]'"
        ) from error
    from fullcount.runtime.editors.server import make_server

    make_server().start_io()
