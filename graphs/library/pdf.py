"""The text of a PDF; as a program, of the one on standard input, within limits of its own.

A PDF is a program for its reader: a small one can ask for hours of work or for all memory, and no
thread can be made to stop. So a document from outside is read by `python -m graphs.library.pdf
SECONDS BYTES`, which the kernel ends when it has used that much, and which answers in JSON. It
imports next to nothing of ours, because it starts anew for every document.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import resource
import sys
from dataclasses import asdict, dataclass

MAX_PAGES = 100
MAX_CHARACTERS = 200_000
NICE = 5  # the worker that waits for us goes first


@dataclass(frozen=True)
class Pdf:
    """What a PDF holds, or in `unread` why that is not known: one of the constants below."""

    pages: int = 0
    text: str = ""
    unread: str | None = None
    error: str | None = None  # the type of what the parser raised, for the log


LOCKED = "locked"
BROKEN = "broken"
TOO_LARGE = "too large"  # it asks for more memory than there is
TOO_SLOW = "too slow"


def text_of(body: bytes) -> Pdf:
    """Read the text of the first pages here and now; never raises for what is in the file."""
    import pypdf
    from pypdf.errors import FileNotDecryptedError

    logging.getLogger("pypdf").setLevel(logging.ERROR)  # it warns of every oddity
    try:
        reader = pypdf.PdfReader(io.BytesIO(body))
        if reader.is_encrypted and not reader.decrypt(""):
            return Pdf(unread=LOCKED)
        parts: list[str] = []
        characters = 0
        for page in reader.pages[:MAX_PAGES]:
            parts.append(page.extract_text())
            characters += len(parts[-1])
            if characters > MAX_CHARACTERS:
                break
        return Pdf(len(reader.pages), "\n".join(parts)[:MAX_CHARACTERS])
    except FileNotDecryptedError:
        return Pdf(unread=LOCKED)
    except MemoryError:
        return Pdf(unread=TOO_LARGE)
    except Exception as error:  # a hostile file may make the parser raise anything at all
        return Pdf(unread=BROKEN, error=type(error).__name__)


def _main() -> None:
    seconds, memory = int(sys.argv[1]), int(sys.argv[2])
    os.nice(NICE)
    _limit(resource.RLIMIT_CPU, seconds)
    _limit(resource.RLIMIT_AS, memory)
    _limit(resource.RLIMIT_CORE, 0)
    answer = text_of(sys.stdin.buffer.read())
    # ASCII: a PDF may hold lone surrogates, which no other encoding takes.
    sys.stdout.write(json.dumps(asdict(answer)))


def _limit(what: int, most: int) -> None:
    # macOS refuses a limit on memory; time is limited there all the same.
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(what, (most, most))


if __name__ == "__main__":
    _main()
