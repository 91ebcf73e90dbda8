"""Which step a decided question belongs to, where its node runs more than once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from bot import rows
from graphs.steps import Step

BEGAN = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return BEGAN + timedelta(seconds=seconds)


def step(began: float, ended: float | None) -> Step:
    status: Any = "done" if ended is not None else "waiting"
    finished = at(ended) if ended is not None else None
    return Step("t", "model", status, None, at(began), finished)


@pytest.mark.parametrize(
    ("began", "ended", "asked"),
    [(0, 1, None), (2, 60, 3), (61, 62, None), (70, 90, 71), (95, None, None)],
)
def test_a_decision_stands_with_the_pass_that_asked_for_it(
    began: float, ended: float | None, asked: float | None
) -> None:
    decided: list[Any] = [SimpleNamespace(opened_at=at(second)) for second in (3, 71, 96)]
    found = rows.asked_in(step(began, ended), decided)
    assert (found.opened_at if found else None) == (at(asked) if asked is not None else None)
