"""Functions that decide the 76 claims of the study, in one module per section of the paper."""

from aqmlab.studies.ecn_finite_transfers.claims import (
    competition,
    efficiency,
    frugality,
    lock_outs,
    methodology,
    synchronization,
)
from aqmlab.studies.ecn_finite_transfers.claims.registry import CLAIMS

__all__ = [
    "CLAIMS",
    "competition",
    "efficiency",
    "frugality",
    "lock_outs",
    "methodology",
    "synchronization",
]
