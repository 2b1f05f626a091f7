"""Table I: two downloads through Drop Tail."""

from aqmlab.studies.ecn_finite_transfers.printed_tables import Row, table_item
from aqmlab.studies.ecn_finite_transfers.scenarios import Setting


def setting(row: Row) -> Setting:
    """Return the setting of a column of the published table."""
    return Setting(2, "DT", int(row["queue_limit_packets"]))


ITEM = table_item(
    "table-1",
    "Table I: two downloads, Drop Tail",
    "table1_droptail.csv",
    [
        "Each cell shows the median of our replications, and below the median the published "
        "number. If the replications differ, the cell also shows their central 95 %."
    ],
    setting,
)
