"""Distributions of object sizes: the mixes of the paper, and other distributions.

Kuzmanovic 2005 (`kuzmanovic2005ecnplus`), section 4.2, gives two numbers about the sizes of web
objects: a mean of 7.2 kB, and 80 % of the bytes in the largest 15 % of the objects. The section
also says that the distribution is heavy-tailed, and that objects of gigabytes occur.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from aqmlab.studies.power_of_ecn.words import EXPONENTIAL, GENERAL, LOGNORMAL, SMALL, WEB
from aqmlab.traffic import distribution

BODY: dict[str, Any] = {
    "kind": "lognormal", "mean": "2123 B", "sigma": 1.0, "min": "100 B", "max": "7060 B",
}  # fmt: skip
TAIL: dict[str, Any] = {"kind": "bounded_pareto", "min": "7060 B", "max": "1 GB", "shape": 1.2}
SIGMA = 1.878
"""Sigma with which a lognormal distribution has 80 % of the bytes in the largest 15 % of sizes."""
MEAN = "7200 B"
SMALL_MEAN = "3000 B"
"""Mean object size for the tables of RFC 5562 (`rfc5562`)."""


def _with_tail(lognormal: int = 0, **tail: Any) -> dict[str, Any]:
    """Return the web mix with a changed tail, or with a share of lognormal sizes in %."""
    parts: list[dict[str, Any]] = [{"weight": 85, "of": BODY}, {"weight": 15, "of": TAIL | tail}]
    if lognormal:
        weight = 100 * lognormal / (100 - lognormal)
        parts.append({"weight": weight, "of": _lognormal(SIGMA)})
    return {"kind": "mixture", "parts": parts}


def _lognormal(sigma: float) -> dict[str, Any]:
    return {"kind": "lognormal", "mean": MEAN, "sigma": sigma}


def _scaled(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part of the web mix with all its sizes scaled to a mean of `SMALL_MEAN`."""
    largest = {"1 GB": "1000000000 B"}
    sizes = {
        key: largest.get(part[key], part[key]) for key in ("mean", "min", "max") if key in part
    }
    factor = float(SMALL_MEAN.split()[0]) / float(MEAN.split()[0])
    return part | {key: f"{float(size.split()[0]) * factor:.0f} B" for key, size in sizes.items()}


BLENDS = {f"{share} % lognormal": share for share in (25, 50, 75)}
"""Mixtures of the web mix and the lognormal mix: share of lognormal sizes in %."""
SIGMAS = {f"lognormal, sigma {sigma:g}": sigma for sigma in (1.4, 2.4)}
"""Lognormal distributions with the mean of the web mix, and another sigma."""
CAPPED = "web, at most 1 MB"
"""The web mix without objects above 1 MB."""

MIXES: dict[str, dict[str, Any]] = {
    WEB: _with_tail(),
    GENERAL: _with_tail(shape=1.0),
    LOGNORMAL: _lognormal(SIGMA),
    **{name: _with_tail(share) for name, share in BLENDS.items()},
    **{name: _lognormal(sigma) for name, sigma in SIGMAS.items()},
    CAPPED: _with_tail(max="1 MB"),
    SMALL: {
        "kind": "mixture",
        "parts": [{"weight": 85, "of": _scaled(BODY)}, {"weight": 15, "of": _scaled(TAIL)}],
    },
    EXPONENTIAL: {"kind": "exponential", "mean": SMALL_MEAN},
}
"""Distribution of each mix.

The web mix is lognormal, and for the largest 15 % of the objects Pareto. It has both numbers of
section 4.2. In the general mix the largest 15 % of the objects have 90 % of the bytes (section
5.3.1). The lognormal mix has both numbers of section 4.2, but no objects of gigabytes. The small
web mix is the web mix with smaller sizes, and the exponential mix has no heavy tail.
"""


def sizes(mix: str) -> dict[str, Any]:
    """Return the distribution of the object sizes of a mix, as a table of a scenario."""
    return MIXES[mix]


@cache
def share_below(mix: str, limit: int) -> float:
    """Return the share of the bytes of a mix, in %, that objects of at most `limit` bytes have."""
    above = np.concatenate([[1.0], np.geomspace(1, 1e-10, 20_000)[1:], [0.0]])
    size = distribution("size", sizes(mix)).quantile(1 - (above[:-1] + above[1:]) / 2)
    weight = -np.diff(above) * size
    return 100 * float(weight[size <= limit].sum() / weight.sum())
