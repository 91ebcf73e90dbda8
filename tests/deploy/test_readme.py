"""The examples of the README are taken as they stand there."""

from __future__ import annotations

import re
import textwrap
import tomllib
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from bot.configuration import Configuration
from graphs.questions import shown

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", README, re.M | re.S)
    return [textwrap.dedent(body) for _, body in found]


def test_every_configuration_is_one() -> None:
    found = [tomllib.loads(block) for block in blocks("toml")]
    assert len(found) >= 4
    for value in found:
        for graph in value.get("graphs", {}).values():
            graph.setdefault("path", "./agent.py:graph")  # there it comes from the langgraph.json
        Configuration.model_validate(value)


async def test_the_example_graph_asks_what_the_readme_says() -> None:
    (code,) = [block for block in blocks("python") if "graph = " in block]
    module: dict[str, Any] = {"__name__": "agent"}
    exec(compile(code, "agent.py", "exec"), module)  # noqa: S102  the README's own words
    graph = module["graph"].copy({"checkpointer": InMemorySaver()})
    config = {"configurable": {"thread_id": "t"}}
    await graph.ainvoke({"text": "We open at nine."}, config)
    (asked,) = (await graph.aget_state(config)).interrupts
    seen = shown(asked.value, graph="agent", node="ask")
    assert seen.title == "Publish this text?"
    assert [choice.label for choice in seen.choices] == ["Publish", "Drop", "Something else"]
