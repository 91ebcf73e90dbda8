"""Who may decide now: the people whom rules name, looked up for one person and all at once.

A rule keeps the names that were written: users, groups, addresses, roles, the requester's manager.
Roles and managers are those of the configuration in force, groups and addresses are Slack's. What a
click needs of it is asked together, so that it stays within the time that a click has; the rules
themselves are `graphs.policy`, and nothing in here says yes or no.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bot import people, rows, views
from bot.errors import NobodyNamed, SlackFailed
from bot.inline import LISTED
from bot.people import LOOK_SECONDS
from checkpoints.database import Connection, Database
from graphs import covers, reviews
from graphs.covers import Handover
from graphs.directory import Directory, keys_of
from graphs.policy import Person, may_stand_in
from graphs.reviews import Item, Review
from graphs.specs import People, Rule
from graphs.votes import Voter

_USER: Final = re.compile(r"[UW][A-Z0-9]+")


@dataclass(frozen=True)
class Approvers:
    """Looks up whom the rules of reviews name, by the directory in force."""

    people: people.People
    directory: Directory

    async def voter(
        self, user: str, review: Review, *, via: str, os_user: str | None = None, home: str = ""
    ) -> Voter:
        """Somebody who decides on a review, with all that may depend on."""
        person, standing, email = await asyncio.gather(
            self._person(user, review, (), home),
            self._standing(user, review),
            self._requester_email(review),
        )
        return self._voter(person, standing, email, via, os_user)

    async def voter_of(
        self, person: Person, review: Review, *, via: str, os_user: str | None = None
    ) -> Voter:
        """The same for a person who was looked up just now."""
        standing, email = await asyncio.gather(
            self._standing(person.id, review), self._requester_email(review)
        )
        return self._voter(person, standing, email, via, os_user)

    async def person(self, user: str, review: Review, *also: People, home: str = "") -> Person:
        """Who somebody is, with their groups as far as the review's rules or these lists ask.

        Args:
            home: the team that the request says they are of, where that is not ours.
        """
        # The requester's address is asked for beside, so that what comes next finds it.
        found, _ = await asyncio.gather(
            self._person(user, review, also, home), self._requester_email(review)
        )
        return found

    async def look_up(self, user: str, lists: Iterable[People]) -> Person:
        """Who somebody is, with their groups as far as these lists ask."""
        named = [self.directory.named(one, "") for one in lists]
        groups = {group for one in named for group in one.groups}
        return await self.people.person(user, sorted(groups))

    async def rules(self, review: Review) -> tuple[Rule, ...]:
        """The review's rules in all their stages, with everybody in them as they are now."""
        email = await self._requester_email(review)
        return tuple(
            self.directory.rule(rule, review.requester, email) for rule in review.every_rule
        )

    def lets_in(self, user: str, review: Review) -> bool:
        """Whether a rule names this person of another organisation, and lets such people decide."""
        return any(
            rule.strangers_may_decide
            and user in self.directory.named(rule.approvers, review.requester).users
            for rule in review.every_rule
        )

    async def meet(self, review: Review) -> None:
        """Find out whose the addresses are, so that the card can name these people."""
        emails = {email for rule in await self.rules(review) for email in rule.approvers.emails}
        found = await asyncio.gather(
            *(self._meet(email) for email in sorted(emails)[:LISTED]), return_exceptions=True
        )
        for one in found:
            if isinstance(one, BaseException) and not isinstance(one, SlackFailed | TimeoutError):
                raise one

    async def warm(self, review: Review) -> None:
        """Look up everybody who may decide beside everything else, so that a click finds them."""
        for rule in await self.rules(review):
            who = rule.approvers
            self.people.warm(who.users, who.groups, who.emails)

    async def decides(
        self,
        connection: Connection,
        review: Review,
        item: Item | None,
        names: Mapping[str, str],
        *,
        ping: bool,
    ) -> views.Decides:
        """Who decides an item now; where several do one after another, each of the stages too.

        Only the groups of the open stage are pinged.
        """
        if item is None or item.whole is None:
            return views.Decides()
        whole, requester = item.whole, review.requester
        if not whole.stages:
            return await self._under(connection, whole, requester, names, ping=ping)
        stages = [
            await self._under(
                connection,
                whole.stage(number).model_copy(update={"because": stage.because}),
                requester,
                names,
                ping=ping and number == item.stage,
            )
            for number, stage in enumerate(whole.stages)
        ]
        return replace(
            stages[item.stage], because=whole.because, stages=tuple(stages), stage=item.stage
        )

    async def _under(
        self,
        connection: Connection,
        rule: Rule,
        requester: str,
        names: Mapping[str, str],
        *,
        ping: bool,
    ) -> views.Decides:
        groups, people = await self.shown(connection, rule.approvers, requester, names, ping=ping)
        return views.Decides(
            quorum=rule.quorum,
            groups=groups,
            people=people,
            because=rule.because,
            rejections=rule.rejections,
        )

    async def places(self, place: str) -> frozenset[str] | None:
        """Where a post goes that is for a place which stands for others, see `bot.wishes`.

        None where that cannot be found out now.

        Raises:
            SlackFailed: an address that nobody has, or that cannot be looked up.
            NobodyNamed: a role or a manager who is nobody.
        """
        kind, _, name = place.partition(":")
        if kind == "role":
            named = self.directory.named(People(roles=(name,)), "")
        elif kind == "manager":
            email = await self._email_of(name)
            named = self.directory.named(People(manager=True), name, email)
            if named.manager:
                return None
        elif "@" in place:
            return frozenset([await self.people.by_email(place)])
        else:
            return await self.people.members(place)
        if named.is_empty():
            raise NobodyNamed(place)
        return frozenset([*named.users, *named.groups, *named.emails])

    async def shown(
        self,
        connection: Connection | Database,
        who: People,
        requester: str,
        names: Mapping[str, str],
        *,
        ping: bool,
    ) -> tuple[tuple[views.UserGroup, ...], tuple[views.Person, ...]]:
        """The groups and the people of a list, by name where it is known, as a card shows them."""
        emails = await self.people.emails(connection, [requester]) if who.manager else {}
        email = emails.get(requester)
        others = who.model_copy(update={"manager": False})
        named = self.directory.named(others, requester)
        boss = self.directory.named(People(manager=who.manager), requester, email)
        holders = await self.people.holders(connection, (*named.emails, *boss.emails))
        ids = [*named.users, *boss.users, *holders.values(), requester]
        names = {**names, **await self.people.names(connection, ids)}
        handles = await self.people.handles(connection, named.groups)

        def person(one: str) -> views.Person:
            user = holders.get(one, one)
            return views.Person("", one) if "@" in user else views.Person(user, names.get(user, ""))

        found = [person(one) for one in (*named.users, *named.emails)]
        if who.manager:
            of = rows.person(requester, names)
            is_ = [person(one) for one in (*boss.users, *boss.emails)] or [views.Person("", "")]
            found += [views.Manager(one.id, one.name, of) for one in is_]
        groups = tuple(
            views.UserGroup(group, handles.get(group, ""), ping=ping) for group in named.groups
        )
        return groups, _once(found)

    async def asked(
        self, connection: Connection | Database, who: People, requester: str
    ) -> frozenset[str]:
        """The ids of everybody whom a list names, as far as that is known without asking Slack."""
        emails = await self.people.emails(connection, [requester]) if who.manager else {}
        named = self.directory.named(who, requester, emails.get(requester))
        holders = await self.people.holders(connection, named.emails)
        members = await self.people.members_known(connection, named.groups)
        return members.union(named.users, holders.values())

    async def keys(self, connection: Connection | Database, user: str) -> list[str]:
        """What somebody is found by among what waits, as far as it is known (`keys_of`)."""
        email = (await self.people.emails(connection, [user])).get(user) or ""
        groups = await self.people.groups_with(connection, user)
        roles = [
            role
            for role, who in self.directory.roles.items()
            if user in who.users or email in who.emails or not set(groups).isdisjoint(who.groups)
        ]
        led = [one for one, manager in self.directory.managers.items() if manager in (user, email)]
        holders = await self.people.holders(connection, [one for one in led if "@" in one])
        who = People(
            users=(user,),
            groups=tuple(groups),
            emails=(email,) if email else (),
            roles=tuple(roles),
        )
        return [*keys_of(who, ""), *(f"manager:{holders.get(one, one)}" for one in led)]

    async def stands_in(self, user: str, review_id: int) -> str | None:
        """Who decides a review in this person's place now, if somebody does and its rules let them.

        Who may not decide it is sent nothing of it.
        """
        database, team = self.people.database, self.people.team
        review = await reviews.find(database, review_id)
        asks = [item.rule for item in review.items if item.status == "open"] if review else []
        rules = [rule for rule in asks if rule is not None and rule.delegates_may_decide]
        if review is None or not rules:
            return None
        end = (await covers.ends(database, team, [user], review_id)).get(user)
        own = any(rule.requester_may_decide for rule in rules)
        return end if own or end != review.requester else None

    async def _standing(
        self, user: str, review: Review
    ) -> tuple[tuple[Person, ...], Handover | None]:
        """In whose place somebody may decide, each looked up, and to whom they handed it over."""
        database = self.people.database
        handed = await covers.handed_over(database, review.id, user)
        ids = await covers.for_(database, self.people.team, user, review.id)
        lists = [rule.approvers for rule in review.every_rule]
        found = await asyncio.gather(*(self.look_up(one, lists) for one in ids))
        # Who could not decide for somebody now passes that on to nobody either.
        barred = {one.id for one in found if may_stand_in(one) is not None}
        if barred:
            ids = await covers.for_(database, self.people.team, user, review.id, last=barred)
        return tuple(one for one in found if one.id in ids), handed

    def _voter(
        self,
        person: Person,
        standing: tuple[tuple[Person, ...], Handover | None],
        email: str | None,
        via: str,
        os_user: str | None,
    ) -> Voter:
        covered, handed = standing
        return Voter(
            person,
            via,
            os_user,
            self.directory,
            requester_email=email,
            covers=covered,
            handed=handed,
        )

    async def _person(self, user: str, review: Review, also: Sequence[People], home: str) -> Person:
        lists = [*(rule.approvers for rule in review.every_rule), *also]
        found = await self.look_up(user, lists)
        # An id is somebody's together with their team: ours may have another person of that id.
        theirs = found.is_stranger and (found.team == home or "E" in (found.team[:1], home[:1]))
        return found if not home or theirs else replace(found, known=False)

    async def _requester_email(self, review: Review) -> str | None:
        """The requester's address, where only that tells whom a rule asks; else ""."""
        if any(rule.approvers.manager for rule in review.every_rule):
            return await self._email_of(review.requester)
        return ""

    async def _email_of(self, user: str) -> str | None:
        asked = self.directory.asks_for_address(user) and _USER.fullmatch(user)
        return (await self.people.person(user)).email if asked else ""

    async def _meet(self, email: str) -> None:
        async with asyncio.timeout(LOOK_SECONDS):
            await self.people.by_email(email)


def _once(found: Sequence[views.Person]) -> tuple[views.Person, ...]:
    """Everybody once; a manager rather than the same person without that word."""
    last = {one.id or one.name: one for one in found}
    return tuple(last.values())
