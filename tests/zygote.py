"""Processes of the product that cost milliseconds: one process imports it once, then forks.

Importing langgraph and Slack's libraries takes a second of processor time, and the tests start
hundreds of processes that are killed, ended or asked one thing. `start` is used like
`asyncio.create_subprocess_exec(sys.executable, …)`: what comes back is a process of its own, with
its own pid, environment, directory and streams, that runs ``-m MODULE ARGUMENTS``. It differs from
one that was started anew only in what is imported already, so whatever is about that (the command
line's own start, switches read at import, paths of Python) starts a process itself.

The zygote belongs to the process of pytest that asked first, and ends with it. It has one thread
and no event loop, so that what it forks is whole.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parent.parent
IMPORTED = (
    "bot.app",
    "bot.check",
    "bot.operating",
    "bot.printing",
    "bot.retracing",
    "bot.terminal",
    "graphs.library.loan",
    "graphs.library.refund",
    "graphs.running",
    "langgraph.checkpoint.sqlite.aio",
)
REQUEST_BYTES = 1 << 17
PIPE, DEVNULL = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL

_zygote: Zygote | None = None


class Forked:
    """A process that the zygote forked; used like `asyncio.subprocess.Process`."""

    def __init__(self, pid: int, ended: socket.socket) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdin: asyncio.StreamWriter | None = None
        self.stdout: asyncio.StreamReader | None = None
        self.stderr: asyncio.StreamReader | None = None
        self._watching = asyncio.create_task(self._watch(ended), name=f"process {pid}")

    async def _watch(self, ended: socket.socket) -> None:
        with ended:
            ended.setblocking(False)
            said = await asyncio.get_running_loop().sock_recv(ended, 32)
        # Without a word the zygote itself is gone, and nobody knows.
        self.returncode = int(said) if said else -signal.SIGKILL

    async def wait(self) -> int:
        await asyncio.shield(self._watching)
        assert self.returncode is not None
        return self.returncode

    async def communicate(self, typed: bytes | None = None) -> tuple[bytes, bytes]:
        """Write what is typed, close its input, read all it says, and wait for its end."""
        out, err, _ = await asyncio.gather(_all(self.stdout), _all(self.stderr), self._type(typed))
        await self.wait()
        return out, err

    async def _type(self, typed: bytes | None) -> None:
        if self.stdin is not None:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.stdin.write(typed or b"")
                await self.stdin.drain()
            self.stdin.close()

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


async def start(
    *arguments: str,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: int | IO[Any] | None = None,
    stdout: int | IO[Any] | None = None,
    stderr: int | IO[Any] | None = None,
) -> Forked:
    """Run ``python -m MODULE ARGUMENTS`` (or ``-P -m``) in a new process."""
    safe = arguments[0] == "-P"
    assert arguments[safe] == "-m"
    global _zygote
    if _zygote is None:
        _zygote = Zygote()
    theirs: list[int] = []
    ours: list[int | None] = []
    for number, given in enumerate((stdin, stdout, stderr)):
        if given == PIPE:
            read, write = os.pipe()
            theirs.append(write if number else read)
            ours.append(read if number else write)
        elif given == DEVNULL:
            theirs.append(os.open(os.devnull, os.O_RDWR))
            ours.append(None)
        else:
            file = number if given is None else given if isinstance(given, int) else given.fileno()
            theirs.append(os.dup(file))
            ours.append(None)
    request = {
        "words": arguments[safe + 1 :],
        "safe": safe,
        "environ": dict(os.environ if env is None else env),
        "directory": str(cwd or Path.cwd()),
    }
    process = Forked(*_zygote.fork(request, theirs))
    if ours[0] is not None:
        process.stdin = await _writer(ours[0])
    process.stdout, process.stderr = [
        None if end is None else await _reader(end) for end in ours[1:]
    ]
    return process


async def run(
    *arguments: str, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> tuple[int, str, str]:
    """Run one to its end, with nothing to read; its status, what it said, and its errors."""
    process = await start(*arguments, env=env, cwd=cwd, stdin=DEVNULL, stdout=PIPE, stderr=PIPE)
    out, err = await process.communicate()
    return await process.wait(), out.decode(), err.decode()


async def _reader(end: int) -> asyncio.StreamReader:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(end, "rb"))
    return reader


async def _writer(end: int) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(end, "wb")
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)


async def _all(stream: asyncio.StreamReader | None) -> bytes:
    return b"" if stream is None else await stream.read()


def pid() -> int | None:
    """The process that forks, a child of ours like those that a test counts."""
    return None if _zygote is None else _zygote.pid


class Zygote:
    """Our end of the process that forks."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.zygote", str(theirs.fileno())],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        self.pid = self._process.pid
        atexit.register(self.end)

    def fork(self, request: dict[str, Any], streams: list[int]) -> tuple[int, socket.socket]:
        """Have a process forked; its pid, and the socket on which its end is told."""
        ended, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            said = json.dumps(request).encode()
            socket.send_fds(self._socket, [said], [theirs.fileno(), *streams])
        for stream in streams:
            os.close(stream)
        if not (pid := ended.recv(32)):
            ended.close()
            raise RuntimeError("the process that forks is gone; what it said stands above")
        return int(pid), ended

    def end(self) -> None:
        self._socket.close()
        self._process.wait()


def _serve(control: socket.socket) -> dict[str, Any] | None:
    """Fork for each request; returns it in the new process, and None where nobody asks any more."""
    wake, woken = socket.socketpair()
    for end in (wake, woken):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken.fileno())
    children: dict[int, socket.socket] = {}
    selector = selectors.DefaultSelector()
    selector.register(control, selectors.EVENT_READ)
    selector.register(wake, selectors.EVENT_READ)
    while True:
        ready = {key.fileobj for key, _ in selector.select()}
        if wake in ready:
            wake.recv(4096)
            _reap(children)
        if control not in ready:
            continue
        request, given, _, _ = socket.recv_fds(control, REQUEST_BYTES, 4)
        if not request:
            return None
        ended = socket.socket(fileno=given[0])
        if pid := os.fork():
            children[pid] = ended
            ended.send(str(pid).encode())
            for stream in given[1:]:
                os.close(stream)
            continue
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        selector.close()
        for other in (control, wake, woken, ended, *children.values()):
            other.close()
        for number, stream in enumerate(given[1:]):
            os.dup2(stream, number)
            os.close(stream)
        return dict(json.loads(request))


def _reap(children: dict[int, socket.socket]) -> None:
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with children.pop(pid) as ended, contextlib.suppress(BrokenPipeError, ConnectionResetError):
            ended.send(str(os.waitstatus_to_exitcode(status)).encode())


def _become(request: dict[str, Any]) -> None:
    """Make this process what one that was started so would be, and run the module."""
    os.environ.clear()
    os.environ.update(request["environ"])
    os.chdir(request["directory"])
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:1] = [*([] if request["safe"] else [os.getcwd()]), *paths]
    importlib.invalidate_caches()
    if action := os.environ.get("PYTHONWARNINGS"):
        warnings.simplefilter(action)  # type: ignore[arg-type]
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False, buffering=1 if os.isatty(1) else -1)  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False, buffering=1, errors="backslashreplace")  # noqa: SIM115
    module, *sys.argv[1:] = request["words"]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    for name in IMPORTED:
        importlib.import_module(name)
    gc.freeze()
    if (asked := _serve(socket.socket(fileno=int(sys.argv[1])))) is not None:
        _become(asked)
