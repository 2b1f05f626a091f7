"""Random samples of web traffic without a network, and statistics of traffic distributions.

A sample has the same web pages and uses the same random numbers as a run of the scenario. The
sample does not simulate a network, so each response arrives at the time when the server sends the
response.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aqmlab import _core, manual
from aqmlab.scenario import Overrides, ScenarioLike, normalize
from aqmlab.statistics import Hurst, aggregated_variance, local_whittle

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

PROBABILITIES = (0.5, 0.9, 0.99)
"""Probabilities of the quantiles that describe a distribution."""

LARGEST = 0.15
"""Share of the largest values of a distribution. A distribution is described by the share of all
bytes that is in its largest values, as in ``kuzmanovic2005ecnplus``, section 4.2.
"""


@dataclass(frozen=True)
class Distribution:
    """Statistics of a distribution in a scenario.

    Attributes
    ----------
    quantity : str
        Kind of value: "size" (B), "times" (s) or "count".
    written : object
        Value or table that defines the distribution in the scenario.
    mean : float
        Mean of the distribution, in the unit of the values.
    quantiles : tuple of float
        Quantiles at :data:`PROBABILITIES`.
    largest : float
        Share, in 0..1, of the sum of all values that the largest 15 % of the values contribute.
    """

    quantity: str
    written: Any
    mean: float
    quantiles: tuple[float, ...]
    largest: float

    def quantile(self, probabilities: Iterable[float]) -> "np.ndarray":
        """Return the quantiles of the distribution at the given probabilities."""
        import numpy as np

        text = json.dumps(self.written)
        return np.array(
            _core.distribution(self.quantity, text, list(map(float, probabilities)), [])[1]
        )


def distribution(quantity: str, written: Any) -> Distribution:
    """Compute the statistics of a distribution in a scenario.

    Parameters
    ----------
    quantity : str
        Kind of value: "size", "times" or "count".
    written : object
        Definition of the distribution: a constant such as ``"7.2 kB"``, or a table.

    Raises
    ------
    ScenarioError
        If `written` does not define a distribution.

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
    """Return the distributions in a normalized traffic table, by key of the table."""
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
    """Random sample of the requests that the users of a ``[[flows]]`` table send.

    Attributes
    ----------
    name : str
        Name of the ``[[flows]]`` table.
    users : int
        Number of users.
    duration_s : float
        Simulated duration of the sample, in s.
    traffic : dict
        Traffic table of the flows, including default values.
    requests : DataFrame
        Table with one row per request and the columns user, page, connection, at_s, answered_s,
        request_bytes and response_bytes.
    """

    name: str
    users: int
    duration_s: float
    traffic: dict[str, Any]
    requests: "pd.DataFrame"

    @cached_property
    def drawn(self) -> "dict[str, np.ndarray]":
        """Sampled values for each key of the traffic table: sizes in B, times in s, or counts.

        The sampled times between pages include the times between sessions.
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
        """Mean rate of the response bytes in the sample, in bit/s."""
        return 8 * float(self.requests["response_bytes"].sum()) / self.duration_s

    @property
    def expected_load_bps(self) -> float:
        """Expected rate of the response bytes in bit/s, from the means of the distributions."""
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
        """Return the rate of the response bytes over time, in bit/s.

        The bytes of each response are assumed to arrive at the constant rate `rate_bps`.

        Parameters
        ----------
        bin_s : float
            Length of an averaging interval, in s.
        rate_bps : float
            Rate at which the bytes of a response arrive, in bit/s.
        warm_up : float
            Share of the duration that is removed at the beginning, because all users start at the
            same time.

        Returns
        -------
        ndarray of float64
            Mean rate in each interval.

        Raises
        ------
        ValueError
            If `bin_s` or `rate_bps` is 0 or below, or there are more than 10^7 intervals.
        """
        import numpy as np

        if not (bin_s > 0 and rate_bps > 0):
            raise ValueError(
                f"an interval of {bin_s} s and a rate of {rate_bps} bit/s are not valid; give "
                "values above 0"
            )
        if self.duration_s / bin_s > 1e7:
            raise ValueError(
                f"{self.duration_s:g} s contain more than 10^7 intervals of {bin_s:g} s; choose a "
                "longer interval"
            )
        begins = self.requests["answered_s"].to_numpy()
        ends = begins + 8 * self.requests["response_bytes"].to_numpy() / rate_bps
        edges = np.arange(warm_up * self.duration_s, self.duration_s, bin_s)
        bits = rate_bps * (_time_since(begins, edges) - _time_since(ends, edges))
        rates: np.ndarray = np.diff(bits) / bin_s
        return rates

    def hurst(self, bin_s: float, rate_bps: float, shortest_s: float) -> dict[str, Hurst]:
        """Estimate the Hurst parameter of the rate of the response bytes, by two methods.

        `shortest_s` is the minimum averaging time, in s, of the method "aggregated variance".
        """
        rates = self.rates_bps(bin_s, rate_bps)
        shortest = max(1, round(shortest_s / bin_s))
        return {
            "aggregated variance": aggregated_variance(rates, shortest=shortest),
            "local Whittle": local_whittle(rates),
        }


def _time_since(events: "np.ndarray", times: "np.ndarray") -> "np.ndarray":
    """Return for each time t the sum of t - e over all events e before t."""
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
    overrides: Overrides = (),
) -> list[Sample]:
    """Generate a random sample of the web traffic of a scenario.

    Parameters
    ----------
    scenario : path, name, dict or Scenario
        The scenario. The sample ignores the network of the scenario.
    duration_s : float
        Simulated duration of the sample, in s.
    users : int, optional
        Number of users of each ``[[flows]]`` table; default: the `count` of the table.
    seed : int, optional
        Seed of the random numbers; default: the seed of the scenario.
    overrides : mapping or iterable of (str, value)
        Changes of the scenario by dotted path of the key, as for :func:`aqmlab.run`.

    Returns
    -------
    list of Sample
        One sample for each ``[[flows]]`` table with web traffic.

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
    """Return a scenario with one web user of a preset, in a fast network without delay."""
    network = {
        "kind": "dumbbell", "rate": "1 Gbit/s", "delay": "0 s", "queue": "drop_tail",
        "left_rate": "1 Gbit/s", "left_delay": "0 s", "right_rate": "1 Gbit/s",
        "right_delay": "0 s",
    }  # fmt: skip
    traffic = {"kind": "web", "preset": name}
    user = {"name": name, "from": "left-0", "to": "right-0", "traffic": traffic}
    return {"title": name, "duration": "1 h", "network": network, "flows": [user]}
