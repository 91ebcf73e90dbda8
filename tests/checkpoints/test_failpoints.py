"""Failpoints do nothing unless they are armed, and then end the process at their turn."""

import signal
import subprocess
import sys

import pytest

from checkpoints import failpoints

_PROGRAM = """
import sys
from checkpoints import failpoints
failpoints.arm(sys.argv[1])
for turn in range(3):
    failpoints.reached("here")
    print(turn, flush=True)
"""


@pytest.mark.parametrize(
    ("spec", "code", "turns"),
    [("", 0, "012"), ("elsewhere", 0, "012"), ("here", -9, ""), ("here:2,elsewhere", -9, "0")],
)
def test_a_process_ends_at_the_armed_turn_and_nowhere_else(
    spec: str, code: int, turns: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, spec], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.replace("\n", "")) == (code, turns)


def test_a_process_that_stalls_goes_on_when_it_is_told_to() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, "here:2=stop"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "0\n"
        process.send_signal(signal.SIGCONT)
        while process.poll() is None:
            process.send_signal(signal.SIGCONT)
        assert process.returncode == 0
        assert process.stdout.read() == "1\n2\n"


def test_a_spec_that_says_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="=stop"):
        failpoints.arm("here=explode")
