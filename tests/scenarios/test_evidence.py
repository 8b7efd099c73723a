"""Incomplete evidence: lists that end too early, reads that fail, rights that are missing, fields nobody asked for.

What an API answered is read by the dialect of that API (`heard`); what it proves is then the evidence of a rule, which
is refused or leaves the object undecided, and never selects it.
"""

from __future__ import annotations

import asyncio

import pytest
from tests.support.fleet import FILE, REGIONS, Fleet
from tests.support.heard import heard, refused
from tests.support.http_api import Answer, Api
from tests.support.reading_http import config, read_all, things

from fullcount.compiler.values import FieldState
from fullcount.runtime.collect.loop import Budget
from fullcount.runtime.evidence.codes import Reason, WarningCode
from fullcount.runtime.evidence.envelope import Status
from fullcount.runtime.plan.layout import to_text
from fullcount.runtime.plan.review import ReviewStatus
from fullcount.runtime.plan.text import render_plan

FREE = "where v.owner is absent"
UNTAGGED = 'where v.tags["owner"] is absent'
UNUSED = "where no points as p where (p.of == v.id)"
TWO = 'given volumes [{ id: "used" }, { id: "free" }]'


def asked(operation, **params):
    """Return a request of an RPC API."""
    return {"method": "POST", "operation": operation, "params": params}


def texts(count, stem="n"):
    """Return that many names."""
    return [f"{stem}{n:03}" for n in range(count)]


async def details(folder, *faults, count=4):
    """Read objects whose owner comes of a request for each; return the envelope and those requests."""
    resource = {
        "fields": {"id": "text", "owner": {"type": "text?", "at": "$detail/body/owner"}},
        "detail": "/cursor/{id}",
    }
    with Api(things(count), page=50) as api:
        api.faults += faults
        envelope = await read_all(config(api, "cursor", resource), folder, Budget(sleep=_at_once, retries=0))
        return envelope, [each.path for each in api.requests if each.path != "/cursor"]


async def _at_once(seconds):
    """Wait for nothing."""


# -- class A ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("A01")
def test_a01_a_list_of_which_only_the_first_page_was_seen_is_refused(night):
    """A region had 800 tables, 100 came with a page, and nobody ever saw the others."""
    first = ("ListTables", {"TableNames": texts(100), "LastEvaluatedTableName": "n099"})
    cut = heard("aws_dynamodb", first)
    assert cut.reasons == {Reason.MORE_PAGES_AVAILABLE}
    refused(night, cut)
    rest = (asked("ListTables", ExclusiveStartTableName="n099"), {"TableNames": ["z"]})
    assert heard("aws_dynamodb", first, rest).complete


@pytest.mark.requirement("A02")
def test_a02_what_is_read_beside_the_objects_has_to_be_whole_as_well(night):
    """Users were paged, their policies were not: the evidence of a join is demanded like the list itself."""
    whole = {"PolicyNames": ["a"], "IsTruncated": False}
    assert heard("aws_iam", ("ListUserPolicies", whole)).complete
    refused(night, heard("aws_iam", ("ListUserPolicies", {**whole, "IsTruncated": True, "Marker": "m"})))
    unproven = night.text("volumes", UNUSED, also=("points",)).replace("verify points { complete,", "verify points {")
    assert [each.split()[0] for each in night.checked(unproven)] == ["FC301"]


@pytest.mark.requirement("A04")
async def test_a04_every_way_of_paging_comes_to_the_end_or_says_that_it_did_not(tmp_path):
    """Four more kinds were not paged: pages of one, an exact multiple, an empty last page, a token that comes again."""
    for page, count, families in ((1, 3, ("scim", "keyset", "graphql")), (2, 4, ("link", "cursor", "k8s"))):
        with Api(things(count), page=page) as api:
            for family in families:
                envelope = await read_all(config(api, family), tmp_path)
                assert (family, envelope.complete, envelope.work.rows) == (family, True, count)
    with Api(things(2), page=2) as api:
        whole = [dict(each) for each in api.objects.values()]
        api.faults.append(
            lambda asked: None if "cursor" in asked.query else Answer(200, {"items": whole, "next_cursor": "2"})
        )
        api.snapshot = None
        envelope = await read_all(config(api, "cursor"), tmp_path)
        assert (envelope.complete, envelope.work.rows) == (True, 2)
        assert "2" in {each.query.get("cursor") for each in api.requests}  # where there is nothing more
    with Api(things(4), page=2) as api:

        def at_the_third(answer):
            return lambda asked: answer if asked.query.get("cursor") == "2" else None

        api.faults[:] = [at_the_third(Answer(200, {"items": [], "next_cursor": None}))]
        short = await read_all(config(api, "cursor"), tmp_path)
        assert [each.code for each in short.completeness.reasons] == [Reason.SNAPSHOT_CHANGED]  # 2 of `total` 4
        api.faults[:] = [at_the_third(Answer(200, {"items": [{"id": "x", "n": 1}], "next_cursor": "2"}))]
        looped = await read_all(config(api, "cursor"), tmp_path)
        assert Reason.CURSOR_LOOP in {each.code for each in looped.completeness.reasons}


