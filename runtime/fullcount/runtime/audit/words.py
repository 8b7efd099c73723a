"""The names by which descriptions of APIs call what this audit looks for; what they prove is judged elsewhere.

Names are compared as `plain_name` writes them, so that `nextPageToken`, `next_page_token` and `$skip-token` are one
family each.
"""

from __future__ import annotations

import re
from typing import Final

_NO_LETTER: Final = re.compile(r"[^a-z0-9]+")
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def plain_name(name: str) -> str:
    """Return a name in small letters and digits alone."""
    return _NO_LETTER.sub("", name.lower())


def words_of(name: str) -> frozenset[str]:
    """Return the words that a name, a path's step or an `operationId` is made of."""
    return frozenset(word.lower() for word in _WORDS.findall(name))


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# -- what stands in a reply -------------------------------------------------------------------------------------------

LISTS: Final = _names(
    "items data results result value values records entries edges nodes resources list rows hits members content"
    " objects elements documents collection page resultset records features"
)
"""Properties that usually hold the members of a list."""
ENVELOPES: Final = _names("data result results response payload body hits embedded page d")
"""Properties that may stand around the list."""
CONTAINERS: Final = ENVELOPES | _names(
    "meta metadata page pages paging pagination pageinfo pager responsemetadata links cursor cursors info"
    " paginationinfo metainfo searchmetadata range resultset listmeta pageable"
)
"""Objects in which a reply speaks of itself."""
PAGING_CONTAINERS: Final = _names("links cursor cursors paging pagination pageinfo pager pages page responsemetadata")
"""Containers in which a bare `next` means the next page."""

NEXT: Final = _names(
    "next nextcursor nextpagetoken nexttoken nextmarker nextlink odatanextlink nextpage nextpageurl nexturl nexturi"
    " nexthref nextrecordsurl nextoffset continuationtoken nextcontinuationtoken continue continuetoken nextskiptoken"
    " skiptoken paginationtoken nextkey nextpagecursor nextstart nextid lastevaluatedkey nextpageid nextpagelink"
)
"""What leads to the next page, and so can say that there is none."""
POSITIONS: Final = _names("cursor endcursor pagetoken marker scrollid token after lastid position")
"""What names a place in the list, and need not end with it."""
ADDRESSES: Final = _names("nextlink odatanextlink nextpageurl nexturl nexturi nexthref nextrecordsurl nextpagelink")
"""Of `NEXT`, what is an address that is called as it is."""
LINKS: Final = _names("links link")
SAYS_ADDRESS: Final = re.compile(r"\b(ur[il]|link|href|address)\b", re.IGNORECASE)
COMPLETE: Final = _names(
    "complete iscomplete islast islastpage lastpage last done isdone endoflist endofresults endofcollection finished"
    " isfinished exhausted isfinal final nomore nomoreresults allresults"
)
"""True says: this was the last of it."""
MORE: Final = _names(
    "hasmore hasnext hasnextpage more moreresults moreavailable istruncated truncated hasmoreitems moredata hasmoredata"
    " hasmoreresults moreresultsavailable morepages ismore hasmorepages"
)
"""False says only that somebody did not set it to true."""
CUT_SHORT: Final = _names(
    "incompleteresults incompletesearch incomplete isincomplete partial ispartial partialresults partialresult timedout"
    " timeout terminatedearly resulttruncated resultstruncated earlyterminated"
)
"""True says: something is missing; false says nothing of the end."""
DEADLINES: Final = _names("timedout timeout terminatedearly incompleteresults deadlineexceeded took")
TOTALS: Final = _names(
    "total totalcount totalresults totalitems totalsize totalelements odatacount totalrecords recordcount totalhits"
    " totalnumber resultcount itemcount totalentries totalobjects estimatedtotal approximatecount totalnum totalrows"
)
COUNTS: Final = _names("count")
"""May be the number of the page as well as of the list."""
FAILED: Final = _names(
    "errors error warnings warning unreachable unreachables unreachablelocations missingzones failures failed shards"
    " partialfailures partialerrors notifications faults unprocessed unprocesseditems unprocessedkeys skipped clusters"
)
SCOPES: Final = _names(
    "scope filter filters appliedfilters query request parameters params criteria selflink self context effectivefilter"
    " effectivescope querystring"
)
SNAPSHOTS: Final = _names(
    "resourceversion snapshot snapshotid asof readtime revision pit pitid generation synctoken snapshottime consistency"
    " snapshotversion"
)
REVISIONS: Final = SNAPSHOTS | _names("indexedat indexrevision indexversion indextime lastindexed refreshedat datatime")
"""What says of which state of an index an answer speaks."""
FIELD_STATES: Final = _names(
    "fieldstates missingfields unavailablefields redacted redactedfields omitted omittedfields forbiddenfields"
    " restrictedfields unreadable"
)
VISIBILITY: Final = _names(
    "visibility restricted resultsfiltered filteredbyacls repositoryselection hiddencount accessible isrestricted"
    " filteredbypermission permissionfiltered"
)

