"""Structured logs of long-running processes: one event a line, on standard error."""

from __future__ import annotations

import logging
import sys

import structlog
from structlog.typing import Processor


def log_to_stderr(*, as_json: bool) -> None:
    """Send events to standard error, as JSON lines or for people."""
    # The renderer for people lays out tracebacks itself; JSON gets them as text.
    rendered: list[Processor]
    if as_json:
        rendered = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        rendered = [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *rendered,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
