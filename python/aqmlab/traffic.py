"""What traffic asks for: a sample of web traffic without a network, and what is written of it.

The simulator draws the sample, with the pages and numbers that the same scenario has in a run; the
network takes no time, so each response is there when the server sends it.
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
"""Of the quantiles that are told."""

LARGEST = 0.15
"""The largest whose share of the bytes is told, as in ``kuzmanovic2005ecnplus``, section 4.2."""


@dataclass(frozen=True)
class Law:
    """A distribution as a scenario writes it.

    Attributes
    ----------
    what : str
        "size" (B), "times" (s) or "count".
    written : object
        Its value, or its table.
    mean : float
        Its mean, in its unit.
    quantiles : tuple of float
        Those of :data:`PROBABILITIES`.
    largest : float
        The share of the sum that the largest 15 % have, in 0..1.
    """

    what: str
    written: Any
    mean: float
    quantiles: tuple[float, ...]
    largest: float

    def quantile(self, probabilities: Iterable[float]) -> "np.ndarray":
        """Return the values that such shares of all do not exceed."""
        import numpy as np

        said = json.dumps(self.written)
        return np.array(_core.distribution(self.what, said, list(map(float, probabilities)), [])[1])


def law(what: str, written: Any) -> Law:
    """Return what a distribution of a scenario is.

    Parameters
    ----------
    what : str
        What is drawn: "size", "times" or "count".
    written : object
        A value (``"7.2 kB"``), or a table.

    Raises
    ------
    ScenarioError
        If it is none.

    Examples
    --------
    >>> found = law("size", {"kind": "pareto", "mean": "12 kB", "shape": 1.5})
    >>> found.mean, round(found.quantiles[0]), round(found.largest, 2)
    (12000.0, 6350, 0.53)
    """
    told = _core.distribution(what, json.dumps(written), list(PROBABILITIES), [LARGEST])
    mean, quantiles, shares = told
    return Law(what, written, mean, tuple(quantiles), shares[0])


def laws(traffic: dict[str, Any]) -> dict[str, Law]:
    """Return the distributions of a normalized table of traffic, by their keys."""
    families = {"size": "size", "times": "times", "count": "count"}
    found = {}
    for p in manual.pages()[traffic["kind"]].parameters:
        options = p.schema.get("anyOf", [p.schema])
        names = {option.get("$ref", "").removeprefix("#/$defs/") for option in options}
        what = next((families[name] for name in names if name in families), None)
        if what and traffic.get(p.name) is not None:
            found[p.name] = law(what, traffic[p.name])
    return found


@dataclass(frozen=True)
class Sample:
    """What the users of a table of flows ask for.

    Attributes
    ----------
    name : str
        The table's name.
    users : int
        How many.
    duration_s : float
        How long.
    traffic : dict
        The table of their traffic, every default filled in.
    requests : DataFrame
        One row a request: user, page, connection, at_s, answered_s, request_bytes, response_bytes.
    """

    name: str
    users: int
    duration_s: float
    traffic: dict[str, Any]
    requests: "pd.DataFrame"

    @cached_property
    def drawn(self) -> "dict[str, np.ndarray]":
        """What was drawn, by the keys of the traffic: B, s or a number.

        Times between sessions are among those between pages.
        """
        import numpy as np

        rows = self.requests
        first = ~rows.duplicated(["user", "page"]).to_numpy()
        sizes = rows["response_bytes"].to_numpy()
        found = {"request": rows["request_bytes"].to_numpy()}
        if self.traffic.get("main_response") is None:
            found["response"] = sizes
        else:
            found |= {"main_response": sizes[first], "response": sizes[~first]}
        pages = rows.groupby(["user", "page"]).agg(
            objects=("at_s", "size"), begins=("at_s", "min"), ends=("answered_s", "max")
        )
        found["objects"] = pages["objects"].to_numpy()
        since = pages["ends" if self.traffic["page_gap_from"] == "end" else "begins"].to_numpy()
        user = pages.index.get_level_values("user").to_numpy()
        gaps = pages["begins"].to_numpy()[1:] - since[:-1]
        found["page_gap"] = np.maximum(gaps[user[1:] == user[:-1]], 0)
        return found

    @property
    def load_bps(self) -> float:
        """Bits of responses a second."""
        return 8 * float(self.requests["response_bytes"].sum()) / self.duration_s

    @property
    def expected_load_bps(self) -> float:
        """The same from the means of what is written, and the time that pages took here."""
        rows = self.requests.groupby(["user", "page"])
        took = rows["answered_s"].max() - rows["at_s"].min()
        means = {key: law.mean for key, law in laws(self.traffic).items()}
        main = means.get("main_response", means["response"])
        page_bytes = main + (means["objects"] - 1) * means["response"]
        cycle_s = means["page_gap"]
        if "session_gap" in means:
            cycle_s += (means["session_gap"] - cycle_s) / means["pages"]
        if self.traffic["page_gap_from"] == "end":
            cycle_s += float(took.mean()) if len(took) else 0
        return self.users * 8 * page_bytes / cycle_s

    def rates_bps(self, bin_s: float, rate_bps: float, warm_up: float = 0.1) -> "np.ndarray":
        """Return the rate in bits a second over time, each response coming in at an even rate.

        Parameters
        ----------
        bin_s : float
            Length of an interval, in s.
        rate_bps : float
            At which a response comes in, in bit/s.
        warm_up : float
            Share of the time that is left out at the beginning, when all users begin.

        Returns
        -------
        ndarray of float64
            One value an interval.

        Raises
        ------
        ValueError
            If bin or rate are not above 0, or there are more than 10^7 intervals.
        """
        import numpy as np

        if not (bin_s > 0 and rate_bps > 0):
            raise ValueError(f"an interval of {bin_s} s and a rate of {rate_bps} bit/s: give more")
        if self.duration_s / bin_s > 1e7:
            raise ValueError(f"{self.duration_s:g} s have more than 10^7 intervals of {bin_s:g} s")
        begins = self.requests["answered_s"].to_numpy()
        ends = begins + 8 * self.requests["response_bytes"].to_numpy() / rate_bps
        edges = np.arange(warm_up * self.duration_s, self.duration_s, bin_s)
        bits = rate_bps * (_time_since(begins, edges) - _time_since(ends, edges))
        rates: np.ndarray = np.diff(bits) / bin_s
        return rates

    def hurst(self, bin_s: float, rate_bps: float, shortest_s: float) -> dict[str, Hurst]:
        """Return the Hurst parameter of the rate over time by two methods, by their names.

        `shortest_s` is the shortest span, in s, whose mean the aggregated variance looks at.
        """
        rates = self.rates_bps(bin_s, rate_bps)
        shortest = max(1, round(shortest_s / bin_s))
        return {
            "aggregated variance": aggregated_variance(rates, shortest=shortest),
            "local Whittle": local_whittle(rates),
        }


def _time_since(events: "np.ndarray", times: "np.ndarray") -> "np.ndarray":
    """Return at each time the sum of the times since the events before it."""
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
        The scenario; its network takes no time here.
    duration_s : float
        How long, in s.
    users : int, optional
        How many users each table of flows has; default: its count.
    seed : int, optional
        Default: the scenario's.
    overrides : iterable of (str, str)
        Dotted paths and their values in TOML syntax.

    Returns
    -------
    list of Sample
        One a table of flows with traffic of the web.

    Raises
    ------
    ScenarioError
        If the scenario is wrong, or there are more than 20,000,000 requests.
    """
    import numpy as np
    import pandas as pd

    def numbers(column: "_core.Column") -> np.ndarray:
        dtype, values = column
        return np.frombuffer(values, dtype=dtype)  # type: ignore[arg-type]

    text = normalize(scenario, seed, overrides)
    flows = [flow for flow in json.loads(text)["flows"] if flow["traffic"]["kind"] == "web"]
    found = _core.sample(text, duration_s, users)
    return [
        Sample(
            name, users or flow["count"], duration_s, flow["traffic"],
            pd.DataFrame({key: numbers(column) for key, column in columns.items()}),
        )
        for flow, (name, columns) in zip(flows, found, strict=True)
    ]  # fmt: skip


def presets() -> dict[str, str]:
    """Return the presets of web traffic, each with what it is.

    Examples
    --------
    >>> sorted(presets())[:3]
    ['3gpp-http', 'feldmann1999', 'general-mix']
    """
    keys = {p.name: p for p in manual.pages()["web"].parameters}
    return {name: about for name, about in keys["preset"].choices if name != "none"}


def of_preset(name: str) -> dict[str, Any]:
    """Return a scenario with a user of a preset; what its network is means nothing."""
    network = {
        "kind": "dumbbell", "rate": "1 Gbit/s", "delay": "0 s", "queue": "drop_tail",
        "left_rate": "1 Gbit/s", "left_delay": "0 s", "right_rate": "1 Gbit/s",
        "right_delay": "0 s",
    }  # fmt: skip
    traffic = {"kind": "web", "preset": name}
    user = {"name": name, "from": "left-0", "to": "right-0", "traffic": traffic}
    return {"title": name, "duration": "1 h", "network": network, "flows": [user]}
