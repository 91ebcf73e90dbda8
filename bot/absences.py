"""`/sayso`: say that you are away and who decides meanwhile, and that you are back.

Somebody who is named by a mention is one person, and it is set at once. A bare name decides
nothing: it opens the window, with the person chosen where the name is one known member's alone.
Who everybody is is looked up before the transaction; whoever may not be named is told why, and the
attempt is kept in the record.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot import arrivals, away, covering, deliveries, notices, rows, views
from bot.blocks import Payload
from bot.days import NoDay, checked, day_of, end_of
from bot.errors import SlackFailed
from bot.house import House
from bot.starting import user_of
from bot.ticking import shown_time
from bot.values import excerpt
from bot.whispers import place_of, whisper
from bot.wording import first_of, phrase
from checkpoints.database import Connection
from graphs import absences
from graphs.absences import Away, Back, NotAway, Refused
from graphs.calendars import zone_of
from graphs.covers import Absence
from graphs.policy import Reason

log = structlog.get_logger("sayso.absences")

OPEN_SECONDS: Final = 2.0
LONGEST: Final = 300  # characters after the command
_USER: Final = re.compile(r"[UW][A-Z0-9]{1,30}")
_MENTION: Final = re.compile(r"<@([UW][A-Z0-9]{1,30})(?:\|[^<>]*)?>")
_COVERS: Final = re.compile(r"\bcovers?\b", re.IGNORECASE)
_ENDS: Final = re.compile(r"\W*\bcovers?\W*$", re.IGNORECASE)
_NAMED: Final = re.compile(r"(?:^|[,;]|\band\b)\s*@?([^,;@]{1,80}?)\s*$", re.IGNORECASE)
_UNTIL: Final = re.compile(r"^(?:until|till|to)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Said:
    """What was written after `/sayso away`: the day's words, and who by mention or by name."""

    day: str = ""
    cover: str = ""
    name: str = ""


def read(text: str) -> Said:
    """Take "until Friday, <@U…|carol> covers" apart; nothing in here is looked up.

    More than anybody writes by hand says nothing, and the window asks for it.
    """
    text = " ".join(text.split())
    if len(text) > LONGEST:
        return Said()
    found = list(dict.fromkeys(_MENTION.findall(text)))
    left = _MENTION.sub(" ", text)
    ends, name = _ENDS.search(left), ""
    if found:
        left = _COVERS.sub(" ", left)
    elif ends is not None and (named := _NAMED.search(left[: ends.start()])) is not None:
        name, left = named[1].strip(), left[: named.start()]
    day = _UNTIL.sub("", left.strip(" ,;.")).strip(" ,;.")
    return Said(day, found[0] if len(found) == 1 else "", name)


