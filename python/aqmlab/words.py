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


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return a text, or its two ends if it is too long.

    Examples
    --------
    >>> shortened("abcdefghijkl", 9)
    'abc...jkl'
    """
    part = (longest - 3) // 2
    return text if len(text) <= longest else f"{text[:part]}...{text[-part:]}"
