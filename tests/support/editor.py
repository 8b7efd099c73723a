"""An editor as a script: it starts `fullcount lsp` and speaks the protocol with it, message by message."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections import defaultdict
from itertools import count
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
        self._changes = count(1)
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
                self._published[message["params"]["uri"]].put(message["params"])

    # -- what an editor does -------------------------------------------------------------------------------------------

    def open(self, file: Path | str, text: str | None = None) -> list[Any]:
        """Open a file, as it is or with another text, and return its diagnostics; one may say its address instead."""
        uri = _uri(file)
        self._versions[uri] = next(self._changes)
        document = {
            "uri": uri,
            "languageId": "fullcount",
            "version": self._versions[uri],
            "text": file.read_bytes().decode() if text is None and isinstance(file, Path) else text,
        }
        self.tell("textDocument/didOpen", {"textDocument": document})
        return self.diagnostics(file)

    def change(self, file: Path | str, text: str) -> None:
        """Type: the file in the editor is another one."""
        uri = _uri(file)
        self._versions[uri] = next(self._changes)
        document = {"uri": uri, "version": self._versions[uri]}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def now(self, file: Path | str, text: str) -> list[Any]:
        """Change a file and return its diagnostics, without the moment that is waited for while one types."""
        self.change(file, text)
        self.tell("textDocument/didSave", {"textDocument": {"uri": _uri(file)}})
        return self.diagnostics(file)

    def close(self, file: Path | str) -> list[Any]:
        """Close a file without saving it; return what is said of it then."""
        self._versions.pop(_uri(file))
        self.tell("textDocument/didClose", {"textDocument": {"uri": _uri(file)}})
        return self.diagnostics(file)

    def close_all(self) -> None:
        """Close every file."""
        for uri in list(self._versions):
            self.close(uri)

    def diagnostics(self, file: Path | str) -> list[Any]:
        """Wait for the next diagnostics of a file as it is now; of a closed one, for what is said without a version."""
        uri = _uri(file)
        while (said := self._published[uri].get(timeout=PATIENCE)).get("version") != self._versions.get(uri):
            pass
        found: list[Any] = said["diagnostics"]
        return found

    def about(self, file: Path | str, method: str, **more: Any) -> Any:
        """Ask about a file."""
        return self.ask(f"textDocument/{method}", {"textDocument": {"uri": _uri(file)}, **more})

    def at(self, file: Path | str, line: int, character: int, method: str, **more: Any) -> Any:
        """Ask about a place in a file."""
        place = {"position": {"line": line, "character": character}}
        return self.about(file, method, **place, **more)

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


def _uri(file: Path | str) -> str:
    return file if isinstance(file, str) else file.as_uri()
