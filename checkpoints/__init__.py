"""What survives a restart.

The database door (`database`, `migrate`, `embedded`), ownership of threads (`leases`) and the
checkpoint savers (`postgres`). This folder knows no graphs, no customers and no Slack, and it is
the only one that imports a database driver. `PostgresSaver` can be used by any LangGraph program
without the rest of Sayso.
"""
