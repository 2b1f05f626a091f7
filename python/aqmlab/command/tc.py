"""`aqmlab tc`: translation of queues between Linux's tc and aqmlab."""

from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.command.terminal import print_text

if TYPE_CHECKING:
    from aqmlab.tc import Translation

EXAMPLES = (
    "aqmlab tc red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 ecn bandwidth 10Mbit",
    "aqmlab tc 'codel:target=10 ms,limit=1000 packets' --json",
)


def tc_command(
    words: Annotated[
        list[str],
        typer.Argument(
            help="Line of tc, such as 'pie limit 500 ecn', or commands that begin with 'tc qdisc "
            "add' or 'tc class add', separated by semicolons; or a queue of aqmlab with a colon "
            "after its kind, such as 'codel:target=10 ms' or 'codel:'.",
            metavar="LINE|QUEUE",
        ),
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print all forms of the queue as one JSON object.")
    ] = False,
) -> None:
    """Translate a queue from Linux's tc to aqmlab, or from aqmlab to tc.

    A line of tc becomes the queue with which the kernel would run, as text for `aqmlab compare` and
    as TOML. A queue of aqmlab becomes commands for the device DEV. The notes list everything that
    has no equivalent.
    """
    import json

    text = " ".join(words)
    to_tc = is_queue(text)
    translation = of_queue(text) if to_tc else of_line(text)
    if as_json:
        typer.echo(json.dumps(translation.as_dict(), indent=1, ensure_ascii=False))
        return
    forms = translation.commands if to_tc else (translation.text, "", translation.toml)
    kernel = ", ".join(f"{name} {value}" for name, value in translation.kernel.items())
    remarks = [
        *([f"kernel: {kernel}"] if kernel else []),
        *(f"note: {note}" for note in translation.notes),
        *(f"difference: {difference}" for difference in translation.differences),
    ]
    print_text("\n".join([*forms, *([""] if remarks else []), *remarks]))


def is_queue(text: str) -> bool:
    """Return True if a text is a queue of aqmlab, and False if it is a line of tc.

    Examples
    --------
    >>> is_queue("codel:target=10 ms"), is_queue("drop_tail"), is_queue("tc:codel")
    (True, True, False)
    >>> is_queue("codel"), is_queue("tc qdisc add dev eth0 root handle 1: codel")
    (False, False)
    """
    from aqmlab import manual, tc

    first = text.split(maxsplit=1)[0] if text.strip() else ""
    kind, colon, _ = first.partition(":")
    if colon or "=" in first:
        return kind != "tc"
    return kind not in tc.NAMES and any(page.name == kind for page in manual.in_category("queues"))


def of_line(text: str) -> "Translation":
    """Translate a line of tc."""
    from aqmlab import tc
    from aqmlab.comparison.queues import TC

    return tc.read(text.strip().removeprefix(TC))


def of_queue(text: str) -> "Translation":
    """Translate a queue in the syntax of `aqmlab compare`."""
    from aqmlab import tc
    from aqmlab.comparison.queues import arm

    queue = arm(text)
    if queue.custom is not None:
        raise ValueError(f"{text!r} is written in Python; tc has no queue discipline for it")
    (_, kind), *changes = queue.changes
    return tc.write({"kind": kind}, changes)
