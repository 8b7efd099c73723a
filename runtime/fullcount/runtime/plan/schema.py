"""The published JSON schema of the plan document.

    python -m fullcount.runtime.plan.schema > docs/schema/plan.schema.json

Generated from the models, so that it can't say anything else than what is accepted; a test keeps the file current.
"""

from __future__ import annotations

import json
import sys

from fullcount.runtime.plan.document import PlanDocument


def plan_schema() -> str:
    """Return the schema as JSON text with a line feed at its end."""
    schema = PlanDocument.model_json_schema(mode="serialization")
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Fullcount plan",
        **{name: part for name, part in schema.items() if name != "title"},
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(plan_schema())
