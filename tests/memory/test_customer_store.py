"""The customer's memory does what LangGraph's own store does, and never more than it may."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from checkpoints import leases
from checkpoints.database import Database
from checkpoints.errors import Conflict, StaleOwner, WrongLoop
from memory import customers, memories
from memory.errors import (
    BadMemory,
    BadNamespace,
    BadSearch,
    ReadOnlyShared,
    StoreUnreachable,
    UnknownCustomer,
)
from memory.store import CustomerStore, ForeignCustomer, RootedStore

ITEMS: list[tuple[tuple[str, ...], str, dict[str, Any]]] = [
    (("loans",), "t1", {"kind": "loan", "amount": 60000, "paid": True, "note": None}),
    (("loans",), "t2", {"kind": "loan", "amount": 9, "paid": False, "by": {"id": "U1", "n": 2}}),
    (("loans",), "t3", {"kind": "Loan", "amount": 10.5, "tags": ["van", "new"]}),
    (("loans", "notes"), "n1", {"text": "prefers to be called", "amount": 100}),
    (("loans", "notes", "old"), "n2", {"text": "", "amount": 0, "list": []}),
    (("loansy",), "x", {"kind": "loan", "amount": 1}),
    (("customers", "cus_other"), "x", {"kind": "loan", "amount": 2}),
    (("facts",), "", {"unicode": "आशा ट्रेडर्स", "deep": {"a": {"b": [1, {"c": 2}]}}}),
    (("facts",), "key.with/signs %_", {}),
]


@pytest.fixture
async def asha(database: Database) -> str:
    async with database.transaction() as connection:
        return (await customers.create(connection, "Asha Traders")).id


@pytest.fixture
async def other(database: Database) -> str:
    async with database.transaction() as connection:
        return (await customers.create(connection, "Mehta & Sons")).id


@pytest.fixture
async def rooted(database: Database, asha: str) -> RootedStore:
    return CustomerStore(database).rooted(("customers", asha))


@pytest.fixture
async def pair(rooted: RootedStore) -> tuple[BaseStore, BaseStore]:
    """Ours and LangGraph's, with the same items in."""
    model = InMemoryStore()
    for store in (rooted, model):
        for namespace, key, value in ITEMS:
            await store.aput(namespace, key, value)
    return rooted, model


def shape(result: Any) -> Any:
    """What must be equal of a result: not the times, and not the order of a search."""
    if isinstance(result, list):
        parts = [shape(part) for part in result]
        return sorted(parts, key=repr) if any(hasattr(part, "key") for part in result) else parts
    if hasattr(result, "key"):
        return (result.namespace, result.key, result.value)
    return result


FILTERS: list[Any] = [
    None,
    {},
    {"kind": "loan"},
    {"kind": "loan", "paid": True},
    {"note": None},
    {"absent": None},
    {"absent": {"$ne": None}},
    {"absent": {"$ne": 1}},
    {"kind": {"$eq": "Loan"}},
    {"kind": {"$ne": "loan"}},
    {"by": {"id": "U1"}},
    {"by": {"$eq": {"id": "U1"}}},
    {"by": {"$eq": {"n": 2, "id": "U1"}}},
    {"by": {"id": "U1", "absent": None}},
    {"by": {}},
    {"kind": {}},
    {"tags": ["van", "new"]},
    {"tags": ["van"]},
    {"tags": ["new", "van"]},
    {"list": []},
    {"kind": []},
    {"deep": {"a": {"b": [1, {"c": 2}]}}},
    {"deep": {"a": {"b": [1, {"c": 3}]}}},
    {"amount": 10.5},
    {"amount": 60000.0},
    {"unicode": "आशा ट्रेडर्स"},
    {"x' or '1'='1": "y"},
    {"kind') or true --": {"$ne": None}},
]


PREFIXES: list[tuple[str, ...]] = [(), ("loans",), ("loans", "notes"), ("facts",), ("nothing",)]


