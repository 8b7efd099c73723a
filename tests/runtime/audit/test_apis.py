"""Documents in the shapes of well-known APIs get the verdicts that their shapes deserve."""

from pathlib import Path

import pytest

from fullcount.runtime.audit.auditing import audit_bytes
from fullcount.runtime.audit.dialect import skeleton
from fullcount.runtime.audit.report import report, report_one
from fullcount.runtime.connectors.http.catalogue import load_dialect

APIS = Path(__file__).parent / "apis"

VERDICTS = {
    "code_hosting.json": {
        "GET /orgs/{org}/repos": ("list", "depends", {"UNSTABLE_ORDER", "COMPLETENESS_UNPROVABLE"}),
        "GET /repos/{owner}/{repo}/actions/runs": ("list", "depends", {"UNSTABLE_ORDER", "COMPLETENESS_UNPROVABLE"}),
        "GET /search/repositories": ("search", "depends", {"UNSTABLE_ORDER", "COMPLETENESS_UNPROVABLE"}),
    },
    "payments.yaml": {
        "GET /v1/customers": ("list", "depends", {"COMPLETENESS_UNPROVABLE"}),
        "GET /v1/customers/search": ("search", "depends", {"COMPLETENESS_UNPROVABLE"}),
        "GET /v1/subscriptions": ("list", "depends", {"COMPLETENESS_UNPROVABLE"}),
    },
    "cluster.json": {"GET /api/v1/namespaces": ("list", "depends", {"COMPLETENESS_UNPROVABLE"})},
    "others.yaml": {
        "GET /conversations.list": ("list", "provable", set()),
        "GET /v1/projects": ("list", "depends", {"COMPLETENESS_UNPROVABLE"}),
        "GET /users": ("list", "depends", {"UNSTABLE_ORDER", "COMPLETENESS_UNPROVABLE"}),
        "GET /orders": ("list", "depends", {"UNSTABLE_ORDER"}),
        "GET /pets/": ("list", "depends", {"UNSTABLE_ORDER"}),
        "GET /articles": ("list", "provable", set()),
        "POST /{index}/_search": ("search", "depends", {"COMPLETENESS_UNPROVABLE"}),
    },
}


def read(name):
    return audit_bytes((APIS / name).read_bytes(), name)


@pytest.mark.requirement("R2", "R13")
@pytest.mark.parametrize("name", VERDICTS)
def test_known_shapes_get_the_verdicts_they_deserve(name):
    """Single objects and writes are left out; each list has its kind, its verdict and what decides it."""
    found = {
        each.title: (str(each.kind), str(each.verdict), {str(finding.code) for finding in each.deciding})
        for each in read(name).judged
    }
    assert found == VERDICTS[name]


@pytest.mark.parametrize("name", VERDICTS)
def test_a_report_is_narrow_ordered_and_shows_each_operation(name):
    """The worst comes first, no line is wider than a ticket, and nothing is left out of so small a document."""
    audit = read(name)
    text = report(audit, name)
    assert all(len(line) <= 100 for line in text.splitlines()), text
    places = [text.index(f"  {each.verdict:<11} {each.kind:<10} {each.title[:20]}") for each in audit.judged]
    assert places == sorted(places)
    for each in audit.judged:
        assert each.title in report_one(each)


@pytest.mark.requirement("R2")
@pytest.mark.parametrize("name", VERDICTS)
def test_the_dialect_that_is_begun_says_what_the_schema_says_and_no_more(name, tmp_path):
    """It can be loaded, finds the list, and has an end only where the schema affirms one."""
    for each in read(name).judged:
        assert each.way is not None
        file = tmp_path / "own.toml"
        file.write_text(skeleton(each, each.way, "Own"), encoding="utf-8")
        operation = load_dialect(file).operations[-1]
        assert operation.items == each.way.items
        affirmed = len(each.proofs) > 0
        assert (len(operation.end) > 0) is affirmed
        assert operation.total is None or not operation.total.exact
        assert len(operation.finding) >= len(each.way.cut) + len(each.way.failed)
