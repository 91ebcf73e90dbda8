"""Roles, managers and stages of `sayso.toml`: what they mean, and every mistake in them at once."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.present import policy_of
from bot.reach import shortage
from bot.settings import examined, load
from graphs.specs import People


def written(tmp_path: Path, text: str) -> dict[str, str]:
    """An environment with this configuration file."""
    (tmp_path / "sayso.toml").write_text(text, encoding="utf-8")
    return {"SAYSO_CONFIG": str(tmp_path / "sayso.toml")}


def mistakes(tmp_path: Path, text: str) -> list[str]:
    """What is wrong, without the file and the line that each begins with."""
    begins = re.escape(str(tmp_path / "sayso.toml")) + r":\d+: "
    return [re.sub(f"^{begins}", "", one) for one in examined(written(tmp_path, text))[1]]


GOOD = """
[operators]
roles = ["risk"]
channel = "C0OPS"
[roles.risk]
users = ["U0DANA"]
groups = ["S0RISK"]
emails = ["Erin@Example.com"]
[managers]
file = "managers.csv"
people = { U0ALICE = "U0ERIN" }
[graphs.loan]
path = "a:b"
starters = { roles = ["risk"], users = ["U0BOB"] }
viewers = { roles = ["risk"] }
[[reviews]]
graph = "loan"
stages = [
  { approvers = { manager = true } },
  { approvers = { roles = ["risk"] }, quorum = 2 },
]
"""


def test_roles_and_managers_become_the_directory_of_the_policy(tmp_path: Path) -> None:
    lines = "﻿Person,Manager\n# heads\n\nU0BOB, U0ERIN\nCarl@Example.com,erin@example.com\n"
    (tmp_path / "managers.csv").write_text(lines, encoding="utf-8")
    configuration = load(written(tmp_path, GOOD)).configuration
    risk = People(users=("U0DANA",), groups=("S0RISK",), emails=("erin@example.com",))
    policy = policy_of(configuration)
    assert policy.directory.roles == {"risk": risk}
    assert policy.directory.managers == {
        "U0ALICE": "U0ERIN",
        "U0BOB": "U0ERIN",
        "carl@example.com": "erin@example.com",
    }
    rule = policy.directory.rule(policy.rules[0], "U0BOB")
    assert rule.stage(0).approvers == People(users=("U0ERIN",))
    assert rule.stage(1).approvers == risk


def test_operators_starters_and_viewers_of_a_role_are_who_it_is_now(tmp_path: Path) -> None:
    (tmp_path / "managers.csv").write_text("")
    configuration = load(written(tmp_path, GOOD)).configuration
    operators, loan = configuration.operators, configuration.graphs["loan"]
    assert (operators.users, operators.groups, operators.channel) == (
        ("U0DANA",),
        ("S0RISK",),
        "C0OPS",
    )
    assert loan.viewers.emails == ("erin@example.com",)
    assert loan.starters is not None
    assert loan.starters.users == ("U0BOB", "U0DANA")


def test_every_mistake_about_people_is_told_with_its_place(tmp_path: Path) -> None:
    found = mistakes(
        tmp_path,
        """
        [operators]
        manager = true
        [roles.risk]
        roles = ["heads"]
        [roles.broken]
        users = ["dana"]
        emails = []
        [managers]
        people = { U0BOB = "U0BOB", bob = "U0ERIN" }
        [graphs.loan]
        path = "a:b"
        viewers = { roles = ["rsik"] }
        [[reviews]]
        approvers = { roles = ["nobody"], groups = ["credit"] }
        escalate = { after = "1h", to = { roles = ["gone"] } }
        [[reviews]]
        stages = [{ approvers = {} }, { approvers = { users = ["@erin"] } }]
        [[reviews]]
        stages = [{ approvers = { users = ["U0ALICE"] } }]
        quorum = 2
        [[reviews]]
        approvers = { emails = ["erin at example.com"] }
        """,
    )
    for told in (
        "operators.manager: only rules have a requester; take it out.",
        "roles.risk: a role names users, groups and addresses, and no further roles.",
        "roles.broken.users: 'dana' is no member id",
        "managers.people.U0BOB: U0BOB would be their own manager.",
        "managers.people.bob: 'bob' is no member id, such as U0BOB, and no e-mail address.",
        "graphs.loan.viewers.roles: there is no role called rsik. Did you mean risk?",
        "reviews[1].approvers.roles: there is no role called nobody. Configured are: risk, broken.",
        "reviews[1].approvers.groups: 'credit' is no user group id",
        "reviews[1].escalate.to.roles: there is no role called gone.",
        "reviews[2].stages[1].approvers: it names nobody",
        "reviews[2].stages[2].approvers.users: '@erin' is no member id",
        "reviews[3]: write `approvers` and `quorum` in each of the `stages`, or none of these.",
        "reviews[4].approvers.emails: 'erin at example.com' is no e-mail address",
    ):
        assert any(one.startswith(told) for one in found), (told, found)
    assert len(found) == 13


def test_a_manager_is_asked_for_only_where_somebody_says_who_that_is(tmp_path: Path) -> None:
    rule = '[graphs.loan]\npath = "a:b"\n[[reviews]]\napprovers = { manager = true }\n'
    (found,) = mistakes(tmp_path, rule)
    assert found.startswith("reviews[1].approvers.manager: [managers] says of nobody who that is")
    (found,) = mistakes(tmp_path, rule + '[managers]\nfile = "none.csv"\n')
    assert found.startswith("managers.file: ")
    assert "none.csv cannot be read" in found


def test_names_that_stand_for_nobody_are_warned_of(tmp_path: Path) -> None:
    text = """
        [operators]
        channel = "C0OPS"
        [roles.none]
        [roles.two]
        users = ["U0DANA"]
        [graphs.loan]
        path = "a:b"
        [[reviews]]
        approvers = { groups = ["S0CREDIT"] }
        guests_may_decide = true
        strangers_may_decide = true
        [[reviews]]
        approvers = { roles = ["two"] }
        strangers_may_decide = true
        """
    told = load(written(tmp_path, text)).warnings
    places = [one.split(": ", 1)[1] for one in told]
    assert [place.split(":")[0] for place in places] == [
        "roles.none",
        "reviews[1].guests_may_decide",
        "reviews[1].strangers_may_decide",
    ]


def test_a_file_of_managers_is_told_by_its_lines(tmp_path: Path) -> None:
    lines = [
        "person,manager",
        "U0BOB,U0ERIN",
        "U0BOB,U0DANA",
        "bob,U0ERIN",
        "U0ALICE",
        "U0ALICE,",
        "a@b.c,A@b.c ",
        "person,manager",
        "U0BOB,U0ERIN",
    ]
    (tmp_path / "m.csv").write_text("\n".join(lines))
    found = mistakes(tmp_path, '[managers]\nfile = "m.csv"\n')
    assert found == [
        "managers.file: m.csv, line 3: U0BOB has the manager U0ERIN already; leave one of them.",
        "managers.file: m.csv, line 4: 'bob' is no member id, such as U0BOB, and no e-mail "
        "address.",
        "managers.file: m.csv, line 5: write two values, person,manager.",
        "managers.file: m.csv, line 6: write two values, person,manager.",
        "managers.file: m.csv, line 7: a@b.c would be their own manager.",
        "managers.file: m.csv, line 8: 'person' is no member id, such as U0BOB, and no e-mail "
        "address.",
    ]
    (tmp_path / "m.csv").write_text("U" * 200_000)  # more than a value of such a file may hold
    (whole,) = mistakes(tmp_path, '[managers]\nfile = "m.csv"\n')
    assert whole == "managers.file: m.csv, line 1: write two values, person,manager."
    (tmp_path / "m.csv").write_text("x\n" * 300)
    assert mistakes(tmp_path, '[managers]\nfile = "m.csv"\n')[-1].endswith("and 280 more lines.")


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ('approvers = { roles = ["two"] }\nquorum = 3', "quorum: it wants 3 people and names 2."),
        ('approvers = { roles = ["two"], manager = true }\nquorum = 3', None),
        ('approvers = { roles = ["two"], emails = ["e@x.y"] }\nquorum = 4', "quorum: it wants 4"),
        ('approvers = { roles = ["two"], groups = ["S0ANY"] }\nquorum = 9', None),
        (
            'stages = [{ approvers = { roles = ["two"] }, quorum = 2 },'
            ' { approvers = { groups = ["S0ANY"] } }, { approvers = { users = ["U0DANA"] } }]',
            "stages: stages 1 and 3 want 3 different people and name 2;",
        ),
        (
            'stages = [{ approvers = { roles = ["two"] } },'
            ' { approvers = { users = ["U0DANA"] } }]',
            None,
        ),
        (
            'stages = [{ approvers = { users = ["U0ERIN"] }, quorum = 2 }]',
            "stages[1].quorum: it wants 2 people and names 1.",
        ),
        (
            'stages = [{ approvers = { roles = ["two"] } },'
            ' { approvers = { users = ["U0DANA"] } }]'
            "\neditor_may_decide = false",
            "editor_may_decide: when one of them changes an action, ",
        ),
        ('approvers = { roles = ["two"] }\neditor_may_decide = false', None),
        (
            'approvers = { roles = ["two"] }\nquorum = 3\n'
            'escalate = { after = "1h", to = { users = ["U0ERIN"] } }',
            None,
        ),
    ],
)
def test_a_rule_that_its_people_can_never_fulfil_is_a_mistake(
    tmp_path: Path, rule: str, told: str | None
) -> None:
    text = (
        '[roles.two]\nusers = ["U0ALICE", "U0DANA"]\n[managers]\npeople = { U0BOB = "U0ERIN" }\n'
        f'[graphs.loan]\npath = "a:b"\n[[reviews]]\n{rule}\n'
    )
    found = mistakes(tmp_path, text)
    if told is None:
        assert found == []
    else:
        assert len(found) == 1
        assert found[0].startswith(f"reviews[1].{told}")


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.frozensets(st.sampled_from("abcdef")), st.integers(1, 3)), max_size=5))
def test_stages_are_called_short_exactly_where_too_few_are_named(
    stages: list[tuple[frozenset[str], int]],
) -> None:
    seats = {number: people for number, (people, _) in enumerate(stages)}
    wanted = {number: quorum for number, (_, quorum) in enumerate(stages)}

    def is_short(chosen: tuple[int, ...]) -> bool:
        named = frozenset[str]().union(*(seats[stage] for stage in chosen))
        return sum(wanted[stage] for stage in chosen) > len(named)

    sizes = range(1, len(stages) + 1)
    any_short = any(is_short(chosen) for size in sizes for chosen in combinations(seats, size))
    found = shortage(seats, wanted)
    assert (found is not None) == any_short
    if found is not None:
        assert is_short(found.stages)
        assert found.wanted > found.named
