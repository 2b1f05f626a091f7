"""Samples of web traffic without a network, and the distributions of traffic in a scenario.

The sample has the same web pages and random numbers as a run of the scenario. The network adds no
delay, so each response arrives when the server sends it.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aqmlab import _core, manual
from aqmlab.scenario import ScenarioLike, normalize
from aqmlab.statistics import Hurst, aggregated_variance, local_whittle

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

PROBABILITIES = (0.5, 0.9, 0.99)
"""Probabilities of the reported quantiles."""

LARGEST = 0.15
"""Share of the largest values, whose share of the bytes is reported.

It is that of ``kuzmanovic2005ecnplus``, section 4.2.
"""


@dataclass(frozen=True)
class Distribution:
    """A distribution of a scenario.

    Attributes
    ----------
    quantity : str
        Kind of value: "size" (B), "times" (s) or "count".
    written : object
        The value or table in the scenario.
    mean : float
        Mean, in the unit of the values.
    quantiles : tuple of float
        Quantiles at :data:`PROBABILITIES`.
    largest : float
        Share of the sum that the largest 15 % of the values have, in 0..1.
    """

    quantity: str
    written: Any
    mean: float
    quantiles: tuple[float, ...]
    largest: float

    def quantile(self, probabilities: Iterable[float]) -> "np.ndarray":
        """Return the quantiles at these probabilities."""
        import numpy as np

        text = json.dumps(self.written)
        return np.array(
            _core.distribution(self.quantity, text, list(map(float, probabilities)), [])[1]
        )


def distribution(quantity: str, written: Any) -> Distribution:
    """Return the properties of a distribution of a scenario.

    Parameters
    ----------
    quantity : str
        Kind of value: "size", "times" or "count".
    written : object
        A value (``"7.2 kB"``), or a table.

    Raises
    ------
    ScenarioError
        If the value or table is not a distribution.

    Examples
    --------
    >>> pareto = distribution("size", {"kind": "pareto", "mean": "12 kB", "shape": 1.5})
    >>> pareto.mean, round(pareto.quantiles[0]), round(pareto.largest, 2)
    (12000.0, 6350, 0.53)
    """
    mean, quantiles, shares = _core.distribution(
        quantity, json.dumps(written), list(PROBABILITIES), [LARGEST]
    )
    return Distribution(quantity, written, mean, tuple(quantiles), shares[0])


def distributions(traffic: dict[str, Any]) -> dict[str, Distribution]:
    """Return the distributions of a normalized traffic table by key."""
    families = {"size": "size", "times": "times", "count": "count"}
    by_key = {}
    for p in manual.pages()[traffic["kind"]].parameters:
        options = p.schema.get("anyOf", [p.schema])
        names = {option.get("$ref", "").removeprefix("#/$defs/") for option in options}
        quantity = next((families[name] for name in names if name in families), None)
        if quantity and traffic.get(p.name) is not None:
            by_key[p.name] = distribution(quantity, traffic[p.name])
    return by_key


@dataclass(frozen=True)
class Sample:
    """A sample of the requests of a flow table's users.

    Attributes
    ----------
    name : str
        Name of the flow table.
    users : int
        Number of users.
    duration_s : float
        Duration of the sample, in s.
    traffic : dict
        The traffic table with every default.
    requests : DataFrame
        One row per request: user, page, connection, at_s, answered_s, request_bytes,
        response_bytes.
    """

    name: str
    users: int
    duration_s: float
    traffic: dict[str, Any]
    requests: "pd.DataFrame"

    @cached_property
    def drawn(self) -> "dict[str, np.ndarray]":
        """Sampled values by the keys of the traffic table, in B, in s, or as counts.

        The times between pages include the times between sessions.
        """
        import numpy as np

        rows = self.requests
        first = ~rows.duplicated(["user", "page"]).to_numpy()
        sizes = rows["response_bytes"].to_numpy()
        drawn = {"request": rows["request_bytes"].to_numpy()}
        if self.traffic.get("main_response") is None:
            drawn["response"] = sizes
        else:
            drawn |= {"main_response": sizes[first], "response": sizes[~first]}
        pages = rows.groupby(["user", "page"]).agg(
            objects=("at_s", "size"), begins=("at_s", "min"), ends=("answered_s", "max")
        )
        drawn["objects"] = pages["objects"].to_numpy()
        since = pages["ends" if self.traffic["page_gap_from"] == "end" else "begins"].to_numpy()
        user = pages.index.get_level_values("user").to_numpy()
        gaps = pages["begins"].to_numpy()[1:] - since[:-1]
        drawn["page_gap"] = np.maximum(gaps[user[1:] == user[:-1]], 0)
        return drawn

    @property
    def load_bps(self) -> float:
        """Mean rate of the responses, in bit/s."""
        return 8 * float(self.requests["response_bytes"].sum()) / self.duration_s

    @property
    def expected_load_bps(self) -> float:
        """Expected rate in bit/s, from the means of the distributions and the duration of pages."""
        rows = self.requests.groupby(["user", "page"])
        took = rows["answered_s"].max() - rows["at_s"].min()
        means = {key: d.mean for key, d in distributions(self.traffic).items()}
        main = means.get("main_response", means["response"])
        page_bytes = main + (means["objects"] - 1) * means["response"]
        cycle_s = means["page_gap"]
        if "session_gap" in means:
            cycle_s += (means["session_gap"] - cycle_s) / means["pages"]
        if self.traffic["page_gap_from"] == "end":
            cycle_s += float(took.mean()) if len(took) else 0
        return self.users * 8 * page_bytes / cycle_s

    def rates_bps(self, bin_s: float, rate_bps: float, warm_up: float = 0.1) -> "np.ndarray":
        """Return the rate of the responses over time, in bit/s.

        The bytes of each response arrive at the constant rate `rate_bps`.

        Parameters
        ----------
        bin_s : float
            Length of an interval, in s.
        rate_bps : float
            Rate at which a response arrives, in bit/s.
        warm_up : float
            Share of the time that is removed at the beginning, when all users start.

        Returns
        -------
        ndarray of float64
            One value per interval.

        Raises
        ------
        ValueError
            If `bin_s` or `rate_bps` is 0 or below, or there are more than 10^7 intervals.
        """
        import numpy as np

        if not (bin_s > 0 and rate_bps > 0):
            raise ValueError(
                f"an interval of {bin_s} s and a rate of {rate_bps} bit/s must be above 0; "
                "give larger values"
            )
        if self.duration_s / bin_s > 1e7:
            raise ValueError(
                f"{self.duration_s:g} s have more than 10^7 intervals of {bin_s:g} s; "
                "give a longer interval"
            )
        begins = self.requests["answered_s"].to_numpy()
        ends = begins + 8 * self.requests["response_bytes"].to_numpy() / rate_bps
        edges = np.arange(warm_up * self.duration_s, self.duration_s, bin_s)
        bits = rate_bps * (_time_since(begins, edges) - _time_since(ends, edges))
        rates: np.ndarray = np.diff(bits) / bin_s
        return rates

    def hurst(self, bin_s: float, rate_bps: float, shortest_s: float) -> dict[str, Hurst]:
        """Return estimates of the Hurst parameter of the rate over time, by method.

        `shortest_s` is the minimum block length of the aggregated variance, in s.
        """
        rates = self.rates_bps(bin_s, rate_bps)
        shortest = max(1, round(shortest_s / bin_s))
        return {
            "aggregated variance": aggregated_variance(rates, shortest=shortest),
            "local Whittle": local_whittle(rates),
        }


def _time_since(events: "np.ndarray", times: "np.ndarray") -> "np.ndarray":
    """Return, for each time, the sum of the times elapsed since all earlier events."""
    import numpy as np

    ordered = np.sort(events)
    count = np.searchsorted(ordered, times)
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    since: np.ndarray = count * times - sums[count]
    return since


def sample(
    scenario: ScenarioLike,
    duration_s: float,
    users: int | None = None,
    seed: int | None = None,
    overrides: Iterable[tuple[str, str]] = (),
) -> list[Sample]:
    """Sample the web traffic of a scenario.

    Parameters
    ----------
    scenario : path, dict or Scenario
        The scenario. The network of the scenario adds no delay to the sample.
    duration_s : float
        Duration of the sample, in s.
    users : int, optional
        Number of users per flow table; default: the count of the table.
    seed : int, optional
        Seed; default: the scenario's.
    overrides : iterable of (str, str)
        Dotted paths and their values in TOML syntax.

    Returns
    -------
    list of Sample
        One sample per flow table with web traffic.

    Raises
    ------
    ScenarioError
        If the scenario is invalid, or the sample has more than 20,000,000 requests.
    """
    import numpy as np
    import pandas as pd

    def numbers(column: "_core.Column") -> np.ndarray:
        dtype, values = column
        return np.frombuffer(values, dtype=dtype)  # type: ignore[arg-type]

    text = normalize(scenario, seed, overrides)
    flows = [flow for flow in json.loads(text)["flows"] if flow["traffic"]["kind"] == "web"]
    samples = _core.sample(text, duration_s, users)
    return [
        Sample(
            name, users or flow["count"], duration_s, flow["traffic"],
            pd.DataFrame({key: numbers(column) for key, column in columns.items()}),
        )
        for flow, (name, columns) in zip(flows, samples, strict=True)
    ]  # fmt: skip


def presets() -> dict[str, str]:
    """Return the presets of web traffic, each with its description.

    Examples
    --------
    >>> sorted(presets())[:3]
    ['3gpp-http', 'feldmann1999', 'general-mix']
    """
    keys = {p.name: p for p in manual.pages()["web"].parameters}
    return {name: about for name, about in keys["preset"].choices if name != "none"}


def of_preset(name: str) -> dict[str, Any]:
    """Return a scenario with one user of a preset, in a fast network without delay."""
    network = {
        "kind": "dumbbell", "rate": "1 Gbit/s", "delay": "0 s", "queue": "drop_tail",
        "left_rate": "1 Gbit/s", "left_delay": "0 s", "right_rate": "1 Gbit/s",
        "right_delay": "0 s",
    }  # fmt: skip
    traffic = {"kind": "web", "preset": name}
    user = {"name": name, "from": "left-0", "to": "right-0", "traffic": traffic}
    return {"title": name, "duration": "1 h", "network": network, "flows": [user]}