PODS = [{"metadata": {"uid": name, "name": name}} for name in ("a", "b")]


def chunk(of, *, version="1", **metadata):
    """Return a chunk of a Kubernetes list."""
    return {"kind": "PodList", "metadata": {"resourceVersion": version, **metadata}, "items": of}


@pytest.mark.requirement("A06")
def test_a06_a_full_page_without_a_token_may_have_been_cut(night):
    """A limit was set on a cached client: the list was cut without a token, or the token was not understood."""
    cut = heard("kubernetes", ("/api/v1/pods?limit=2", chunk(PODS)))
    assert cut.reasons == {Reason.COMPLETENESS_UNPROVABLE}
    refused(night, cut)
    assert heard("kubernetes", ("/api/v1/pods?limit=3", chunk(PODS))).complete
    first = ("/api/v1/pods?limit=2", chunk(PODS, **{"continue": "c"}))
    last = [{"metadata": {"uid": name, "name": name}} for name in ("c", "d")]
    assert heard("kubernetes", first, ("/api/v1/pods?limit=2&continue=c", chunk(last))).complete
    refused(night, heard("kubernetes", first, ("/api/v1/pods?limit=2&continue=c", 400, {"kind": "Status"})))


@pytest.mark.requirement("A07")
def test_a07_no_error_is_no_proof_of_the_end(night):
    """The server stopped at its time limit and answered 200 with part of the set."""
    silent = heard("generic_http", ("/list-objects", {"items": [{"id": 1}]}))
    assert silent.reasons == {Reason.COMPLETENESS_UNPROVABLE}
    refused(night, silent)
    late = heard("generic_http", ("/list-objects", {"items": [{"id": 1}], "next_cursor": None, "timed_out": True}))
    assert late.reasons == {Reason.TIME_BUDGET_EXCEEDED}
    refused(night, late)


@pytest.mark.requirement("A08")
def test_a08_pages_of_two_states_are_never_joined(night):
    """A token was too old, and the server offered to go on with a list of another state."""
    first = ("/api/v1/pods?limit=2", chunk(PODS, **{"continue": "c"}))
    gone = {"kind": "Status", "reason": "Expired", "code": 410, "metadata": {"continue": "inconsistent"}}
    for second, reason in (
        (("/api/v1/pods?limit=2&continue=c", 410, gone), Reason.CURSOR_EXPIRED),
        (("/api/v1/pods?limit=2&continue=c", chunk([], version="2")), Reason.SNAPSHOT_CHANGED),
    ):
        verdict = heard("kubernetes", first, second)
        assert (verdict.reasons, verdict.continuation) == ({reason}, "restart")
        refused(night, verdict)


@pytest.mark.requirement("A10")
def test_a10_a_source_that_is_down_is_not_one_that_wants_nothing(night):
    """The server with the wanted state did not answer for a moment, and everything that ran was removed."""
    down = heard("generic_http", ("/manifests", 503, {"error": "unavailable"}))
    assert down.reasons == {Reason.SOURCE_UNAVAILABLE}
    refused(night, down)
    night.says(
        "volumes",
        UNUSED,
        f"""test "down" {{ {TWO} given points failed SOURCE_UNAVAILABLE expect refused SOURCE_UNAVAILABLE }}
        test "empty" {{ {TWO} given points empty expect refused FC743 }}""",
        also=("points",),
        verify="complete, fresh within 1h, rows at least 1",
    )


