"""Conversion of a table of runs to an xarray.Dataset with one dimension per factor."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aqmlab.scenario import quantity

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def cube(
    runs: "pd.DataFrame",
    dimensions: Mapping[str, Sequence[Any]],
    others: Mapping[str, Sequence[Any]],
    units: Mapping[str, str],
) -> "xr.Dataset":
    """Return columns of a table of runs as arrays with one dimension per factor.

    A combination of factor values without a run is NaN. The coordinates of a factor are numbers in
    ascending order if all its values are numbers, or numbers with units that have the same base
    unit. Coordinates and arrays have the attribute ``units`` of the CF conventions. A coordinate
    with a unit has the dotted path of the factor as its ``long_name``.

    Parameters
    ----------
    runs : pandas.DataFrame
        Table with one row per run. The table has one column per factor, the columns ``seed`` and
        ``point``, and the columns to return.
    dimensions : mapping of str to sequence
        Values of each factor. If the runs do not contain every combination of factor values, the
        array has the single dimension ``point``, and the factors are coordinates along ``point``.
    others : mapping of str to sequence
        Columns other than factors that also become dimensions, each with its values.
    units : mapping of str to str
        Names of the columns to return, each with its unit.

    Raises
    ------
    ValueError
        If xarray is not installed.
    """
    try:
        import xarray as xr
    except ImportError:
        raise ValueError(
            "the conversion to arrays needs the package xarray: pip install 'aqmlab[xarray]'"
        ) from None
    attributes: dict[str, dict[str, str]] = {name: {"units": unit} for name, unit in units.items()}
    for factor, levels in dimensions.items():
        if (known := _numbers(levels)) is not None:
            numbers, unit = known
            dimensions = {**dimensions, factor: sorted(numbers.values())}
            attributes[factor] = {"long_name": factor, "units": unit}
            runs = runs.assign(**{factor: runs[factor].map(numbers)})
    points = runs[["point", *dimensions]].drop_duplicates("point")
    combinations = 1
    for levels in dimensions.values():
        combinations *= len(levels)
    distinct = len(points.drop_duplicates(list(dimensions))) if dimensions else 1
    whole = len(points) == distinct == combinations
    axes = {**(dimensions if whole else {"point": list(points["point"])}), **others}
    seeds = runs["seed"].astype("int64")
    first = int(seeds.min())
    axes["replication"] = list(range(int(seeds.max()) - first + 1))
    by_axes = runs.assign(replication=seeds - first).set_index(list(axes))[list(units)]
    if len(axes) == 1:
        by_axes.index.name = "replication"
    dataset = xr.Dataset.from_dataframe(by_axes).reindex(axes)
    dataset = dataset.assign_coords(seed=("replication", [first + i for i in axes["replication"]]))
    if not whole:
        dataset = dataset.assign_coords({f: ("point", points[f].to_numpy()) for f in dimensions})
    for name, attrs in attributes.items():
        dataset[name].attrs.update(attrs)
    return dataset


def _numbers(levels: Sequence[Any]) -> tuple[dict[Any, Any], str] | None:
    """Return each level of a factor as a number, and the unit of the numbers; None for categories.

    Levels with units become numbers in the base unit. Two levels that are the same number, such as
    "1 s" and "1000 ms", are categories, because they are different points.

    Examples
    --------
    >>> _numbers(["5 ms", "1 s"]), _numbers([1, 2]), _numbers(["5 ms", "16 packets"])
    (({'5 ms': 0.005, '1 s': 1.0}, 's'), ({1: 1, 2: 2}, '1'), None)
    """
    if all(isinstance(level, int | float) and not isinstance(level, bool) for level in levels):
        return {level: level for level in levels}, "1"
    read = {level: quantity(level) if isinstance(level, str) else None for level in levels}
    known = {level: one for level, one in read.items() if one is not None}
    units = {unit for _, unit in known.values()}
    numbers = {level: number for level, (number, _) in known.items()}
    if len(known) < len(read) or len(units) != 1 or len(set(numbers.values())) < len(numbers):
        return None
    return numbers, units.pop()