# -- what stands in a request -----------------------------------------------------------------------------------------

CURSOR_PARAMETERS: Final = _names(
    "cursor after pageafter pagecursor pagetoken nexttoken nextpagetoken startingafter continue continuation"
    " continuationtoken marker skiptoken scrollid startkey exclusivestartkey paginationtoken startingtoken"
    " nextcursor sinceid next nextmarker synctoken keymarker startafter lastid afterid pageid nextkey searchafter"
)
POSITION_PARAMETERS: Final = _names(
    "page offset start startindex skip pagenumber pageno pagenum startat pageindex firstresult pageoffset startrow"
    " currentpage startposition nextoffset"
)
LIMIT_PARAMETERS: Final = _names(
    "limit perpage pagesize maxresults maxitems size count top first pagelimit maxkeys resultsperpage rows"
    " maxresultcount itemsperpage max numresults n pagecount"
)
SNAPSHOT_PARAMETERS: Final = _names(
    "resourceversion snapshot snapshotid asof readtime pit pitid snapshottime snapshotversion"
)
"""What pins all pages to one state, if every request carries it."""
NO_FILTER: Final = _names(
    "sort sortby order orderby direction fields field select expand include embed format apiversion locale lang"
    " pretty prettyprint accept callback fieldmask readmask key alt quotauser requestid timeout timeoutseconds dryrun"
    " sortorder"
)
"""Parameters that do not change which objects are listed."""

# -- what an operation is called --------------------------------------------------------------------------------------

SEARCHING: Final = frozenset({"search", "query", "find", "searches", "lookup", "filter"})
LISTING: Final = SEARCHING | frozenset({"list", "scan", "lists", "all", "page"})
AGGREGATING: Final = frozenset(
    {"count", "counts", "total", "totals", "sum", "aggregate", "aggregates", "aggregation", "aggregations", "stats",
     "statistics", "summary", "histogram", "metrics", "usage"}
)  # fmt: skip
NUMBERS: Final = TOTALS | COUNTS | _names("sum avg average min max mean median value number")

# -- what a description says ------------------------------------------------------------------------------------------

_LAST: Final = (
    r"\b(last page|no (more|further|next|additional|other)|end of (the )?(list|results|collection|pages)|final page)\b"
)
_NOTHING: Final = r"""(\bnull\b|\bempty\b|\bblank\b|""|''|``)"""
SAYS_END: Final = re.compile(rf"{_NOTHING}.{{0,80}}{_LAST}|{_LAST}.{{0,80}}{_NOTHING}", re.IGNORECASE)
"""That a cursor is empty at the end, in one sentence."""
SAYS_NOT: Final = re.compile(r"\b(not|never|cannot|unless|except)\b|n't\b", re.IGNORECASE)
SAYS_EXACT: Final = re.compile(
    r"\b((exact|accurate) (number|count|total|size)|(is|are|always) (exact|accurate)|counted exactly)\b", re.IGNORECASE
)
"""That a number is exact. An "exact match" is something else."""
SAYS_ESTIMATE: Final = re.compile(
    r"\b(estimat\w*|approximat\w*|inexact|inaccurate|not\b[^.]{0,20}\b(exact|accurate)|never exact|may differ|at least"
    r"|lower bound|upper bound|best[- ]effort|roughly|about|isn't|n't|up to)",
    re.IGNORECASE,
)
SAYS_INCOMPLETE: Final = re.compile(
    r"\b(best[- ]effort|(may|might|can|could) (be|return|contain|give) (an? )?(incomplete|partial|subset)"
    r"|not guaranteed to (be|return|contain)|no guarantee (of|that)|incomplete results"
    r"|not (be )?(exhaustive|complete)\b)",
    re.IGNORECASE,
)
"""That a list is not to be taken for whole."""
SAYS_LAGGING: Final = re.compile(
    r"\b(eventual(ly)? consisten\w+|index(ed|ing)? (lag|delay)|near real[- ]time)", re.IGNORECASE
)
SAYS_OTHER_END: Final = re.compile(
    r"\b(time[sd]?[- ]?out|expire[sd]?|error|fail(s|ed|ure)?|unavailable)\b", re.IGNORECASE
)
"""That a cursor is left out for other reasons than the end."""

JSON_TYPE: Final = re.compile(r"(application|text)/([\w.-]+\+)?json\b.*|\*/\*|application/\*", re.IGNORECASE)
STREAM_TYPE: Final = re.compile(
    r"application/(x-)?(ndjson|jsonl|json-lines|jsonlines|json-seq|stream\+json|json;\s*stream=\w+)\b.*|text/event-stream\b.*"
    r"|application/[\w.-]+\+json-seq\b.*|multipart/mixed\b.*|text/csv\b.*",
    re.IGNORECASE,
)
EOF_NAMES: Final = COMPLETE | _names("eof end trailer summary")
