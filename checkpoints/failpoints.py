"""Named places at which a test may end the process, as a power cut would.

A failpoint stands at every place whose crash leaves something behind: before and after a commit,
after a send. It does nothing unless the composition root armed it from ``SAYSO_FAILPOINTS``, for
example ``settle.after`` or ``post.sent:2`` (the second time it is reached). The process then
kills itself with SIGKILL, so that no handler, no finally and no buffer gets a say. With ``=stop``
behind it, the process stops itself with SIGSTOP instead, as one that stalls does, until somebody
sends SIGCONT.
"""

from __future__ import annotations

import os
import signal
import threading

_left: dict[str, int] = {}
_signals: dict[str, signal.Signals] = {}
_lock = threading.Lock()


def arm(spec: str) -> None:
    """Arm the failpoints named in ``spec``, "NAME[:TIMES][=stop],…"; an empty one disarms all.

    Raises:
        ValueError: the number behind a name is not one, or it says something else than stop.
    """
    armed: dict[str, int] = {}
    signals: dict[str, signal.Signals] = {}
    for part in filter(None, (part.strip() for part in spec.split(","))):
        place, _, action = part.partition("=")
        if action not in ("", "stop"):
            raise ValueError(f"{part}: write nothing or =stop behind the name")
        name, _, times = place.partition(":")
        armed[name] = int(times or 1)
        signals[name] = signal.SIGSTOP if action else signal.SIGKILL
    with _lock:
        _left.clear()
        _left.update(armed)
        _signals.update(signals)


def reached(name: str) -> None:
    """End the process here and now if this failpoint is armed and its turn has come."""
    if not _left:
        return
    with _lock:
        if name not in _left:
            return
        _left[name] -= 1
        due = _left[name] == 0
    if due:
        os.kill(os.getpid(), _signals[name])
