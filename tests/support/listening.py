"""Real servers on this host that tests send to: a mail server and a web server, each remembering what it took.

with mail_server() as mail: ...        # mail.port, mail.messages, mail.script["DATA"] = "451 later"
with web_server() as web: ...          # web.url, web.requests, web.answers.append(503)
"""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Mail:
    """A mail server. `script`: what it answers to a command instead; None: it hangs up."""

    port: int = 0
    messages: list[str] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    script: dict[str, str | None] = field(default_factory=dict)


@contextmanager
def mail_server() -> Iterator[Mail]:
    """Serve mail without encryption, as a relay on the same host does."""
    mail = Mail()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.say("220 here")
            while line := self.rfile.readline().decode().strip():
                verb = line.split(" ")[0].upper()
                mail.commands.append(line)
                if verb in mail.script:
                    answer = mail.script[verb]
                    if answer is None:
                        return
                    self.say(answer)
                    continue
                if verb == "DATA":
                    self.say("354 go on")
                    self.take()
                    continue
                if verb == "RCPT":
                    mail.recipients.append(line.partition("<")[2].rstrip(">"))
                self.say("250 AUTH PLAIN" if verb == "EHLO" else "221 bye" if verb == "QUIT" else "235 ok"
                         if verb == "AUTH" else "250 ok")  # fmt: skip

        def take(self) -> None:
            lines = []
            while (line := self.rfile.readline().decode()) not in {".\r\n", ""}:
                lines.append(line.rstrip("\r\n"))
            mail.messages.append("\n".join(lines))
            if "after data" in mail.script:
                answer = mail.script["after data"]
                if answer is None:
                    self.connection.close()
                    return
                self.say(answer)
                return
            self.say("250 taken")

        def say(self, line: str) -> None:
            self.wfile.write(f"{line}\r\n".encode())

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A client that hangs up is part of a test."""

    with Server(("127.0.0.1", 0), Handler) as server:
        mail.port = server.server_address[1]
        yield from _served(server, mail)


@dataclass
class Web:
    """A web server. `answers`: the status of the next requests; None: it hangs up without an answer."""

    url: str = ""
    requests: list[tuple[Mapping[str, str], bytes]] = field(default_factory=list)
    answers: list[int | None] = field(default_factory=list)


@contextmanager
def web_server() -> Iterator[Web]:
    """Serve the web on this host."""
    web = Web()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            web.requests.append((dict(self.headers), body))
            status = web.answers.pop(0) if web.answers else 204
            if status is None:
                self.connection.close()
                return
            self.send_response(status)
            if status in range(300, 400):
                self.send_header("Location", web.url + "/elsewhere")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            """A connection that is closed is part of a test."""

    with Server(("127.0.0.1", 0), Handler) as server:
        web.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
        yield from _served(server, web)


def _served(server: socketserver.BaseServer, what: Any) -> Iterator[Any]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield what
    finally:
        server.shutdown()
        thread.join()
