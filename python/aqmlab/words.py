"""Preparation of user input and file contents for display in a terminal."""

import unicodedata
from collections.abc import Iterable, Sequence

LONGEST = 2000
"""Maximum number of characters of a displayed message."""
LONGEST_NAME = 60
"""Maximum number of characters of a name in a displayed table."""
QUOTED = 90
"""Maximum number of characters that an error quotes from a line."""


MOST_NAMES = 3
"""Maximum number of names in a displayed list, unless the list has only one more name."""

UNSEEN = {"Cc", "Cf", "Zl", "Zp", "Cs"}
"""Unicode categories of control characters, which can change the terminal or the text direction."""


def visible(text: str) -> str:
    r"""Return a text with its control characters as escape sequences.

    Examples
    --------
    >>> print(visible("a" + chr(27) + "[31mb"))
    a\x1b[31mb
    """
    if text.isascii() and text.isprintable():
        return text
    seen = (c == "\t" or unicodedata.category(c) not in UNSEEN for c in text)
    return "".join(c if is_seen else ascii(c)[1:-1] for c, is_seen in zip(text, seen, strict=True))


FORMULA = ("=", "+", "-", "@")
"""Characters that make a spreadsheet interpret a text as a formula if the text begins with one."""


def refusal(text: str) -> str | None:
    r"""Return the reason and the remedy if a text cannot be a name; None for a valid name.

    The rules are the same for names in a scenario (crates/lab/src/scenario/checks.rs).

    Examples
    --------
    >>> refusal("red"), refusal("-2")[:31], refusal("a\n")[:34]
    (None, 'begins like a formula (=, +, -,', 'has control characters; remove the')
    """
    if steers(text):
        return "has control characters; remove them"
    if text.startswith(FORMULA):
        return (
            "begins like a formula (=, +, -, @), which a spreadsheet would compute; choose a name "
            "that begins with a letter or a digit"
        )
    return None


def steers(text: str) -> bool:
    """Return True if a text has control characters."""
    return not text.isprintable() and any(unicodedata.category(c) in UNSEEN for c in text)


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return a text; if it has more than `longest` characters, only its beginning and its end.

    Examples
    --------
    >>> shortened("abcdefghijkl", 9)
    'abc...jkl'
    """
    part = (longest - 3) // 2
    return text if len(text) <= longest else f"{text[:part]}...{text[-part:]}"


class LineError(ValueError):
    r"""Error in one line of an input; the message shows the line with a caret below the error.

    Attributes
    ----------
    problem : str
        Description of the error and the remedy, on one line.
    quotation : tuple of (str, str)
        Part of the line around the error, and a caret below each wrong character.

    Examples
    --------
    >>> print(LineError("'limt' is not an option; did you mean limit?", "codel limt 5", 6, 10))
    'limt' is not an option; did you mean limit?
        codel limt 5
              ^^^^
    """

    def __init__(self, problem: str, line: str, start: int, end: int) -> None:
        first = max(0, min(start - QUOTED // 2, len(line) - QUOTED))
        end = max(start + 1, min(end, first + QUOTED))
        before, wrong, after = line[first:start], line[start:end], line[end : first + QUOTED]
        shown = [visible(part.replace("\t", " ")) for part in (before, wrong, after)]
        cut = "..." if first else "", "..." if first + QUOTED < len(line) else ""
        caret = " " * len(cut[0] + shown[0]) + "^" * max(1, len(shown[1]))
        self.problem = problem
        self.quotation = (f"{cut[0]}{''.join(shown)}{cut[1]}", caret)
        super().__init__("\n    ".join((problem, *self.quotation)))


def listed(names: Sequence[str]) -> str:
    """Join names with commas; a number replaces all names after the first `MOST_NAMES`.

    Examples
    --------
    >>> listed(["red", "pie", "codel", "cobalt"]), listed(list("abcdefg"))
    ('red, pie, codel, cobalt', 'a, b, c and 4 more')
    """
    if len(names) <= MOST_NAMES + 1:
        return ", ".join(names)
    return f"{', '.join(names[:MOST_NAMES])} and {len(names) - MOST_NAMES} more"


def by_kind(warnings: Iterable[tuple[str, str, int]], runs: int) -> list[str]:
    """Return one line per kind of warning: an example, and the number of runs with the warning.

    Parameters
    ----------
    warnings : iterable of (str, str, int)
        Kind and text of each warning, and the number of runs that issued it. A run issues at most
        one warning of each kind.
    runs : int
        Number of all runs.

    Examples
    --------
    >>> by_kind([("slow-start", "a (1 of 2)", 3), ("slow-start", "a (2 of 2)", 1)], 8)
    ['a (1 of 2) (4 of 8 runs have such a warning)']
    """
    texts: dict[str, dict[str, int]] = {}
    for kind, text, n in warnings:
        of_kind = texts.setdefault(kind, {})
        of_kind[text] = of_kind.get(text, 0) + n
    return [
        f"{next(iter(of_kind))} ({sum(of_kind.values())} of {runs} runs"
        f"{' have such a warning' * (len(of_kind) > 1)})"
        for of_kind in texts.values()
    ]
