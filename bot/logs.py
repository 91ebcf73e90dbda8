"""One line of log for each thing that happened: an event, ids, and never what people wrote."""

from __future__ import annotations

import logging
import sys
from typing import Literal

import structlog


def set_up(form: Literal["text", "json"], process: str, *, quiet: bool = False) -> None:
    """Send structlog's and the standard library's lines to standard error, in one form.

    ``quiet``: only warnings, for commands that talk to a person in the same terminal.
    """
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
    ]
    last: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[*shared, structlog.processors.format_exc_info, last]
        if form == "json"
        else [*shared, last],
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.WARNING if quiet else logging.INFO
        ),
        cache_logger_on_first_use=False,
    )
    structlog.contextvars.bind_contextvars(process=process)
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(name)s: %(message)s")
    # Bolt repeats whole request bodies in its warnings and errors.
    logging.getLogger("slack_bolt").setLevel(logging.CRITICAL)
    logging.getLogger("sayso.slack").setLevel(logging.CRITICAL)
