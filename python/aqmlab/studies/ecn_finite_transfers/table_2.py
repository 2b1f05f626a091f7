"""Table II: two downloads through RED."""

from aqmlab.studies.ecn_finite_transfers.printed_tables import Row, letter, table_item
from aqmlab.studies.ecn_finite_transfers.scenarios import Setting


def setting(row: Row) -> Setting:
    """Return the setting for a column of the published table; limit 16 has minth 5."""
    return Setting(2, f"RED-{letter(row)}", int(row["queue_limit_packets"]))


ITEM = table_item(
    "table-2",
    "Table II: two downloads, RED",
    "table2_red.csv",
    [
        "At limit 16 the head of the published Table II has minth 8, but the heads of Tables III "
        "and IV have minth 5. This reproduction uses minth 5 in all three tables."
    ],
    setting,
)