@pytest.mark.requirement("A12")
def test_a12_a_wanted_set_that_shrank_refuses_and_says_by_how_much(night):
    """A template gave fewer elements after an edit, and all applications of the others went with their data."""
    (came,) = night.says(
        "volumes",
        UNUSED,
        """given volumes [{ id: "a" }, { id: "b" }]
        given points previously 10 rows [{ id: "1", of: "a" }] expect refused FC744""",
        also=("points",),
        verify="complete, fresh within 1h, change at most 20%",
    )
    assert "shrank by 90.0 % since the last certified reading" in came.refusals[0].message


@pytest.mark.requirement("A13")
async def test_a13_a_detail_that_could_not_be_read_is_unknown_and_not_absent(tmp_path, night):
    """The network went between the list and the tags: tags were empty, and `untagged` matched."""
    cut = Answer(200, {"owner": None}, cut=4)
    envelope, _ = await details(tmp_path, lambda asked: None if asked.path == "/cursor" else cut)
    assert envelope.fields["owner"].states == {FieldState.SOURCE_FAILED: 4}
    await asyncio.to_thread(
        night.says,
        "volumes",
        UNTAGGED,
        """given volumes [{ id: "dark", tags: failed }, { id: "untagged" }]
        expect plan ["untagged"] expect undecided ["dark" because "tags"]""",
    )


@pytest.mark.requirement("A14")
def test_a14_an_index_that_lags_behind_proves_nothing(night):
    """A search by tags lagged by hours, missed objects and kept ghosts: it is said to be an index, and refused."""
    found = {"Resources": [{"Arn": "a"}], "Count": {"Complete": True, "TotalResources": 1}}
    index = heard("aws_resource_explorer", ("Search", found))
    assert WarningCode.STALE_INDEX in index.warnings
    refused(night, index)
    tagged = heard("aws_tagging", ("GetResources", {"ResourceTagMappingList": [{"ResourceARN": "a"}]}))
    assert tagged.reasons == {Reason.SCOPE_NOT_COVERED}
    refused(night, tagged)


@pytest.mark.requirement("A16")
def test_a16_every_channel_of_use_is_read_and_the_plan_names_them(night):
    """Artefacts that others pulled through their own cache had no local download, and were deleted as never used."""
    rule = "where no launches as l where (l.image == i.id) and no templates as t where (t.image == i.id)"
    rows = """given images [{ id: "pulled" }, { id: "cached" }, { id: "free" }]
      given launches [{ id: "1", image: "pulled" }]"""
    used, also = '[{ id: "1", image: "cached" }]', ("launches", "templates")
    (came,) = night.says("images", rule, f'{rows} given templates {used} expect plan ["free"]', also=also)
    shown = to_text(render_plan(came.planned, ReviewStatus("waiting")))
    assert all(channel in shown for channel in ("fleet.launches", "fleet.templates"))
    dark = f"{rows} given templates failed VISIBILITY_RESTRICTED expect refused VISIBILITY_RESTRICTED"
    night.says("images", rule, dark, also=also)


@pytest.mark.requirement("A17")
def test_a17_a_measure_of_use_that_misses_what_is_known_to_be_used_is_refused(night):
    """Pulls through a cache were not counted: `unused for 60 days` held for what was fetched every hour."""
    control = 'expect id == "control" and (last_used else never) > now - 2d'
    rows = 'given volumes [{ id: "control"%s }, { id: "old" }]'
    rule = "where (v.last_used else v.created) < now - 60d"
    night.says(
        "volumes",
        rule,
        f"""test "seen" {{ {rows % ", last_used: now - 1h"} expect plan ["old"] }}
        test "blind" {{ {rows % ""} expect refused VISIBILITY_RESTRICTED }}""",
        inside=control,
    )


@pytest.mark.requirement("A20")
def test_a20_no_group_is_left_empty(night):
    """Options of a clean-up acted together, and every tag of a repository went."""
    night.says(
        "images",
        "where i.pushed < now - 30d keep at least 1 per i.channel newest by i.pushed",
        """given images [
          { id: "s1", pushed: now - 90d }, { id: "s2", pushed: now - 80d }, { id: "e1", channel: "edge" },
        ] expect plan ["s1"] expect kept ["s2" because "keep at least 1", "e1" because "keep at least 1"]""",
    )


# -- lists of one policy engine ---------------------------------------------------------------------------------------


