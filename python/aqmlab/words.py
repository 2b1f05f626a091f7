"""Texts that come from outside, as a terminal can show them."""

import unicodedata

LONGEST = 2000
"""Characters of a message at most."""
LONGEST_NAME = 60
"""Characters of a name in a table at most."""

UNSEEN = {"Cc", "Cf", "Zl", "Zp", "Cs"}
"""Categories of characters that steer a terminal or the direction of text, or are nothing."""


def visible(text: str) -> str:
    r"""Return a text with control characters spelled out.

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
"""What a text begins with that a spreadsheet computes."""


def refusal(text: str) -> str | None:
    r"""Return why a text cannot be a name in a table, and what to do; None: it can.

    As the names of a scenario are refused (crates/lab/src/scenario/checks.rs).

    Examples
    --------
    >>> refusal("red"), refusal("-2")[:31], refusal("a\n")[:34]
    (None, 'begins as a formula does (=, +,', 'has control characters in it; leav')
    """
    if steers(text):
        return "has control characters in it; leave them away"
    if text.startswith(FORMULA):
        return (
            "begins as a formula does (=, +, -, @); a spreadsheet would compute it; "
            "begin with a letter or a digit"
        )
    return None


def steers(text: str) -> bool:
    """Whether a text has characters that steer a terminal or the direction of text."""
    return not text.isprintable() and any(unicodedata.category(c) in UNSEEN for c in text)


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return a text, or its two ends if it is too long.

    Examples
    --------
    >>> shortened("abcdefghijkl", 9)
    'abc...jkl'
    """
    part = (longest - 3) // 2
    return text if len(text) <= longest else f"{text[:part]}...{text[-part:]}"
