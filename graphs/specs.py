"""What `sayso.toml` says of graphs, reviews and people, as frozen values.

`bot/settings.py` parses the file into these and hands them down; nothing here reads a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import time
from string import ascii_lowercase, ascii_uppercase
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    field_validator,
    model_validator,
)

from graphs.calendars import Hours, country_of, days_of, wall_of, zone_of
from graphs.conditions import compiled
from graphs.templates import Template

_DURATION = re.compile(r"^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$")
_ADDRESS = re.compile(r"[^\s@<>|,;]{1,64}@[^\s@<>|,;]{1,190}")
_SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def seconds(value: Any) -> float:
    """Read a duration such as "10s", "1m", "4h" or "3d" as seconds.

    Raises:
        ValueError: it is none.
    """
    found = _DURATION.match(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f'{value!r} is no duration; write for example "10s", "1m" or "4h"')
    return float(found[1]) * _UNIT_SECONDS[found[2]]


def duration(length: float) -> str:
    """The shortest way to write so many seconds: "4h", "90m", "0.5s"."""
    for unit in ("d", "h", "m", "s"):
        if length >= _UNIT_SECONDS[unit] and length % _UNIT_SECONDS[unit] == 0:
            return f"{int(length // _UNIT_SECONDS[unit])}{unit}"
    return f"{length:g}s"


def _seconds(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else seconds(value)


Seconds = Annotated[float, BeforeValidator(_seconds)]


@dataclass(frozen=True)
class TimeOfDay:
    """The first time that a clock shows this after so many seconds: "09:30" or "2d 09:30"."""

    wall: time
    seconds: float = 0.0

    def __str__(self) -> str:
        wall = f"{self.wall:%H:%M}"
        return f"{duration(self.seconds)} {wall}" if self.seconds else wall


def _after(value: Any) -> Any:
    """Read "4h", "09:30" or "2d 09:30"; a number is so many seconds, as rules are kept."""
    if isinstance(value, TimeOfDay) or not isinstance(value, str) or ":" not in value:
        return value if isinstance(value, TimeOfDay) else _seconds(value)
    length, _, wall = value.strip().rpartition(" ")
    return TimeOfDay(wall_of(wall), seconds(length) if length.strip() else 0.0)


# Kept as seconds or as the words of a time: the hash of a rule is over what it says.
After: TypeAlias = Annotated[
    float | TimeOfDay,
    BeforeValidator(_after),
    PlainSerializer(lambda after: str(after) if isinstance(after, TimeOfDay) else after),
]


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class People(_Spec):
    """Users and user groups by id, and others by what they are; all empty it is nobody.

    `roles` are names of the configuration, and `manager` is the requester's; who that is, is looked
    up when it is needed (`graphs.directory`).
    """

    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    emails: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    manager: bool = False

    @field_validator("emails")
    @classmethod
    def _are_addresses(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(address(each) for each in value)

    def is_empty(self) -> bool:
        """Whether it names nobody at all."""
        return not (self.users or self.groups or self.emails or self.roles or self.manager)

    def also(self, more: People) -> People:
        """These and those, each once."""

        def both(ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(dict.fromkeys((*ours, *theirs)))

        return People(
            users=both(self.users, more.users),
            groups=both(self.groups, more.groups),
            emails=both(self.emails, more.emails),
            roles=both(self.roles, more.roles),
            manager=self.manager or more.manager,
        )


def address(value: str) -> str:
    """An e-mail address in the one form in which two are compared.

    Raises:
        ValueError: it is none.
    """
    small = folded(value)
    if not _ADDRESS.fullmatch(small):
        raise ValueError(f'{value!r} is no e-mail address; write for example "alice@example.com"')
    return small


def folded(value: str) -> str:
    """An address with small letters, A to Z alone: what else is called alike is somebody else's.

    Other foldings make one of two addresses ("straße" and "strasse", a Kelvin sign and a k).
    """
    return value.strip().translate(_SMALL)


class Operators(People):
    """Who is told when something needs a hand, and may cancel, retry and unpark."""

    channel: str | None = None


def _read_by(read: Callable[[str], object]) -> AfterValidator:
    """The words are kept as they are; whoever reads them raises where they mean nothing."""

    def checked(words: str) -> str:
        read(words)
        return words

    return AfterValidator(checked)


class WorkingHours(_Spec):
    """The hours in which a rule's people work: its durations count only these."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    # Each is read alone, so that one report tells every mistake in them, at its own line.
    days: Annotated[str, _read_by(days_of)] = "mon-fri"
    opens: Annotated[str, _read_by(wall_of)] = Field(default="09:00", alias="from")
    closes: Annotated[str, _read_by(wall_of)] = Field(default="18:00", alias="to")
    zone: Annotated[str, _read_by(zone_of)] = "UTC"
    # A country's code, "IN", or that of a part of one, "DE-BY".
    holidays: Annotated[str, _read_by(country_of)] | None = None

    def hours(self) -> Hours:
        """The hours themselves."""
        return Hours(
            zone_of(self.zone),
            days_of(self.days),
            wall_of(self.opens),
            wall_of(self.closes),
            country_of(self.holidays) if self.holidays is not None else None,
        )