@pytest.mark.requirement("c7n-1")
def test_c7n_1_a_tag_call_that_failed_is_not_an_untagged_bucket(night):
    """The tag API answered with an internal error, the bucket came without tags, and was emptied and deleted."""
    failed = heard("aws_s3", ("GetBucketTagging", 500, {"Error": {"Code": "InternalError"}}), fields=("TagSet",))
    assert failed.field_states == {"TagSet": FieldState.SOURCE_FAILED}
    refused(night, failed)
    night.says(
        "volumes",
        UNTAGGED,
        'given volumes [{ id: "dark", tags: failed }, { id: "tagged", tags: { "owner": "ana" } }] '
        'expect plan empty expect undecided ["dark" because "tags: source failed"]',
    )


@pytest.mark.requirement("c7n-2")
def test_c7n_2_tags_that_all_objects_lack_are_an_alarm(night):
    """A proxy died between list and tags, and every balancer came with empty tags: nobody having one is refused."""
    night.says("volumes", UNTAGGED, f"{TWO} expect refused FC791")
    night.says("volumes", FREE, f"{TWO} expect refused FC791")
    rows = 'given volumes [{ id: "free" }, { id: "tagged", tags: { "owner": "ana" } }]'
    night.says("volumes", UNTAGGED, f'{rows} expect plan ["free"]')


@pytest.mark.requirement("c7n-3")
def test_c7n_3_what_a_batch_could_not_give_is_not_given_a_default(night):
    """The batch returned the successes, the caller kept its list, and the failures got no tags."""
    some = {"clusters": [{"clusterArn": "a", "tags": []}], "failures": []}
    request = asked("DescribeClusters", include=["TAGS"])
    assert heard("aws_ecs", (request, some), fields=("tags",)).complete
    part = heard("aws_ecs", (request, {**some, "failures": [{"arn": "b", "reason": "MISSING"}]}), fields=("tags",))
    assert (part.reasons, part.continuation) == ({Reason.UNPROCESSED_ITEMS}, "retry_items")
    refused(night, part)


@pytest.mark.requirement("c7n-4")
def test_c7n_4_a_sign_of_more_is_followed_or_the_list_is_partial(night):
    """227 delivery streams came ten to a page, and the rule saw ten."""
    page = {"DeliveryStreamNames": texts(10), "HasMoreDeliveryStreams": True}
    verdict = heard("aws_firehose", ("ListDeliveryStreams", page))
    assert not verdict.complete
    refused(night, verdict)
    assert heard("aws_firehose", ("ListDeliveryStreams", {**page, "HasMoreDeliveryStreams": False})).complete


@pytest.mark.requirement("c7n-5")
def test_c7n_5_a_larger_page_is_no_paging(night):
    """Ten bots came of eleven; asking for a thousand only moved the boundary: the token is what counts."""
    bots = [{"botId": name} for name in texts(1000)]
    request = asked("ListBots", maxResults=1000)
    verdict = heard("aws_lex", (request, {"botSummaries": bots, "nextToken": "t"}))
    assert verdict.reasons == {Reason.MORE_PAGES_AVAILABLE}
    refused(night, verdict)
    last = (asked("ListBots", maxResults=1000, nextToken="t"), {"botSummaries": [{"botId": "last"}]})
    assert heard("aws_lex", (request, {"botSummaries": bots, "nextToken": "t"}), last).complete


@pytest.mark.requirement("c7n-6")
def test_c7n_6_a_link_to_the_next_page_is_followed(night):
    """Four clusters were on two pages, and two were seen."""
    path = "/subscriptions/s/providers/Microsoft.ContainerService/managedClusters"
    first = (path, {"value": [{"id": "a"}, {"id": "b"}], "nextLink": f"https://management.azure.com{path}?skip=2"})
    assert heard("azure_arm", first, (f"{path}?skip=2", {"value": [{"id": "c"}, {"id": "d"}]})).complete
    verdict = heard("azure_arm", first)
    assert verdict.reasons == {Reason.MORE_PAGES_AVAILABLE}
    refused(night, verdict)


@pytest.mark.requirement("c7n-8")
def test_c7n_8_who_is_not_on_the_first_page_of_members_is_still_a_member(night):
    """120 accounts were members, 50 came with the first page, and 70 were reported as outsiders."""
    members = [{"accountId": name} for name in texts(50)]
    verdict = heard("aws_guardduty", ("ListMembers", {"members": members, "nextToken": "t"}))
    refused(night, verdict)
    rows = 'given volumes [{ id: "member" }, { id: "later" }] given points partial MORE_PAGES_AVAILABLE'
    says = f'{rows} [{{ id: "1", of: "member" }}] expect refused MORE_PAGES_AVAILABLE'
    night.says("volumes", "where not (some points as p where (p.of == v.id))", says, also=("points",))


