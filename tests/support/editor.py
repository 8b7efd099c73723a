"""An editor as a script: it starts `fullcount lsp` and speaks the protocol with it, message by message."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections import defaultdict
from pathlib import Path
from typing import Any, Self

from tests.support.workspaces import environment

PATIENCE = 60
"""Seconds to wait for an answer; a machine may be busy."""


class RefusedError(Exception):
    """The server answered a request with an error."""


class Editor:
    """One session. `encodings` is what the editor can count in, its favourite first; None: it does not say."""

    def __init__(self, folder: Path, encodings: list[str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from fullcount.runtime.cli.main import main; main()", "lsp"],
            cwd=folder,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._answers: dict[int, queue.Queue[Any]] = {}
        self._published: defaultdict[str, queue.Queue[Any]] = defaultdict(queue.Queue)
        self._number = 0
        self._versions: dict[str, int] = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        general = {} if encodings is None else {"positionEncodings": encodings}
        capabilities = {
            "general": general,
            "textDocument": {"publishDiagnostics": {"relatedInformation": True}, "rename": {"prepareSupport": True}},
        }
        self.capabilities = self.ask(
            "initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": capabilities}
        )["capabilities"]
        self.tell("initialized", {})

    # -- messages ------------------------------------------------------------------------------------------------------

    def tell(self, method: str, params: Any) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> Any:
        """Send a request and return its answer. Raises `RefusedError`."""
        self._number += 1
        self._answers[self._number] = queue.Queue()
        self._send({"id": self._number, "method": method, "params": params})
        message = self._answers[self._number].get(timeout=PATIENCE)
        if "error" in message:
            raise RefusedError(message["error"]["message"])
        return message["result"]

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while (line := stream.readline()) != b"":
            length = 0
            while line not in {b"\r\n", b""}:
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
                line = stream.readline()
            message = json.loads(stream.read(length))
            if "id" in message and message["id"] in self._answers:
                self._answers[message["id"]].put(message)
            elif message.get("method") == "textDocument/publishDiagnostics":
                self._published[message["params"]["uri"]].put(message["params"]["diagnostics"])

    # -- what an editor does -------------------------------------------------------------------------------------------

    def open(self, path: Path, text: str | None = None) -> list[Any]:
        """Open a file, as it is or with another text, and return its diagnostics."""
        self._versions[path.as_uri()] = 1
        document = {
            "uri": path.as_uri(),
            "languageId": "fullcount",
            "version": 1,
            "text": path.read_text("utf-8") if text is None else text,
        }
        self.tell("textDocument/didOpen", {"textDocument": document})
        return self.diagnostics(path)

    def change(self, path: Path, text: str) -> None:
        """Type: the file in the editor is another one."""
        self._versions[path.as_uri()] += 1
        document = {"uri": path.as_uri(), "version": self._versions[path.as_uri()]}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def close(self, path: Path) -> None:
        """Close a file without saving it."""
        self.tell("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})

    def diagnostics(self, path: Path) -> list[Any]:
        """Wait for the next diagnostics of a file."""
        return self._published[path.as_uri()].get(timeout=PATIENCE)

    def at(self, path: Path, line: int, character: int, method: str, **more: Any) -> Any:
        """Ask about a place in a file."""
        place = {"textDocument": {"uri": path.as_uri()}, "position": {"line": line, "character": character}}
        return self.ask(f"textDocument/{method}", {**place, **more})

    def stop(self) -> None:
        """End it whatever state it is in, and leave nothing open."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(timeout=PATIENCE)
        self._reader.join(timeout=PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.stop()

    def quit(self) -> tuple[int, str]:
        """End the session in good order; return the exit code and what was said on standard error."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        assert self.process.stderr is not None
        said = self.process.stderr.read()
        return self.process.wait(timeout=PATIENCE), said.decode()
