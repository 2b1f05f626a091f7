"""Second implementation of the simulator's random numbers (Philox4x32-10, salmon2011philox)."""

from collections.abc import Iterator

import numpy as np

MASK = (1 << 64) - 1
CHUNK = 1 << 15


def mix(x: int) -> int:
    """Return the output function of SplitMix64 for a number."""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def philox(counters: np.ndarray, key: int) -> np.ndarray:
    """Return Philox's block of four random words for each counter."""
    low = np.uint64(0xFFFFFFFF)
    shift = np.uint64(32)
    c0, c1 = counters & low, counters >> shift
    c2, c3 = np.zeros_like(c0), np.zeros_like(c0)
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        p0, p1 = c0 * np.uint64(0xD2511F53), c2 * np.uint64(0xCD9E8D57)
        c0, c1, c2, c3 = (
            (p1 >> shift) ^ c1 ^ np.uint64(k0),
            p1 & low,
            (p0 >> shift) ^ c3 ^ np.uint64(k1),
            p0 & low,
        )
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack([c0, c1, c2, c3], axis=1)


class Draws:
    """Stream of random numbers for a seed and a name."""

    def __init__(self, seed: int, name: str) -> None:
        h = 0xCBF29CE484222325
        for byte in name.encode():
            h = ((h ^ byte) * 0x100000001B3) & MASK
        self.key = mix(mix(seed) ^ h)
        self.bits = self._bits()

    def _bits(self) -> Iterator[int]:
        start = 0
        while True:
            words = philox(np.arange(start, start + CHUNK, dtype=np.uint64), self.key).reshape(
                -1, 2
            )
            yield from ((words[:, 0] << np.uint64(32)) | words[:, 1]).tolist()
            start += CHUNK

    def uniform(self) -> float:
        """Return a random number in [0, 1)."""
        return (next(self.bits) >> 11) * 2.0**-53

    def below(self, n: int) -> int:
        """Return a random whole number from 0 to n - 1."""
        return (next(self.bits) * n) >> 64