async def test_a_filter_finds_what_it_finds_in_memory(pair: tuple[BaseStore, BaseStore]) -> None:
    ours, model = pair
    for filter_, prefix in itertools.product(FILTERS, PREFIXES):
        found = shape(await ours.asearch(prefix, filter=filter_, limit=100))
        expected = shape(await model.asearch(prefix, filter=filter_, limit=100))
        assert found == expected, (prefix, filter_)


async def test_numbers_are_compared_as_numbers(pair: tuple[BaseStore, BaseStore]) -> None:
    ours, model = pair
    for operator, operand in itertools.product(
        ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"], [9, 10, 10.5, 100, 60000, 0, -1, 1e300]
    ):
        filter_ = {"amount": {operator: operand}}
        found = shape(await ours.asearch(("loans",), filter=filter_, limit=100))
        expected = shape(await model.asearch(("loans",), filter=filter_, limit=100))
        assert found == expected, filter_


TYPED: list[tuple[dict[str, Any], set[str]]] = [
    ({"v": {"$gt": 9}}, {"ten", "half"}),
    ({"v": {"$gt": 9, "$lt": 10}}, {"half"}),
    ({"v": {"$gt": "10"}}, {"text nine", "text A", "text a"}),
    ({"v": {"$lt": "a"}}, {"text nine", "text ten", "text A"}),
    ({"v": {"$lte": "A"}}, {"text nine", "text ten", "text A"}),
    ({"v": {"$gte": 1}}, {"one", "ten", "half"}),
    ({"v": 1}, {"one"}),
    ({"v": True}, {"true"}),
    ({"v": "true"}, set()),
    ({"v": "10"}, {"text ten"}),
    ({"v": {"$ne": 1}}, {"ten", "half", "text nine", "text ten", "text A", "text a", "true"}),
]


async def test_each_value_is_compared_as_the_json_type_it_is(rooted: RootedStore) -> None:
    values = {
        "one": 1,
        "half": 9.5,
        "ten": 10,
        "text nine": "9",
        "text ten": "10",
        "text A": "A",
        "text a": "a",
        "true": True,
    }
    for key, value in values.items():
        await rooted.aput(("v",), key, {"v": value})
    for filter_, expected in TYPED:
        found = await rooted.asearch(("v",), filter=filter_, limit=100)
        assert {item.key for item in found} == expected, filter_


SENSELESS: list[Any] = [
    {"a": {"$regex": "x"}},
    {"a": {"$gt": 1, "b": 2}},
    {"$or": [{"a": 1}]},
    {"a": {"$gt": None}},
    {"a": {"$gt": True}},
    {"a": {"$lt": [1]}},
    {"a": object()},
    {"a": {"$eq": {1, 2}}},
    {1: 2},
    {"a\x00": 1},
    {"a": {"b\ud800": 1}},
    {str(n): n for n in range(500)},
    "a = 1",
]


async def test_a_filter_that_makes_no_sense_is_refused(rooted: RootedStore) -> None:
    for filter_ in SENSELESS:
        with pytest.raises(BadSearch):
            await rooted.asearch(("loans",), filter=filter_)


GETS = [(namespace, key) for namespace, key, _ in ITEMS] + [
    (("loans",), "absent"),
    (("loans", "absent"), "t1"),
    (("shared", "rates"), "x"),
]


async def test_items_are_got_replaced_and_deleted_as_in_memory(
    pair: tuple[BaseStore, BaseStore],
) -> None:
    ours, model = pair
    for namespace, key in GETS:
        assert shape(await ours.aget(namespace, key)) == shape(await model.aget(namespace, key))
    for store in pair:
        await store.aput(("loans",), "t1", {"amount": 1})
        await store.adelete(("loans",), "t2")
        await store.adelete(("loans",), "never there")
    for namespace, key in GETS:
        assert shape(await ours.aget(namespace, key)) == shape(await model.aget(namespace, key))