@pytest.mark.requirement("c7n-9")
def test_c7n_9_a_scope_that_names_nothing_is_an_error_and_no_empty_result(tmp_path):
    """An unset region became the word `default`, which no list has, and so there was nothing to see."""
    fleet = Fleet(tmp_path / "fleet")
    fleet.tidy(across="[]")
    assert fleet.run("check", FILE).exit == 1
    fleet.tidy(across='["default"]')
    assert fleet.run("plan", FILE).exit == 3
    fleet.tidy(regions=REGIONS, across="regions.name")
    fleet.sql("catalog", "DELETE FROM regions")
    ended = fleet.run("plan", FILE)
    assert (ended.exit, "`regions` has no row, so no `region` is named" in ended.words) == (3, True)


# -- rights -----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("c7n-10")
async def test_c7n_10_one_object_that_is_denied_does_not_hide_the_others(tmp_path, night):
    """One key of 200 denied its policy, and the whole account was without a finding."""
    envelope, _ = await details(tmp_path, lambda asked: Answer(403) if asked.path.endswith("t0002") else None)
    assert envelope.status is Status.COMPLETE
    assert envelope.fields["owner"].states == {FieldState.PRESENT: 2, FieldState.ABSENT: 1, FieldState.FORBIDDEN: 1}
    rows = (
        'given volumes [{ id: "denied", owner: forbidden }, { id: "free" }, { id: "owned", owner: "ana" }] and 197 more'
    )
    (came,) = await asyncio.to_thread(
        night.says,
        "volumes",
        FREE,
        f'{rows} {{ owner: "ana" }} expect plan ["free"] expect undecided ["denied" because "owner: forbidden"]',
    )
    assert (came.planned.sums.inventory, came.planned.sums.undecided) == (200, 1)


@pytest.mark.requirement("c7n-11")
def test_c7n_11_an_object_that_is_denied_stands_in_the_report(night):
    """First one denied bucket ended the run; after the repair it left the result without a word."""
    rows = 'given volumes [{ id: "denied", tags: forbidden }, { id: "tagged", tags: { "owner": "ana" } }]'
    (came,) = night.says("volumes", UNTAGGED, f'{rows} expect plan empty expect undecided ["denied" because "tags"]')
    assert [(row.key, row.missing) for row in came.planned.undecided] == [(("denied",), ("tags: forbidden",))]
    shown = to_text(render_plan(came.planned, ReviewStatus("waiting")))
    assert "undecided   1  tags: forbidden" in shown


DENIED = {
    "aws_s3": ("GetBucketPolicy", {"Error": {"Code": "AccessDenied"}}),
    "aws_sqs": ("ListQueues", {"__type": "AccessDeniedException"}),
    "aws_ec2": ("DescribeImages", {"Error": {"Code": "UnauthorizedOperation"}}),
    "gcp_compute": ("/compute/v1/projects/p/zones/z/disks", {"error": {"code": 403, "status": "PERMISSION_DENIED"}}),
    "azure_arm": ("/subscriptions/s/resources", {"error": {"code": "AuthorizationFailed"}}),
    "kubernetes": ("/api/v1/secrets", {"kind": "Status", "reason": "Forbidden", "code": 403}),
    "github_rest": ("/orgs/o/repos", {"message": "Resource not accessible by integration"}),
    "okta": ("/api/v1/users", {"errorCode": "E0000006"}),
}
"""One answer, in the words of each API."""


@pytest.mark.requirement("c7n-12")
def test_c7n_12_not_allowed_is_one_word_whatever_each_service_calls_it(night):
    """Owners block the scanner, and each service has a code of its own for it."""
    verdicts = [heard(api, (request, 403, body)) for api, (request, body) in DENIED.items()]
    assert {each.reasons for each in verdicts} == {frozenset({Reason.VISIBILITY_RESTRICTED})}
    refused(night, verdicts[0])


@pytest.mark.requirement("c7n-13")
def test_c7n_13_a_right_that_is_missing_is_no_empty_list(night):
    """The role could not read the related kind, a helper made an empty list of it, and the job was a success."""
    denied = heard("aws_ec2", ("DescribeNetworkInterfaces", 403, {"Error": {"Code": "UnauthorizedOperation"}}))
    refused(night, denied)
    rows = f"{TWO} given points failed VISIBILITY_RESTRICTED"
    night.says("volumes", UNUSED, f"{rows} expect refused VISIBILITY_RESTRICTED", also=("points",))


