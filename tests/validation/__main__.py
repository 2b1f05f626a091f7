"""Run all peers or those named, and write the page; with --page write only the page."""

import sys
import time
from datetime import UTC, datetime

import aqmlab
from validation import data
from validation.page import PAGE, page
from validation.peer import KEYS, peers
from validation.picture import draw
from validation.row import VERDICTS


def write_page() -> None:
    """Write the page and the picture from the rows of every peer that has ever run."""
    there = {key: data.read(key) for key in KEYS}
    sections = {key: value for key, value in there.items() if value}
    draw(sections, data.FOLDER)
    PAGE.write_text(page(sections), "utf-8")


def main(arguments: list[str]) -> int:
    """Run peers and write the page; return the exit code."""
    known = peers()
    named = [key for key in arguments if key != "--page"]
    for key in named:
        if key not in known:
            print(f"{key}: unknown peer; name one of {', '.join(known)}", file=sys.stderr)
            return 2
    for key in [] if "--page" in arguments else named or list(known):
        peer = known[key]
        reason = peer.missing()
        if reason:
            print(f"{peer.NAME}: skipped: {reason}", flush=True)
            continue
        begun = time.monotonic()
        rows = list(peer.rows())
        minutes = round((time.monotonic() - begun) / 60, 1)
        day = datetime.now(UTC).date().isoformat()
        made = data.Made(peer.NAME, peer.ABOUT, peer.version(), day, minutes, aqmlab.__version__)
        data.write(key, made, rows)
        score = ", ".join(f"{sum(r.verdict == v for r in rows)} {v}" for v in reversed(VERDICTS))
        print(f"{peer.NAME}: {score} ({minutes} min)", flush=True)
    write_page()
    print(f"wrote {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