LISTINGS: list[dict[str, Any]] = [
    {},
    {"max_depth": 1},
    {"max_depth": 2},
    {"max_depth": 0},
    {"prefix": ("loans",)},
    {"prefix": ("loans", "notes")},
    {"prefix": ("loans", "*")},
    {"prefix": ("*", "notes")},
    {"prefix": ("*",)},
    {"prefix": ("nothing",)},
    {"suffix": ("notes",)},
    {"suffix": ("*", "old")},
    {"suffix": ("loans",)},
    {"suffix": ("cus_other",)},
    {"suffix": ("customers", "loans")},
    {"prefix": ("loans",), "suffix": ("old",)},
    {"prefix": ("loans",), "max_depth": 2},
    {"limit": 2},
    {"limit": 2, "offset": 2},
    {"limit": 0},
    {"offset": 100},
]


async def test_namespaces_are_listed_as_in_memory(pair: tuple[BaseStore, BaseStore]) -> None:
    ours, model = pair
    for asked in LISTINGS:
        assert await ours.alist_namespaces(**asked) == await model.alist_namespaces(**asked), asked


async def test_a_suffix_cannot_reach_into_the_root(rooted: RootedStore, asha: str) -> None:
    await rooted.aput(("loans",), "t1", {})
    assert await rooted.alist_namespaces(suffix=(asha, "loans")) == []
    assert await rooted.alist_namespaces(prefix=("customers",)) == []


async def test_a_batch_reads_what_was_there_before_and_keeps_the_last_write(
    pair: tuple[BaseStore, BaseStore],
) -> None:
    ops = [
        PutOp(("loans",), "t1", {"amount": 1}),
        GetOp(("loans",), "t1"),
        GetOp(("loans",), "absent"),
        GetOp(("loans",), "t1"),
        SearchOp(("loans", "notes"), {"amount": {"$gte": 0}}, 10, 0),
        PutOp(("loans",), "t1", {"amount": 2}),
        PutOp(("loans",), "t2", None),
        PutOp(("loans",), "t3", None),
        PutOp(("loans",), "t3", {"amount": 3}),
        PutOp(("loans",), "t4", {"amount": 4}),
        PutOp(("loans",), "t4", None),
        ListNamespacesOp((MatchCondition("prefix", ("loans",)),), None, 10, 0),
    ]
    ours, model = pair
    assert [shape(one) for one in await ours.abatch(ops)] == [
        shape(one) for one in await model.abatch(ops)
    ]
    assert shape(await ours.asearch(("loans",), limit=100)) == shape(
        await model.asearch(("loans",), limit=100)
    )


async def test_pages_cover_everything_once(pair: tuple[BaseStore, BaseStore]) -> None:
    ours, _ = pair
    whole = await ours.asearch((), limit=100)
    pages = []
    for offset in range(0, 12, 2):
        pages += await ours.asearch((), limit=2, offset=offset)
    assert [(item.namespace, item.key) for item in pages] == [
        (item.namespace, item.key) for item in whole
    ]
    assert len(whole) == len(ITEMS)
    assert await ours.asearch((), limit=0) == []


async def test_the_newest_comes_first_and_a_replaced_item_keeps_its_beginning(
    rooted: RootedStore,
) -> None:
    for key in ("a", "b", "a"):
        await rooted.aput(("loans",), key, {"at": key})
    found = await rooted.asearch(("loans",))
    assert [item.key for item in found] == ["a", "b"]
    assert found[0].created_at < found[1].created_at < found[0].updated_at


async def test_a_query_is_a_search_for_words_and_never_everything(
    pair: tuple[BaseStore, BaseStore],
) -> None:
    ours, _ = pair
    found = await ours.asearch(("loans",), query="Called by whom?", limit=100)
    assert [item.key for item in found] == ["n1"]
    assert found[0].score is not None
    assert found[0].score > 0
    assert [item.key for item in await ours.asearch((), query="60000")] == ["t1"]
    for nothing in ("zebra", "?!", "'); drop table x --", "& | !", "\x00 \ud800", "x" * 5000):
        assert await ours.asearch((), query=nothing) == []
    assert await ours.asearch(("loans",), query="called", filter={"amount": {"$lt": 100}}) == []


