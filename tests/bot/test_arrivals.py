"""Whose a request is: ours, our enterprise's, or somebody else's."""

from __future__ import annotations

from typing import Any

import pytest

from bot.arrivals import is_foreign
from bot.workspaces import Workspace

OURS = Workspace("T0SAYSO", "Sayso", None, "U0SAYSO", "B0SAYSO")
GRID = Workspace("T0SAYSO", "Sayso", "E1", "U0SAYSO", "B0SAYSO")


@pytest.mark.parametrize(
    ("workspace", "body", "foreign"),
    [
        (OURS, {"user": {"team_id": "T0SAYSO"}, "team": {"id": "T0OTHER"}}, False),
        (OURS, {"user": {"team_id": "T0OTHER"}, "team": {"id": "T0SAYSO"}}, True),
        (OURS, {"user": {}, "team": {"id": "T0OTHER"}}, True),
        (OURS, {"user": {}, "team": None}, False),
        (OURS, {"team_id": "T0OTHER", "enterprise_id": "E1"}, True),
        (OURS, {"user": {"team_id": "T0OTHER"}, "enterprise": None}, True),
        (GRID, {"user": {"team_id": "T0SISTER"}, "team": None, "enterprise": {"id": "E1"}}, False),
        (GRID, {"user": {"team_id": "T0OTHER"}, "enterprise": {"id": "E2"}}, True),
        (GRID, {"user": {"team_id": "T0OTHER"}, "enterprise": None}, True),
        (GRID, {"team_id": "T0SISTER", "enterprise_id": "E1"}, False),
    ],
)
def test_another_team_is_foreign_unless_it_is_of_our_enterprise(
    workspace: Workspace, body: dict[str, Any], foreign: bool
) -> None:
    assert is_foreign(workspace, body) is foreign