class Escalation(_Spec):
    """Who may decide too once a question has waited so long; it takes nobody away."""

    after: After
    to: People


class Deadline(_Spec):
    """When a question has to be decided, and what is done when nobody did.

    `then` is the verb of one of its choices ("reject"), a value for the graph, or "hold".
    """

    after: After
    then: Any = "hold"


class Stage(_Spec):
    """One of several groups of people who decide one after another, and how many of them."""

    approvers: People
    quorum: int = Field(default=1, ge=1)
    because: str = ""


class Rule(_Spec):
    """One `[[reviews]]` entry: which questions it is for, who decides them, where they are shown.

    A review keeps the rule it was opened under, as JSON; people and groups are read now.
    """

    graph: str | None = None
    node: str | None = None
    tool: str | None = None  # the raw name of the tool whose call is asked about
    when: str | None = None  # CEL over question, state, thread, requester and customer
    channel: str | None = None
    approvers: People = People()
    quorum: int = Field(default=1, ge=1)
    stages: tuple[Stage, ...] = ()  # in their order, in the place of approvers and quorum
    rejections: int = Field(default=1, ge=1)  # so many decide against it, each in own words
    requester_may_decide: bool = False
    editor_may_decide: bool = True  # whether an edit is the editor's own vote for it
    guests_may_decide: bool = False  # those whom `users` names
    strangers_may_decide: bool = False  # people of other organisations whom `users` names
    delegates_may_decide: bool = True  # for somebody who is away or handed it over
    shadow: bool = False  # writes down whom it would have asked, and decides nothing
    # Whoever has not voted: after so long, or at that time of each reader's own day; once a day.
    remind: tuple[After, ...] = ()
    escalate: Escalation | None = None
    deadline: Deadline | None = None
    hours: WorkingHours | None = None
    because: str = ""
    confirm: bool = False

    def __hash__(self) -> int:
        return hash(self.model_dump_json())  # what a deadline does then may be any value

    @field_validator("when")
    @classmethod
    def _can_be_asked(cls, value: str | None) -> str | None:
        if value is not None:
            compiled(value)
        return value

    @model_validator(mode="after")
    def _asks_in_one_way(self) -> Rule:
        if self.stages and (not self.approvers.is_empty() or self.quorum != 1):
            raise ValueError(
                "write `approvers` and `quorum` in each of the `stages`, or none of these"
            )
        return self

    @model_validator(mode="after")
    def _has_a_clock(self) -> Rule:
        for name, timed in (("escalate", self.escalate), ("deadline", self.deadline)):
            if timed is not None and isinstance(timed.after, TimeOfDay) and self.hours is None:
                raise ValueError(
                    f"`{name}` names the time of day {timed.after}, so write `hours` with the "
                    'zone of that clock, for example hours = { zone = "Europe/Berlin" }'
                )
        return self

    def stage(self, number: int) -> Rule:
        """The rule as it is in one of its stages, counted from 0; without stages itself."""
        if not self.stages:
            return self
        now = self.stages[number]
        changes: dict[str, Any] = {"stages": (), "approvers": now.approvers, "quorum": now.quorum}
        if now.because:
            changes["because"] = now.because
        return self.model_copy(update=changes)

    def names_nobody(self) -> bool:
        """Whether it, or one of its stages, names nobody: then nobody can decide under it."""
        return any(self.stage(number).approvers.is_empty() for number in range(self.length))

    @property
    def length(self) -> int:
        """How many stages it takes; one where it has none."""
        return len(self.stages) or 1

    def everyone(self) -> People:
        """All who may decide in one of the stages; whom `escalate` names only once it is."""
        people = self.approvers
        for stage in self.stages:
            people = people.also(stage.approvers)
        return people

    def escalated(self) -> Rule:
        """The rule once it is escalated: whom `escalate` names may decide too, in every stage."""
        if self.escalate is None:
            return self
        more = self.escalate.to
        if not self.stages:
            return self.model_copy(update={"approvers": self.approvers.also(more)})
        stages = tuple(
            stage.model_copy(update={"approvers": stage.approvers.also(more)})
            for stage in self.stages
        )
        return self.model_copy(update={"stages": stages})

    def matches(self, graph: str, node: str, tool: str | None = None) -> bool:
        """Whether it is for this node, by its whole path or its last name, and for this tool.

        What its `when` says of the question comes after that.
        """
        if self.graph is not None and self.graph != graph:
            return False
        if self.tool is not None and self.tool != tool:
            return False
        return self.node is None or self.node in (node, node.rsplit("/", 1)[-1])


