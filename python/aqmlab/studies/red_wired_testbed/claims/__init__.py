"""The claims of the thesis, and the functions that decide them."""

from aqmlab.studies.red_wired_testbed.claims import beside, comparisons, three_flows
from aqmlab.studies.red_wired_testbed.claims.rules import CLAIMS

__all__ = ["CLAIMS", "beside", "comparisons", "three_flows"]
