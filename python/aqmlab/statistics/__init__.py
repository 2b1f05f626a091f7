"""Statistics of replications.

The guide docs/statistics.md describes when to use each of these functions.

Each function takes a sequence or array of numbers, and returns values in the unit of these numbers.
In general there is one number per replication. Jain's index takes one number per flow, batch means
take one number per sampling time, and the functions for transfer times take one number per
transfer.
"""

from aqmlab.statistics.cautions import cautions
from aqmlab.statistics.describe import central, jain, median, quartiles
from aqmlab.statistics.effects import Effect, Effects, effects
from aqmlab.statistics.hurst import (
    Hurst,
    aggregated_variance,
    fractional_gaussian_noise,
    local_whittle,
)
from aqmlab.statistics.interval import Interval
from aqmlab.statistics.means import (
    batch_means,
    bootstrap_interval,
    lognormal_mean_interval,
    mean_interval,
    paired_difference,
    paired_p_value,
    permutation_p_value,
)
from aqmlab.statistics.several import false_discovery, holm
from aqmlab.statistics.shares import (
    exact_proportion_interval,
    proportion_interval,
    quantile_interval,
    sign_p_value,
)
from aqmlab.statistics.transfers import share_within, time_quantile
from aqmlab.statistics.warm_up import mser

__all__ = [
    "Effect",
    "Effects",
    "Hurst",
    "Interval",
    "aggregated_variance",
    "batch_means",
    "bootstrap_interval",
    "cautions",
    "central",
    "effects",
    "exact_proportion_interval",
    "false_discovery",
    "fractional_gaussian_noise",
    "holm",
    "jain",
    "local_whittle",
    "lognormal_mean_interval",
    "mean_interval",
    "median",
    "mser",
    "paired_difference",
    "paired_p_value",
    "permutation_p_value",
    "proportion_interval",
    "quantile_interval",
    "quartiles",
    "share_within",
    "sign_p_value",
    "time_quantile",
]
