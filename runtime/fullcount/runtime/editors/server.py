"""`fullcount lsp`: the language server. It answers an editor, on standard input and output or a socket of its own.

A file is checked when it is opened, changed (after a moment without a change) and saved, with everything that it
imports as it stands in the editor. Positions are counted in the encoding that the editor prefers.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from fullcount.compiler.editor.completion import complete
from fullcount.compiler.editor.contents import contents
from fullcount.compiler.editor.describe import describe
from fullcount.compiler.editor.rename import Refusal, renameable
from fullcount.compiler.editor.symbols import Kind
from fullcount.dsl.diagnostics import Diagnostic, Fix
from fullcount.dsl.fmt import format_source
from fullcount.dsl.source import Source
from fullcount.runtime import __version__
from fullcount.runtime.editors.answers import Words, trouble
from fullcount.runtime.editors.evidence_notes import evidence_note
from fullcount.runtime.editors.positions import Positions
from fullcount.runtime.editors.project import Checked, Project

PAUSE: Final = 0.2
"""Seconds without a change after which a file is checked."""

_QUICK: Final = (lsp.CodeActionKind.Empty, lsp.CodeActionKind.QuickFix)
"""The kinds by which an editor asks for quick fixes."""

TRIGGERS: Final = (".", '"', " ", ":", "(")


class FullcountServer(LanguageServer):
    """The server with the files that are open in the editor, and what was found in each."""

    def __init__(self) -> None:
        # whole texts: an editor and a server that split lines differently never disagree about what a file says
        super().__init__("fullcount", __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self.project = Project()
        self.documents: dict[Path, lsp.VersionedTextDocumentIdentifier] = {}
        """What the editor calls each open file, and how often it was changed."""
        self.checked: dict[Path, Checked] = {}
        self._waiting: asyncio.TimerHandle | None = None

    @property
    def encoding(self) -> str:
        """What a place in a line is counted in."""
        return lsp.PositionEncodingKind(self.server_capabilities.position_encoding or "utf-16").value

    # -- checking ------------------------------------------------------------------------------------------------------

    def check_soon(self) -> None:
        """Check every open file after a moment without a change: one may import another."""
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = asyncio.get_running_loop().call_later(PAUSE, self.check_all)

    def check_all(self) -> None:
        """Check every open file and tell the editor what was found, and in which version of it."""
        if self._waiting is not None:
            self._waiting.cancel()
        for path, document in self.documents.items():
            checked = self.project.check(path)
            self.checked[path] = checked
            words = self.words_of(checked)
            own = [each for each in checked.compiled.diagnostics if (checked.root / each.span.source) == path]
            others = [each for each in checked.compiled.diagnostics if each not in own]
            found = [words.diagnostic(each) for each in own]
            found += [_elsewhere(each, words) for each in others]
            if checked.trouble is not None:
                found.insert(0, trouble(checked.trouble))
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(document.uri, found, document.version))

    def keep(self, document: lsp.VersionedTextDocumentIdentifier, text: str) -> None:
        """Take a file as it is in the editor now."""
        path = path_of(document.uri)
        self.documents[path] = document
        self.project.opened[path] = text

    def forget(self, document: lsp.TextDocumentIdentifier) -> None:
        """Take back what was said of a file that is closed."""
        path = path_of(document.uri)
        self.documents.pop(path, None)
        self.project.opened.pop(path, None)
        self.checked.pop(path, None)
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(document.uri, []))

    def fixes(self, path: Path) -> list[tuple[Diagnostic, Fix]]:
        """Return the findings in a file that can be mended in it."""
        checked = self.checked.get(path)
        return [
            (each, each.fix)
            for each in (() if checked is None else checked.compiled.diagnostics)
            if each.fix is not None and checked is not None and (checked.root / each.span.source) == path
        ]

    # -- places --------------------------------------------------------------------------------------------------------

    def words(self, sources: Sequence[Source]) -> Words:
        """Return what turns places in these texts into the protocol's."""
        return Words({each.name: each for each in sources}, self.encoding, Path("/"), self._addresses())

    def words_of(self, checked: Checked) -> Words:
        """Return what turns places in what was checked into the protocol's."""
        return Words(checked.compiled.sources, self.encoding, checked.root, self._addresses())

    def _addresses(self) -> dict[Path, str]:
        return {path: document.uri for path, document in self.documents.items()}

    def offset(self, path: Path, position: lsp.Position) -> int:
        """Return the offset of a place in a file."""
        return Positions(self.project.text(path).text, self.encoding).offset(position.line, position.character)


def _elsewhere(found: Diagnostic, words: Words) -> lsp.Diagnostic:
    """Return a finding in another file, which this one imports, at the start of this one."""
    start = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
    there = lsp.DiagnosticRelatedInformation(words.location(found.span), found.note or "here")
    said = words.diagnostic(found)
    return lsp.Diagnostic(
        start, f"in `{found.span.source}`: {said.message}", said.severity, said.code, None, said.source, None, [there]
    )


def path_of(uri: str) -> Path:
    """Return the real path of a file by its address; a text that was never saved gets one in the folder at hand."""
    return Path(to_fs_path(uri) or uri).resolve()


def make_server() -> FullcountServer:
    """Return a server that knows every feature."""
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_mishap)
    server = FullcountServer()
    _documents(server)
    _questions(server)
    _names(server)
    _changes(server)
    return server


