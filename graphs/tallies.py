"""Counting votes: a quorum for one thing, and how many it takes to say no. Pure, no database.

Votes are counted together when they are for the same thing. What somebody wrote along with an
approval (a condition) does not make it another thing; what goes into an action does. To reject or
to send back is one thing whatever the reason, and takes `rejections` people, one by default: the
quorum is for letting something happen.

Where a rule has stages, a vote counts in the one that is open when it is cast. Enough votes for the
same thing open the next one, and there people are for that thing again, or against it. What is
against it counts together over all stages.

Where neither can be reached any more, because everybody who may decide has voted, the item is
decided as rejected. That is known only where a rule names people; a group may have anybody in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from graphs.plain import digest
from graphs.specs import Rule

JSON: TypeAlias = Any
Path: TypeAlias = tuple[str | int, ...]

AGAINST: Final = frozenset({"rejected", "changes", "stopped"})
APPROVING: Final = frozenset({"approved", "edited"})


@dataclass(frozen=True)
class Ballot:
    """What one person said: the outcome that it would have, the answer, and their own words."""

    voter: str
    name: str
    verb: str
    outcome: str
    answer: JSON
    note: str | None = None
    seat: str = ""  # for whom it counts, where that is somebody else

    @property
    def hash(self) -> str:
        """The same for votes that count together."""
        if self.outcome in AGAINST:
            return digest({"outcome": self.outcome})
        if self.outcome in APPROVING:
            return digest(_without(self.answer, self.note))
        return digest(self.answer)


@dataclass(frozen=True)
class Tally:
    """How far the last vote got: `have` of `need` for the same thing.

    `decided` is what the item comes to, where that is enough. It is `out_of_reach` where it is
    decided because nothing else can be decided any more; without one, nobody is left to ask and
    nothing was said against it. `stage` is the one that is open afterwards, counted from 0.
    """

    have: int
    need: int
    decided: Ballot | None = None
    out_of_reach: bool = False
    stage: int = 0


def stage_of(hashes: Sequence[str], rule: Rule | None) -> int:
    """Which stage is open after votes with these hashes, the oldest first; the last at the end."""
    return _replay(hashes, rule)[0]


def is_against(hash_: str) -> bool:
    """Whether a vote with this hash is against it."""
    return hash_ in _AGAINST_HASHES


def stages_of(hashes: Sequence[str], rule: Rule | None) -> list[int]:
    """For each vote with such a hash, the oldest first, the stage in which it was cast."""
    return [stage_of(hashes[:place], rule) for place in range(len(hashes))]


def settled_on(hashes: Sequence[str], rule: Rule | None) -> str | None:
    """The hash that the stages before the open one agreed on; None in the first."""
    return _replay(hashes, rule)[1]


def _replay(hashes: Sequence[str], rule: Rule | None) -> tuple[int, str | None, int]:
    """The open stage, what the stages before agreed on, and where the votes of this one begin."""
    stage, agreed, begins = 0, None, 0
    if rule is None or not rule.stages:
        return 0, None, 0
    for place, hash_ in enumerate(hashes):
        if hash_ in _AGAINST_HASHES or stage == rule.length - 1:
            continue
        if list(hashes[begins : place + 1]).count(hash_) >= rule.stage(stage).quorum:
            stage, agreed, begins = stage + 1, hash_, place + 1
    return stage, agreed, begins


def count(ballots: Sequence[Ballot], rule: Rule | None, requester: str) -> Tally:
    """Count the last ballot with those before it, the oldest first.

    Args:
        rule: the whole rule with its stages, with everybody in it as they are now.
    """
    last = ballots[-1]
    hashes = [each.hash for each in ballots]
    before, _, begins = _replay(hashes[:-1], rule)
    alike = [each for each in ballots if each.hash == last.hash]
    against = last.outcome in AGAINST
    have = len(alike) if against else hashes[begins:].count(last.hash)
    need = _needed(rule, last, before)
    after = stage_of(hashes, rule)
    is_last = rule is None or before == rule.length - 1
    if have >= need and (against or is_last):
        return Tally(have, need, _together(alike), stage=after)
    if rule is not None and _is_out_of_reach(ballots, rule, requester, after):
        said_no = [each for each in ballots if each.outcome == "rejected"]
        decided = said_no[-1] if said_no else None
        return Tally(have, need, decided, out_of_reach=True, stage=after)
    return Tally(have, need, stage=after)


def needed(rule: Rule | None) -> int:
    """How many approvals it takes, in its first stage."""
    return rule.stage(0).quorum if rule is not None else 1


def _needed(rule: Rule | None, ballot: Ballot, stage: int) -> int:
    if rule is None:
        return 1
    return rule.rejections if ballot.outcome in AGAINST else rule.stage(stage).quorum


def _is_out_of_reach(ballots: Sequence[Ballot], rule: Rule, requester: str, stage: int) -> bool:
    """Whether those who may decide in the open stage cannot bring it to an end any more."""
    now = rule.stage(stage)
    if now.approvers.groups or now.approvers.emails or now.approvers.manager:
        return False
    may = set(now.approvers.users)
    if not rule.requester_may_decide:
        may.discard(requester)
    left = len(may - {ballot.seat for ballot in ballots} - {ballot.voter for ballot in ballots})
    hashes = [ballot.hash for ballot in ballots]
    _, agreed, begins = _replay(hashes, rule)
    counted = Counter(hashes[begins:])
    no = max((count for hash_, count in Counter(hashes).items() if hash_ in _AGAINST_HASHES),
             default=0)  # fmt: skip
    yes = max((count for hash_, count in counted.items() if hash_ not in _AGAINST_HASHES),
              default=0)  # fmt: skip
    fresh = counted[agreed] if agreed is not None else yes
    return fresh + left < now.quorum and no + left < rule.rejections


def _together(alike: Sequence[Ballot]) -> Ballot:
    """The one that stands for all: with everybody's words where several wrote some."""
    last = alike[-1]
    noted = [each for each in alike if each.note]
    if last.outcome not in APPROVING or not noted:
        return last
    model = noted[-1]
    words = model.note
    if len(noted) > 1:
        words = "\n".join(f"{each.name or each.voter}: {each.note}" for each in noted)
    answer = _with(model.answer, model.note, words)
    return Ballot(
        last.voter, last.name, model.verb, model.outcome, answer, words, last.seat
    )  # fmt: skip


