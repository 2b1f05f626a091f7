"""Estimates of the Hurst parameter of a time series by two methods.

The Hurst parameter states how slowly the variance of a block mean decreases with the length of the
block. A series with a Hurst parameter above 0.5 is long-range dependent: it is bursty at every time
scale. Each method also returns the points to which it has fitted a line, so that a figure can show
the quality of the fit.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from aqmlab.statistics.interval import Interval, array, check_confidence

if TYPE_CHECKING:
    import numpy as np

LEAST = 128
"""Minimum number of values in a series."""


@dataclass(frozen=True)
class Hurst:
    """Estimate of the Hurst parameter, with the fitted line from which it was computed.

    Attributes
    ----------
    interval : Interval
        Estimate with its confidence interval.
    x, y : ndarray of float64
        Points to which the line was fitted on logarithmic axes. For :func:`aggregated_variance`, x
        is the number of values per block, and y is the variance of the block means. For
        :func:`local_whittle`, x is the frequency in radians per value, and y is the periodogram.
    line : ndarray of float64
        Fitted line at each x, before the correction of the bias; NaN at points that the fit did not
        use.
    """

    interval: Interval
    x: "np.ndarray"
    y: "np.ndarray"
    line: "np.ndarray"


def fractional_gaussian_noise(hurst: float, n: int, seed: int = 1) -> "np.ndarray":
    """Return fractional Gaussian noise with mean 0 and variance 1.

    The values are normally distributed. The values are long-range dependent if the Hurst parameter
    is above 0.5. The method embeds the covariance matrix in a circulant matrix, which gives exact
    covariances. Source: ``davies1987tests``.

    Parameters
    ----------
    hurst : float
        Hurst parameter, in 0..1; 0.5 gives white noise.
    n : int
        Number of values.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    ndarray of float64
        Shape (n,).

    Raises
    ------
    ValueError
        If the parameter lies outside 0..1, or `n` is below 1.

    Examples
    --------
    >>> noise = fractional_gaussian_noise(0.8, 1 << 17)
    >>> round(float(noise[1:] @ noise[:-1]) / len(noise), 1)  # 2^(2 · 0.8 − 1) − 1 = 0.52
    0.5
    """
    import numpy as np

    if not 0 < hurst < 1:
        raise ValueError(f"hurst is {hurst}; it must be above 0 and below 1")
    if n < 1:
        raise ValueError(f"n is {n}; it must be at least 1")
    deviations = _deviations(hurst, n)
    normal = np.random.default_rng(seed).standard_normal((2, n + 1))
    # The first and the last Fourier coefficient are real, so their real parts have the whole
    # variance.
    normal[1, [0, n]] = 0
    normal[0, [0, n]] *= np.sqrt(2)
    parts = (normal[0] + 1j * normal[1]) * deviations
    noise: np.ndarray = np.fft.irfft(parts, 2 * n)[:n]
    return noise


@lru_cache(maxsize=4)
def _deviations(hurst: float, n: int) -> "np.ndarray":
    """Return standard deviations of the real and imaginary parts of the Fourier coefficients."""
    import numpy as np

    k = np.arange(n + 1, dtype=float)
    covariance = (np.abs(k - 1) ** (2 * hurst) - 2 * k ** (2 * hurst) + (k + 1) ** (2 * hurst)) / 2
    eigenvalues = np.fft.rfft(np.concatenate([covariance, covariance[-2:0:-1]])).real
    deviations: np.ndarray = np.sqrt(np.maximum(eigenvalues, 0) * n)
    return deviations


def aggregated_variance(
    values: Iterable[float],
    confidence: float = 0.95,
    shortest: int = 1,
    replications: int = 199,
) -> Hurst:
    """Estimate the Hurst parameter from the variance of the means of blocks.

    For a Hurst parameter H, the variance of the mean of m values is proportional to m^(2H − 2). A
    line is fitted to the logarithm of the variance over the logarithm of the block length m. The
    block lengths are from `shortest` to a tenth of the length of the series. The slope of the line
    gives H. Source: ``taqqu1995estimators``, section 3.1.

    The slope underestimates a strong dependence: with 1024 values it gave 0.79 for H = 0.85. The
    function therefore also estimates H for random samples of fractional Gaussian noise with a known
    H (parametric bootstrap). The mean error of the estimates for the samples is subtracted from the
    estimate for the series. The standard deviation of the estimates for the samples gives the
    confidence interval. Of the intervals for 100 series of 1024 values each, 95 contained H = 0.5,
    87 contained H = 0.7, and 84 contained H = 0.85. Because the interval often misses H, prefer
    :func:`local_whittle`.

    Parameters
    ----------
    values : iterable of float
        Values of the series at equal time intervals; at least 128 values.
    confidence : float
        Confidence, in 0..1; default 0.95.
    shortest : int
        Minimum block length of the fit, in values. A larger minimum excludes more of the
        short-range dependence.
    replications : int
        Number of bootstrap replications.

    Raises
    ------
    ValueError
        If there are too few values, or all values are equal.

    Examples
    --------
    >>> estimate = aggregated_variance(fractional_gaussian_noise(0.8, 1024))
    >>> low, middle, high = estimate.interval
    >>> bool(low < 0.8 < high)
    True
    """
    import numpy as np
    from scipy.stats import norm

    check_confidence(confidence)
    x = _series(values)
    lengths, variances = _block_variances(x)
    used = lengths >= min(shortest, len(x) // 20)

    def slope_of(variances: "np.ndarray") -> tuple[float, float]:
        slope, intercept = np.polyfit(np.log(lengths[used]), np.log(variances[used]), 1)
        return float(slope), float(intercept)

    def bootstrap(hurst: float, seeds: range) -> "np.ndarray":
        noise = (fractional_gaussian_noise(hurst, len(x), seed) for seed in seeds)
        return np.array([1 + slope_of(_block_variances(one)[1])[0] / 2 for one in noise])

    slope, intercept = slope_of(variances)
    middle = 1 + slope / 2
    model = min(max(middle, 0.01), 0.99)
    # A first set of bootstrap samples estimates the bias. A second set of bootstrap samples has the
    # Hurst parameter that is corrected for this bias.
    few = replications // 4 + 1
    model = min(max(2 * model - float(bootstrap(model, range(few)).mean()), 0.01), 0.99)
    again = bootstrap(model, range(few, few + replications))
    middle -= float(again.mean()) - model
    half = float(norm.ppf((1 + confidence) / 2)) * float(again.std(ddof=1))
    line = np.where(used, np.exp(intercept + slope * np.log(lengths)), np.nan)
    interval = Interval(middle - half, middle, middle + half)
    return Hurst(interval, lengths.astype(float), variances, line)


def local_whittle(values: Iterable[float], confidence: float = 0.95, power: float = 0.65) -> Hurst:
    """Estimate the Hurst parameter from the lowest frequencies of the periodogram.

    At low frequencies λ, the spectrum of the series is proportional to λ^(1 − 2H). The estimate of
    H maximizes Whittle's likelihood for the lowest n^`power` frequencies of a series of n values.
    The confidence interval uses the asymptotic normal distribution of the estimate. The variance of
    the estimate is 1/4 divided by the sum of squared deviations of the logarithms of the m
    frequencies from their mean. If the number m of frequencies is large, the sum of squared
    deviations is approximately m. Source: ``robinson1995gaussian``.

    Parameters
    ----------
    values : iterable of float
        Values of the series at equal time intervals; at least 128 values.
    confidence : float
        Confidence, in 0..1; default 0.95.
    power : float
        Exponent, in 0..1, of the number n^`power` of frequencies that are used.

    Raises
    ------
    ValueError
        If there are too few values, or all values are equal.

    Examples
    --------
    >>> estimate = local_whittle(fractional_gaussian_noise(0.8, 4096))
    >>> bool(estimate.interval.low < 0.8 < estimate.interval.high)
    True
    """
    import numpy as np
    from scipy.optimize import minimize_scalar
    from scipy.stats import norm

    check_confidence(confidence)
    if not 0 < power < 1:
        raise ValueError(f"power is {power}; it must be above 0 and below 1")
    x = _series(values)
    n = len(x)
    periodogram = np.abs(np.fft.rfft(x - x.mean())[1:]) ** 2 / (2 * np.pi * n)
    frequencies = 2 * np.pi * np.arange(1, len(periodogram) + 1) / n
    m = int(n**power)
    low_frequencies, low_periodogram = frequencies[:m], periodogram[:m]
    mean_log = float(np.log(low_frequencies).mean())
    squares = float(np.sum((np.log(low_frequencies) - mean_log) ** 2))

    def objective(hurst: float) -> float:
        scale = np.mean(low_frequencies ** (2 * hurst - 1) * low_periodogram)
        return float(np.log(scale) - (2 * hurst - 1) * mean_log)

    middle = float(minimize_scalar(objective, bounds=(0.001, 1.499), method="bounded").x)
    half = float(norm.ppf((1 + confidence) / 2)) / (2 * np.sqrt(squares))
    scale = float(np.mean(low_frequencies ** (2 * middle - 1) * low_periodogram))
    line = np.full(len(frequencies), np.nan)
    line[:m] = scale * low_frequencies ** (1 - 2 * middle)
    interval = Interval(middle - half, middle, middle + half)
    return Hurst(interval, frequencies, periodogram, line)


def _series(values: Iterable[float]) -> "np.ndarray":
    """Return the values as an array; raise ValueError if there are too few, or all are equal."""
    x = array(values, at_least=LEAST)
    if x.min() == x.max():
        raise ValueError("all values of the series are equal; give a longer series")
    return x


def _block_variances(x: "np.ndarray") -> tuple["np.ndarray", "np.ndarray"]:
    """Return block lengths at equal logarithmic distances, and the variances of block means."""
    import numpy as np

    lengths = np.unique(np.geomspace(1, len(x) // 10, 30).astype(int))
    sums = np.concatenate([[0.0], np.cumsum(x - x.mean())])
    means = (np.diff(sums[::m]) / m for m in lengths)
    return lengths, np.array([of.var(ddof=1) for of in means])
