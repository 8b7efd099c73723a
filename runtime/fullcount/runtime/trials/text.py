"""What `fullcount test` says: lines for people, the same as JSON, and JUnit's XML for a build server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from xml.etree import ElementTree as Xml

from fullcount.dsl.source import Source, Span
from fullcount.runtime.text import WIDTH, plain, wrapped
from fullcount.runtime.trials.coverage import Part
from fullcount.runtime.trials.judge import Miss
from fullcount.runtime.trials.mutate import Fate, Tried
from fullcount.runtime.trials.run import Result

_INDENT: Final = " " * 10
_QUOTED: Final = 60


def result_lines(result: Result) -> Iterator[str]:
    """Yield the line of a test, and what it missed."""
    name = plain(result.case.trial.name)
    if result.passed:
        yield wrapped("  passed  ", name)
        return
    yield wrapped("  FAILED  ", name)
    for miss in result.misses:
        yield f"{_INDENT}{plain(result.case.place(miss.span.start))}"
        yield wrapped(f"{_INDENT}expected  ", miss.expected)
        yield wrapped(f"{_INDENT}came      ", miss.came)
        for line in miss.why:
            for each in line.split("\n"):
                yield f"{_INDENT}  {each}".rstrip()


def summary_line(results: Sequence[Result]) -> str:
    """Return how many tests there were and how they came out."""
    failed = sum(not result.passed for result in results)
    tests = f"{len(results):,} test{'' if len(results) == 1 else 's'}"
    return f"{tests}: {len(results) - failed:,} passed, {failed:,} failed"


def coverage_lines(name: str, parts: Sequence[Part], sources: Mapping[str, Source]) -> Iterator[str]:
    """Yield what the tests of one workflow have seen of it, and what they have not."""
    wanted = sum(len(part.wanted) for part in parts)
    seen = wanted - sum(len(part.missing) for part in parts)
    yield f"coverage of {name}: {seen} of {wanted} branches"
    for part in parts:
        places = [f"{branch} {part.seen.get(branch, 0) or '-'}" for branch in part.wanted]
        mark = "  " if len(part.missing) == 0 else "! "
        yield wrapped(f"  {mark}{_place(part.span, sources)}  ", f"{plain(part.text)}")
        yield f"      {' · '.join(places)}"


def mutation_lines(name: str, tried: Sequence[Tried], sources: Mapping[str, Source]) -> Iterator[str]:
    """Yield how many mistakes the tests of one workflow notice, and the ones that they do not."""
    counts = {fate: sum(each.fate is fate for each in tried) for fate in Fate}
    yield wrapped(
        "",
        f"mutants of {name}: {len(tried)}, of which {counts[Fate.NOTICED]} noticed, {counts[Fate.REFUSED]} refused by"
        f" the compiler, {counts[Fate.SURVIVED]} survived",
        WIDTH,
    )
    for each in tried:
        if each.fate is Fate.SURVIVED:
            span = each.mutant.span
            yield wrapped(f"  SURVIVED  {_place(span, sources)}  ", f"{_quoted(span, sources)}  {each.mutant.what}")


def report_json(
    results: Sequence[Result],
    coverage: Mapping[str, Sequence[Part]] | None,
    mutation: Mapping[str, Sequence[Tried]] | None,
    sources: Mapping[str, Source],
) -> dict[str, Any]:
    """Return everything as a document; `coverage` and `mutation` by workflow, None where they were not asked for."""
    document: dict[str, Any] = {
        "ok": all(result.passed for result in results),
        "tests": [_result(result) for result in results],
    }
    if coverage is not None:
        document["coverage"] = {
            name: [
                {
                    "kind": part.kind,
                    "text": part.text,
                    **_where(part.span, sources),
                    "seen": {branch: part.seen.get(branch, 0) for branch in part.wanted},
                    "missing": list(part.missing),
                }
                for part in parts
            ]
            for name, parts in coverage.items()
        }
    if mutation is not None:
        document["mutants"] = {
            name: [
                {
                    "what": each.mutant.what,
                    "text": _quoted(each.mutant.span, sources),
                    **_where(each.mutant.span, sources),
                    "fate": str(each.fate),
                    "by": each.by,
                }
                for each in tried
            ]
            for name, tried in mutation.items()
        }
    return document


def junit_xml(results: Sequence[Result]) -> str:
    """Return the results in the form that build servers read."""
    suites = Xml.Element("testsuites")
    for name in dict.fromkeys(result.case.trial.workflow for result in results):
        own = [result for result in results if result.case.trial.workflow == name]
        suite = Xml.SubElement(
            suites, "testsuite", name=name, tests=str(len(own)), failures=str(sum(not each.passed for each in own))
        )
        for each in own:
            case = Xml.SubElement(
                suite, "testcase", classname=name, name=plain(each.case.trial.name), time=f"{each.seconds:.3f}"
            )
            if not each.passed:
                first = each.misses[0]
                failure = Xml.SubElement(case, "failure", message=f"expected {first.expected}, came {first.came}")
                failure.text = "\n".join(result_lines(each))
    Xml.indent(suites)
    return Xml.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


# -- parts -------------------------------------------------------------------------------------------------------------


def _result(result: Result) -> dict[str, Any]:
    trial = result.case.trial
    return {
        "file": str(result.case.path),
        "workflow": trial.workflow,
        "test": trial.name,
        **_where(trial.span, result.case.sources),
        "passed": result.passed,
        "seconds": round(result.seconds, 3),
        "misses": [_miss(miss, result.case.sources) for miss in result.misses],
    }


def _miss(miss: Miss, sources: Mapping[str, Source]) -> dict[str, Any]:
    why = [line for text in miss.why for line in text.split("\n")]
    return {"expected": miss.expected, "came": miss.came, "why": why, **_where(miss.span, sources)}


def _where(span: Span | None, sources: Mapping[str, Source]) -> dict[str, Any]:
    if span is None or span.source not in sources:
        return {"line": None, "column": None}
    line, column = sources[span.source].position(span.start)
    return {"line": line, "column": column}


def _place(span: Span | None, sources: Mapping[str, Source]) -> str:
    if span is None or span.source not in sources:
        return "elsewhere"
    line, column = sources[span.source].position(span.start)
    return plain(f"{span.source}:{line}:{column}")


def _quoted(span: Span, sources: Mapping[str, Source]) -> str:
    if span.source not in sources:
        return ""
    text = " ".join(sources[span.source].slice(span).split())
    return f"`{plain(text, _QUOTED)}`"
