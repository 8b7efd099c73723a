"""Structured logs of long-running processes: one event a line, on standard error."""

from __future__ import annotations

import logging
import sys

import structlog
from structlog.typing import Processor


def log_to_stderr(*, as_json: bool) -> None:
    """Send events to standard error, as JSON lines or for people; warnings of libraries as well, in the same form."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    rendered: list[Processor]
    if as_json:
        rendered = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        # Plain tracebacks: the library's own show every local variable, and secrets are among these.
        plain = structlog.dev.plain_traceback
        rendered = [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)]
    structlog.configure(
        processors=[*shared, *rendered],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    remove_meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=[remove_meta, *rendered])
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