class Absences:
    """Takes the command, its window and its buttons."""

    def __init__(self, house: House) -> None:
        self._house = house

    def register(self, app: AsyncApp) -> None:
        """Tell Bolt who takes what; before whoever takes every button."""
        app.view(away.WINDOW)(self.submitted)
        app.action(away.BACK)(self.pressed_back)
        app.action(away.CHANGE)(self.pressed_change)

    async def command(self, body: dict[str, Any], ack: AsyncAck) -> None:
        """Take `/sayso …`."""
        verb, _, rest = str(body.get("text") or "").strip().partition(" ")
        key, user = deliveries.trigger_key(body), user_of(body)
        if arrivals.is_foreign(self._house.workspace, body):
            said: Payload | None = await self._keep_out(user)
        elif verb.casefold() == "back":
            said = await self._back(key, user, None)
        elif verb.casefold() == "away":
            said = await self._away(body, key, user, read(rest))
        else:
            said = away.help_()
        if said is None:
            await ack()
        else:
            await ack(response_type="ephemeral", text=said.text, blocks=said.blocks)

    async def submitted(self, body: dict[str, Any], view: dict[str, Any], ack: AsyncAck) -> None:
        """Take what was chosen in the window."""
        day, cover = away.chosen(view)
        user, errors = user_of(body), dict[str, str]()
        if arrivals.is_foreign(self._house.workspace, body):
            refused = await self._keep_out(user)
            await ack(response_action="update", view=away.told_window(refused))
            return
        if not _USER.fullmatch(cover):
            errors[away.COVER] = phrase("away.cover.none")
        zone, until = await self._zone(user), None
        try:
            until = checked(date.fromisoformat(day), await self._today(zone))
        except NoDay as none:
            errors[away.DAY] = phrase(f"away.day.{none.why}")
        except ValueError:
            errors[away.DAY] = phrase("away.no_day", day=excerpt(day, 40))
        if errors or until is None:
            await self._not_set(user, "no_day" if away.DAY in errors else "no_cover")
            await ack(response_action="errors", errors=errors)
            return
        # A window that was submitted again is another submission, also of the same: the first may
        # have been refused because Slack did not answer.
        key = f"{deliveries.view_key(body)}:{deliveries.trigger_key(body)}"
        done = await self._set(key, user, cover, until, zone)
        if isinstance(done, Refused):
            block = away.COVER if done.of_cover else away.DAY
            await ack(response_action="errors", errors={block: _why(done)})
        else:
            shown = await self._shown(user)
            told = away.set_window(shown) if shown else away.told_window(away.not_away())
            await ack(response_action="update", view=told)

    async def pressed_back(
        self, body: dict[str, Any], action: dict[str, Any], ack: AsyncAck
    ) -> None:
        """Take "I am back"; the button of an absence that is over ends no later one."""
        if await self._is_kept_out(body):
            await ack()
            return
        named = str(action.get("value") or "").partition(".")[0]
        absence_id = int(named) if named.isdecimal() and len(named) < 19 else 0
        key = deliveries.action_key(body, action)
        said = await self._back(key, user_of(body), absence_id)
        await ack()
        window = body.get("view") or {}
        if window.get("type") == "modal":
            view_id, view = str(window.get("id") or ""), away.told_window(said)
            call = self._house.slack.call("views.update", view_id=view_id, view=view)
            self._house.afterwards.start(call, f"window of {view_id}")
        else:
            self._tell(body, said)

    async def pressed_change(
        self, body: dict[str, Any], action: dict[str, Any], ack: AsyncAck
    ) -> None:
        """Take "Change it": the window, with what is set in it."""
        await ack()
        if await self._is_kept_out(body):
            return
        self._open(body, user_of(body), Said())

    # What the command does

    async def _away(
        self, body: Mapping[str, Any], key: str, user: str, said: Said
    ) -> Payload | None:
        """Set it where day and person are told, else open the window; what to answer at once."""
        zone, day = await self._zone(user), None
        if said.day:
            try:
                day = day_of(said.day, await self._today(zone))
            except NoDay as none:
                await self._not_set(user, none.why)
                key_ = first_of(f"away.day.{none.why}", f"away.{none.why}")
                return away.refused(phrase(key_, day=excerpt(said.day, 40)))
        if day is None or not said.cover:
            self._open(body, user, said, day)
            return None
        done = await self._set(key, user, said.cover, day, zone)
        if isinstance(done, Refused):
            return away.refused(_why(done))
        shown = await self._shown(user)
        return away.is_set(shown) if shown is not None else away.not_away()

    async def _set(
        self, key: str, user: str, cover: str, day: date, zone: ZoneInfo
    ) -> Away | Refused | None:
        """Set it, once; None where the very same came before."""
        house = self._house
        person, other = await asyncio.gather(house.people.person(user), house.people.person(cover))
        keys = await house.approvers.keys(house.database, user)
        async with house.database.transaction() as connection:
            if not await deliveries.accept(connection, key, "absence"):
                return None
            return await absences.set_(
                connection,
                person=person,
                cover=other,
                until=end_of(day, zone),
                keys=keys,
                via="slack",
                wish=house.wishes,
            )

    async def _back(self, key: str, user: str, absence_id: int | None) -> Payload:
        house = self._house
        async with house.database.transaction() as connection:
            if not await deliveries.accept(connection, key, "absence"):
                return away.not_away()
            done = await absences.end(
                connection,
                team=house.workspace.team,
                person=user,
                absence_id=absence_id,
                via="slack",
                wish=house.wishes,
            )
            if isinstance(done, NotAway):
                return away.not_away()
            return away.is_back(await self._cover(connection, done))

    async def _not_set(self, user: str, why: str) -> None:
        async with self._house.database.transaction() as connection:
            await absences.refuse(connection, Refused(why), user, via="slack")

    async def _is_kept_out(self, body: Mapping[str, Any]) -> bool:
        """Whether a press is from another organisation, which is told that nothing was done."""
        if not arrivals.is_foreign(self._house.workspace, body):
            return False
        self._tell(body, await self._keep_out(user_of(body)))
        return True

    async def _keep_out(self, user: str) -> Payload:
        await self._not_set(user, Reason.OTHER_ORGANISATION.value)
        return away.refused(phrase("away.not_a_member"))

    # What is shown

    def _open(
        self, body: Mapping[str, Any], user: str, said: Said, day: date | None = None
    ) -> None:
        self._house.afterwards.start(self._window(body, user, said, day), f"absence of {user}")

    async def _window(
        self, body: Mapping[str, Any], user: str, said: Said, day: date | None
    ) -> None:
        """Open the window; its trigger lives three seconds, so Slack is asked nothing before."""
        house = self._house
        cover = said.cover
        if said.name and not cover:
            called = await house.people.called(house.database, said.name)
            cover = called[0] if len(called) == 1 and called[0] != user else ""
        standing = await self._shown(user)
        if standing is not None:
            cover = cover or (standing.cover.id if not said.name else "")
        zone = await self._zone_known(user)
        if standing is not None and day is None:
            day = standing.until.astimezone(zone).date()
        today = await self._today(zone)
        view = away.window(today=today, day=day, cover=cover, standing=standing, name=said.name)
        trigger = str(body.get("trigger_id") or "")
        method = "views.push" if (body.get("view") or {}).get("type") == "modal" else "views.open"
        try:
            await house.slack.call(method, timeout=OPEN_SECONDS, trigger_id=trigger, view=view)
        except SlackFailed as error:
            log.warning("a window did not open", user=user, error=error.error)
            self._tell(body, notices.refused(views.Refusal(views.Refused.CANNOT_OPEN)))

    async def _shown(self, user: str) -> views.AwayView | None:
        """What is set of somebody now, as they are shown it."""
        house = self._house
        async with house.database.connection() as connection:
            absence = await absences.standing(connection, house.workspace.team, user)
            if absence is None or not absence.holds(datetime.now(UTC)):
                return None
            listed, total = await covering.waits_for(
                house.renderings, connection, house.approvers, user
            )
            return views.AwayView(
                await self._cover(connection, absence),
                covering.last_moment(absence),
                absence.id,
                listed,
                total,
                str(await self._zone_known(user)),
            )

    async def _cover(self, connection: Connection, of: Absence | Back) -> views.Person:
        absence = of.absence if isinstance(of, Back) else of
        names = {absence.covered_by: absence.covered_by_name}
        names |= await self._house.people.names(connection, [absence.covered_by])
        return rows.person(absence.covered_by, names)

    async def _zone(self, user: str) -> ZoneInfo:
        """The person's own zone, asked for where it is not known; UTC where Slack tells none."""
        people = self._house.people
        return _zone(await people.zone_known(user) or await people.zone(user))

    async def _today(self, zone: ZoneInfo) -> date:
        """The day it is there, by a clock that somebody may have moved."""
        clock = self._house.present.settings.environment.clock_url
        return (await shown_time(clock) or datetime.now(UTC)).astimezone(zone).date()

    async def _zone_known(self, user: str) -> ZoneInfo:
        """The same without asking Slack."""
        return _zone(await self._house.people.zone_known(user))

    def _tell(self, body: Mapping[str, Any], said: Payload) -> None:
        channel, root = place_of(body)
        channel = channel or str(body.get("channel_id") or "") or None
        whisper(self._house, said, user=user_of(body), channel=channel, root=root)


def _zone(name: str | None) -> ZoneInfo:
    try:
        return zone_of(name or "UTC")
    except ValueError:
        return ZoneInfo("UTC")


def _why(refused: Refused) -> str:
    """Why it was not set, in a sentence."""
    if refused.of_cover:
        return phrase(f"away.cover.{refused.why}")
    if refused.why in ("over", "too_long"):
        return phrase("away.day.past" if refused.why == "over" else "away.day.too_long")
    cannot = refused.why == Reason.CANNOT_CHECK.value
    return phrase("away.cannot_check" if cannot else "away.not_a_member")
