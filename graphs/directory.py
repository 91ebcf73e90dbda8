"""Who a role or a requester's manager is now: names of the configuration, replaced by people.

A review keeps its rule, and the rule keeps the names; they are looked up when somebody clicks, so
that who left a role does not decide any more. A role that is not configured and a manager who is
not known are nobody, never everybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from graphs.specs import People, Rule, folded


@dataclass(frozen=True)
class Directory:
    """The roles and the managers as they are configured.

    `managers` leads from a person to theirs; each is a user's id or an e-mail address.
    """

    roles: Mapping[str, People] = field(default_factory=dict)
    managers: Mapping[str, str] = field(default_factory=dict)

    def named(self, people: People, requester: str, email: str | None = "") -> People:
        """The users, groups and addresses that these people are now.

        Args:
            requester: the id of who asked, whose manager may be meant.
            email: their address, "" where they have none. None says that it could not be found
                out: a manager whom only that would tell stays as one, and is nobody's yes or no.
        """
        found = People(users=people.users, groups=people.groups, emails=people.emails)
        for role in people.roles:
            # A role names no further roles; the configuration is refused where it does.
            found = found.also(self.roles.get(role, People()))
        untold = people.manager and email is None and self.asks_for_address(requester)
        if people.manager and not untold:
            manager = self.manager_of(requester, email or "")
            if manager is not None:
                one = People(emails=(manager,)) if "@" in manager else People(users=(manager,))
                found = found.also(one)
        return People(users=found.users, groups=found.groups, emails=found.emails, manager=untold)

    def manager_of(self, person: str, email: str = "") -> str | None:
        """The id or the address of somebody's manager; None where it is not known."""
        return self.managers.get(person) or self.managers.get(folded(email))

    def asks_for_address(self, person: str) -> bool:
        """Whether only somebody's address can tell who their manager is."""
        return person not in self.managers and any("@" in one for one in self.managers)

    def rule(self, rule: Rule, requester: str, email: str | None = "") -> Rule:
        """The rule with everybody in it as they are now: approvers, stages, and who comes later."""
        changes: dict[str, object] = {"approvers": self.named(rule.approvers, requester, email)}
        if rule.stages:
            changes["stages"] = tuple(
                stage.model_copy(
                    update={"approvers": self.named(stage.approvers, requester, email)}
                )
                for stage in rule.stages
            )
        if rule.escalate is not None:
            to = self.named(rule.escalate.to, requester, email)
            changes["escalate"] = rule.escalate.model_copy(update={"to": to})
        return rule.model_copy(update=changes)


def keys_of(people: People, requester: str) -> list[str]:
    """What a list of people is found by, each once: "user:U…", "group:S…", "role:risk", …

    The other way round, somebody is found by the keys of everything they are: their id, their
    address, their groups and roles, and "manager:U…" for each person whose manager they are.
    """
    keys = [f"user:{user}" for user in people.users]
    keys += [f"group:{group}" for group in people.groups]
    keys += [f"email:{one}" for one in people.emails]
    keys += [f"role:{role}" for role in people.roles]
    if people.manager:
        keys.append(f"manager:{requester}")
    return list(dict.fromkeys(keys))
