"""Named places at which a test may end the process, as a power cut would.

A failpoint stands at every place whose crash leaves something behind: before and after a commit,
after a send. It does nothing unless the composition root armed it from ``SAYSO_FAILPOINTS``, for
example ``settle.committed`` or ``post.sent:2`` (the second time it is reached). The process then
kills itself with SIGKILL, so that no handler, no finally and no buffer gets a say.
"""

from __future__ import annotations

import os
import signal
import threading

_left: dict[str, int] = {}
_lock = threading.Lock()


def arm(spec: str) -> None:
    """Arm the failpoints named in ``spec``, "NAME[:TIMES],…"; an empty one disarms all.

    Raises:
        ValueError: the number behind a name is not one.
    """
    armed: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in spec.split(","))):
        name, _, times = part.partition(":")
        armed[name] = int(times or 1)
    with _lock:
        _left.clear()
        _left.update(armed)


def reached(name: str) -> None:
    """End the process here and now if this failpoint is armed and its turn has come."""
    if not _left:
        return
    with _lock:
        if name not in _left:
            return
        _left[name] -= 1
        due = _left[name] <= 0
    if due:
        os.kill(os.getpid(), signal.SIGKILL)
