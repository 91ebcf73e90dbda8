"""One line of log for each thing that happened: an event, ids, and never what people wrote."""

from __future__ import annotations

import logging
import sys
import traceback
from types import TracebackType
from typing import Any, Final, Literal

import structlog

from checkpoints.errors import SaysoError
from checkpoints.text import clean

FRAMES: Final = 12


def set_up(form: Literal["text", "json"], process: str, *, level: int = logging.INFO) -> None:
    """Send structlog's and the standard library's lines to standard error, in one form.

    ``level``: less is said by commands that talk to a person in the same terminal.
    """
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        _say_what_broke,
    ]
    last: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[*shared, last],
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=False,
    )
    structlog.contextvars.bind_contextvars(process=process)
    foreign = logging.StreamHandler(sys.stderr)
    foreign.setFormatter(_OneLine())
    logging.basicConfig(level=logging.WARNING, handlers=[foreign])
    # Bolt repeats whole request bodies in its warnings and errors.
    logging.getLogger("slack_bolt").setLevel(logging.CRITICAL)
    logging.getLogger("sayso.slack").setLevel(logging.CRITICAL)
    # It tells of types that may not be loaded in langgraph's words; ours stand with the thread.
    logging.getLogger("langgraph.checkpoint.serde.jsonplus").setLevel(logging.ERROR)


class _OneLine(logging.Formatter):
    """A line of somebody else's code: the driver's and asyncio's tracebacks become one as well."""

    def format(self, record: logging.LogRecord) -> str:
        said = f"{record.name}: {record.getMessage()}".splitlines()[0]
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            named = " from ".join(_named(each) for each in _chain(error))
            said = f"{said}: {named} at {_places(error.__traceback__)}"
        return clean(said)


def _say_what_broke(
    logger: Any, method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Replace an exception by its types and places.

    Its words may quote what people wrote, and its frames hold it: only our own errors, whose words
    are ours, are quoted.
    """
    given = event.pop("exc_info", None)
    error = sys.exc_info()[1] if given is True else given
    if isinstance(error, tuple):
        error = error[1]
    if isinstance(error, BaseException):
        event["error"] = " from ".join(_named(each) for each in _chain(error))
        event["where"] = _places(error.__traceback__)
    return event


def _chain(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    each: BaseException | None = error
    while each is not None and each not in chain:
        chain.append(each)
        each = each.__cause__ or (None if each.__suppress_context__ else each.__context__)
    return chain


def _named(error: BaseException) -> str:
    name = type(error).__name__
    return f"{name}: {error}" if isinstance(error, SaysoError) else name


def _places(trace: TracebackType | None) -> str:
    frames = traceback.extract_tb(trace)[-FRAMES:]
    return " > ".join(f"{frame.name} ({frame.filename}:{frame.lineno})" for frame in frames)
