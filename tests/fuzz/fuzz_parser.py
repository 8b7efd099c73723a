"""Bytes into the parser and the formatter, guided by coverage; outside of the suite.

    python3 -m venv /tmp/fuzz && /tmp/fuzz/bin/pip install atheris
    PYTHONPATH=dsl /tmp/fuzz/bin/python tests/fuzz/fuzz_parser.py [--seconds 300] [FOUND]

It starts from every workflow of `tests/language/corpus` and `workflows`. What holds of any bytes: nothing is raised but
diagnostics; there is a tree or an error, never both; each place lies in the text; every form of output can be written;
a fix applies; and a text that parses has a layout that means the same and is its own (else FC920). The first input for
which that is not so is written into the folder FOUND (a temporary one by default) and ends the run. Make it a test.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
from pathlib import Path

import atheris

# the automaton runs the same few lines for each text: watching these says nothing and costs most of the time
AUTOMATON = [f"fullcount.dsl.{name}" for name in ("lalr", "lexer", "tables", "parse_tree", "dataclass", "source")]
with atheris.instrument_imports(include=["fullcount"], exclude=AUTOMATON):
    from fullcount.dsl import keywords
    from fullcount.dsl.fixes import apply_fixes
    from fullcount.dsl.fmt import format_source
    from fullcount.dsl.output.concise import to_concise
    from fullcount.dsl.output.data import to_json
    from fullcount.dsl.parser import parse
    from fullcount.dsl.render import render
    from fullcount.dsl.source import Source

ROOT = Path(__file__).resolve().parents[2]
SEEDS = sorted([*(ROOT / "tests/language/corpus").rglob("*.fcw"), *(ROOT / "workflows").rglob("*.fcw")])
PIECE = re.compile(rb'\s+|"[^"\n]*"|#[^\n]*|\w+|[=!<>]=|\.\.\.|.', re.DOTALL)
FOREIGN = [
    *[word.encode() for words in keywords.CLAUSES.values() for word in words],
    *[word.encode() for word in sorted(keywords.RESERVED | keywords.OPERATORS)],
    *[b"{", b"}", b"(", b")", b"[", b"]", b'"', b"#", b",", b":", b"...", b"==", b"\n", b"\r\n", b"\r", b"\x00"],
    *[b"\xef\xbb\xbf", "\u202e".encode(), "😀".encode(), b"\xff", b"0", b"-1", b"9" * 25, b"5months", b"1e9", b"5%"],
    *[b"2026-02-30", b"0d", b"99999999d", b"1.2.3", b'"\\u{110000}"', b"not " * 40, b"(" * 40, b"[" * 40],
]


def one(data: bytes) -> None:
    """Everything that must hold of one input; raises what does not."""
    source = Source("fuzz.fcw", data.decode("utf-8", "replace"))
    file, found = parse(source)
    assert (file is None) == found.has_errors
    for finding in found:
        assert 0 <= finding.span.start <= finding.span.end <= len(source.text), finding
    sources = {source.name: source}
    render(found, sources, color=True)
    to_concise(found, sources)
    to_json(found, sources)
    mended, _ = apply_fixes(source, found, unsafe=True)
    parse(mended)
    if file is not None:
        text, of_layout = format_source(source)
        assert text is not None, [each.message for each in of_layout]


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Change words more often than bytes: bytes alone rarely get past the lexer."""
    rng = random.Random(seed)
    if rng.random() < 0.3:
        return atheris.Mutate(data, max_size)
    pieces = PIECE.findall(data)
    other = PIECE.findall(rng.choice(SEEDS).read_bytes())
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(pieces) + 1)
        to = min(len(pieces), at + rng.choice([0, 1, 1, 1, 2, 5, 20]))
        start = rng.randrange(len(other))
        taken = other[start : start + rng.choice([1, 3, 10, 40])]
        pieces[at:to] = rng.choice([[], [rng.choice(FOREIGN)], taken, pieces[at:to] * 2])
    return b"".join(pieces)[:max_size]


def small(text: bytes) -> list[bytes]:
    """The clauses of a workflow, each in a workflow of its own: a small text is tried a hundred times as often."""
    blocks = re.split(rb"\n\n(?=  \S)", text.partition(b"{\n")[2].rpartition(b"}")[0])
    return [b"workflow w {\n" + block + b"\n}\n" for block in blocks]


def main() -> None:
    """Fuzz for so many seconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("found", nargs="?", type=Path, default=None)
    asked = parser.parse_args()
    found = asked.found or Path(tempfile.mkdtemp(prefix="fuzz-"))
    corpus = found / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for seed in SEEDS:
        for number, text in enumerate([seed.read_bytes(), *small(seed.read_bytes())]):
            (corpus / f"{seed.stem}-{number}").write_bytes(text)
    limits = [f"-max_total_time={asked.seconds}", "-timeout=30", "-max_len=4000", "-rss_limit_mb=4096"]
    arguments = [sys.argv[0], str(corpus), *limits, f"-artifact_prefix={found}/", "-print_final_stats=1"]
    atheris.Setup(arguments, one, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
