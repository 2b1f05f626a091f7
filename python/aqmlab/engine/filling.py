"""Empty result that an engine fills table by table. Unfilled tables are absent."""

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
    """Result of one scenario while an engine fills it.

    The table ``flows`` has one row per flow of TCP, ``datagrams`` one row per flow of UDP, and
    ``links`` one row per link and direction, in the order of :attr:`network`. In ``flows``,
    ``datagrams`` and ``links`` the columns that name flows, hosts and links are already filled, so
    the engine adds only the columns that it measures. In other tables the engine writes the columns
    of names, too.

    Parameters
    ----------
    text : str
        The scenario as the engine received it.

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
            Values by column, one per row. The value is NaN for the time of an event that did not
            happen.

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
                    f"{table}.{name} has {len(column)} rows, and the table has {rows.pop()}; "
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
        """Return the columns of a table that contain names from the scenario."""
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
    """Return the end of an error about an unknown name: similar names, or all names."""
    near = get_close_matches(name, known, n=2)
    return f"; did you mean {' or '.join(near)}?" if near else f"; there are: {', '.join(known)}"


def _column(where: str, values: Any) -> Any:
    """Convert values to a column: a list of texts, or an array of counts or of numbers."""
    import numpy as np

    column = np.asarray(values)
    if column.ndim != 1:
        raise ValueError(f"{where}: must be a list with one value per row")
    if column.dtype.kind == "U":
        return [str(value) for value in values]
    if column.dtype.kind in "bui" and not (column < 0).any():
        return column.astype("<u8")
    if column.dtype.kind in "if" or not column.size:
        return column.astype("<f8")
    raise ValueError(f"{where}: must have numbers or texts only; give NaN for a missing value")
