"""What the language service says, in the words of the protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from lsprotocol import types as lsp
from pygls.uris import from_fs_path

from fullcount.compiler.editor.completion import Completion, Sort
from fullcount.compiler.editor.contents import Entry
from fullcount.dsl.diagnostics import Diagnostic, Edit, Severity
from fullcount.dsl.source import Source, Span
from fullcount.runtime.editors.positions import Positions
from fullcount.runtime.errors import FullcountError

NAME: Final = "fullcount"

_COMPLETION_KINDS: Final = {
    Sort.KEYWORD: lsp.CompletionItemKind.Keyword,
    Sort.FIELD: lsp.CompletionItemKind.Field,
    Sort.INVENTORY: lsp.CompletionItemKind.Class,
    Sort.PROPOSAL: lsp.CompletionItemKind.Event,
    Sort.PARAM: lsp.CompletionItemKind.Variable,
    Sort.ROW: lsp.CompletionItemKind.Variable,
    Sort.FUNCTION: lsp.CompletionItemKind.Function,
    Sort.DEFINITION: lsp.CompletionItemKind.Function,
    Sort.RECORD: lsp.CompletionItemKind.Struct,
    Sort.TYPE: lsp.CompletionItemKind.TypeParameter,
    Sort.SOURCE: lsp.CompletionItemKind.Module,
    Sort.RESOURCE: lsp.CompletionItemKind.Class,
    Sort.OPERATION: lsp.CompletionItemKind.Method,
    Sort.ARGUMENT: lsp.CompletionItemKind.Property,
    Sort.LIST: lsp.CompletionItemKind.Value,
    Sort.ROLE: lsp.CompletionItemKind.Value,
    Sort.CODE: lsp.CompletionItemKind.Constant,
}
_SYMBOL_KINDS: Final = {
    "workflow": lsp.SymbolKind.Module,
    "inventory": lsp.SymbolKind.Class,
    "record": lsp.SymbolKind.Struct,
    "define": lsp.SymbolKind.Function,
    "param": lsp.SymbolKind.Variable,
}
_SEVERITIES: Final = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
}
_ORDER: Final = (Sort.KEYWORD, Sort.FUNCTION)
"""What comes last among proposals: names of one's own are what is looked for."""


class Words:
    """Turns values into the protocol's, for texts in one encoding.

    `root` is what relative names start at; `addresses` are what the editor calls the files that are open in it, by real
    path: it takes a file under another address for another file, be it only by a symbolic link.
    """

    def __init__(self, texts: Mapping[str, Source], encoding: str, root: Path, addresses: Mapping[Path, str]) -> None:
        self._encoding = encoding
        self._root = root
        self._addresses = addresses
        self._texts = dict(texts)
        self._positions: dict[str, Positions] = {}

    def uri(self, name: str) -> str:
        """Return the address of a file."""
        path = self._root / name
        return self._addresses.get(path) or from_fs_path(str(path)) or ""

    def range(self, span: Span) -> lsp.Range:
        """Return the range of a place."""
        if span.source not in self._positions:
            self._positions[span.source] = Positions(self._texts[span.source].text, self._encoding)
        lines = self._positions[span.source]
        return lsp.Range(lsp.Position(*lines.of(span.start)), lsp.Position(*lines.of(span.end)))

    def location(self, span: Span) -> lsp.Location:
        """Return the place in its file."""
        return lsp.Location(self.uri(span.source), self.range(span))

    def diagnostic(self, found: Diagnostic) -> lsp.Diagnostic:
        """Return a finding: what, why, what to do; with the other places that help to understand it."""
        more = [f"{what}: {text}" for what, text in (("why", found.why), ("help", found.help)) if text]
        related = [lsp.DiagnosticRelatedInformation(self.location(label.span), label.text) for label in found.labels]
        return lsp.Diagnostic(
            range=self.range(found.span),
            message="\n".join([found.message, *more]),
            severity=_SEVERITIES[found.severity],
            code=found.code,
            source=NAME,
            related_information=related or None,
        )

    def edits(self, edits: Iterable[Edit]) -> lsp.WorkspaceEdit:
        """Return changes of files."""
        changes: dict[str, list[lsp.TextEdit]] = {}
        for edit in edits:
            text = lsp.TextEdit(self.range(edit.span), edit.replacement)
            changes.setdefault(self.uri(edit.span.source), []).append(text)
        return lsp.WorkspaceEdit(changes=changes)

    def completion(self, found: Completion, name: str, end: int) -> lsp.CompletionList:
        """Return proposals, each with what it replaces."""
        replaced = self.range(Span(name, found.start, end))
        items = [
            lsp.CompletionItem(
                label=each.label,
                kind=_COMPLETION_KINDS[each.sort],
                detail=each.detail or None,
                documentation=lsp.MarkupContent(lsp.MarkupKind.Markdown, each.about) if each.about else None,
                sort_text=f"{_ORDER.index(each.sort) + 1 if each.sort in _ORDER else 0}{number:04}",
                text_edit=lsp.TextEdit(replaced, each.insert or each.label),
                filter_text=each.label,
            )
            for number, each in enumerate(found.items)
        ]
        return lsp.CompletionList(is_incomplete=False, items=items)

    def symbol(self, entry: Entry) -> lsp.DocumentSymbol:
        """Return a declaration with those inside it."""
        return lsp.DocumentSymbol(
            name=entry.name,
            kind=_SYMBOL_KINDS.get(entry.word, lsp.SymbolKind.Event),
            range=self.range(entry.span),
            selection_range=self.range(entry.at),
            detail=entry.word,
            children=[self.symbol(each) for each in entry.inner],
        )


def trouble(error: FullcountError) -> lsp.Diagnostic:
    """Return what is wrong around a file, at its start."""
    start = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
    message = f"{error.message}\nhelp: {error.help}" if error.help else error.message
    return lsp.Diagnostic(start, message, lsp.DiagnosticSeverity.Error, error.code, source=NAME)