def _documents(server: FullcountServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(ls: FullcountServer, params: lsp.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        ls.keep(lsp.VersionedTextDocumentIdentifier(document.version, document.uri), document.text)
        ls.check_all()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(ls: FullcountServer, params: lsp.DidChangeTextDocumentParams) -> None:
        for change in params.content_changes:
            ls.keep(params.text_document, change.text)
        ls.check_soon()

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(ls: FullcountServer, params: lsp.DidSaveTextDocumentParams) -> None:
        ls.check_all()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(ls: FullcountServer, params: lsp.DidCloseTextDocumentParams) -> None:
        ls.forget(params.text_document)
        ls.check_soon()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def on_disk(ls: FullcountServer, params: lsp.DidChangeWatchedFilesParams) -> None:
        ls.check_soon()


def _questions(server: FullcountServer) -> None:
    @server.feature(
        lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=list(TRIGGERS), resolve_provider=False)
    )
    def completion(ls: FullcountServer, params: lsp.CompletionParams) -> lsp.CompletionList:
        path = path_of(params.text_document.uri)
        offset = ls.offset(path, params.position)
        view = ls.project.view(path)
        found = complete(view, offset, ls.project.catalog(path))
        return ls.words([view.source]).completion(found, view.source.name, offset)

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(ls: FullcountServer, params: lsp.HoverParams) -> lsp.Hover | None:
        path = path_of(params.text_document.uri)
        offset = ls.offset(path, params.position)
        view = ls.project.view(path)
        found = describe(view, offset, ls.project.catalog(path))
        compiled = ls.project.check(path).compiled
        note = evidence_note(compiled.partial, compiled.sources, view.source.name, offset)
        texts = [each for each in (None if found is None else found.text, note) if each]
        if not texts:
            return None
        return lsp.Hover(
            lsp.MarkupContent(lsp.MarkupKind.Markdown, "\n\n---\n\n".join(texts)),
            None if found is None else ls.words([view.source]).range(found.span),
        )

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(ls: FullcountServer, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        view = ls.project.view(path_of(params.text_document.uri))
        words = ls.words([view.source])
        return [words.symbol(each) for each in contents(view)]


def _names(server: FullcountServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(ls: FullcountServer, params: lsp.DefinitionParams) -> lsp.Location | None:
        path = path_of(params.text_document.uri)
        found = ls.project.view(path).at(ls.offset(path, params.position))
        if found is None or found.symbol.place is None:
            return None
        place = found.symbol.place
        return ls.words([ls.project.text(Path(place.source))]).location(place)

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def references(ls: FullcountServer, params: lsp.ReferenceParams) -> list[lsp.Location]:
        path = path_of(params.text_document.uri)
        found = ls.project.view(path).at(ls.offset(path, params.position))
        if found is None:
            return []
        views = ls.project.views(path)
        shared = found.symbol.kind in {Kind.RECORD, Kind.DEFINITION, Kind.FIELD, Kind.SOURCE}
        meant = [views[str(path)]] if not shared else list(views.values())
        words = ls.words([each.source for each in meant])
        return [
            words.location(each.span)
            for view in meant
            for each in view.of(found.symbol)
            if params.context.include_declaration or not each.declares
        ]

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare(ls: FullcountServer, params: lsp.PrepareRenameParams) -> lsp.Range:
        path = path_of(params.text_document.uri)
        view = ls.project.view(path)
        found = renameable(view, ls.offset(path, params.position))
        if isinstance(found, Refusal):
            raise _refused(found)
        return ls.words([view.source]).range(found.span)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def rename(ls: FullcountServer, params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        path = path_of(params.text_document.uri)
        edits = ls.project.renamed(path, ls.offset(path, params.position), params.new_name)
        if isinstance(edits, Refusal):
            raise _refused(edits)
        return ls.words([ls.project.text(Path(name)) for name in {each.span.source for each in edits}]).edits(edits)


class _RefusedError(JsonRpcException):
    """An answer, not a mishap: it is for the editor to show, and no matter for the log."""


def _refused(refusal: Refusal) -> _RefusedError:
    return _RefusedError(refusal.why, lsp.LSPErrorCodes.RequestFailed)


def _is_mishap(record: logging.LogRecord) -> bool:
    return record.exc_info is None or not isinstance(record.exc_info[1], _RefusedError)


def _changes(server: FullcountServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatting(ls: FullcountServer, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        source = ls.project.text(path_of(params.text_document.uri))
        text, _ = format_source(source)
        if text is not None and "\r\n" in source.text:
            text = text.replace("\n", "\r\n")  # how a line ends is the editor's to say, not the layout's
        if text is None or text == source.text:
            return None
        whole = ls.words([source]).range(source.span(0, len(source.text)))
        return [lsp.TextEdit(whole, text)]

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix])
    )
    def actions(ls: FullcountServer, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        only = params.context.only
        if only is not None and not any(kind in _QUICK for kind in only):
            return []
        path = path_of(params.text_document.uri)
        source = ls.project.text(path)
        start, end = (ls.offset(path, each) for each in (params.range.start, params.range.end))
        ls.checked[path] = ls.project.check(path)  # what is asked about is the text as it is now
        checked = ls.checked[path]
        words = ls.words_of(checked)
        return [
            lsp.CodeAction(
                title=fix.title,
                kind=lsp.CodeActionKind.QuickFix,
                diagnostics=[words.diagnostic(finding)],
                is_preferred=fix.safe,
                edit=words.edits(fix.edits),
            )
            for finding, fix in ls.fixes(path)
            if finding.span.start <= end and start <= finding.span.end and len(source.text) >= finding.span.end
        ]
