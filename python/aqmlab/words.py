"""Preparation of user input and file contents for display in a terminal."""

import unicodedata

LONGEST = 2000
"""Maximum number of characters of a displayed message."""
LONGEST_NAME = 60
"""Maximum number of characters of a name in a displayed table."""

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
