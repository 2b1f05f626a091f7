"""Conversion of a table of runs to an xarray.Dataset with one dimension per factor."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def cube(
    runs: "pd.DataFrame",
    dimensions: Mapping[str, Sequence[Any]],
    others: Mapping[str, Sequence[Any]],
    values: Sequence[str],
) -> "xr.Dataset":
    """Return columns of a table of runs as arrays with one dimension per factor.

    A combination of factor values without a run is NaN.

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
    values : sequence of str
        Names of the columns to return.

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
    by_axes = runs.assign(replication=seeds - first).set_index(list(axes))[list(values)]
    if len(axes) == 1:
        by_axes.index.name = "replication"
    dataset = xr.Dataset.from_dataframe(by_axes).reindex(axes)
    dataset = dataset.assign_coords(seed=("replication", [first + i for i in axes["replication"]]))
    if whole:
        return dataset
    return dataset.assign_coords({f: ("point", points[f].to_numpy()) for f in dimensions})
