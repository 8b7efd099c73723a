"""From the bytes of a reply to its text: decompressed within a limit, decoded by the character set that it names.

Guarantees: what is taken is never more than the limit, however small it was made on its way; a compressed body that
does not come to its end, or has something behind it, is broken and never passes for what could be read of it; a
character set that would change what the text says is no character set.
"""

from __future__ import annotations

import codecs
import zlib
from collections.abc import AsyncIterable
from typing import Final

ENCODINGS: Final = "gzip, deflate"
"""The compressions that are asked for."""
_STEP: Final = 1024 * 1024
"""Bytes that are decompressed at once."""
_PLAIN: Final = frozenset({"", "identity"})
_GZIP: Final = frozenset({"gzip", "x-gzip"})
_NO_SETS: Final = frozenset(
    {"idna", "mbcs", "oem", "palmos", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"}
)
"""Codecs that read a text's own marks, such as a backslash, as something else."""


class BrokenContentError(ValueError):
    """What came can't be what was sent."""


class TooMuchError(ValueError):
    """What came is larger than what is taken."""


async def content_of(parts: AsyncIterable[bytes], encoding: str, most: int) -> bytes:
    """Return the body, decompressed; `encoding`: what `Content-Encoding` says.

    Raises `BrokenContentError`, and `TooMuchError` beyond `most` bytes.
    """
    names = [name for part in encoding.lower().split(",") if (name := part.strip()) not in _PLAIN]
    if len(names) > 1:
        msg = f"compressed {len(names)} times"
        raise BrokenContentError(msg)
    taken = _Taken(most)
    if names == [] or names[0] not in {*_GZIP, "deflate"}:
        async for part in parts:
            taken.add(part)
    else:
        inflating = _Inflating(taken, gzip=names[0] in _GZIP)
        async for part in parts:
            inflating.add(part)
        inflating.end()
    return b"".join(taken.parts)


def text_of(content: bytes, content_type: str) -> str:
    """Return a body's text, without a mark of its byte order. Raises `BrokenContentError`."""
    _, found, rest = content_type.lower().partition("charset=")
    try:
        codec = codecs.lookup(rest.split(";")[0].strip('" ') if found else "utf-8")
        if codec.name in _NO_SETS or codec.name.replace("_", "-") in _NO_SETS:
            raise LookupError(codec.name)
        return content.decode(codec.name).removeprefix("\ufeff")
    except (UnicodeError, LookupError, ValueError) as error:
        raise BrokenContentError(str(error)) from None


class _Taken:
    """What was taken so far."""

    def __init__(self, most: int) -> None:
        self.parts: list[bytes] = []
        self._size, self._most = 0, most

    def add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._most:
            msg = f"more than {self._most:,} bytes"
            raise TooMuchError(msg)
        self.parts.append(part)


class _Inflating:
    """Decompresses one stream, or several of gzip one behind another."""

    def __init__(self, taken: _Taken, *, gzip: bool) -> None:
        self._taken, self._gzip = taken, gzip
        self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16) if gzip else None
        self._begun = False

    def add(self, part: bytes) -> None:
        while len(part) > 0:
            if self._stream is None:
                # `deflate` is meant to have a head of its own, and some leave it out: the first byte of one says so
                self._stream = zlib.decompressobj(zlib.MAX_WBITS if part[0] & 0x0F == 8 else -zlib.MAX_WBITS)
            elif self._stream.eof:
                if not self._gzip:
                    msg = "something stands behind its end"
                    raise BrokenContentError(msg)
                self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
            self._begun = True
            try:
                self._taken.add(self._stream.decompress(part, _STEP))
                while len(self._stream.unconsumed_tail) > 0:
                    self._taken.add(self._stream.decompress(self._stream.unconsumed_tail, _STEP))
            except zlib.error as error:
                raise BrokenContentError(str(error)) from None
            part = self._stream.unused_data

    def end(self) -> None:
        while self._begun and self._stream is not None and not self._stream.eof:
            try:
                part = self._stream.decompress(b"", _STEP)
            except zlib.error as error:
                raise BrokenContentError(str(error)) from None
            if part == b"":
                msg = "it breaks off"
                raise BrokenContentError(msg)
            self._taken.add(part)
