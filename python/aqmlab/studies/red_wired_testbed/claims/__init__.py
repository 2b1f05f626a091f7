"""The 143 printed claims of the thesis, each decided from the runs, by code."""

from aqmlab.studies.red_wired_testbed.claims import beside, three_flows
from aqmlab.studies.red_wired_testbed.claims.rules import CLAIMS

__all__ = ["CLAIMS", "beside", "three_flows"]
