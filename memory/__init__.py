"""Whom Sayso knows, and what it remembers of them.

`customers` finds and creates customers, `store` is the LangGraph `BaseStore` in which graphs and
our own code keep what was learnt of a customer, across threads. One rule holds the folder
together: what belongs to one customer is never read or written under the name of another.
This folder knows customers and nothing of graphs or Slack.
"""
