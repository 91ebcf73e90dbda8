"""One card and two posters as a state space: a death, a stall, a lost answer between any two steps.

The essay is in `bot/posting.py`; this walks through all of it. Slack keeps what it is given and has
no idempotency key. A request lands or is lost, its answer comes or does not, Slack may say "later",
and a new message may land after everybody has stopped waiting for it (`late`; a poster that is
frozen between its look at the clock and the request looks the same from outside).

What the waits stand for. The hold-off and the end of a claim come after every request that began
under a young claim, but for the late ones: so a lane runs out only when no such request is on its
way. A reconcile comes a minute later, after the late ones as well. An update is never late: one
that lands after the hold-off stays until the next change, which is a limit of the design.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

import pytest

from bot import posts
from bot.posts import Post as PostRow
from checkpoints.database import Database
from tests.exploring import Move, explore, missing

NOBODY: Final = -1
NONE: Final = -1
DELETED: Final = -1

TWO: Final = "two cards although Slack was never late"
TWO_AT_REST: Final = "two cards at rest"
NO_CARD: Final = "no card at rest"
OLD_TEXT: Final = "the card at rest shows an older state"
TOO_OLD: Final = "a send under a claim that was not young"
WAITS: Final = "something waits and nobody will come"


class Post(NamedTuple):
    """The post's row; `ts` is the message's number in Slack."""

    wanted: int = 1
    shown: int = 0
    ts: int = NONE
    tried: bool = False
    unsure: bool = False
    reconcile: bool = False


class Poster(NamedTuple):
    """Where a poster is with its claim, and the row as it read it."""

    at: str = "idle"
    post: Post = Post()
    found: int = NONE


IDLE: Final = Poster()


class Request(NamedTuple):
    """A request on its way: a new message (`ts` is NONE) or an update."""

    by: int
    ts: int
    text: int
    late: bool = False


class World(NamedTuple):
    """The rows, the posters, what is on its way, what Slack shows, and what is still to come."""

    changes: int
    faults: int
    post: Post = Post()
    holder: int = NOBODY
    age: str = "young"  # of the claim: young, old, out
    posters: tuple[Poster, ...] = (IDLE, IDLE)
    flying: tuple[Request, ...] = ()
    slack: tuple[int, ...] = ()  # the text of each message, or that it was deleted
    was_late: bool = False


@dataclass(frozen=True)
class Posts:
    """The configuration, and one switch for each mutant; they are all on in the product."""

    changes: int = 1
    faults: int = 2
    look_first: bool = True
    announce: bool = True
    check_age: bool = True
    send_again: bool = True
    reconcile: bool = True
    keep_others: bool = True  # what another poster announced stays announced
    known_stays: bool = True  # a message that is known is not exchanged for another one

    QUERIES: ClassVar[dict[str, tuple[str, ...]]] = {
        "change": ("bot.posts.want",),
        "claim": ("bot.posts.claim",),
        "look": ("bot.posts.look",),
        "history": (),
        "take it": ("bot.posts.found",),
        "announce": ("bot.posts.trying",),
        "send": (),
        "too old": ("bot.posts.later",),
        "later": ("bot.posts.later", "bot.posts.pause"),
        "showed": ("bot.posts.showed",),
        "unknown": ("bot.posts.unknown",),
        "gone": ("bot.posts.lost",),
        "release": ("bot.posts.release",),
        "reconcile": ("bot.posts.to_reconcile", "bot.posts.reconciled"),
        "land": (), "land, answer lost": (), "get lost": (), "be late": (), "refuse": (),
        "grow old": (), "stall": (), "run out": (), "die": (),
    }  # fmt: skip

    def first(self) -> World:
        """A card that is wanted and was never sent."""
        return World(self.changes, self.faults)

    def moves(self, world: World) -> Iterator[Move[World]]:
        """What changes the state, what the posters do, what Slack does, what goes wrong."""
        if world.changes:
            post = world.post._replace(wanted=world.post.wanted + 1)
            after = world._replace(post=post, changes=world.changes - 1)
            yield Move("change", NOBODY, after, False)
        for by, poster in enumerate(world.posters):
            yield from getattr(self, f"_{poster.at}")(world, by, poster)
            if poster.at != "idle" and world.faults:
                flying = tuple(
                    each._replace(by=NOBODY) if each.by == by else each for each in world.flying
                )
                dead = _put(world._replace(flying=flying, faults=world.faults - 1), by, IDLE)
                yield Move("die", by, dead, False)
        yield from self._time(world)
        for request in sorted(set(world.flying)):
            yield from self._slack(world, request)
        if self.reconcile and world.post.reconcile and world.post.ts != NONE and _settled(world):
            slack = tuple(
                text if ts == world.post.ts else DELETED for ts, text in enumerate(world.slack)
            )
            done = world._replace(slack=slack, post=world.post._replace(reconcile=False))
            yield Move("reconcile", NOBODY, done)

    # A poster, from its claim to its release

    def _idle(self, world: World, by: int, _: Poster) -> Iterator[Move[World]]:
        wanted = world.post.shown < world.post.wanted or world.post.unsure
        if wanted and (world.holder == NOBODY or world.age == "out"):
            after = world._replace(holder=by, age="young")
            yield Move("claim", by, _put(after, by, Poster("claimed")))

    def _claimed(self, world: World, by: int, _: Poster) -> Iterator[Move[World]]:
        post = world.post
        if not (post.shown < post.wanted or post.unsure):
            at = "releasing"
        elif post.ts != NONE:
            at = "sending"
        else:
            at = "looking" if post.tried and self.look_first else "announcing"
        yield Move("look", by, _put(world, by, Poster(at, post)))

    def _looking(self, world: World, by: int, poster: Poster) -> Iterator[Move[World]]:
        there = next((ts for ts, text in enumerate(world.slack) if text != DELETED), NONE)
        at = "announcing" if there == NONE else "taking"
        yield Move("history", by, _put(world, by, poster._replace(at=at, found=there)))

    def _taking(self, world: World, by: int, poster: Poster) -> Iterator[Move[World]]:
        post = world.post
        if post.ts == NONE or not self.known_stays:
            post = post._replace(ts=poster.found, tried=False, unsure=True, reconcile=True)
        yield _written("take it", world, by, poster, post)

    def _announcing(self, world: World, by: int, poster: Poster) -> Iterator[Move[World]]:
        post = world.post
        if self.announce:
            post = post._replace(tried=True, reconcile=post.reconcile or post.tried)
        after = _put(world._replace(post=post), by, poster._replace(at="sending"))
        yield Move("announce", by, after)

    def _sending(self, world: World, by: int, poster: Poster) -> Iterator[Move[World]]:
        """Look at the clock, then send; the text is that of the rows at this moment."""
        young = world.holder == by and world.age == "young"
        if self.check_age and not young:
            yield _written("too old", world, by, poster, self._later(world, poster))
            return
        request = Request(by, poster.post.ts, world.post.wanted)
        after = world._replace(flying=_sorted(*world.flying, request))
        wrong = None if young else TOO_OLD
        yield Move("send", by, _put(after, by, poster._replace(at="waiting")), True, wrong)

    def _waiting(self, world: World, by: int, poster: Poster) -> Iterator[Move[World]]:
        """Nothing by itself: Slack's answer or its silence goes on with it."""
        return iter(())

    def _answered(self, world: World, by: int, poster: Poster) -> Iterator[Move[World]]:
        post = world.post
        if post.ts in (NONE, poster.found) or not self.known_stays:
            shown = max(post.shown, poster.post.wanted)
            post = post._replace(shown=shown, ts=poster.found, tried=False, unsure=False)
        yield _written("showed", world, by, poster, post)

    def _unanswered(self, world: World, by: int, poster: Poster) -> Iterator[Move[World]]:
        post = world.post
        post = post._replace(
            unsure=post.ts != NONE and self.send_again,
            reconcile=post.reconcile or post.ts == NONE,
        )
        if not self.send_again and post.ts != NONE:
            post = post._replace(shown=max(post.shown, poster.post.wanted))
        yield _written("unknown", world, by, poster, post)

    def _refused(self, world: World, by: int, poster: Poster) -> Iterator[Move[World]]:
        yield _written("later", world, by, poster, self._later(world, poster))

    def _gone(self, world: World, by: int, poster: Poster) -> Iterator[Move[World]]:
        post = world.post._replace(ts=NONE, tried=False, unsure=False, shown=0)
        yield _written("gone", world, by, poster, post)

    def _releasing(self, world: World, by: int, _: Poster) -> Iterator[Move[World]]:
        after = world._replace(holder=NOBODY, age="young") if world.holder == by else world
        yield Move("release", by, _put(after, by, IDLE))

    def _later(self, world: World, poster: Poster) -> Post:
        """Nothing was sent by this poster; a second one that announced a send left its mark."""
        kept = poster.post.tried or (self.keep_others and world.post.reconcile)
        return world.post._replace(tried=world.post.tried and kept)

    # The clock and Slack

    def _time(self, world: World) -> Iterator[Move[World]]:
        if world.holder == NOBODY:
            return
        if world.age == "young":
            if world.posters[world.holder].at == "idle":
                yield Move("grow old", world.holder, world._replace(age="old"))
            elif world.faults:
                stalled = world._replace(age="old", faults=world.faults - 1)
                yield Move("stall", world.holder, stalled, False)
        elif world.age == "old" and not any(not each.late for each in world.flying):
            dead = world.posters[world.holder].at == "idle"
            yield Move("run out", world.holder, world._replace(age="out"), dead)

    def _slack(self, world: World, request: Request) -> Iterator[Move[World]]:
        rest = list(world.flying)
        rest.remove(request)
        left = world._replace(flying=tuple(rest), was_late=world.was_late or request.late)
        hurt = left._replace(faults=world.faults - 1)
        if request.ts == NONE:
            slack, ts = (*world.slack, request.text), len(world.slack)
        else:
            there = world.slack[request.ts] != DELETED
            ts = request.ts
            slack = tuple(
                request.text if there and i == ts else text for i, text in enumerate(world.slack)
            )
            if not there:
                yield Move("land", request.by, _told(left, request, "gone", ts))
                return
        yield Move("land", request.by, _told(left._replace(slack=slack), request, "answered", ts))
        if request.late or not world.faults:
            return
        yield Move("get lost", request.by, _told(hurt, request, "unanswered", NONE), False)
        if request.by != NOBODY:
            done = hurt._replace(slack=slack)
            yield Move("land, answer lost", request.by, _told(done, request, "unanswered", NONE),
                       False)  # fmt: skip
            yield Move("refuse", request.by, _told(hurt, request, "refused", NONE), False)
        if request.ts == NONE:
            late = hurt._replace(flying=_sorted(*rest, request._replace(by=NOBODY, late=True)))
            yield Move("be late", request.by, _told(late, request, "unanswered", NONE), False)

    def wrong(self, world: World) -> Iterator[str]:
        """There is never more than one card, unless Slack took one when nobody waited for it."""
        if _cards(world) > 1 and not world.was_late:
            yield TWO

    def wrong_at_rest(self, world: World) -> Iterator[str]:
        """There is one card, it shows the state, and nothing waits."""
        if _cards(world) > 1:
            yield TWO_AT_REST
        if world.post.ts == NONE or world.slack[world.post.ts] == DELETED:
            yield NO_CARD
        elif world.slack[world.post.ts] != world.post.wanted:
            yield OLD_TEXT
        post = world.post
        waits = post.shown < post.wanted or post.unsure
        if waits or (world.holder != NOBODY and world.age != "out") or world.flying:
            yield WAITS


