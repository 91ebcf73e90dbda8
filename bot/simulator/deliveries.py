"""What Slack sends to the app: signed, within 3 seconds, events again when they were not taken.

An event is written to the outbox before anyone is told that it happened and leaves the outbox
when the app has answered 2xx or the last retry has failed, so a killed local Slack goes on where
it was. Retries come at once, after 1 minute and after 5, times `retry_scale`; in one thing we
are kinder than Slack: when the app is seen to be back, what waits is sent without waiting longer.
Clicks, submissions and commands are sent once. Whatever was sent, and how it ended, is in `log`.
"""

import asyncio
import json
import time
from collections import deque
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from hmac import new as hmac
from typing import Any
from urllib.parse import urlencode

import aiohttp

from bot.simulator import cast
from bot.simulator.cast import JSON
from bot.simulator.misbehaviour import Misbehaviour
from bot.simulator.workspace import Workspace

RETRY_WAIT_SECONDS = (0.0, 60.0, 300.0)
ACK_SECONDS = 3.0
LOG_LENGTH = 500
_ANSWER_BYTES = 1_000_000
_USER_AGENT = "Slackbot 1.0 (+https://api.slack.com/robots)"


@dataclass(frozen=True)
class Answer:
    """How the app answered one request; status 0 when it did not."""

    status: int
    body: bytes = b""
    error: str | None = None
    no_retry: bool = False

    @property
    def taken(self) -> bool:
        return 200 <= self.status < 300

    def json(self) -> Any:
        """The body as JSON, None when it is empty or something else."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


def signed(secret: str, body: bytes, *, at: float | None = None) -> dict[str, str]:
    """Slack's v0 signature headers over these very bytes."""
    timestamp = str(int(time.time() if at is None else at))
    base = b"v0:" + timestamp.encode() + b":" + body
    return {
        "X-Slack-Request-Timestamp": timestamp,
        "X-Slack-Signature": "v0=" + hmac(secret.encode(), base, sha256).hexdigest(),
    }


