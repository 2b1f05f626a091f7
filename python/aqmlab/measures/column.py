"""Measures that are columns of a table, such as ``flows.goodput_bps.mean``.

The form is ``table.column[rows].reduction``. ``rows`` selects the rows whose name in the first
column matches a pattern, in which ``*`` matches any characters. ``reduction`` combines the values
of several rows into one number. ``rows`` and ``reduction`` are optional, but without them the
column must have a single value.
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
from aqmlab.measures.measured_run import MeasuredRun
from aqmlab.results import NOT_ALWAYS, NotMeasuredError, Result

if TYPE_CHECKING:
    import numpy as np

FORM = re.compile(r"(\w+)\.(\w+)(?:\[(.+)\])?(?:\.(\w+))?")
ALWAYS = ("flows", "links", *NOT_ALWAYS)
"""Tables that a run has without a key in `record`, unless the table would have no rows."""

REDUCTIONS: dict[str, Callable[[Any], float]] = {
    "mean": lambda x: float(x.mean()),
    "sum": lambda x: float(x.sum()),
    "min": lambda x: float(x.min()),
    "max": lambda x: float(x.max()),
    "median": statistics.median,
    "jain": statistics.jain,
    "count": len,
}
"""Functions that reduce the values of a column to one number, in addition to the percentiles ``p1``
to ``p99``."""
UNITS = {"count": "", "jain": "index"}
"""Units of the reductions whose result is not in the unit of the column."""


@cache
def _columns() -> dict[str, dict[str, str]]:
    """Return the unit of each column, by table and column."""
    tables = json.loads(_core.columns())
    return {
        name: {column["name"]: column["unit"] for column in table["columns"]}
        for name, table in tables.items()
    }


def is_column(text: str) -> bool:
    """Return True if a text is written as ``table.column`` with the name of an existing table."""
    match = FORM.fullmatch(text)
    return match is not None and match[1] in _columns()


def parts(text: str) -> tuple[str, str]:
    """Return the names of the table and the column in a text such as ``flows.goodput_bps.mean``."""
    return _parts(text)[:2]


def series_of(text: str) -> str | None:
    """Return the name of the series that a run must record for a column, or None."""
    table = text.partition(".")[0]
    return None if table in ALWAYS else table


def column(text: str) -> Measure[MeasuredRun]:
    """Return the measure for a text ``table.column[rows].reduction``.

    Raises
    ------
    ValueError
        If the table, the column or the reduction does not exist.

    Examples
    --------
    >>> column("flows.goodput_bps.mean").unit, column("flows.goodput_bps.jain").unit
    ('bit/s', 'index')
    """
    table, name, _, reduction = _parts(text)
    unit = _columns()[table][name]
    if not unit and reduction != "count":
        raise ValueError(
            f"{text!r} is a column of names, which can only be counted; write {text}.count"
        )
    _reduction(text, reduction)
    unit = UNITS.get(reduction or "", unit)
    return Measure(text, unit, partial(_read, text), head=text, label=_label(text))


def _label(text: str) -> str:
    """Return the name of a column for the axis of a figure.

    Examples
    --------
    >>> _label("flows.completed_s.max"), _label("delays.p99_delay_s[left>right]")
    ('flows: completed, maximum', 'left>right: p99 delay')
    """
    table, name, rows, reduction = _parts(text)
    words = name.split("_")
    if len(words) > 1 and words[-1] in {"s", "bps", _columns()[table][name]}:
        words.pop()  # the axis shows the unit
    reduced = {"max": "maximum", "min": "minimum", "sum": "total", "jain": "Jain's index"}
    parts = [" ".join(words), reduced.get(reduction or "", reduction)]
    return f"{rows or table}: {', '.join(filter(None, parts))}"


def _read(text: str, run: MeasuredRun) -> float:
    """Return the value of a column in a run; NaN if the run has no matching rows."""
    table, name, rows, reduction = _parts(text)
    if table not in run.result.tables:
        if run.result.measures(table):
            return math.nan
        raise NotMeasuredError(
            f"{text} is not measured, because the engine did not fill the table {table}"
        )
    selected = _selected(run.result, table, rows)
    columns = run.result.columns(table)
    return _reduction(text, reduction)(_numbers(columns[name])[selected])


def sampled(text: str, result: Result) -> "tuple[np.ndarray, np.ndarray]":
    """Return the sampling times in s and the values of a column of a sampled series.

    Raises
    ------
    ValueError
        If the text is not the column of a sampled series, or if the text ends with a reduction,
        such as ``.mean``.
    """
    table, name, rows, reduction = _parts(text)
    if reduction or "time_s" not in _columns()[table]:
        raise ValueError(
            f"{text!r} is not a column of a sampled series; give table.column without a reduction"
        )
    columns, selected = result.columns(table), _selected(result, table, rows)
    return columns["time_s"][selected], _numbers(columns[name])[selected]


def _parts(text: str) -> tuple[str, str, str | None, str | None]:
    """Split a text ``table.column[rows].reduction`` into its four parts."""
    match = FORM.fullmatch(text)
    if not match or match[1] not in _columns():
        raise ValueError(
            f"{text!r} is not a column; write table.column, for example flows.goodput_bps.mean"
        )
    table, name, rows, reduction = match.groups()
    units = _columns()[table]
    if name not in units:
        raise ValueError(f"{text!r}: {table} has no column {name}; it has {', '.join(units)}")
    return table, name, rows, reduction


def _selected(result: Result, table: str, rows: str | None) -> "np.ndarray":
    """Return a mask of the rows whose name matches a pattern; the pattern None matches all rows."""
    import numpy as np

    columns = result.columns(table)
    names = columns[next(name for name in columns if name != "time_s")]
    if rows is None:
        return np.ones(len(names), dtype=bool)
    matches = {name: name == rows or fnmatchcase(name, rows) for name in set(names)}
    return np.array([matches[name] for name in names], dtype=bool)


def _numbers(column: Any) -> "np.ndarray":
    """Return the numbers of a column; for a column of names, an equally long array of zeros."""
    import numpy as np

    return np.zeros(len(column)) if isinstance(column, list) else np.asarray(column, dtype=float)


def _reduction(text: str, name: str | None) -> Callable[[Any], float]:
    """Return the function of a reduction; for None, a function that requires a single value.

    For an empty column, the sum and the count are 0, and every other reduction is NaN.
    """
    if name is None:
        return lambda values: _single(text, values)
    percentile = re.fullmatch(r"p(\d\d?)", name)
    if percentile:
        share = int(percentile[1]) / 100
        reduce: Callable[[Any], float] = lambda x: _quantile(x, share)  # noqa: E731
    elif name in REDUCTIONS:
        reduce = REDUCTIONS[name]
    else:
        raise ValueError(
            f"{text!r}: the reduction is {name}; it must be one of {', '.join(REDUCTIONS)}, p50, "
            "p95 …"
        )
    empty = 0.0 if name in ("sum", "count") else math.nan
    return lambda values: reduce(values) if len(values) else empty


def _single(text: str, values: Any) -> float:
    """Return the only value of a column; NaN if the column is empty."""
    if len(values) > 1:
        raise ValueError(
            f"{text!r} has {len(values)} values in a run, but a measure has one value; select one "
            f"row, for example [left>right], or add a reduction, for example {text}.mean"
        )
    return float(values[0]) if len(values) else math.nan


def _quantile(values: Any, share: float) -> float:
    """Return the `share` quantile without interpolation; the result is one of the values."""
    import numpy as np

    return float(np.quantile(values, share, method="inverted_cdf"))
