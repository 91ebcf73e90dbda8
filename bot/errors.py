"""What can go wrong between Slack, the settings and us.

    SaysoError
    ├── SettingsWrong      the settings hold mistakes, all of them listed
    ├── NotConfigured      a command needs a setting that was not given
    ├── SlackFailed        a Web API call failed; ``outcome`` says what to do about it
    │   └── SlackUnknown   no usable answer came: it may have been done
    ├── NobodyNamed        a role or a manager for whom a post is, is nobody now
    └── NotYet             a request cannot be judged right now; Slack sends it again

`outcome_of` sorts Slack's error names by what has to happen next; it is the only place that
knows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from checkpoints.errors import SaysoError


class SettingsWrong(SaysoError):
    """Every mistake in the environment and in sayso.toml, one a line; mend them and start again."""

    def __init__(self, mistakes: Sequence[str]) -> None:
        self.mistakes = tuple(mistakes)
        many = "mistake" if len(self.mistakes) == 1 else "mistakes"
        lines = "\n".join(f"  {mistake}" for mistake in self.mistakes)
        super().__init__(f"The settings have {len(self.mistakes)} {many}:\n{lines}")


class NotConfigured(SaysoError):
    """A command needs a setting that was not given; set it and run the command again."""

    def __init__(self, needed: Sequence[str], why: str) -> None:
        are = "are" if len(needed) > 1 else "is"
        super().__init__(f"{' and '.join(needed)} {are} not set. {why}")


class Outcome(StrEnum):
    """What has to happen after a call to Slack failed."""

    STOP = "stop"  # the workspace is gone for us: nothing can be sent until a person mends it
    REFRESH = "refresh"  # the token has to be renewed
    PERSON = "person"  # somebody has to act in Slack: invite the app, unarchive, add a scope
    OURS = "ours"  # we sent what Slack does not take
    LATER = "later"  # not done, and it may work later
    RECIPIENT = "recipient"  # this person cannot be reached, others can
    GONE = "gone"  # the message that was to be changed is not there any more
    UNKNOWN = "unknown"  # it may have been done


_OUTCOMES: Final[dict[Outcome, frozenset[str]]] = {
    Outcome.STOP: frozenset(
        {
            "account_inactive",
            "token_revoked",
            "invalid_auth",
            "not_authed",
            "team_access_not_granted",
            "org_login_required",
        }
    ),
    Outcome.REFRESH: frozenset({"token_expired"}),
    Outcome.PERSON: frozenset(
        {
            "missing_scope",
            "restricted_action",
            "restricted_action_read_only_channel",
            "restricted_action_thread_only_channel",
            "restricted_action_non_threadable_channel",
            "is_archived",
            "not_in_channel",
            "channel_not_found",
            "messages_tab_disabled",
            "cant_update_message",
            "edit_window_closed",
        }
    ),
    Outcome.LATER: frozenset(
        {"ratelimited", "rate_limited", "message_limit_exceeded", "service_unavailable"}
    ),
    Outcome.UNKNOWN: frozenset({"request_timeout", "fatal_error", "internal_error"}),
    Outcome.RECIPIENT: frozenset(
        {
            "user_disabled",
            "user_not_found",
            "user_not_visible",
            "user_not_in_channel",
            "users_not_found",
            "cannot_dm_bot",
        }
    ),
    Outcome.GONE: frozenset({"message_not_found", "thread_not_found"}),
}


def outcome_of(error: str) -> Outcome:
    """Sort one of Slack's error names; a name nobody listed is ours to mend."""
    for outcome, names in _OUTCOMES.items():
        if error in names:
            return outcome
    return Outcome.PERSON if error.startswith("restricted_action") else Outcome.OURS


class SlackFailed(SaysoError):
    """A call to Slack failed; ``outcome`` says what to do, ``retry_after`` how long to wait."""

    def __init__(self, method: str, error: str, *, retry_after: float | None = None) -> None:
        self.method = method
        self.error = error
        self.outcome = outcome_of(error)
        self.retry_after = retry_after
        super().__init__(f"Slack answered {method} with {error}.")


class SlackUnknown(SlackFailed):
    """No answer came, or one that says nothing: the call may have been done all the same."""

    def __init__(self, method: str, error: str) -> None:
        super().__init__(method, error)
        self.outcome = Outcome.UNKNOWN


class NobodyNamed(SaysoError):
    """A post is for a role or a manager who is nobody now; name somebody in sayso.toml."""

    def __init__(self, place: str) -> None:
        super().__init__(f"sayso.toml names nobody for {place}")


class NotYet(SaysoError):
    """The request cannot be judged right now; Slack is told to send it again."""

    def __init__(self) -> None:
        super().__init__("Not everything needed could be found out in time; send it again.")