@pytest.mark.requirement("c7n-15")
async def test_c7n_15_details_are_asked_for_one_by_one(tmp_path):
    """More than ten zones in one call for tags were too many: a call is for one object, however many there are."""
    envelope, paths = await details(tmp_path, count=11)
    assert envelope.complete
    assert sorted(paths) == [f"/cursor/t{n:04}" for n in range(11)]


@pytest.mark.requirement("c7n-16")
def test_c7n_16_a_call_that_is_rejected_for_its_size_leaves_nothing_absent(night):
    """143 groups were sent in one call, which failed after the first: what was not read is not known."""
    too_many = {"Error": {"Code": "ValidationError", "Message": "Member must have length less than or equal to 20"}}
    verdict = heard("aws_elb", ("DescribeTags", 400, too_many), fields=("Tags",))
    assert verdict.field_states == {"Tags": FieldState.SOURCE_FAILED}
    refused(night, verdict)


@pytest.mark.requirement("c7n-17")
def test_c7n_17_an_act_is_one_call_for_one_object(night):
    """More than a hundred results in one call were rejected, all of them: acts are narrow, and each has its outcome."""
    rows = "given volumes [] and 101 more { owner: absent }"
    (came,) = night.says("volumes", FREE, f"{rows} expect count 101", limit="limit 101, 100%")
    assert len(came.planned.rows) == 101
    act = "act tidy with cloud.volumes.delete(id: [v.id]) {}"
    assert night.compiled(night.text("volumes", FREE, act=act)).program is None


@pytest.mark.requirement("c7n-18")
def test_c7n_18_without_the_right_to_see_tags_nothing_is_untagged(night):
    """The right to list tags was missing, and every balancer looked untagged."""
    refused(night, heard("aws_elb", ("DescribeTags", 403, {"Error": {"Code": "AccessDenied"}}), fields=("Tags",)))
    rows = 'given volumes [{ id: "a", tags: forbidden }, { id: "b", tags: forbidden }]'
    night.says("volumes", UNTAGGED, f"{rows} expect refused PARTIAL_FIELD_SET")


@pytest.mark.requirement("c7n-18b")
def test_c7n_18b_a_field_that_is_not_given_unless_asked_for_is_unknown(night):
    """The list of clusters leaves tags out by default, and tagged clusters were reported as untagged."""
    plain = heard(
        "aws_ecs", ("DescribeClusters", {"clusters": [{"clusterArn": "a"}], "failures": []}), fields=("tags",)
    )
    assert plain.field_states["tags"] not in {FieldState.ABSENT, FieldState.PRESENT}
    refused(night, plain)
    rows = 'given volumes [{ id: "a", tags: not_requested }, { id: "b", tags: indeterminate }]'
    night.says("volumes", UNTAGGED, f"{rows} expect refused PARTIAL_FIELD_SET")


@pytest.mark.requirement("c7n-18c")
def test_c7n_18c_an_empty_list_of_ids_is_not_everything(night):
    """All ids turned out invalid, the call went out with `ids=[]`, and 18,235 snapshots of everybody came back."""
    everybody = {"Snapshots": [{"SnapshotId": name} for name in texts(9)]}
    widened = heard("aws_ec2", (asked("DescribeSnapshots", SnapshotIds=[]), everybody))
    assert WarningCode.DEFAULT_SCOPE_APPLIED in widened.warnings
    refused(night, widened)
    assert night.codes("volumes", "where v.id in []") == ["FC208"]
    rows = 'given volumes [{ id: "a", labels: ["x"] }] given points [{ id: "1", of: "z" }]'
    night.says("volumes", "where some points as p where (p.of == v.id)", f"{rows} expect plan empty", also=("points",))


@pytest.mark.requirement("c7n-18d")
def test_c7n_18d_a_join_that_matches_nobody_is_suspicious(night):
    """Ids of protected addresses were spelt otherwise, the join was empty, and all were reported as unprotected."""
    rows = 'given volumes [{ id: "eip/1" }, { id: "eip/2" }] given points [{ id: "1", of: "eip-allocation/1" }]'
    night.says("volumes", UNUSED, f"{rows} expect refused FC790", also=("points",))
