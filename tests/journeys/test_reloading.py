"""A running service that is handed another sayso.toml takes it up, or keeps the old and says so."""

from __future__ import annotations

import hashlib
import re
import signal

import psutil
import pytest

from bot.simulator.cast import SIGNING_SECRET
from tests.journeys.conftest import JSON, Product, everything, loan_alone, until, written
from tests.journeys.test_loan_journey import ask

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("journeys"),
]

HIDDEN = "a-word-of-the-bank"


def configured(product: Product, role: str, *, word: str = "", **rule: object) -> str:
    """The loan, decided by whoever has the role."""
    whole = loan_alone(product.slack)
    whole["graphs"]["loan"]["config"] |= {"word": word} if word else {}
    whole["reviews"] = [
        {"graph": "loan", "channel": "C0CREDIT", "approvers": {"roles": ["credit"]}, **rule}
    ]
    return f"[roles]\ncredit = {{ users = [{role}] }}\n{written(whole)}"


async def hand(product: Product, text: str, *, say_so: bool = False) -> str:
    """Write the file anew; returns the hash that it is known by.

    Args:
        say_so: say to every process that it is whole; they have to be listening by then.
    """
    product.config.write_text(text, encoding="utf-8")
    serving = product.processes[-1]
    for process in (psutil.Process(serving.process.pid), *serving.children) if say_so else ():
        process.send_signal(signal.SIGHUP)
    return hashlib.sha256(text.encode()).hexdigest()


async def figures(product: Product) -> dict[str, str]:
    async with product.http.get(f"http://127.0.0.1:{product.port}/metrics") as response:
        text = await response.text()
        assert response.status == 200
    return dict(re.findall(r"^(sayso_\S+) (\S+)$", text, re.M))


async def told(product: Product, name: str, value: str) -> dict[str, str]:
    """Wait until a figure has this value."""

    async def look() -> dict[str, str] | None:
        found = await figures(product)
        return found if found.get(name) == value else None

    return await until(f"{name} to be {value}", look)


def in_force(hash_: str) -> str:
    return f'sayso_configuration_info{{hash="{hash_}"}}'


async def notices(product: Product, text: str) -> list[JSON]:
    return [each for each in await product.messages("C0OPS") if text in everything(each)]


async def test_a_running_service_takes_up_a_whole_file_and_keeps_the_old_one_for_a_broken_one(
    running: Product,
) -> None:
    shipped = running.config.read_text(encoding="utf-8")
    try:
        await _is_handed_files(running)
    finally:
        await told(running, in_force(await hand(running, shipped, say_so=True)), "1.0")


async def _is_handed_files(running: Product) -> None:
    first = await hand(running, configured(running, '"U0ALICE"', because="by role"))
    await told(running, in_force(first), "1.0")

    async def asked_by_role() -> JSON | None:
        _, card = await ask(running)
        return card if "by role" in everything(card) else None

    card = await until("a question under the first file", asked_by_role)

    # A broken file: said in the figures, to the operators and in the record, and the old holds.
    broken = configured(running, '"U0DANA"', quorum="many", node="reviews")
    line = broken.splitlines().index('quorum = "many"') + 1
    step = f"sayso.toml:{line + 1}: reviews[1].node: loan has no step called reviews."
    hash_ = await hand(running, broken, say_so=True)
    found = await told(running, "sayso_configuration_broken", "1.0")
    assert found[in_force(first)] == "1.0"
    where = f"sayso.toml:{line}: reviews[1].quorum: write a whole number."
    notice = await running.message("C0OPS", "has mistakes", where, step, "sayso check")
    await running.click("U0DANA", "Approve", card)
    await running.private("U0DANA", "Nothing was changed")

    # A whole one: the people are read now, the review keeps its rule and needs one of them.
    text = configured(running, '"U0DANA", "U0ERIN"', quorum=2, word=HIDDEN)
    second = await hand(running, text, say_so=True)
    await told(running, "sayso_configuration_broken", "0.0")
    await told(running, in_force(second), "1.0")
    await running.message("C0OPS", "The configuration has no mistakes any more.")
    await running.message("C0OPS", "waits for a restart", "graphs.loan.config: it was changed.")
    await running.click("U0ALICE", "Approve", card)
    await running.private("U0ALICE", "Nothing was changed")
    await running.click("U0DANA", "Approve", card)
    await running.shows(card, "Done.", "U0DANA")

    # The worker has taken it up too: what is asked from now on is under the new rule.
    async def asked_of_two() -> bool:
        await running.say("U0BOB", "C0LOANS", "Loan for Bengal Spices, 70000 for a grinder")
        card = await running.message("C0CREDIT", "Bengal Spices", "Needs")
        return "Needs 2 approvals" in everything(card)

    await until("a question under the new rule", asked_of_two)

    # Two processes took each of them up, or refused it, and each is on the record once.
    changed = [entry["detail"] for entry in await running.audit("configuration.changed")]
    assert [each["hash"] for each in changed][-2:] == [first, second]
    assert len({each["hash"] for each in changed}) == len(changed)
    assert changed[-1]["before"] == first
    assert "+quorum = 2" in changed[-1]["diff"].splitlines()
    assert HIDDEN not in str(changed)
    (refused,) = [entry["detail"] for entry in await running.audit("configuration.refused")]
    assert (refused["hash"], refused["in_force"]) == (hash_, first)
    assert where in refused["mistakes"][0]
    for text in ("has mistakes", "no mistakes any more", "waits for a restart"):
        assert len(await notices(running, text)) == 1
    assert notice["ts"] == (await notices(running, "has mistakes"))[0]["ts"]

    listed = await running.json("policy", "history", "--diff")
    assert [each["hash"] for each in listed][:3] == [second, hash_, first]
    assert listed[1]["mistakes"] == refused["mistakes"]
    assert "+quorum = 2" in listed[0]["diff"]


async def test_nothing_starts_by_a_file_whose_rules_name_what_no_graph_has(
    running: Product,
) -> None:
    file = running.directory / "wrong.toml"
    file.write_text(configured(running, '"U0ALICE"', node="reviews"), encoding="utf-8")
    environ = {"SAYSO_CONFIG": str(file), "SAYSO_PORT": "0"}
    status, _, said = await running.run("serve", check=False, **environ)
    assert status == 1
    assert "reviews[1].node: loan has no step called reviews. Did you mean human_review?" in said


async def test_the_figures_name_nobody_and_hold_no_secret(running: Product) -> None:
    await ask(running)

    async def counted() -> dict[str, str] | None:
        found = await figures(running)
        paused = found.get('sayso_threads{status="paused"}')
        return found if (found["sayso_reviews_open"], paused) == ("1.0", "1.0") else None

    found = await until("the open question to be counted", counted)
    assert found["sayso_counted"] == "1.0"
    assert 'sayso_threads{status="held"}' in found
    async with running.http.get(f"http://127.0.0.1:{running.port}/metrics") as response:
        text = await response.text()
    for hidden in ("U0BOB", "Asha", "postgresql://", SIGNING_SECRET):
        assert hidden not in text
