"""Numbers of replications, which were chosen before the runs and not by their verdicts."""

from aqmlab.studies.ecn_finite_transfers.scenarios import Setting
from aqmlab.studies.framework.runs import Need, Record

USUAL, MANY = 30, 300
"""Number of replications of a setting, and of a setting in `SINGLE_CLIENTS`."""
SINGLE_CLIENTS = (
    Setting(2, "DT", 64),
    Setting(2, "RED-A", 128),
    Setting(5, "RED-A", 64),
    Setting(5, "ECN-A", 64),
)
"""Settings with two or five clients whose claims about single clients were open with 30 runs.

The order of a few packets decides which client is faster, so these numbers differ most between
replications.
"""


def need(setting: Setting, record: Record | None = None) -> Need:
    """Return the request for all replications of a setting, with the series of `record`."""
    count = MANY if setting in SINGLE_CLIENTS else USUAL
    return Need(setting, at_most=count, record=record or Record())
