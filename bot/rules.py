"""A rule as it is written in `sayso.toml`: what it says, and nothing that it leaves out.

It is made anew from the rule that a review keeps, so that two rules with one fingerprint read the
same, whatever the file looked like. It can be put back into a file as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import tomli_w

from bot.stories import people_in_words
from graphs.reviews import Item, Vote
from graphs.specs import Rule, duration
from graphs.tallies import stages_of

JSON: TypeAlias = Any

WIDTH: Final = 100
_LIST: Final = re.compile(
    r"^(?P<key>\S+) = \[\n(?P<values>(?: {4}[^\s{\[].*,\n)+)\]$", re.MULTILINE
)


def as_toml(rule: Rule) -> str:
    """The rule as an entry of the file."""
    said = rule.model_dump(mode="json", exclude_defaults=True, by_alias=True)
    if "remind" in said:
        said["remind"] = [_written(after) for after in said["remind"]]
    for name in ("escalate", "deadline"):
        if name in said:
            said[name]["after"] = _written(said[name]["after"])
    plain = {key: value for key, value in said.items() if not isinstance(value, Mapping)}
    tables = {key: value for key, value in said.items() if key not in plain}
    text = tomli_w.dumps({"reviews": [plain | tables]}, multiline_strings=False)
    return _LIST.sub(_on_one_line, text).strip() + "\n"


def stages(item: Item) -> list[dict[str, JSON]]:
    """What became of each stage of an item, in their order; empty where its rule has none."""
    whole = item.whole
    if whole is None or not whole.stages:
        return []
    standing = item.standing_votes()
    cast_in = stages_of([vote.answer_hash for vote in standing], whole)
    return [
        {
            "stage": at + 1,
            "who": people_in_words(whole.stage(at).model_dump(mode="json")),
            "quorum": whole.stage(at).quorum,
            "stands": _stands(item, at),
            "votes": [
                said(vote) for vote, stage in zip(standing, cast_in, strict=True) if stage == at
            ],
        }
        for at in range(whole.length)
    ]


def said(vote: Vote) -> str:
    """Who said what, and for whom where that is somebody else."""
    for_ = f" for {vote.seat}" if vote.seat not in ("", vote.voter) else ""
    return f"{vote.voter}{for_}: {vote.verb}"


def _stands(item: Item, at: int) -> str:
    if at < item.stage:
        return "passed"
    if at > item.stage:
        return "not yet" if item.status == "open" else "not asked"
    return item.status


def _on_one_line(found: re.Match[str]) -> str:
    """A list of plain values as people write it; no string of the text has a line's end in it."""
    values = [line.strip().removesuffix(",") for line in found["values"].strip("\n").split("\n")]
    written = f"{found['key']} = [{', '.join(values)}]"
    return written if len(written) <= WIDTH else found[0]


def _written(after: float | str) -> str:
    return after if isinstance(after, str) else duration(after)
