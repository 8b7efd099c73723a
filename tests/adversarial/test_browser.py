"""Hostile objects on the page of a plan, in a real browser: nothing runs, nothing is loaded, nothing moves."""

from __future__ import annotations

import http.server
import subprocess
import threading

import pytest
from tests.adversarial.conftest import fill
from tests.adversarial.objects import hostile
from tests.support.services import require_program
from tests.support.workspaces import Bench

pytestmark = [pytest.mark.service("chromium"), pytest.mark.requirement("R40")]


@pytest.fixture
def beacon():
    """A server that notes every request."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *arguments):
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/beacon", asked
    server.shutdown()
    server.server_close()
    thread.join(5)


def rendered(page, profile):
    """Return the document as a browser has it after loading a page."""
    browser = require_program("chromium", "chromium")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--dump-dom"]
    return subprocess.run(
        [*command, "--virtual-time-budget=3000", page], capture_output=True, text=True, timeout=60, check=True
    ).stdout


def test_the_page_of_a_plan_runs_and_loads_nothing(tmp_path, beacon):
    """The browser does ask where an unguarded page tells it to, so that its silence about ours says something."""
    address, asked = beacon
    unguarded = tmp_path / "unguarded.html"
    unguarded.write_text(f"<title>t</title><img src='{address}'><script>document.title = 'taken'</script>")
    assert "<title>taken</title>" in rendered(unguarded.as_uri(), tmp_path / "profile")
    assert asked.count("/beacon") == 1
    asked.clear()

    bench = Bench(tmp_path / "bench")
    fill(bench, hostile(address))
    plan = bench.plan()["plan_id"]
    bench.run("show", plan, "--html", "page.html")
    page = bench.root / "page.html"
    title = page.read_text("utf-8").split("<title>")[1].split("</title>")[0]
    document = rendered(page.as_uri(), tmp_path / "profile")
    assert asked == []
    assert f"<title>{title}</title>" in document
    assert document.count("<script") == 0
    assert "<form" not in document
    assert "<iframe" not in document
