"""Program that a guest of the testbed runs: one scenario over the kernel of the guest.

The request and the answer are files in a folder that the guest shares with this machine. Both are
written by aqmlab itself.
"""

import marshal
import pickle
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aqmlab.custom import CustomAqms

REQUEST = "request"
ANSWER = "answer"
CAPTURES = "captures"
"""Folder for packet captures, which exists if the run writes captures."""
PROGRESS = "aqmlab progress "
"""Begin of the console lines that report the completed share of the run."""
POLL_S = 0.5
"""Interval in virtual s between two reports of progress."""


def request(text: str, aqms: "CustomAqms", qdiscs: Sequence[tuple[str, str]]) -> bytes:
    """Return the request to run a scenario with AQMs written in Python and with qdiscs.

    Raises
    ------
    ValueError
        If an AQM cannot be copied into the guest.
    """
    try:
        return pickle.dumps((text, dict(aqms), list(qdiscs)))
    except Exception as error:
        raise ValueError(
            f"an AQM cannot be copied into the guest ({error}); define its class in a module that "
            "Python can import"
        ) from None


def read(path: Path) -> dict[str, Any] | None:
    """Return an answer, or None if the guest did not write one."""
    try:
        answer = marshal.loads(path.read_bytes())
    except (OSError, EOFError, ValueError, TypeError):
        return None
    return answer if isinstance(answer, dict) else None


def _run(path: Path) -> dict[str, Any]:
    """Run the scenario of a request, and return the answer."""
    from aqmlab import _core

    # The file is from this user's own process, in a folder that only this user can write.
    text, aqms, qdiscs = pickle.loads(path.read_bytes())
    captures = path.with_name(CAPTURES)
    folders = [captures] if captures.is_dir() else []
    batch = _core.Batch([text], 1, folders, aqms, "{}", hosts="virtual-time", qdiscs=qdiscs)
    while not (finished := batch.next(POLL_S)):
        print(f"{PROGRESS}{batch.progress()[0]}", flush=True)
    return {"result": finished[1]}


def main(folder: Path) -> None:
    """Run the scenario of a folder, and write the answer."""
    try:
        answer = _run(folder / REQUEST)
    except Exception as error:
        traceback.print_exc()
        answer = {"error": (type(error).__name__, str(error))}
    (folder / ANSWER).write_bytes(marshal.dumps(answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
