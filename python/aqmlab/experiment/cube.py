"""Runs as an xarray.Dataset with one dimension per factor, then arms and replications."""

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
    """Return columns of runs as arrays over the factors. Combinations that were not run are NaN.

    Parameters
    ----------
    runs : pandas.DataFrame
        One row per run: factors, ``seed``, ``point``, and the columns.
    dimensions : mapping of str to sequence
        The factors and their values. If the points do not contain every combination of values, the
        only dimension is ``point``, and the factors are coordinates along it.
    others : mapping of str to sequence
        Other columns that become dimensions, and their values.
    values : sequence of str
        Names of the columns.

    Raises
    ------
    ValueError
        If xarray is not installed.
    """
    try:
        import xarray as xr
    except ImportError:
        raise ValueError("this needs xarray: pip install 'aqmlab[xarray]'") from None
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
