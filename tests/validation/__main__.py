"""Run all peers, or only the named peers, and write the page. With --page, only write the page."""

import sys
import time
from datetime import UTC, datetime

import aqmlab
from validation import data
from validation.page import PAGE, page
from validation.peer import KEYS, Peer, peers
from validation.picture import draw
from validation.row import VERDICTS, Row


def write_page() -> None:
    """Write docs/validation.md and its picture from the stored rows of all peers."""
    stored = {key: data.read(key) for key in KEYS}
    sections = {key: value for key, value in stored.items() if value}
    draw(sections, data.FOLDER)
    PAGE.write_text(page(sections), "utf-8")


def rows_of(peer: Peer) -> list[Row]:
    """Run the comparisons with a peer and return their rows; on a terminal, count finished rows."""
    print(f"{peer.NAME}: running", flush=True)
    rows: list[Row] = []
    for row in peer.rows():
        rows.append(row)
        if sys.stdout.isatty():
            print(f"{len(rows)} comparisons", end="\r", flush=True)
    return rows


def main(arguments: list[str]) -> int:
    """Run the peers and write the page; return the exit code, which is 130 after Ctrl-C."""
    try:
        return run(arguments)
    except KeyboardInterrupt:
        print("interrupted: peers that finished have stored new rows; the interrupted peer's rows "
              "and the page are unchanged. Run the command again, or run it with --page to write "
              "the page from the stored rows.", file=sys.stderr)  # fmt: skip
        return 130


def run(arguments: list[str]) -> int:
    """Run peers, store the rows of each peer, write the page, and return the exit code."""
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
        rows = rows_of(peer)
        minutes = round((time.monotonic() - begun) / 60, 1)
        day = datetime.now(UTC).date().isoformat()
        data.write(key, data.Origin(peer.version(), day, minutes, aqmlab.__version__), rows)
        score = ", ".join(f"{sum(r.verdict == v for r in rows)} {v}" for v in reversed(VERDICTS))
        print(f"{peer.NAME}: {score} ({minutes} min)", flush=True)
    write_page()
    print(f"wrote {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
