"""What is measured, and how a figure is written: medians of repeated rounds, with their spread."""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One line of the table: a median, how far the middle half of the rounds lies apart, a goal."""

    what: str
    median: float
    spread: tuple[float, float]
    unit: str
    goal: str = ""
    stands: str = ""


@dataclass(frozen=True)
class Goal:
    """What a ratio is to be, and what it must not be more than."""

    ratio: float
    at_most: float

    def of(self, ratio: float) -> str:
        """How a ratio stands to it."""
        if ratio <= self.ratio:
            return "met"
        return "above the goal" if ratio <= self.at_most else "ABOVE THE LIMIT"

    def __str__(self) -> str:
        return f"{self.ratio:g}, at most {self.at_most:g}"


def of(what: str, seconds: Sequence[float]) -> Figure:
    """Rounds that took so long, as milliseconds."""
    return Figure(what, *_middle([1000 * each for each in seconds]), "ms")


def rate(what: str, count: int, seconds: Sequence[float], unit: str) -> Figure:
    """Rounds that did so many in that time, by the second."""
    return Figure(what, *_middle([count / each for each in seconds]), unit)


def ratio(
    what: str, ours: Sequence[float], theirs: Sequence[float], goal: Goal | None = None
) -> Figure:
    """How many times as long the first took, round by round: what else ran then, both felt."""
    times, spread = _middle([one / other for one, other in zip(ours, theirs, strict=True)])
    if goal is None:
        return Figure(what, times, spread, "x")
    return Figure(what, times, spread, "x", str(goal), goal.of(times))


def compared(
    what: str, seconds: Mapping[int, Sequence[float]], goal: Goal | None = None
) -> list[Figure]:
    """The same among few and among many, and their ratio."""
    few, many = sorted(seconds)
    return [
        of(f"{what}, among {few:,}", seconds[few]),
        of(f"{what}, among {many:,}", seconds[many]),
        ratio(f"{what}, ratio", seconds[many], seconds[few], goal),
    ]


async def timed(verb: Callable[..., Awaitable[Any]], *given: Any) -> float:
    """How many seconds it took."""
    begun = time.perf_counter()
    await verb(*given)
    return time.perf_counter() - begun


def table(figures: Sequence[Figure]) -> str:
    """The figures below each other."""
    rows = [("figure", "median", "middle half", "goal", "")]
    rows += [
        (
            figure.what,
            f"{_number(figure.median)} {figure.unit}",
            " to ".join(map(_number, figure.spread)),
            figure.goal,
            figure.stands,
        )
        for figure in figures
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([lines[0], "-" * sum(widths), *lines[1:]])


def _middle(values: Sequence[float]) -> tuple[float, tuple[float, float]]:
    if len(values) < 3:
        return statistics.median(values), (min(values), max(values))
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return median, (low, high)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:,.3g}"
