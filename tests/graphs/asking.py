"""A graph that a configuration file can name: the loan of the runner's tests."""

from __future__ import annotations

from tests.graphs.test_runner import loan as made

loan = made()
