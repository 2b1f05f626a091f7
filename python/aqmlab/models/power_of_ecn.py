"""Model curves for figures 7, 8 and 9 of "The power of explicit congestion notification".

The sources are `kuzmanovic2005ecnplus`, sections 5.2.2 and 5.3.1; :mod:`aqmlab.figures.models`
draws the curves. The study does not publish the flow sizes of its traffic.
:func:`aqmlab.models.bursts.shape_of` gives two distributions that agree with the description in the
study.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from aqmlab.models.batch_queue import Batches, BatchQueue, MxM1
from aqmlab.models.bounds import refuse_outside
from aqmlab.models.bursts import PACKET, STATED, Ramp, batches

LOAD = 0.8
"""Load of figure 7."""
TARGET_S = 0.005
"""Target delay of the AQM in figures 8 and 9, in s."""
CAPACITIES = (100e6, 155e6, 622e6)
"""Link rates of figures 8 and 9, in bit/s."""

Array = NDArray[np.float64]


def mean_by_flow_size(
    sizes: Iterable[int],
    load: float = LOAD,
    *,
    ramp: Ramp = STATED,
    windows: Mapping[float, float] | None = None,
    packet: int = PACKET,
    kind: type[BatchQueue] = MxM1,
) -> Array:
    """Return the mean number of packets in the system, for flows of equal size (figure 7).

    Parameters
    ----------
    sizes : iterable of int
        Flow sizes in packets.
    load : float
        Load ρ.
    ramp, windows, packet : Ramp, mapping, int
        As for :func:`aqmlab.models.bursts.batches`.
    kind : type of BatchQueue
        Class of the queue model, with exponential or with constant service times.

    Examples
    --------
    >>> mean_by_flow_size([1, 2, 6, 7]).round(2).tolist()
    [4.0, 6.0, 8.67, 8.0]
    """
    distributions = (
        batches({size: 1}, ramp=ramp, windows=windows, packet=packet) for size in sizes
    )
    return np.array([kind(load, of).mean_system for of in distributions])


def late_by_load(
    of: Batches,
    loads: Sequence[float],
    bps: float,
    *,
    delay_s: float = TARGET_S,
    packet: int = PACKET,
    kind: type[BatchQueue] = MxM1,
) -> Array:
    """Return the probability at each load that the queueing delay exceeds `delay_s` (figures 8, 9).

    Parameters
    ----------
    of : Batches
        Distribution of the batches.
    loads : sequence of float
        Loads ρ, each above 0 and below 1.
    bps : float
        Rate C of the link in bit/s.
    delay_s : float
        Delay whose probability of being exceeded is computed, in s.
    packet : int
        Packet size, in bytes.
    kind : type of BatchQueue
        Class of the queue model, with exponential or with constant service times.

    Examples
    --------
    >>> from aqmlab.models.bursts import lognormal_sizes
    >>> web = batches(lognormal_sizes(7.2, 1.8781))
    >>> late_by_load(web, [0.9, 0.95], 622e6).round(3).tolist()
    [0.006, 0.072]
    """
    refuse_outside("bps", bps, 0)
    refuse_outside("delay_s", delay_s, 0, open_low=False)
    refuse_outside("packet", packet, 0)
    service = 8 * packet / bps
    return np.array([kind(load, of, service).work_exceeds(delay_s) for load in loads])
