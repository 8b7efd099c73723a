"""A real container registry of one's own, with images small enough to be pushed by hand.

with running_registry() as registry:
    registry.push("shop/web", "v1", content="one")        # a manifest with one tiny layer; returns its digest
    registry.tags("shop/web")                              # what the registry itself says
    registry.forget("shop/web")                            # the whole repository, which its API has no request for
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from tests.support.services import free_port, require_program, running

DOCKER = "application/vnd.docker.distribution.manifest.v2+json"
OCI = "application/vnd.oci.image.manifest.v1+json"
_KINDS = {
    DOCKER: ("application/vnd.docker.container.image.v1+json", "application/vnd.docker.image.rootfs.diff.tar.gzip"),
    OCI: ("application/vnd.oci.image.config.v1+json", "application/vnd.oci.image.layer.v1.tar+gzip"),
}

# without a cache of blobs, so that what is taken from under it is gone for it at once
_SETTINGS = """\
version: 0.1
log: {{ level: error, accesslog: {{ disabled: true }} }}
storage:
  filesystem: {{ rootdirectory: {folder} }}
  delete: {{ enabled: true }}
http: {{ addr: "127.0.0.1:{port}" }}
"""


class Registry:
    """A running registry, and a client of its API."""

    def __init__(self, port: int, folder: Path) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._folder = folder
        self._client = httpx.Client(base_url=self.url, trust_env=False, timeout=10)

    def close(self) -> None:
        """Release the connections."""
        self._client.close()

    def answers(self) -> bool:
        """Whether it is up."""
        try:
            return self._client.get("/v2/").status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    def push(self, repository: str, *tags: str, content: str, kind: str = OCI) -> str:
        """Push one manifest with a layer of this content under one or several tags, and return its digest."""
        of_config, of_layer = _KINDS[kind]
        manifest = {
            "schemaVersion": 2,
            "mediaType": kind,
            "config": self._blob(repository, b'{"architecture":"amd64","os":"linux"}', of_config),
            "layers": [self._blob(repository, content.encode(), of_layer)],
        }
        body = json.dumps(manifest).encode()
        for tag in tags:
            answer = self._client.put(f"/v2/{repository}/manifests/{tag}", content=body, headers={"content-type": kind})
            answer.raise_for_status()
        return _digest(body)

    def _blob(self, repository: str, content: bytes, kind: str) -> dict[str, Any]:
        begun = self._client.post(f"/v2/{repository}/blobs/uploads/")
        begun.raise_for_status()
        where = httpx.URL(begun.headers["location"]).copy_merge_params({"digest": _digest(content)})
        self._client.put(where, content=content).raise_for_status()
        return {"mediaType": kind, "size": len(content), "digest": _digest(content)}

    def tags(self, repository: str) -> dict[str, str]:
        """Return the tags of a repository with their digests."""
        listed = self._client.get(f"/v2/{repository}/tags/list").raise_for_status().json()["tags"] or []
        found = {}
        for tag in listed:
            head = self._client.head(f"/v2/{repository}/manifests/{tag}", headers={"accept": f"{OCI}, {DOCKER}"})
            found[tag] = head.raise_for_status().headers["docker-content-digest"]
        return found

    def delete(self, repository: str, digest: str) -> None:
        """Delete a manifest with all its tags."""
        self._client.delete(f"/v2/{repository}/manifests/{digest}").raise_for_status()

    def forget(self, repository: str) -> None:
        """Take a whole repository away, as whoever runs the storage can."""
        shutil.rmtree(self._folder / "docker/registry/v2/repositories" / repository)

    def clear(self) -> None:
        """Take everything away: the registry keeps nothing but its files."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@contextmanager
def running_registry() -> Iterator[Registry]:
    """Start an empty registry, and remove it with all that it holds."""
    program = require_program("docker-registry", "docker-registry")
    folder = Path(tempfile.mkdtemp(prefix="fullcount-registry-"))
    port = free_port()
    settings = folder / "config.yml"
    settings.write_text(_SETTINGS.format(folder=folder / "storage", port=port))
    registry = Registry(port, folder / "storage")
    try:
        with running([program, "serve", str(settings)], folder / "log", registry.answers):
            yield registry
    finally:
        registry.close()
        shutil.rmtree(folder, ignore_errors=True)