class Deliveries:
    """Sends to one events_url; an empty one is an app that is not installed yet."""

    def __init__(
        self,
        workspace: Workspace,
        misbehaviour: Misbehaviour,
        *,
        events_url: str,
        signing_secret: str,
        retry_scale: float,
        ack_seconds: float = ACK_SECONDS,
    ) -> None:
        self.events_url = events_url
        self.log: deque[JSON] = deque(maxlen=LOG_LENGTH)
        self._workspace = workspace
        self._misbehaviour = misbehaviour
        self._secret = signing_secret
        self._retry_scale = retry_scale
        self._timeout = aiohttp.ClientTimeout(total=ack_seconds)
        self._session: aiohttp.ClientSession | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: set[asyncio.Event] = set()
        self.unreached = False  # nobody took the last that was sent

    async def open(self) -> None:
        """Begin, with whatever was left in the outbox."""
        self._session = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar())
        for event_id in list(self._workspace.table("outbox")):
            self._spawn(self._deliver(event_id), f"deliver {event_id}")

    async def close(self) -> None:
        """Stop sending; the outbox keeps what was not taken."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._session:
            await self._session.close()

    def hurry(self) -> None:
        """The app is back: send at once what waits for its next retry."""
        self.unreached = False
        for waiting in self._waiting:
            waiting.set()

    def forget(self) -> None:
        """Send nothing that was not sent yet (the workspace was emptied)."""
        for task in self._tasks:
            task.cancel()
        self.log.clear()

    async def settled(self) -> None:
        """Wait until nothing is under way; for tests."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    def event(self, event: JSON, *, ext_shared: bool = False) -> str:
        """Put an event on its way; its event_id."""
        event_id = self._workspace.new_id("Ev0")
        envelope = {
            "token": cast.VERIFICATION_TOKEN,
            "team_id": cast.TEAM["id"],
            "context_team_id": cast.TEAM["id"],
            "context_enterprise_id": None,
            "api_app_id": cast.APP_ID,
            "event": event,
            "type": "event_callback",
            "event_id": event_id,
            "event_time": int(time.time()),
            "authorizations": [
                {
                    "enterprise_id": None,
                    "team_id": cast.TEAM["id"],
                    "user_id": cast.BOT_USER,
                    "is_bot": True,
                    "is_enterprise_install": False,
                }
            ],
            "is_ext_shared_channel": ext_shared,
            "event_context": f"4-{event_id}",
        }
        self._workspace.put("outbox", event_id, {"envelope": envelope, "attempt": 0})
        self._spawn(self._deliver(event_id), f"deliver {event_id}")
        return event_id

    async def interaction(self, payload: JSON) -> Answer:
        """Send a click, a submission or a shortcut once, and hear the answer."""
        body = urlencode({"payload": json.dumps(payload)}).encode()
        return await self._once("interaction", payload["type"], body)

    async def command(self, form: dict[str, str]) -> Answer:
        """Send a slash command once, and hear the answer."""
        return await self._once("command", form["command"], urlencode(form).encode())

    # ---- inside

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        if self._session is None:
            work.close()
            return
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _deliver(self, event_id: str) -> None:
        """Try until it is taken or the last retry has failed.

        1. wait as the attempt demands;  2. send, with copies where Slack is told to repeat itself;
        3. taken, or told not to retry, or the last attempt: leave the outbox;  4. else go on.
        """
        while row := self._workspace.get("outbox", event_id):
            attempt = row["attempt"]
            if attempt:
                await self._wait(RETRY_WAIT_SECONDS[attempt - 1] * self._retry_scale)
            answer = await self._attempt(row)
            if answer.taken or answer.no_retry or attempt == len(RETRY_WAIT_SECONDS):
                self._workspace.drop("outbox", event_id)
                return
            left = {**row, "attempt": attempt + 1, "reason": _reason(answer)}
            self._workspace.put("outbox", event_id, left)

    async def _attempt(self, row: JSON) -> Answer:
        body = json.dumps(row["envelope"]).encode()
        event = row["envelope"]["event"]
        about = {"id": row["envelope"]["event_id"], "channel": event.get("channel")}
        retry, headers = row["attempt"], {}
        if retry:
            headers = {
                "X-Slack-Retry-Num": str(retry),
                "X-Slack-Retry-Reason": row.get("reason", "http_error"),
            }
        elif self._misbehaviour.take("drop_events"):
            lost = Answer(0, error="lost on its way")
            self._note("event", event["type"], lost, 0.0, retry, about)
            return lost
        copies = [self._send("event", event["type"], body, "application/json", headers, about)]
        for copy in range(1, self._misbehaviour["redeliver"] + 1):
            again = {"X-Slack-Retry-Num": str(copy), "X-Slack-Retry-Reason": "http_timeout"}
            copies.append(
                self._send("event", event["type"], body, "application/json", again, about)
            )
        answers = await asyncio.gather(*copies)
        return next((answer for answer in answers if answer.taken), answers[0])

    async def _once(self, kind: str, what: str, body: bytes) -> Answer:
        media_type = "application/x-www-form-urlencoded"
        times = 1 + self._misbehaviour["redeliver_interactions"]
        copies = [self._send(kind, what, body, media_type, {}, {}) for _ in range(times)]
        return (await asyncio.gather(*copies))[0]

    async def _send(
        self,
        kind: str,
        what: str,
        body: bytes,
        media_type: str,
        headers: dict[str, str],
        about: JSON,
    ) -> Answer:
        if delay := self._misbehaviour["delay_ms"]:
            await asyncio.sleep(delay / 1000)
        began = time.monotonic()
        retry = int(headers.get("X-Slack-Retry-Num", 0))
        everything = {
            "Content-Type": media_type,
            "User-Agent": _USER_AGENT,
            **signed(self._secret, body),
            **headers,
        }
        if not self.events_url or self._session is None:
            answer = Answer(0, error="no events_url", no_retry=True)
        else:
            answer = await self._post(self._session, body, everything)
            self.unreached = answer.status == 0 and answer.error != "timeout"
        self._note(kind, what, answer, time.monotonic() - began, retry, about)
        return answer

    async def _post(
        self, session: aiohttp.ClientSession, body: bytes, headers: dict[str, str]
    ) -> Answer:
        try:
            async with session.post(
                self.events_url,
                data=body,
                headers=headers,
                timeout=self._timeout,
                allow_redirects=False,
            ) as response:
                content = await response.content.read(_ANSWER_BYTES)
                no_retry = response.headers.get("X-Slack-No-Retry") == "1"
                return Answer(response.status, content, no_retry=no_retry)
        except TimeoutError:
            return Answer(0, error="timeout")
        except aiohttp.ClientConnectorError:
            return Answer(0, error="connection refused")
        except aiohttp.ClientError as error:
            return Answer(0, error=f"connection failed: {type(error).__name__}")

    async def _wait(self, seconds: float) -> None:
        waiting = asyncio.Event()
        self._waiting.add(waiting)
        try:
            await asyncio.wait_for(waiting.wait(), seconds)
        except TimeoutError:
            pass
        finally:
            self._waiting.discard(waiting)

    def _note(
        self, kind: str, what: str, answer: Answer, seconds: float, retry: int, about: JSON
    ) -> None:
        self.log.append(
            {
                "kind": kind,
                "type": what,
                **about,
                "status": answer.status,
                "error": answer.error,
                "ms": round(seconds * 1000),
                "retry": retry,
                "at": datetime.now(UTC).isoformat(),
            }
        )


def _reason(answer: Answer) -> str:
    if answer.error == "timeout":
        return "http_timeout"
    return "http_error" if answer.status else "connection_failed"