def _settled(world: World) -> bool:
    """Whether a minute can have passed: what could still post anew has ended or is too old to."""
    posts_anew = (
        world.holder != NOBODY
        and world.age == "young"
        and world.posters[world.holder].at not in ("idle", "claimed", "releasing")
        and world.posters[world.holder].post.ts == NONE
    )
    return not world.flying and not posts_anew


def _cards(world: World) -> int:
    return sum(text != DELETED for text in world.slack)


def _sorted(*requests: Request) -> tuple[Request, ...]:
    return tuple(sorted(requests))


def _put(world: World, by: int, poster: Poster) -> World:
    posters = tuple(poster if i == by else each for i, each in enumerate(world.posters))
    return world._replace(posters=posters)


def _told(world: World, request: Request, at: str, ts: int) -> World:
    """Slack's answer, or that none came, reaches whoever still waits for it."""
    if request.by == NOBODY:
        return world
    poster = world.posters[request.by]
    return _put(world, request.by, poster._replace(at=at, found=ts))


def _written(name: str, world: World, by: int, poster: Poster, post: Post) -> Move[World]:
    after = _put(world._replace(post=post), by, Poster("releasing"))
    return Move(name, by, after)


MUTANTS: Final = {
    "blind re-post": (Posts(look_first=False), TWO),
    "a first send is not announced": (Posts(announce=False), TWO),
    "no look at the clock": (Posts(check_age=False), TOO_OLD),
    "no look at the clock, and what comes of it": (Posts(check_age=False), TWO),
    "an unknown update counts as shown": (Posts(send_again=False), OLD_TEXT),
    "surplus cards stay": (Posts(reconcile=False), TWO_AT_REST),
    "a stalled poster takes another's announcement back": (Posts(keep_others=False), TWO),
    "a stalled poster puts its message in the place of another": (
        Posts(known_stays=False), NO_CARD,
    ),
}  # fmt: skip