def _place(answer: JSON, note: str | None) -> Path | None:
    """Where in the answer the words stand that came with it; None where that is not sure.

    Another value of the answer may be the same text. It belongs to what was decided.
    """
    found = [path for path in _texts(answer, note, ()) if path[-1:] not in _SAYS_WHAT]
    named = [path for path in found if path in _USUAL]
    return named[0] if named else found[0] if len(found) == 1 else None


def _texts(answer: JSON, note: str | None, path: Path) -> Iterator[Path]:
    if note and isinstance(answer, str) and answer == note:
        yield path
    elif isinstance(answer, dict | list):
        parts = answer.items() if isinstance(answer, dict) else enumerate(answer)
        for name, value in parts:
            yield from _texts(value, note, (*path, name))


def _without(answer: JSON, note: str | None) -> JSON:
    """The answer without the words that came with it, and without what is empty."""
    place = _place(answer, note)
    return _filled(_put(answer, place, None) if place is not None else answer)


def _with(answer: JSON, note: str | None, words: str | None) -> JSON:
    place = _place(answer, note)
    return _put(answer, place, words) if place is not None else answer


def _put(answer: JSON, place: Path, value: JSON) -> JSON:
    if not place:
        return value
    made = answer.copy()
    made[place[0]] = _put(answer[place[0]], place[1:], value)
    return made


def _filled(answer: JSON) -> JSON:
    if isinstance(answer, dict):
        kept = {key: _filled(value) for key, value in answer.items()}
        return {key: value for key, value in kept.items() if value is not None}
    return list(map(_filled, answer)) if isinstance(answer, list) else answer


_USUAL: Final = (("note",), ("message",))
_SAYS_WHAT: Final = (("decision",), ("type",), ("do",))
_AGAINST_HASHES: Final = frozenset(digest({"outcome": outcome}) for outcome in AGAINST)
