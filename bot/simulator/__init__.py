"""A small Slack on the loopback interface: the demo's workspace and the fake of every journey test.

It speaks Slack's Web API to the app and delivers signed requests to it, refuses what Slack
refuses, misbehaves as Slack does when told to, and has a page in the browser where one acts as
any of a cast of people. Its bank is where the loan pays. Reading order: cast (who is here),
workspace (what is true), slack (the parts together), api and its families (what the app may call),
deliveries (what the app is sent), acts and presses (what people do), control and page (how they
are driven), server (all of it on one port).
"""

from bot.simulator.server import LocalSlack, serve

__all__ = ["LocalSlack", "serve"]
