"""LangGraph's own conformance suite for savers: every capability, each detected and passed."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from langgraph.checkpoint.conformance.capabilities import Capability
from langgraph.checkpoint.conformance.initializer import RegisteredCheckpointer
from langgraph.checkpoint.conformance.validate import validate

from checkpoints.postgres import PostgresSaver


@pytest.mark.parametrize("capability", [capability.value for capability in Capability])
async def test_the_saver_has_and_keeps_every_capability(capability: str, database_url: str) -> None:
    async def factory() -> AsyncGenerator[Any, None]:
        async with PostgresSaver.from_url(database_url) as saver:
            await saver.setup()
            yield saver

    report = await validate(
        RegisteredCheckpointer("PostgresSaver", factory), capabilities={capability}
    )
    result = report.results[capability]
    assert result.detected
    assert result.passed, result.failures
    assert result.tests_passed > 0


def test_the_suite_knows_no_capability_that_we_do_not() -> None:
    assert {capability.value for capability in Capability} == {
        "put",
        "put_writes",
        "get_tuple",
        "list",
        "delete_thread",
        "delete_for_runs",
        "copy_thread",
        "prune",
    }
