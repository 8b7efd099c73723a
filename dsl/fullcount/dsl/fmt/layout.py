"""The one layout of the language: from the parse with its comments to a text with possible line breaks.

Everything follows from the shape of a node: a block has one clause on each line with its words in a column, a list in
brackets goes on one line or has one entry on each, a chain of `and` or `or` breaks before its operators. Only what the
shape cannot tell is in the tables below, so that a new clause needs at most one word there.

Every token is written once and in its order; only a comma after the last entry of a list comes and goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.fmt.comments import Child, Comments, Node, Own, first, last, start
from fullcount.dsl.fmt.document import Blank, Break, Choice, Doc, Line, Nest, Note, group
from fullcount.dsl.fmt.words import space, spelled
from fullcount.dsl.parse_tree import Token

#: Rules whose braces hold entries with commas between them, and not clauses.
BRACED_LISTS: Final = frozenset(
    {"fields", "record", "record_fields", "verify", "approve", "sample", "sample_map", "sample_record"}
)
#: Of these, the ones that fill lines like a text; the others have one entry on each line once they break.
FILLED: Final = frozenset({"fields", "record", "record_fields", "sample", "sample_map", "sample_record"})
#: Rules that may have a comma after the last entry.
LAST_COMMA: Final = (
    frozenset({"key", "call", "operation", "list", "define", "samples", "sample_list", "keys"}) | BRACED_LISTS
)
#: Rules that list values without brackets.
OPEN_LISTS: Final = frozenset({"show", "limit"})
#: Rules that are an operator between operands, repeated.
CHAINS: Final = frozenset({"disjunction", "conjunction", "sum", "product", "fallback"})
#: One-line clauses of the file and of `workflow` that stand together, with their words in a column.
TOGETHER: Final = (frozenset({"describe", "owner", "schedule"}),)
#: Clauses outside of the column: their condition starts right after the word, or there is nothing behind it.
OUT_OF_COLUMN: Final = frozenset({"where", "bounded"})
#: Clauses that begin with a name and a colon.
LABELLED: Final = frozenset({"step", "stray_step"})
#: Blocks that hold other blocks: their clauses are set apart by kind.
OUTER: Final = frozenset({"start", "workflow"})

_INDENT: Final = 2
_OPEN: Final = {"LBRACE": "RBRACE", "LPAR": "RPAR", "LSQB": "RSQB"}


def layout(root: Node, comments: Comments) -> Doc:
    """Return the document of a whole file. The comments are used up."""
    return _Layout(comments).file(root)


@dataclass(slots=True)
class _Layout:
    comments: Comments

    def file(self, root: Node) -> Doc:
        body = self._clauses("start", [child for child in root.children if not isinstance(child, Token)])
        return (body, self._dangling(self.comments.end, is_first=not root.children))

    # ------------------------------------------------------------------------------------------ clauses of a block

    def _clauses(self, rule: str, clauses: Sequence[Node]) -> Doc:
        """Return the clauses of a block, each on lines of its own."""
        parts: list[Doc] = []
        for index, clause in enumerate(clauses):
            at = start(first(clause))
            own = self.comments.leading(at)
            before = clauses[index - 1] if index > 0 else None
            spaced = own[0].spaced if own else at in self.comments.spaced
            if before is not None and (spaced or _apart(rule, before, clause)):
                parts.append(Blank())
            parts.append(_own(own))
            if own and at in self.comments.spaced:
                parts.append(Blank())
            parts += [self._clause(rule, clause, clauses, index), Break()]
        return tuple(parts)

    def _clause(self, rule: str, clause: Node, clauses: Sequence[Node], index: int) -> Doc:
        if clause.data in BRACED_LISTS - FILLED and rule in OUTER:
            return self._named_list(clause, _run(clauses, index, self.comments))
        width = _column(rule, clause, clauses)
        if width is None:
            return self.doc(clause)
        if clause.data in LABELLED:
            return self._labelled(clause, width)
        word, rest = clause.children[0], clause.children[1:]
        if not isinstance(word, Token) or not rest:
            return self.doc(clause)
        pad = " " * (width - len(word) + 1)
        return group(self._token(word), pad, self._value(clause.data, rest))

    def _labelled(self, clause: Node, width: int) -> Doc:
        """Return `name: first second …`, its parts after the first on lines of their own once it breaks."""
        label, colon, part, *more = clause.children
        pad = " " * (width - _width(clause) + 1)
        body: list[Doc] = [self.doc(part)]
        for each in more:
            body += [Line(), self.doc(each)]
        return group(self.doc(label), self.doc(colon), pad, Nest(_INDENT, tuple(body)))

    def _value(self, rule: str, rest: Sequence[Child]) -> Doc:
        """Return what follows the word of a clause: a chain breaks under its own beginning."""
        if rule in OPEN_LISTS:
            return self._filled_entries(rest)
        if len(rest) == 1 and not isinstance(rest[0], Token) and rest[0].data in CHAINS:
            return Nest(None, self._chain(rest[0], nest=0))
        return self._joined(rule, rest)

    def _named_list(self, clause: Node, run: Sequence[Node]) -> Doc:
        """Return `verify name { … }`, with the braces of neighbours in a column."""
        word, name, *rest = clause.children
        width = max(len(str(each.children[1])) for each in run)
        pad = " " * (width - len(str(name)) + 1)
        head: Doc = (self.doc(word), " ", self.doc(name), Choice(pad, " "))
        return group(head, self._joined(clause.data, rest))

    def _dangling(self, at: int, *, is_first: bool) -> Doc:
        """Return the comments before the end of a block or of the file."""
        own = self.comments.leading(at)
        return ((Blank() if own and own[0].spaced and not is_first else ()), _own(own))

    # ------------------------------------------------------------------------------------------ phrases

    def doc(self, node: Child, *, nest: int = _INDENT) -> Doc:
        """Return a node; the later lines of a chain start `nest` columns further in."""
        if isinstance(node, Token):
            return self._token(node)
        if node.data in CHAINS:
            return self._chain(node, nest=nest)
        if node.data in OPEN_LISTS:
            return self._open_list(node)
        if node.data == "define":
            return self._definition(node)
        return group(self._joined(node.data, node.children))

    def _token(self, token: Token, before: Token | None = None) -> Doc:
        at = start(token)
        own, note = self.comments.leading(at), self.comments.trailing(at)
        word = spelled(token, before)
        if not own and note is None:
            return word
        return (*(Note(each.text, own=True) for each in own), word, Note(note, own=False) if note is not None else ())

    def _joined(self, rule: str, children: Sequence[Child]) -> Doc:
        """Return neighbours with the right space between them, brackets with what they enclose."""
        parts: list[Doc] = []
        previous: Child | None = None
        index = 0
        while index < len(children):
            child = children[index]
            if previous is not None:
                parts.append(space(rule, last(previous), first(child)))
            closing = _OPEN.get(child.type) if isinstance(child, Token) else None
            if isinstance(child, Token) and closing is not None:
                end = next(i for i in range(index, len(children)) if _is_token(children[i], closing))
                parts.append(self._enclosed(rule, child, children[index + 1 : end], children[end]))
                index = end
            elif isinstance(child, Token):
                parts.append(self._token(child, previous if isinstance(previous, Token) else None))
            else:
                parts.append(self.doc(child))
            previous = children[index]
            index += 1
        return tuple(parts)

    def _chain(self, node: Node, *, nest: int) -> Doc:
        children = node.children
        for index in range(1, len(children) - 1, 2):
            sign = children[index]
            if isinstance(sign, Token):
                self.comments.put_before(sign, children[index - 1], children[index + 1])
        parts: list[Doc] = [self.doc(children[0])]
        for sign, operand in zip(children[1::2], children[2::2], strict=True):
            parts += [Line(), self.doc(sign), " ", self.doc(operand)]
        return group(Nest(nest, tuple(parts)))

    def _definition(self, node: Node) -> Doc:
        """Return a definition: its parameters break for themselves, its body like the condition of a clause."""
        *head, sign, body = node.children
        return (group(self._joined(node.data, head)), " ", self.doc(sign), " ", self.doc(body))

    def _open_list(self, node: Node) -> Doc:
        word, *rest = node.children
        return group(self.doc(word), " ", self._filled_entries(rest))

    # ------------------------------------------------------------------------------------------ what brackets enclose

    def _enclosed(self, rule: str, opening: Token, inside: Sequence[Child], closing: Child) -> Doc:
        end = first(closing)
        if opening.type == "LBRACE" and rule not in BRACED_LISTS:
            return self._block(rule, opening, [child for child in inside if not isinstance(child, Token)], end)
        entries = self._entries(inside, start(end))
        commented = start(opening) in self.comments.after or start(end) in self.comments.before
        commented = commented or any(self.comments.any_within(entry) for entry in entries)
        if not entries and not commented:
            return (self._token(opening), self._token(end))
        edge = " " if opening.type == "LBRACE" else ""
        if rule in FILLED and not commented:
            return (self._token(opening), edge, self._filled(entries), edge, self._token(end))
        is_chain = rule not in LAST_COMMA and len(entries) == 1
        last_comma: Doc = Choice("", ",") if rule in LAST_COMMA else ()
        body: list[Doc] = []
        for index, entry in enumerate(entries):
            note = self.comments.trailing(start(last(entry)))
            body += [
                Line(edge if index == 0 else " "),
                self._own_before(entry, is_first=index == 0) if commented else (),
                self.doc(entry, nest=0 if is_chain else _INDENT),
                "," if index < len(entries) - 1 else last_comma,
                Note(note, own=False) if note is not None else (),
            ]
        body.append(self._dangling(start(end), is_first=not entries))
        return (self._token(opening), Nest(_INDENT, tuple(body)), Line(edge), self._token(end))

    def _entries(self, inside: Sequence[Child], end: int) -> list[Child]:
        """Return the entries between brackets, with the comments around their commas moved to them."""
        for index, child in enumerate(inside):
            if isinstance(child, Token) and child.type == "COMMA":
                following = start(first(inside[index + 1])) if index + 1 < len(inside) else end
                self.comments.give_back(child, inside[index - 1], following)
        return [child for child in inside if not _is_token(child, "COMMA")]

    def _own_before(self, entry: Child, *, is_first: bool) -> Doc:
        at = start(first(entry))
        own = self.comments.leading(at)
        spaced = own[0].spaced if own else at in self.comments.spaced
        after = Blank() if own and at in self.comments.spaced else ()
        return (Blank() if spaced and not is_first else (), _own(own), after)

    def _filled(self, entries: Sequence[Child]) -> Doc:
        parts: list[Doc] = []
        for index, entry in enumerate(entries):
            comma = "," if index < len(entries) - 1 else ""
            parts.append((self.doc(entry), comma) if index == 0 else group(Line(), self.doc(entry), comma))
        return Nest(None, tuple(parts))

    def _filled_entries(self, rest: Sequence[Child]) -> Doc:
        """Return values with commas between them, without brackets: lines are filled, and break after comments."""
        parts: list[Doc] = []
        entries = self._entries(rest, -1)
        for index, entry in enumerate(entries):
            note = self.comments.trailing(start(last(entry)))
            comma = "," if index < len(entries) - 1 else ""
            body: Doc = (self.doc(entry), comma, Note(note, own=False) if note is not None else ())
            parts.append(body if index == 0 else group(Line(), body))
        return Nest(None, tuple(parts))

    def _block(self, rule: str, opening: Token, clauses: Sequence[Node], closing: Token) -> Doc:
        """Return a block of clauses between braces: always on several lines, unless it is empty."""
        at = start(closing)
        if not clauses and at not in self.comments.before and start(opening) not in self.comments.after:
            return (self._token(opening), self._token(closing))
        body = (Break(), self._clauses(rule, clauses), self._dangling(at, is_first=not clauses))
        return (self._token(opening), Nest(_INDENT, body), Break(), self._token(closing))


# ---------------------------------------------------------------------------------------------- shapes


def _own(own: Sequence[Own]) -> Doc:
    parts: list[Doc] = []
    for index, each in enumerate(own):
        if each.spaced and index > 0:
            parts.append(Blank())
        parts.append(Note(each.text, own=True))
    return tuple(parts)


def _is_token(node: Child, kind: str) -> bool:
    return isinstance(node, Token) and node.type == kind


def _has_block(clause: Node) -> bool:
    """Whether a clause opens a block of clauses, itself or in its last part."""
    if clause.data in BRACED_LISTS:
        return False
    ending = clause.children[-1]
    return any(_is_token(child, "LBRACE") for child in clause.children) or (
        not isinstance(ending, Token) and _has_block(ending)
    )


def _apart(rule: str, before: Node, clause: Node) -> bool:
    """Whether an empty line always stands between two clauses."""
    if rule not in OUTER:
        return False
    return _section(before) != _section(clause) or _has_block(before) or _has_block(clause)


def _section(clause: Node) -> object:
    return next((together for together in TOGETHER if clause.data in together), clause.data)


def _column(rule: str, clause: Node, clauses: Sequence[Node]) -> int | None:
    """Return the width of the column that the words of a block stand in; None for a clause outside of it."""
    if rule in OUTER:
        together = next((words for words in TOGETHER if clause.data in words), None)
        beside = [each for each in clauses if together is not None and each.data in together]
    else:
        beside = [each for each in clauses if each.data not in OUT_OF_COLUMN]
    if not any(each is clause for each in beside):
        return None
    return max(_width(each) for each in beside)


def _width(clause: Node) -> int:
    """Return the width of the word of a clause, with the colon where it has one."""
    return len(first(clause)) + (1 if clause.data in LABELLED else 0)


def _run(clauses: Sequence[Node], index: int, comments: Comments) -> Sequence[Node]:
    """Return the clauses of one kind around a place that no empty line parts."""
    begin = end = index
    while begin > 0 and _touches(clauses[begin - 1], clauses[begin], comments):
        begin -= 1
    while end + 1 < len(clauses) and _touches(clauses[end], clauses[end + 1], comments):
        end += 1
    return clauses[begin : end + 1]


def _touches(before: Node, clause: Node, comments: Comments) -> bool:
    return before.data == clause.data and start(first(clause)) not in comments.spaced