class GraphSpec(_Spec):
    """One `[graphs.NAME]` entry."""

    path: str
    intake: str | None = None
    title: str | None = None  # "the loan process"; without it made from the name
    channels: tuple[str, ...] = ()
    command: str | None = None
    starters: People | None = None  # None: every full member of our workspace
    viewers: People = People()
    config: dict[str, Any] = {}  # a secret is already read and stands nested, never as a scalar
    context: dict[str, Any] = {}  # what its nodes get as `runtime.context`; a thread adds to it
    retry: tuple[Seconds, ...] = ()
    labels: dict[str, str] = {}  # node name -> words
    outcome: str | None = None  # a template over the final state
    types: tuple[str, ...] = ()  # "package.module:Class", what a state schema does not show
    questions: tuple[Template, ...] = ()
    # What becomes of later messages: further turns (a chat), only kept with the record, or turns
    # that take the open questions back. None: turns where the graph has a `messages` channel.
    replies: Literal["turns", "kept", "cancel"] | None = None
    direct: bool = False  # takes mentions and direct messages, where several graphs are configured
    shortcut: str | None = None  # "Ask for a refund": what a person asks for, as they choose it

    @field_validator("path", "intake")
    @classmethod
    def _names_an_attribute(cls, value: str | None) -> str | None:
        if value is not None and not value.rpartition(":")[0]:
            raise ValueError(f"{value!r} must be `module:attribute` or `./file.py:attribute`")
        return value

    @field_validator("types")
    @classmethod
    def _names_types(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            module, _, attribute = name.partition(":")
            if not (module and attribute):
                raise ValueError(f'{name!r} must be "package.module:Class"')
        return value

    def label(self, node: str) -> str:
        """The node's name in words: the label of the configuration, else made from the name."""
        last = node.rsplit("/", 1)[-1]
        given = self.labels.get(node) or self.labels.get(last)
        return given or last.replace("_", " ").strip().capitalize()

    def template(self, node: str) -> Template | None:
        """The template of the node's question, by its path or its last name."""
        names = (node, node.rsplit("/", 1)[-1])
        return next((each for each in self.questions if each.node in names), None)