async def test_a_large_text_can_still_be_searched(rooted: RootedStore) -> None:
    words = " ".join(f"word{n}" for n in range(100_000))
    await rooted.aput(("big",), "one", {"text": "needle " + words[:900_000]})
    await rooted.aput(("big",), "two", {"text": "needle"})
    assert {item.key for item in await rooted.asearch((), query="needle")} == {"one", "two"}


# Whose memory it is.


async def test_two_customers_never_see_each_other(
    database: Database, asha: str, other: str
) -> None:
    store = CustomerStore(database)
    hers, theirs = store.rooted(("customers", asha)), store.rooted(("customers", other))
    await theirs.aput(("loans",), "t1", {"secret": "theirs"})
    # Every way to say "the other one" is a name inside the own root.
    for namespace in (
        ("loans",),
        ("customers", other, "loans"),
        ("..", other, "loans")[1:],
        ("shared", other),
    ):
        assert await hers.aget(namespace, "t1") is None
        await hers.aput(namespace, "t1", {"mine": True})
        await hers.adelete(namespace, "t1")
    assert await hers.asearch((), limit=100) == []
    assert await hers.alist_namespaces() == []
    kept = await theirs.aget(("loans",), "t1")
    assert kept is not None
    assert kept.value == {"secret": "theirs"}


async def test_an_id_that_begins_like_another_does_not_reach_it(database: Database) -> None:
    store = CustomerStore(database)
    await store.rooted(("graphs", "loan2")).aput(("x",), "k", {})
    await store.rooted(("graphs", "loan!")).aput(("x",), "k", {})
    assert await store.rooted(("graphs", "loan")).asearch((), limit=10) == []
    assert await store.rooted(("graphs", "loan")).alist_namespaces() == []


async def test_a_bound_store_refuses_the_namespace_of_another(
    database: Database, asha: str, other: str
) -> None:
    store = CustomerStore(database, customer=asha, shared={"rates": "write"})
    await store.aput(("customers", asha, "loans"), "t1", {"amount": 1})
    await store.aput(("shared", "rates"), "today", {"rate": 7})
    for namespace in [
        ("customers", other),
        ("customers", other, "loans"),
        ("customers",),
        ("customers", f"{asha}x"),
        ("graphs", "loan"),
        ("shared",),
        ("shared", "undeclared"),
        ("loans",),
    ]:
        with pytest.raises(ForeignCustomer):
            await store.aget(namespace, "t1")
        with pytest.raises(ForeignCustomer):
            await store.asearch(namespace)
        with pytest.raises(ForeignCustomer):
            await store.aput(namespace, "t1", {})
        with pytest.raises(ForeignCustomer):
            await store.adelete(namespace, "t1")
        with pytest.raises(ForeignCustomer):
            await store.alist_namespaces(prefix=namespace)
        with pytest.raises(ForeignCustomer):
            await store.abatch([GetOp(("customers", asha), "t1"), GetOp(namespace, "t1")])
    with pytest.raises(ForeignCustomer):
        await store.asearch(())
    with pytest.raises(ForeignCustomer):
        await store.alist_namespaces()
    with pytest.raises(ForeignCustomer):
        await store.alist_namespaces(prefix=("customers", "*"))
    with pytest.raises(ForeignCustomer):
        store.rooted(("customers", other))
    with pytest.raises(ForeignCustomer):
        store.rooted(("shared", "rates"))
    assert await database.fetchval("select count(*) from sayso.memories") == 2
    assert await store.alist_namespaces(prefix=("customers", asha)) == [
        ("customers", asha, "loans")
    ]


