"""What runs: the text that binds a plan to the connector and the configuration it was made with.

An approval is over a plan, and a plan means something only with the connector and the configured resources under which
it was made: another table behind the same name would be another plan.
"""

from __future__ import annotations

import hashlib
import json

from fullcount.runtime.connectors.base import RestsOnFiles
from fullcount.runtime.workspace import Workspace
from fullcount.runtime.workspace.secrets import DatabaseUrl, Secret


def version_of(workspace: Workspace, source: str) -> str:
    """Return `name version fingerprint` of a source.

    The fingerprint is over its configuration without any secret, and over the files from which the connector takes
    rules: other rules under an approved plan would read, and judge writes, as nobody approved.
    """
    connector, config = workspace.connector(source)
    secret = {name for name in type(config).model_fields if isinstance(getattr(config, name), DatabaseUrl | Secret)}
    settings = config.model_dump(mode="json", exclude=secret)
    files = connector.rests_on(config) if isinstance(connector, RestsOnFiles) else None
    if files is not None:
        settings["$files"] = files
    text = json.dumps(settings, sort_keys=True, ensure_ascii=True)
    return f"{connector.name} {connector.version} {hashlib.sha256(text.encode()).hexdigest()[:16]}"
