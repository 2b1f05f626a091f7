"""Check of a model's parameters against their bounds."""

import math


def refuse_outside(
    name: str,
    value: float,
    low: float,
    high: float = math.inf,
    remedy: str = "give another value",
    *,
    open_low: bool = True,
    open_high: bool = True,
) -> None:
    """Raise ValueError for a value outside its bounds; a bound that is `open` is excluded.

    Raises
    ------
    ValueError
        The message states the name, the value, the bounds and the remedy.

    Examples
    --------
    >>> refuse_outside("load", 1.0, 0, 1, "at load 1 a queue only grows")
    Traceback (most recent call last):
        ...
    ValueError: load is 1; it must be above 0 and below 1; at load 1 a queue only grows
    """
    above = value > low if open_low else value >= low
    below = value < high if open_high else value <= high
    if above and below and not math.isnan(value):
        return
    bounds = [f"{'above' if open_low else 'at least'} {low:g}"] * math.isfinite(low)
    bounds += [f"{'below' if open_high else 'at most'} {high:g}"] * math.isfinite(high)
    raise ValueError(f"{name} is {value:g}; it must be {' and '.join(bounds)}; {remedy}")