def test_no_interleaving_leaves_two_cards_or_an_old_one() -> None:
    found = explore(Posts())
    print(f"posts: {found}")
    assert not found.wrong, str(found)
    assert found.rests, "nothing ever comes to rest"


def test_every_move_happens_and_stands_for_queries_that_exist() -> None:
    # Nobody ever deletes the card that is known: "gone" is left to the mutants.
    assert explore(Posts()).moves == set(Posts.QUERIES) - {"gone"}
    assert not missing(Posts.QUERIES)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_poster_is_found(name: str) -> None:
    mutant, wrong = MUTANTS[name]
    found = explore(mutant, until=wrong)
    print(f"posts, {name}: {found}")
    assert wrong in found.wrong


# What the model found in the rows, on the rows


async def looked(database: Database) -> PostRow:
    """A card that waits, as a poster reads it."""
    async with database.transaction() as connection:
        await posts.want(connection, posts.CARD, "1", "C0CREDIT")
    post_id = await database.fetchval("select id from sayso.posts")
    row = await database.fetchrow(posts.SQL.look, post_id)
    assert row is not None
    return posts.post(row)


async def test_a_stalled_poster_does_not_take_back_what_another_announced(
    database: Database,
) -> None:
    post = await looked(database)
    await database.execute(posts.SQL.trying, post.id, 60.0)
    await posts.later(database, post, "claim too old", 0.0)
    tried = "select tried_at is not null from sayso.posts"
    assert not await database.fetchval(tried)
    for _ in ("the stalled one", "whoever took over"):
        await database.execute(posts.SQL.trying, post.id, 60.0)
    await posts.later(database, post, "claim too old", 0.0)
    assert await database.fetchval(tried)


async def test_the_message_that_is_known_is_not_exchanged_for_a_copy(database: Database) -> None:
    post = await looked(database)
    await database.execute(posts.SQL.found, post.id, "C0CREDIT", "1.1", 60.0)
    await database.execute(posts.SQL.found, post.id, "C0CREDIT", "2.2", 60.0)
    await posts.showed(database, post, "digest", "C0CREDIT", "2.2")
    stands = "select ts, unsure from sayso.posts"
    assert list(await database.fetchrow(stands) or ()) == ["1.1", True]
    await posts.showed(database, post, "digest", "C0CREDIT", "1.1")
    assert list(await database.fetchrow(stands) or ()) == ["1.1", False]
