"""The model curves of figures 7, 8 and 9 of "The power of explicit congestion notification".

`kuzmanovic2005ecnplus`, sections 5.2.2 and 5.3.1; :mod:`aqmlab.figures.models` draws them. Its
lists of flow sizes are not printed; :func:`aqmlab.models.bursts.shape_of` has two that fit what
it says of them.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from aqmlab.models.batch_queue import Batches, BatchQueue, MxM1
from aqmlab.models.bounds import refuse_outside
from aqmlab.models.bursts import PACKET, STATED, Ramp, batches

LOAD = 0.8
"""Of figure 7."""
TARGET_S = 0.005
"""The delay that AQM is told to hold, of figures 8 and 9."""
CAPACITIES = (100e6, 155e6, 622e6)
"""The links of figures 8 and 9, in bit/s."""

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
    """Return the mean number in the system where all flows have one size (figure 7).

    Parameters
    ----------
    sizes : iterable of int
        Flow sizes in packets.
    load : float
        ρ.
    ramp, windows, packet : Ramp, mapping, int
        As for :func:`aqmlab.models.bursts.batches`: how windows grow, and up to what.
    kind : type of BatchQueue
        Exponential service, or constant.

    Examples
    --------
    >>> mean_by_flow_size([1, 2, 6, 7]).round(2).tolist()
    [4.0, 6.0, 8.67, 8.0]
    """
    of = (batches({size: 1}, ramp=ramp, windows=windows, packet=packet) for size in sizes)
    return np.array([kind(load, found).mean_system for found in of])


def late_by_load(
    of: Batches,
    loads: Sequence[float],
    bps: float,
    *,
    delay_s: float = TARGET_S,
    packet: int = PACKET,
    kind: type[BatchQueue] = MxM1,
) -> Array:
    """Return P(queueing delay > delay_s) at each load (figures 8 and 9).

    Parameters
    ----------
    of : Batches
        What flows bring.
    loads : sequence of float
        ρ, each above 0, below 1.
    bps : float
        Rate of the link, C.
    delay_s : float
        The delay, in s.
    packet : int
        Bytes of a packet.
    kind : type of BatchQueue
        Exponential service, or constant.

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
