"""Table IV: two downloads through RED; only the client that is slower in Table II has ECN."""

from aqmlab.studies.ecn_finite_transfers.printed_tables import (
    Row,
    letter,
    published,
    table_item,
)
from aqmlab.studies.ecn_finite_transfers.scenarios import Setting


def weaker_client(row: Row) -> int:
    """Return the client with the lower published goodput in Table II; client C0 in a tie."""
    key = ("maxp", "queue_limit_packets")
    column = next(r for r in published("table2_red.csv") if all(r[k] == row[k] for k in key))
    return int(float(column["goodput1_kbps"]) < float(column["goodput0_kbps"]))


def setting(row: Row) -> Setting:
    """Return the setting of a column of the published table."""
    limit = int(row["queue_limit_packets"])
    return Setting(2, f"RED-{letter(row)}", limit, ecn=(weaker_client(row),))


ITEM = table_item(
    "table-4",
    "Table IV: two downloads, RED, ECN at the weaker client",
    "table4_mixed_ecn.csv",
    [
        "In each column of Table IV, one client has ECN: the client with the lower published "
        "goodput in Table II. In the column with equal goodputs, client C0 has ECN. The published "
        "numbers of cells marked † are probably wrong."
    ],
    setting,
)
