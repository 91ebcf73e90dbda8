"""What stands in a log: ids and places, and never what people wrote."""

import json
import logging

import pytest
import structlog

from bot import logs
from checkpoints.errors import StaleOwner


@pytest.fixture(autouse=True)
def _restored() -> object:
    yield
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


@pytest.mark.parametrize("form", ["text", "json"])
def test_an_exception_is_logged_without_its_words_and_without_its_values(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.set_up(form, "test")  # type: ignore[arg-type]
    secret = "what Asha Traders wrote"

    def breaks(message: str) -> None:
        raise ValueError(message)

    try:
        breaks(secret)
    except ValueError:
        structlog.get_logger().exception("it broke", thread="t1")
    said = capsys.readouterr().err
    assert secret not in said
    assert "ValueError" in said
    assert "breaks" in said
    assert "t1" in said


def test_what_others_log_is_one_line_without_a_traceback(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before, logging.getLogger().handlers[:] = logging.getLogger().handlers[:], []
    logs.set_up("text", "test")
    try:
        raise ConnectionResetError("what Asha Traders wrote")
    except ConnectionResetError as error:
        logging.getLogger("asyncio").error("Never retrieved\nfuture: <Task>", exc_info=error)
    finally:
        logging.getLogger().handlers[:] = before
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "asyncio: Never retrieved: ConnectionResetError at " in said
    assert "Asha" not in said


def test_our_own_errors_are_quoted(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up("json", "test")
    try:
        raise StaleOwner("t1", 7)
    except StaleOwner as error:
        structlog.get_logger().error("lost", exc_info=error)
    assert "epoch 7" in json.loads(capsys.readouterr().err)["error"]


def test_langgraphs_word_on_a_blocked_type_is_left_to_ours() -> None:
    langgraphs = logging.getLogger("langgraph.checkpoint.serde.jsonplus")
    langgraphs.setLevel(logging.NOTSET)
    assert langgraphs.isEnabledFor(logging.WARNING)
    logs.set_up("text", "test")
    assert not langgraphs.isEnabledFor(logging.WARNING)
