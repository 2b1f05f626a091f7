"""Commands of tc as words with their columns, and the tree of queues that they attach.

Source: tc(8), and tc/tc_qdisc.c and tc/tc_class.c of iproute2 7.1.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from aqmlab.words import LineError

MOST = 100
"""Maximum number of commands in a text."""
_ACTIONS = ("add", "replace", "change", "link")


@dataclass(frozen=True)
class Word:
    """Word of a line, with the line and the column of its first character."""

    text: str
    line: str
    start: int

    def error(self, problem: str) -> LineError:
        """Return an error that shows the line with a caret below this word."""
        return LineError(problem, self.line, self.start, self.start + len(self.text))


@dataclass(eq=False)
class Command:
    """Command that adds a queue discipline or a class.

    Attributes
    ----------
    kind : Word
        Name of the queue discipline.
    options : list of Word
        Words after the name of the queue discipline.
    is_class : bool
        True if the command adds a class.
    parent : Word, optional
        Identifier of the class to which the queue discipline or the class belongs.
    handle : int
        Major number of a queue discipline; 0 without a handle.
    minor : int
        Minor number of a class.
    attached : list of Command
        Commands whose parent is this queue discipline or one of its classes.
    """

    kind: Word
    options: list[Word]
    is_class: bool = False
    parent: Word | None = None
    handle: int = 0
    minor: int = 0
    attached: list["Command"] = field(default_factory=list)

    def parent_minor(self) -> int:
        """Return the minor number of the parent class; 0 for the queue discipline itself."""
        assert self.parent is not None
        return _identifier(self.parent)[1]


def commands(text: str) -> Command:
    """Parse the commands of tc in a text, and return the command of the root.

    The commands stand on lines of their own or are separated by semicolons. A command may begin
    with ``tc qdisc add dev DEV root``, or directly with the name of the queue discipline.

    Raises
    ------
    LineError
        If a command is malformed, or if its parent does not exist.
    """
    joined = text.replace("\\\n", "  ")
    lines = [line for part in joined.split("\n") for line in part.split(";")]
    parsed = [_command(words, line) for line in lines if (words := _words(line))]
    if not parsed:
        raise LineError("the line has no queue discipline; write for example codel", text, 0, 1)
    if len(parsed) > MOST:
        raise parsed[MOST].kind.error(f"{len(parsed)} commands are more than the maximum, {MOST}")
    owners: dict[int, Command] = {}
    for command in parsed:
        if command.handle and not command.is_class:
            if command.handle in owners:
                raise command.kind.error(f"the handle {command.handle:x}: occurs twice")
            owners[command.handle] = command
    root = next((command for command in parsed if _owner(command, owners) is None), parsed[0])
    for command in parsed:
        owner = _owner(command, owners)
        if owner is not None:
            owner.attached.append(command)
        elif command is not root and command.parent is None:
            raise command.kind.error(
                "a second root is not possible; attach the queue discipline with parent, as in "
                "parent 1:1"
            )
        elif command is not root and command.parent is not None:
            raise command.parent.error(
                f"{command.parent.text} does not exist; give its queue discipline this handle, as "
                "in handle 1:"
            )
    below = {id(command) for command in _below(root)} if _owner(root, owners) is None else set()
    for command in parsed:
        if id(command) not in below:
            raise (command.parent or command.kind).error("the command is not below the root")
    return root


def _owner(command: Command, owners: dict[int, Command]) -> Command | None:
    """Return the queue discipline to which the parent of a command belongs."""
    return owners.get(_identifier(command.parent)[0]) if command.parent else None


def _below(command: Command) -> Iterator[Command]:
    yield command
    for other in command.attached:
        yield from _below(other)


def _words(line: str) -> list[Word]:
    code = line.partition("#")[0]
    return [Word(match[0], line, match.start()) for match in re.finditer(r"\S+", code)]


def _command(words: list[Word], line: str) -> Command:
    """Parse one command: its object, its action, its place, its kind and its options."""
    rest = iter(words)
    word = next(rest)
    end = Word(" ", line, len(line.partition("#")[0].rstrip()))

    def following(before: Word, need: str) -> Word:
        after = next(rest, None)
        if after is None:
            raise end.error(f"{need} is missing after {before.text}")
        return after

    is_class, parent, handle, minor = False, None, 0, 0
    if word.text == "tc":
        word = following(word, "qdisc or class")
    if word.text in ("qdisc", "class"):
        is_class = word.text == "class"
        word = following(word, "add")
        if word.text not in _ACTIONS:
            raise word.error(f"{word.text!r} is not an action that aqmlab reads; write add")
        word = following(word, "dev")
    elif word.text == "filter":
        raise word.error("filter: aqmlab does not read filters of tc; remove the command")
    while word.text in ("dev", "root", "parent", "handle", "classid"):
        place = word
        if place.text != "root":
            value = following(place, "a value")
            if place.text == "parent":
                parent = value
            if place.text != "dev":
                numbers = _identifier(value)
            if place.text == "handle":
                handle = numbers[0]
            elif place.text == "classid":
                minor = numbers[1]
        word = following(place, "the name of a queue discipline, such as codel,")
    if word.text in ("ingress", "clsact", "stab", "estimator", "ingress_block", "egress_block"):
        raise word.error(f"{word.text} does not exist in aqmlab; remove it")
    if is_class and parent is None:
        raise word.error(
            f"the class has no parent; write parent before {word.text}, as in parent 1:"
        )
    return Command(word, list(rest), is_class, parent, handle, minor)


def _identifier(word: Word) -> tuple[int, int]:
    """Return the major and minor number of an identifier such as 1:10, which are hexadecimal."""
    match = re.fullmatch(r"([0-9a-fA-F]{1,4})(?::([0-9a-fA-F]{1,4})?)?", word.text, re.ASCII)
    if not match:
        raise word.error(f"{word.text} is not an identifier; write for example 1: or 1:10")
    return int(match[1], 16), int(match[2] or "0", 16)