async def test_a_store_bound_to_nobody_reaches_no_customer(database: Database, asha: str) -> None:
    store = CustomerStore(database)
    with pytest.raises(ForeignCustomer):
        await store.aget(("customers", asha), "t1")


async def test_only_a_declared_shared_namespace_leaves_the_root(
    database: Database, asha: str, other: str
) -> None:
    store = CustomerStore(database, shared={"rates": "read", "notes": "write"})
    hers, theirs = store.rooted(("customers", asha)), store.rooted(("customers", other))
    await hers.aput(("shared", "notes", "2026"), "n", {"text": "for all"})
    await hers.aput(("shared", "undeclared"), "n", {"text": "hers"})
    read = await theirs.aget(("shared", "notes", "2026"), "n")
    assert read is not None
    assert read.namespace == ("shared", "notes", "2026")
    assert await theirs.aget(("shared", "undeclared"), "n") is None
    assert await theirs.alist_namespaces(prefix=("shared", "notes")) == [
        ("shared", "notes", "2026")
    ]
    assert await hers.alist_namespaces() == [("shared", "undeclared")]
    for refused in (
        hers.aput(("shared", "rates"), "today", {"rate": 7}),
        hers.adelete(("shared", "rates"), "today"),
    ):
        with pytest.raises(ReadOnlyShared):
            await refused
    assert await hers.aget(("shared", "rates"), "today") is None


async def test_nothing_is_remembered_of_an_unknown_customer(database: Database) -> None:
    rooted = CustomerStore(database).rooted(("customers", "cus_0000000000000000"))
    with pytest.raises(UnknownCustomer, match="cus_0000000000000000"):
        await rooted.aput(("loans",), "t1", {})
    assert await database.fetchval("select count(*) from sayso.memories") == 0


# Bad input: a clear error, nothing stored.

BAD_PUTS: list[tuple[Any, Any, Any, type[Exception]]] = [
    (("a.b",), "k", {}, InvalidNamespaceError),
    (("a\x00",), "k", {}, InvalidNamespaceError),
    (("",), "k", {}, InvalidNamespaceError),
    ((), "k", {}, InvalidNamespaceError),
    ((7,), "k", {}, InvalidNamespaceError),
    (("a\ud800",), "k", {}, BadNamespace),
    (("a" * 2000,), "k", {}, BadNamespace),
    (("a",) * 2000, "k", {}, BadNamespace),
    (("a",), "k\x00", {}, BadNamespace),
    (("a",), "k" * 2000, {}, BadNamespace),
    (("a",), "k", {"text": "x" * 1_000_000}, BadMemory),
    (("a",), "k", {"n": float("nan")}, BadMemory),
    (("a",), "k", {"n": float("inf")}, BadMemory),
    (("a",), "k", {"n": 2**70}, BadMemory),
    (("a",), "k", {"s": {1, 2}}, BadMemory),
    (("a",), "k", {"o": object()}, BadMemory),
    (("a",), "k", {"b": b"x"}, BadMemory),
    (("a",), "k", {1: 2}, BadMemory),
    (("a",), "k", ["a"], BadMemory),
    (("a",), "k", "text", BadMemory),
]


async def test_what_cannot_be_stored_is_refused_whole(rooted: RootedStore) -> None:
    for namespace, key, value, error in BAD_PUTS:
        with pytest.raises(error):
            await rooted.aput(namespace, key, value)
        with pytest.raises((BadNamespace, BadMemory)):
            await rooted.abatch([PutOp(("good",), "k", {}), PutOp(namespace, key, value)])
    assert await rooted.asearch((), limit=100) == []


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"in": value}
    return value


async def test_a_value_is_kept_to_the_depth_that_can_be_read_back(rooted: RootedStore) -> None:
    await rooted.aput(("a",), "k", nested(100))
    kept = await rooted.aget(("a",), "k")
    assert kept is not None
    assert kept.value == nested(100)
    with pytest.raises(BadMemory):
        await rooted.aput(("a",), "k", nested(5000))


