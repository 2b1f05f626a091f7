"""A column of a table as a measure: ``links.utilization[left>right]``, ``flows.goodput_bps.mean``.

table.column, in brackets which rows by the name in the first column (``*`` stands for any letters),
and what their values become: needed when there may be several.
"""

import json
import math
import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from aqmlab import _core, statistics
from aqmlab.measures.measure import Measure
from aqmlab.measures.seen import Seen
from aqmlab.results import NOT_ALWAYS, NotMeasuredError, Result

if TYPE_CHECKING:
    import numpy as np

FORM = re.compile(r"(\w+)\.(\w+)(?:\[(.+)\])?(?:\.(\w+))?")
ALWAYS = ("flows", "links", *NOT_ALWAYS)
"""Tables that every run leaves if there is anything in them, without being recorded."""

REDUCTIONS: dict[str, Callable[[Any], float]] = {
    "mean": lambda x: float(x.mean()),
    "sum": lambda x: float(x.sum()),
    "min": lambda x: float(x.min()),
    "max": lambda x: float(x.max()),
    "median": statistics.median,
    "jain": statistics.jain,
    "count": len,
}
"""What values become; ``p95`` and the like are quantiles."""


@cache
def _columns() -> dict[str, dict[str, str]]:
    """Return the unit of every column of every table."""
    tables = json.loads(_core.columns())
    return {
        name: {column["name"]: column["unit"] for column in table["columns"]}
        for name, table in tables.items()
    }


def is_column(text: str) -> bool:
    """Whether a text names a table and a column rather than a measure."""
    found = FORM.fullmatch(text)
    return found is not None and found[1] in _columns()


def parts(text: str) -> tuple[str, str]:
    """Return table and column that a text names."""
    return _parts(text)[:2]


def series_of(text: str) -> str | None:
    """Return the series that a column is of, which has to be recorded; None: of a table."""
    table = text.partition(".")[0]
    return None if table in ALWAYS else table


def column(text: str) -> Measure[Seen]:
    """Return the measure that a text names.

    Raises
    ------
    ValueError
        If there is no such column or reduction.

    Examples
    --------
    >>> column("flows.goodput_bps.mean").unit
    'bit/s'
    """
    table, name, _, how = _parts(text)
    if not _columns()[table][name] and how != "count":
        raise ValueError(f"{text!r} is a column of names, which can only be counted: {text}.count")
    _reduction(text, how)
    return Measure(
        text, "" if how == "count" else _columns()[table][name], partial(_read, text), head=text
    )


def _read(text: str, seen: Seen) -> float:
    """Return the value of the column that a text names in a run."""
    table, name, rows, how = _parts(text)
    if table not in seen.result.tables:
        if seen.result.measures(table):
            return math.nan
        raise NotMeasuredError(f"{text} is not measured: the engine did not fill {table}")
    keep = _kept(seen.result, table, rows)
    columns = seen.result.columns(table)
    return _reduction(text, how)(_numbers(columns[name])[keep])


def sampled(text: str, result: Result) -> "tuple[np.ndarray, np.ndarray]":
    """Return times in s and values of a column of a sampled series, of the rows that it names.

    Raises
    ------
    ValueError
        If it is no column of a series with times.
    """
    table, name, rows, how = _parts(text)
    if how or "time_s" not in _columns()[table]:
        raise ValueError(f"{text!r} must be a column of a sampled series, without a reduction")
    columns, keep = result.columns(table), _kept(result, table, rows)
    return columns["time_s"][keep], _numbers(columns[name])[keep]


def _parts(text: str) -> tuple[str, str, str | None, str | None]:
    """Return table, column, rows and reduction."""
    found = FORM.fullmatch(text)
    if not found or found[1] not in _columns():
        raise ValueError(f"{text!r} must be table.column, as flows.goodput_bps.mean")
    table, name, rows, how = found.groups()
    units = _columns()[table]
    if name not in units:
        raise ValueError(f"{text!r}: {table} has no column {name}; it has {', '.join(units)}")
    return table, name, rows, how


def _kept(result: Result, table: str, rows: str | None) -> "np.ndarray":
    """Return which rows of a table are named; None: all."""
    import numpy as np

    columns = result.columns(table)
    named = next(name for name in columns if name != "time_s")
    names = columns[named]
    if rows is None:
        return np.ones(len(names), dtype=bool)
    known = {name: name == rows or fnmatchcase(name, rows) for name in set(names)}
    return np.array([known[name] for name in names], dtype=bool)


def _numbers(column: Any) -> "np.ndarray":
    """Return a column; names are only to be counted."""
    import numpy as np

    return np.zeros(len(column)) if isinstance(column, list) else np.asarray(column, dtype=float)


def _reduction(text: str, how: str | None) -> Callable[[Any], float]:
    if how is None:
        return lambda values: _only(text, values)
    share = re.fullmatch(r"p(\d\d?)", how)
    if share:
        quantile = int(share[1]) / 100
        reduce: Callable[[Any], float] = lambda x: _nearest(x, quantile)  # noqa: E731
    elif how in REDUCTIONS:
        reduce = REDUCTIONS[how]
    else:
        raise ValueError(f"{text!r}: {how} must be one of {', '.join(REDUCTIONS)}, p50, p95 …")
    none = 0.0 if how in ("sum", "count") else math.nan
    return lambda values: reduce(values) if len(values) else none


def _only(text: str, values: Any) -> float:
    if len(values) > 1:
        raise ValueError(
            f"{text!r} has {len(values)} values in a run; say which, as [left>right], or what they "
            f"become, as {text}.mean"
        )
    return float(values[0]) if len(values) else math.nan


def _nearest(values: Any, share: float) -> float:
    import numpy as np

    return float(np.quantile(values, share, method="inverted_cdf"))
