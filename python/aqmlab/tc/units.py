"""Numbers of tc's options: their syntax, their rounding, and their form as a value of a key.

Source: tc(8), "PARAMETERS", and the functions of iproute2 7.1 that each unit names (lib/utils.c,
lib/utils_math.c). tc stores sizes in bytes, times in microseconds and rates in bytes per second,
each as a whole number of at most 32 bits; a fraction is cut off.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

LARGEST = 2**32 - 1
"""Largest size, time, count and rate of tc (UINT_MAX)."""
_FLOAT = re.compile(r"\+?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"\+?(?:0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)", re.ASCII)
_DECIMAL = re.compile(r"\+?[0-9]+", re.ASCII)

_SIZES = {"": 1, "b": 1, "kbit": 128, "k": 2**10, "kb": 2**10, "mbit": 2**17, "m": 2**20,
          "mb": 2**20, "gbit": 2**27, "g": 2**30, "gb": 2**30}  # fmt: skip
_TIMES = {"": 1, "us": 1, "usec": 1, "usecs": 1, "ms": 1e3, "msec": 1e3, "msecs": 1e3, "s": 1e6,
          "sec": 1e6, "secs": 1e6}  # fmt: skip
_RATES = {"": 1.0, "bit": 1.0, "bps": 8.0}
for _i, _prefix in enumerate("kmgt", 1):
    for _unit, _bits in (("bit", 1.0), ("bps", 8.0)):
        _RATES[_prefix + _unit] = 1000.0**_i * _bits
        _RATES[_prefix + "i" + _unit] = 1024.0**_i * _bits

BYTES = {"bytes": "1", "B": "1", "kB": "1e3", "MB": "1e6", "GB": "1e9", "KiB": "1024",
         "MiB": "1048576", "GiB": "1073741824"}  # fmt: skip
PACKETS_OR_BYTES = {"packets": "1500", "packet": "1500", **BYTES}
MICROSECONDS = {"us": "1", "ns": "0.001", "ms": "1e3", "s": "1e6"}
BITS = {"bit/s": "1", "kbit/s": "1e3", "Mbit/s": "1e6", "Gbit/s": "1e9"}
NUMBER = {"packets": "1", "packet": "1"}


class NotInTcError(ValueError):
    """Value of a key that tc cannot express; the message states the reason."""


def _scaled(text: str, suffixes: dict[str, Any], form: str) -> float:
    """Parse a decimal number of 0 or more and a suffix, as strtod and strcasecmp do."""
    number = _FLOAT.match(text)
    suffix = text[number.end() :] if number else ""
    if number is None or suffix.lower() not in suffixes:
        unit = f"{suffix!r} is not a unit; " if number else ""
        raise ValueError(f"{unit}write {form}")
    return float(number[0]) * float(suffixes[suffix.lower()])


def _whole(value: float, largest: int = LARGEST) -> int:
    if not value <= largest:
        raise ValueError(f"must be at most {largest} after tc's conversion")
    return math.floor(value)


def read_size(text: str, largest: int = LARGEST) -> int:
    """Return a size in bytes (get_size).

    Examples
    --------
    >>> read_size("400000"), read_size("1.5kb"), read_size("8Mbit")
    (400000, 1536, 1048576)
    """
    return _whole(_scaled(text, _SIZES, "a size in bytes, or with b, k, m or g"), largest)


def _read_burst(text: str) -> int:
    """Return a size of up to 64 bits, which may have a cell size after a slash.

    The cell size (get_size64_and_cell) is part of a table that Linux ignores since version 3.8.
    """
    size, slash, cell = text.partition("/")
    if slash and read_count(cell).bit_count() != 1:
        raise ValueError("write a power of 2 after the slash, or no slash")
    return read_size(size, 10**12)


def read_time(text: str) -> int:
    """Return a time in microseconds (get_time).

    Examples
    --------
    >>> read_time("5ms"), read_time("100"), read_time("1.5S")
    (5000, 100, 1500000)
    """
    return _whole(_scaled(text, _TIMES, "a time such as 5ms; without a unit it is in us"))


def read_rate(text: str, largest: int = LARGEST) -> int:
    """Return a rate in bytes per second (get_rate).

    Examples
    --------
    >>> read_rate("10Mbit"), read_rate("1kbps"), read_rate("1kibit"), read_rate("15")
    (1250000, 1000, 128, 1)
    """
    if text.endswith("%"):
        raise ValueError("is a share of a device's speed; write the rate, such as 10Mbit")
    form = "a rate such as 10Mbit; without a unit it is in bit/s"
    return _whole(_scaled(text, _RATES, form) / 8, largest)


def read_count(text: str) -> int:
    """Return a whole number, which may be hexadecimal or octal (get_unsigned with base 0).

    Examples
    --------
    >>> read_count("1000"), read_count("0x10"), read_count("010")
    (1000, 16, 8)
    """
    if not _WHOLE.fullmatch(text):
        raise ValueError("write a whole number without a unit")
    digits = text.lstrip("+")
    octal = len(digits) > 1 and digits[0] == "0" and digits[1] not in "xX"
    return _bounded(digits, 8 if octal else 16 if digits[:2].lower() == "0x" else 10)


def read_decimal(text: str) -> int:
    """Return a whole number in decimal notation (get_unsigned with base 10)."""
    if not _DECIMAL.fullmatch(text):
        raise ValueError("write a whole decimal number without a unit")
    return _bounded(text.lstrip("+"), 10)


def _bounded(digits: str, base: int) -> int:
    if len(digits) > 40:
        raise ValueError(f"must be at most {LARGEST}")
    return _whole(int(digits, base))


def read_float(text: str) -> float:
    """Return a decimal number. tc ignores text after the number, and aqmlab refuses it."""
    value = _scaled(text, {"": 1}, "a number such as 0.02, without a unit")
    if not math.isfinite(value):
        raise ValueError("must be a finite number")
    return value


def read_percent(text: str) -> int:
    """Return a share in whole per cent (parse_percent and rint of tc/q_dualpi2.c)."""
    value = _scaled(text, {"": 1, "%": 1}, "a share of at most 100%, such as 10%")
    if not value <= 100:
        raise ValueError("must be at most 100%")
    return round(value)


def amount(value: str, units: dict[str, str]) -> int:
    """Return a value such as "5 ms" of a normalized scenario in the first unit, rounded down.

    Raises
    ------
    NotInTcError
        If the value has another unit.
    """
    number, _, unit = value.partition(" ")
    if unit not in units:
        raise NotInTcError(f"tc needs this value in {next(iter(units))}")
    return math.floor(Decimal(number) * Decimal(units[unit]))


def in_bytes(length: str) -> bool:
    """Return True if a length of a normalized scenario is in bytes.

    Examples
    --------
    >>> in_bytes("1 MB"), in_bytes("5 packets"), in_bytes("5 ms")
    (True, False, False)
    """
    return length.partition(" ")[2] in BYTES


@dataclass(frozen=True)
class Unit:
    """Unit of an option of tc, and the form of the same quantity in a scenario.

    Attributes
    ----------
    read : callable
        Function that parses the text of the option as tc does.
    write : callable
        Function that returns the text of the option for a number.
    to_key : callable
        Function that returns the value of aqmlab's key for a number.
    from_key : callable
        Function that returns the number for the value of aqmlab's key, rounded as tc rounds.
    """

    read: Callable[[str], Any]
    write: Callable[[Any], str]
    to_key: Callable[[Any], Any]
    from_key: Callable[[Any], Any]


def _write_time(us: int) -> str:
    for size, unit in ((10**6, "s"), (1000, "ms")):
        if us and us % size == 0:
            return f"{us // size}{unit}"
    return f"{us}us"


def _write_rate(bytes_per_s: int) -> str:
    for size, unit in ((10**9, "Gbit"), (10**6, "Mbit"), (1000, "kbit")):
        if bytes_per_s and 8 * bytes_per_s % size == 0:
            return f"{8 * bytes_per_s // size}{unit}"
    return f"{8 * bytes_per_s}bit"


def _in(units: dict[str, str], divisor: int = 1) -> Callable[[str], int]:
    """Return a function that converts a value of a key to multiples of `divisor` units."""
    return lambda value: amount(value, units) // divisor


def _share(parts: int) -> Unit:
    """Return the unit of a whole number of `parts`-ths, whose key is the quotient."""
    return Unit(read_count, str, lambda n: n / parts, lambda value: round(value * parts))


SIZE = Unit(read_size, str, lambda n: f"{n} B", _in(BYTES))
SIZE64 = Unit(_read_burst, str, SIZE.to_key, SIZE.from_key)
PLAIN_SIZE = Unit(read_count, str, SIZE.to_key, SIZE.from_key)
"""Size in bytes without a suffix (get_unsigned)."""
DECIMAL_SIZE = Unit(read_decimal, str, SIZE.to_key, SIZE.from_key)
TIME = Unit(read_time, _write_time, lambda n: f"{n} us", _in(MICROSECONDS))
SECONDS = Unit(read_count, str, lambda n: f"{n} s", _in(MICROSECONDS, 10**6))
MILLISECONDS = Unit(read_count, str, lambda n: f"{n} ms", _in(MICROSECONDS, 1000))
RATE = Unit(read_rate, _write_rate, lambda n: f"{8 * n} bit/s", _in(BITS, 8))
RATE64 = Unit(lambda text: read_rate(text, 2**64 - 1), _write_rate, RATE.to_key, RATE.from_key)
PACKETS = Unit(read_count, str, lambda n: f"{n} packets", _in(NUMBER))
DECIMAL_PACKETS = Unit(read_decimal, str, PACKETS.to_key, PACKETS.from_key)
SIZED_PACKETS = Unit(read_size, str, PACKETS.to_key, PACKETS.from_key)
"""Number of packets that tc parses as a size (fifo_parse_opt)."""
COUNT = Unit(read_count, str, lambda n: n, round)
DECIMAL = Unit(read_decimal, str, lambda n: n, round)
TEXT = Unit(str, str, str, str)
"""Value of an option that aqmlab cannot represent, which is not parsed."""
FLOAT = Unit(read_float, repr, lambda x: x, float)
SIXTEENTHS = _share(16)
HUNDREDTHS = _share(100)
PERCENT = Unit(read_percent, lambda n: f"{n}%", lambda n: n / 100, lambda v: round(v * 100))
GAIN = Unit(
    lambda text: _whole(_scaled(text, {"": 256}, "a number such as 0.16"), 2**31 - 1),
    lambda n: repr(n / 256), lambda n: n / 256, lambda v: round(v * 256),
)  # fmt: skip
"""Gain in units of 1/256 Hz, rounded down (parse_alpha_beta of tc/q_dualpi2.c)."""
