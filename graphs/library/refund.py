"""A refund: LangChain's agent with three tools, two of which wait for people.

    the request ──► the model ──► look_up_order ──► the model ──► issue_refund, send_email
                        ▲                                             │ a person decides on each
                        └──────── what was done, and what not ◄───────┘

`create_agent` and `HumanInTheLoopMiddleware` as they come, and nothing of Sayso but the key under
which the bank pays once. The model is a clerk who follows a script, so that it runs offline; with
`model = "openai:gpt-5-mini"` in the entry's `config` a real one takes its place.

A rule of `sayso.toml` says for each tool who decides. An edit runs the tool with other arguments, a
rejection or an answer in its place goes to the model as the tool's result.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.chat_models import init_chat_model
from langchain.tools import ToolRuntime, tool
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from pydantic import Field

from graphs import decisions
from graphs.library import bank, orders
from graphs.library.clerk import Clerk

TASK = (
    "You handle refunds for a shop. Look up the order first. If there is none, or it is not clear "
    "how much is asked for, ask. Else call issue_refund and send_email in one turn; people decide "
    "on both. Never ask again for what was rejected. At the end say in plain words what was done "
    "and what was not."
)
ASKS = "HumanInTheLoopMiddleware.after_model"  # the step that puts the calls before people

Result = tuple[str, dict[str, Any]]  # what the model reads, and the same as data


@tool(response_format="content_and_artifact")
def look_up_order(order: str) -> Result:
    """Look up an order by its number, such as A-2231."""
    found = orders.find(order)
    if found is None:
        return f"There is no order {order}.", {}
    return (
        f"{found.id}: {found.article}, {found.paid:,} paid by {found.customer}, {found.email}.",
        asdict(found),
    )


@tool(response_format="content_and_artifact")
async def issue_refund(
    order: str,
    amount: Annotated[int, Field(ge=1, le=1_000_000)],
    reason: Annotated[str, Field(max_length=200)],
    runtime: ToolRuntime,
) -> Result:
    """Pay money back to whoever placed the order; the amount is in whole units of money."""
    found = orders.find(order)
    if found is None:
        return f"Nothing was refunded: there is no order {order}.", {}
    if amount > found.paid:
        return f"Nothing was refunded: {found.paid:,} was paid for {found.id}, not more.", {}
    reference = await bank.transfer(
        str(runtime.config.get("configurable", {}).get("bank_url") or ""),
        # A call can run twice, after a crash or a lost answer; its key lets the bank pay once.
        key=decisions.effect_key(runtime.config, ASKS, call=runtime.tool_call_id or ""),
        amount=amount,
        to=found.customer,
        memo=f"Refund for {found.id}: {reason}",
        currency="",
    )
    return (
        f"{amount:,} was refunded to {found.customer}, reference {reference}.",
        {"reference": reference, "amount": amount},
    )


@tool(response_format="content_and_artifact")
def send_email(to: str, subject: str, text: str) -> Result:
    """Send an email to a customer."""
    # This outbox is the record of the request and nothing leaves it: put your mail service here.
    return f"The email to {to} is in the outbox.", {"to": to, "subject": subject, "text": text}


def agent(config: RunnableConfig) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The agent, with the model that the configuration names, else with the clerk."""
    model = config.get("configurable", {}).get("model")
    return create_agent(
        init_chat_model(str(model)) if model else Clerk(),
        tools=[look_up_order, issue_refund, send_email],
        system_prompt=TASK,
        middleware=[
            HumanInTheLoopMiddleware(
                interrupt_on={
                    "issue_refund": {"allowed_decisions": ["approve", "edit", "reject"]},
                    "send_email": {"allowed_decisions": ["approve", "edit", "reject", "respond"]},
                }
            )
        ],
    )
