"""Description of a queue discipline of tc, and its translation in both directions.

A queue discipline is a table of options. Each option states its syntax in tc, its key in aqmlab's
queue, and its default in tc or in the kernel.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from aqmlab.tc.line import Command, Word
from aqmlab.tc.units import NotInTcError, Unit
from aqmlab.words import LineError

Queue = dict[str, Any]
"""Table of a queue, as in a scenario."""


@dataclass(frozen=True)
class Option:
    """Option of a queue discipline.

    Attributes
    ----------
    word : str
        Name of the option; `aliases` are other names.
    unit : Unit, optional
        Syntax of the value; None for a flag, which has no value.
    key : str
        Key of aqmlab's queue; "" if the queue has no such key.
    default : object
        Number that tc or the kernel uses without the option; None if the key is then absent.
    value : object
        Value of the key with this flag.
    zero : bool
        True if tc treats 0 like an absent option.
    lacks : str
        Reason why aqmlab cannot represent the option; "" if aqmlab can.
    inert : object
        Value with which an option without a key does not change the behaviour; True for a flag.
    many : bool
        True if the option has several values, all of them decimal numbers.
    """

    word: str
    unit: Unit | None = None
    key: str = ""
    default: Any = None
    value: Any = None
    zero: bool = False
    aliases: tuple[str, ...] = ()
    lacks: str = ""
    inert: Any = None
    many: bool = False


class Given:
    """Options of one command, parsed.

    Attributes
    ----------
    command : Command
        Command of tc.
    notes : list of str
        Remarks about the translation.
    kernel : dict
        Parameters that tc computes from the options and passes to the kernel.
    """

    def __init__(self, command: Command, options: tuple[Option, ...], prefixes: bool) -> None:
        self.command, self.notes, self.kernel = command, list[str](), dict[str, Any]()
        self._values: dict[str, tuple[Word, Any]] = {}
        self._options = options
        words = list(command.options)
        while words:
            word = words.pop(0)
            option = self._option(word, prefixes)
            numbers = []
            while words and option.many and words[0].text.isdecimal():
                numbers.append(words.pop(0))
            if option.unit and not option.many:
                if not words:
                    raise word.error(f"{word.text} needs a value")
                numbers = [words.pop(0)]
            self._take(option, word, numbers)

    def _option(self, word: Word, prefixes: bool) -> Option:
        text = word.text
        for option in self._options:
            if text == option.word or text in option.aliases:
                return option
        # tbf and htb compare most words with matches(), which accepts a beginning of the name.
        for option in self._options if prefixes else ():
            if option.word.startswith(text):
                return option
        kind = self.command.kind.text
        known = [name for option in self._options for name in (option.word, *option.aliases)]
        near = get_close_matches(text, known, n=2, cutoff=0.6)
        hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known)}"
        if not known:
            hint = f"{kind} has no options"
        raise word.error(f"{text!r} is not an option of {kind}; {hint}")

    def _take(self, option: Option, word: Word, numbers: list[Word]) -> None:
        """Store the value of an option, or a note if the option does not change anything."""
        at = numbers[-1] if numbers else word
        values = []
        for number in numbers:
            try:
                assert option.unit is not None
                values.append(option.unit.read(number.text))
            except ValueError as e:
                raise number.error(f"{word.text} {number.text}: {e}") from None
        value = values if option.many else values[0] if values else True
        written = " ".join(w.text for w in (word, *numbers))
        if option.lacks and (option.inert is None or option.inert != value):
            raise at.error(f"{written}: {option.lacks}")
        if option.lacks:
            self.notes.append(f"{written}: has no key in aqmlab, and does not change the behaviour")
        elif option.zero and value == 0:
            self.notes.append(f"{written}: tc then uses its default")
        else:
            if option.word in self._values:
                self.notes.append(f"{written}: replaces the earlier {option.word}")
            self._values.pop(option.word, None)  # the last of several options counts
            self._values[option.word] = (at, value)

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def get(self, name: str, default: Any = None) -> Any:
        """Return the number of an option, or `default` if the line does not have the option."""
        return self._values[name][1] if name in self._values else default

    def items(self) -> Iterator[tuple[Option, Any]]:
        """Yield the options of the line in their order, each with its value."""
        by_name = {option.word: option for option in self._options}
        return ((by_name[name], value) for name, (_, value) in self._values.items())

    def error(self, problem: str, *names: str) -> LineError:
        """Return an error at the first of the named options of the line, or at its kind."""
        word = next((self._values[n][0] for n in names if n in self._values), self.command.kind)
        return word.error(problem)

    def option_of(self, key: str) -> str:
        """Return the name of the option of the line that sets a key; "" without such an option."""
        names = (option.word for option, _ in self.items() if option.key == key)
        return next(names, "")


@dataclass(eq=False)
class Attached:
    """Queue disciplines and classes that are attached to a queue discipline.

    Attributes
    ----------
    commands : list of Command
        Their commands.
    build : callable
        Function that translates the command of a queue discipline.
    """

    commands: list[Command]
    build: Callable[[Command], Queue]
    _used: set[int] = field(default_factory=set)

    def queue(self, *minors: int) -> Queue | None:
        """Return the queue of a class; None if no queue discipline is attached to the class."""
        queue = None
        for command in self.commands:
            if not command.is_class and command.parent_minor() in minors:
                if queue is not None:
                    raise command.kind.error(
                        f"{command.kind.text} is a second queue discipline of the same class"
                    )
                queue = self.build(command)
                self._used.add(id(command))
        return queue

    def classes(self) -> list[Command]:
        """Return the commands that add a class."""
        classes = [command for command in self.commands if command.is_class]
        self._used.update(map(id, classes))
        return classes

    def check_used(self, kind: str) -> None:
        """Raise LineError if a command belongs to a class that does not exist."""
        for command in self.commands:
            if id(command) not in self._used:
                assert command.parent is not None
                raise command.parent.error(
                    f"{command.parent.text} is not a class of {kind} that can hold another queue "
                    "in aqmlab"
                )


@dataclass
class Written:
    """Options of a queue as text of tc, and the queues of its classes.

    Attributes
    ----------
    words : list of str
        Options after the name of the queue discipline.
    children : dict of int to dict
        Queue of each class that needs a command of its own, by minor number.
    classes : list of (int, int, str)
        Minor number of the parent, minor number and options of each class of its own command.
    notes : list of str
        Remarks about the translation.
    """

    words: list[str] = field(default_factory=list)
    children: dict[int, Queue] = field(default_factory=dict)
    classes: list[tuple[int, int, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Qdisc:
    """Queue discipline that tc and aqmlab have.

    Attributes
    ----------
    name : str
        Name of the queue discipline in tc.
    kind : str
        Kind of queue in aqmlab.
    options : tuple of Option
        Options of tc.
    fixed : dict
        Keys with a constant value in Linux that differs from aqmlab's default.
    unused : frozenset of str
        Keys that do not change the behaviour of this queue.
    differences : tuple of str
        Remaining differences between Linux's queue and aqmlab's.
    prefixes : bool
        True if tc accepts the beginning of a word instead of the word.
    """

    name: str
    kind: str
    options: tuple[Option, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)
    unused: frozenset[str] = frozenset()
    differences: tuple[str, ...] = ()
    prefixes: bool = False

    def parse(self, command: Command) -> Given:
        """Parse the options of a command."""
        return Given(command, self.options, self.prefixes)

    def read(self, given: Given, attached: Attached) -> Queue:  # noqa: ARG002
        """Return the queue for the options of a line."""
        return {"kind": self.kind, **self.fixed, **self.keys(given)}

    def keys(self, given: Given) -> Queue:
        """Return the keys and values of the options, with the defaults of absent options."""
        queue = {}
        for option in self.options:
            if option.key and option.unit and option.default is not None:
                queue[option.key] = option.unit.to_key(option.default)
            elif option.key and not option.unit and option.default:
                queue[option.key] = option.value
        for option, value in given.items():
            if option.key:
                queue[option.key] = option.unit.to_key(value) if option.unit else option.value
        return queue

    def accepts(self, queue: Queue) -> bool:  # noqa: ARG002
        """Return True if this queue discipline is the most similar one to a queue of its kind."""
        return True

    def write(self, queue: Queue) -> Written:
        """Return the options for a queue, which has all keys in normalized form."""
        written = Written()
        for option in self.options:
            if option.key and (queue[option.key] is not None):
                self.put(written, option, queue[option.key])
        return written

    def put(self, written: Written, option: Option, value: Any) -> None:
        """Append an option for the value of its key, unless the option has this value anyway."""
        if option.unit is None:
            if value == option.value and not option.default:
                written.words.append(option.word)
            return
        try:
            number = option.unit.from_key(value)
        except NotInTcError:  # the comparison with the written options reports the key
            return
        if number != option.default:
            written.words += [option.word, option.unit.write(number)]


def default_limit(packets: int) -> str:
    """Return the note about a limit that Linux takes from the length of the device's queue."""
    return (
        f"limit: Linux takes the length of the device's queue (txqueuelen), which is {packets} "
        "packets by default"
    )
