"""Table III: two downloads through RED with ECN."""

from aqmlab.studies.ecn_finite_transfers.printed_tables import Row, letter, table_item
from aqmlab.studies.ecn_finite_transfers.scenarios import Setting


def setting(row: Row) -> Setting:
    """Return the setting of a column of the published table."""
    return Setting(2, f"ECN-{letter(row)}", int(row["queue_limit_packets"]))


ITEM = table_item(
    "table-3",
    "Table III: two downloads, RED with ECN",
    "table3_red_ecn.csv",
    [
        "The published numbers of cells marked † are probably wrong. Our numbers are compared with "
        "the published numbers without a correction."
    ],
    setting,
)
