"""Result of a run that an engine fills table by table."""

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache, cached_property
from typing import Any

from aqmlab import _core
from aqmlab.engine.network import Network
from aqmlab.results import Result

ROWS = {"flows": "tcp", "datagrams": "udp"}
"""Tables with one row per flow, and the protocol of these flows."""


class Filling:
    """Result of one run while an engine fills its tables.

    The table ``flows`` has one row per TCP flow, ``datagrams`` one row per UDP flow, and ``links``
    one row per direction of a link. The rows are in the order of :attr:`network`. In these three
    tables, the columns with the names of flows, hosts and links are already filled, so that the
    engine adds only measured columns. In all tables except ``flows``, ``datagrams`` and ``links``,
    the engine also fills the columns that contain names.

    Parameters
    ----------
    text : str
        The normalized scenario that the engine received.

    Attributes
    ----------
    text : str
        The scenario.

    Examples
    --------
    >>> from aqmlab.scenario import normalize
    >>> filling = Filling(normalize("examples/one_flow.toml"))
    >>> [flow.size_bytes for flow in filling.network.flows]
    [20971520]
    >>> filling.fill("flows", {"acked_bytes": [20971520], "goodput_bps": [1.4e6]})
    >>> result = filling.result(119.8)
    >>> result.tables, list(result.columns("flows"))
    (['flows'], ['flow', 'from', 'to', 'acked_bytes', 'goodput_bps'])
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._tables: dict[str, dict[str, Any]] = {}

    @cached_property
    def network(self) -> Network:
        """Hosts, links and flows of the scenario."""
        return Network.of(self.text)

    def fill(self, table: str, columns: Mapping[str, Sequence[Any]]) -> None:
        """Fill columns of a table.

        Parameters
        ----------
        table : str
            Name of a table in docs/results.md.
        columns : mapping of str to sequence
            Values of each column by its name, one value per row. The time of an event that did not
            occur is NaN.

        Raises
        ------
        ValueError
            If the table or a column does not exist, or the columns differ in their lengths.
        """
        known = _columns()
        if table not in known:
            raise ValueError(f"{table!r} is not a table{_near(table, known)}")
        filled = self._tables.setdefault(table, self._names(table))
        for name, values in columns.items():
            if name not in known[table]:
                raise ValueError(f"{name!r} is not a column of {table}{_near(name, known[table])}")
            column = _column(f"{table}.{name}", values)
            rows = {len(other) for other in filled.values()}
            if rows and rows != {len(column)}:
                raise ValueError(
                    f"{table}.{name} has {len(column)} values, and the number of rows of the table "
                    f"is {rows.pop()}; "
                    "give one value per row"
                )
            filled[name] = column

    def result(self, simulated_s: float, **entries: Any) -> Result:
        """Return the result with the tables that were filled.

        Parameters
        ----------
        simulated_s : float
            Duration of the run in s.
        **entries
            Additional entries of the manifest, such as ``engine`` or ``warnings``.
        """
        scenario = json.loads(self.text)
        measured = {table: list(columns) for table, columns in self._tables.items()}
        manifest = {
            "scenario": scenario,
            "seed": scenario["seed"],
            "version": _core.version(),
            "simulated_s": float(simulated_s),
            "measured": measured,
        }
        return Result(manifest | entries, self._tables)

    def _names(self, table: str) -> dict[str, Any]:
        """Return the columns of a table with names from the scenario, such as names of flows."""
        if table == "links":
            return {"link": [link.name for link in self.network.links]}
        if table not in ROWS:
            return {}
        flows = [flow for flow in self.network.flows if flow.protocol == ROWS[table]]
        return {
            "flow": [flow.name for flow in flows],
            "from": [flow.source for flow in flows],
            "to": [flow.target for flow in flows],
        }


@cache
def _columns() -> dict[str, list[str]]:
    """Return the names of the columns of each table."""
    tables = json.loads(_core.columns())
    return {name: [c["name"] for c in table["columns"]] for name, table in tables.items()}


def _near(name: str, known: "dict[str, Any] | list[str]") -> str:
    """Return the end of an error message about an unknown name: similar names, or all names."""
    near = get_close_matches(name, known, n=2)
    return f"; did you mean {' or '.join(near)}?" if near else f"; there are: {', '.join(known)}"


def _column(where: str, values: Any) -> Any:
    """Convert values to a column: a list of texts, or an array of integers or of floats."""
    import numpy as np

    column = np.asarray(values)
    if column.ndim != 1:
        raise ValueError(f"{where}: the values are not a list; give a list with one value per row")
    if column.dtype.kind == "U":
        return [str(value) for value in values]
    if column.dtype.kind in "bui" and not (column < 0).any():
        return column.astype("<u8")
    if column.dtype.kind in "if" or not column.size:
        return column.astype("<f8")
    raise ValueError(
        f"{where}: a value is neither a number nor a text; give NaN for a missing value"
    )