async def test_nul_and_lone_surrogates_never_poison_a_memory(rooted: RootedStore) -> None:
    await rooted.aput(("a",), "k", {"te\x00xt": "a\x00b\ud800", "in": [{"deep": "\x00"}, ("t",)]})
    kept = await rooted.aget(("a",), "k")
    assert kept is not None
    assert kept.value == {"text": "ab", "in": [{"deep": ""}, ["t"]]}
    assert len(await rooted.asearch(("a",), filter={"text": "a\x00b"})) == 1


async def test_an_absurd_page_is_refused(rooted: RootedStore) -> None:
    pages: list[tuple[Any, Any]] = [
        (10**9, 0),
        (-1, 0),
        (10, -1),
        (10, 10**12),
        (1.5, 0),
        ("1", 0),
        (True, 0),
    ]
    for limit, offset in pages:
        with pytest.raises(BadSearch):
            await rooted.asearch((), limit=limit, offset=offset)
        with pytest.raises(BadSearch):
            await rooted.alist_namespaces(limit=limit, offset=offset)


async def test_an_absurd_depth_is_refused(rooted: RootedStore) -> None:
    with pytest.raises(BadSearch):
        await rooted.alist_namespaces(max_depth=-1)


async def test_a_time_to_live_is_refused_and_not_forgotten(rooted: RootedStore) -> None:
    with pytest.raises(NotImplementedError):
        await rooted.aput(("a",), "k", {}, ttl=-1)
    with pytest.raises(NotImplementedError):
        await rooted.abatch([PutOp(("a",), "k", {}, ttl=5)])
    assert await rooted.asearch(()) == []


# Threads, loops and fences.


async def test_a_nodes_thread_may_call_without_await(rooted: RootedStore) -> None:
    def node() -> Any:
        rooted.put(("a",), "k", {"v": 1})
        rooted.put(("a",), "gone", {"v": 1})
        rooted.delete(("a",), "gone")
        assert rooted.list_namespaces() == [("a",)]
        assert [item.key for item in rooted.search(("a",), filter={"v": 1})] == ["k"]
        return rooted.get(("a",), "k")

    found = await asyncio.to_thread(node)
    assert found.value == {"v": 1}


async def test_a_synchronous_call_on_the_loops_own_thread_says_what_to_await(
    rooted: RootedStore,
) -> None:
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: rooted.get(("a",), "k"), "aget"),
        (lambda: rooted.put(("a",), "k", {}), "aput"),
        (lambda: rooted.delete(("a",), "k"), "adelete"),
        (lambda: rooted.search(("a",)), "asearch"),
        (lambda: rooted.list_namespaces(), "alist_namespaces"),
        (lambda: rooted.batch([GetOp(("a",), "k")] * 2), "abatch"),
    ]
    for call, verb in calls:
        with pytest.raises(WrongLoop, match=f"`{verb}`"):
            call()


async def test_another_loop_may_await_the_store(rooted: RootedStore) -> None:
    async def elsewhere() -> Any:
        await rooted.aput(("a",), "k", {"v": 1})
        return await rooted.aget(("a",), "k")

    found = await asyncio.to_thread(lambda: asyncio.run(elsewhere()))
    assert found.value == {"v": 1}


def test_a_call_after_the_loop_has_ended_says_so(database_url: str) -> None:
    async def make() -> RootedStore:
        async with Database.open(database_url, size=1) as database:
            return CustomerStore(database).rooted(("graphs", "loan"))

    rooted = asyncio.run(make())
    with pytest.raises(StoreUnreachable):
        rooted.get(("a",), "k")


