"""The published schema of the plan document."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, ValidationError
from tests.support.planning import account, evidence
from tests.support.plans import document

from fullcount.runtime.plan.schema import plan_schema

PUBLISHED = Path(__file__).parents[3] / "docs" / "schema" / "plan.schema.json"


def test_the_published_schema_is_current():
    """Run `python -m fullcount.runtime.plan.schema > docs/schema/plan.schema.json` after a change of the document."""
    assert PUBLISHED.read_text(encoding="utf-8") == plan_schema()


def test_plans_fit_the_published_schema_and_what_is_unknown_does_not(tmp_path):
    """What is written is what is published, and the document is closed."""
    validator = Draft202012Validator(json.loads(PUBLISHED.read_text(encoding="utf-8")))
    for doc in (document(), evidence(tmp_path, [account("a")]).plan()):
        written = json.loads(doc.model_dump_json())
        validator.validate(written)
        with pytest.raises(ValidationError):
            validator.validate(written | {"approved": True})