async def test_many_batches_that_put_and_delete_the_same_items_do_not_deadlock(
    rooted: RootedStore,
) -> None:
    keys = [f"k{n}" for n in range(6)]

    async def churn(turn: int) -> None:
        order = keys[turn % 6 :] + keys[: turn % 6]
        await rooted.abatch(
            [PutOp(("a",), key, {"n": turn} if n % 2 else None) for n, key in enumerate(order)]
        )

    await asyncio.gather(*(churn(turn) for turn in range(60)))
    for key in keys:
        await rooted.aput(("a",), key, {})
    assert len(await rooted.asearch(("a",))) == 6


async def test_a_cancelled_write_leaves_the_store_usable(rooted: RootedStore) -> None:
    tasks = [asyncio.create_task(rooted.aput(("a",), f"k{n}", {})) for n in range(20)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    kept = {item.key for item in await rooted.asearch(("a",), limit=100)}
    assert {f"k{n}" for n in range(1, 20, 2)} <= kept


async def test_a_run_that_lost_its_thread_can_read_and_not_write(database: Database) -> None:
    async with database.transaction() as connection:
        await leases.create(connection, "t1", "T0SAYSO/loan")
        await leases.wake(connection, "t1")
        (lease,) = await leases.claim(
            connection, owner="w1", scopes=["T0SAYSO/loan"], limit=1, lease_seconds=30
        )
    rooted = CustomerStore(database).rooted(("graphs", "loan"), fence=lease.fence)
    await rooted.aput(("a",), "k", {"by": "w1"})
    async with database.transaction() as connection:
        await leases.seize(connection, "t1")
    with pytest.raises(StaleOwner):
        await rooted.aput(("a",), "k", {"by": "late"})
    with pytest.raises(StaleOwner):
        await rooted.adelete(("a",), "k")
    kept = await rooted.aget(("a",), "k")
    assert kept is not None
    assert kept.value == {"by": "w1"}


class State(TypedDict):
    seen: int


async def test_a_graph_written_for_any_store_runs_unchanged_inside_its_customer(
    database: Database, asha: str, rooted: RootedStore
) -> None:
    async def remember(state: State, runtime: Runtime[None]) -> State:
        assert runtime.store is not None
        await runtime.store.aput(("loans",), "t1", {"outcome": "paid"})
        return {"seen": len(await runtime.store.asearch(("loans",)))}

    def look(state: State, runtime: Runtime[None]) -> State:
        assert runtime.store is not None
        return {"seen": state["seen"] + len(runtime.store.search(()))}

    builder = StateGraph(State)
    builder.add_node("remember", remember)
    builder.add_node("look", look)
    builder.add_edge(START, "remember")
    builder.add_edge("remember", "look")
    builder.add_edge("look", END)
    graph = builder.compile(store=InMemoryStore()).copy({"store": rooted})
    for _ in range(2):  # a run that is done again overwrites
        assert await graph.ainvoke({"seen": 0}) == {"seen": 2}
    own = CustomerStore(database, customer=asha)
    (item,) = await own.asearch(("customers", asha))
    assert (item.namespace, item.key) == (("customers", asha, "loans"), "t1")


async def test_our_own_code_remembers_inside_a_larger_transaction(
    database: Database, asha: str
) -> None:
    with pytest.raises(RuntimeError, match="undone"):
        async with database.transaction() as connection:
            await memories.put(connection, ("customers", asha, "loans"), "t1", {"outcome": "paid"})
            raise RuntimeError("undone")
    assert await CustomerStore(database, customer=asha).asearch(("customers", asha)) == []
    async with database.transaction() as connection:
        await memories.put(connection, ("customers", asha, "loans"), "t1", {"outcome": "paid"})
    assert len(await CustomerStore(database, customer=asha).asearch(("customers", asha))) == 1


async def test_the_table_itself_refuses_what_belongs_to_nobody(database: Database) -> None:
    for namespace in ("", "customers", "loans.x", "customers.cus_0000000000000000", "graphs..x"):
        with pytest.raises(Conflict):
            await database.execute(
                "insert into sayso.memories (namespace, key, value) values ($1, 'k', '{}')",
                namespace,
            )
