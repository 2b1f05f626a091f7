"""Tests of computations in another thread."""

import threading
import time

import pytest

from aqmlab.background import Background


def test_an_error_of_the_computation_is_raised_by_its_result() -> None:
    with Background[float]() as background:
        background.start(lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            background.result()
        background.start(lambda: 1 / 2)
        assert background.result() == 0.5


def test_an_error_in_the_block_interrupts_the_computation() -> None:
    begun, ended = threading.Event(), []

    def endless() -> None:
        begun.set()
        try:
            while True:
                time.sleep(0.001)
        finally:
            ended.append(True)

    def fails() -> None:
        with Background[None]() as background:
            background.start(endless)
            begun.wait()
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        fails()
    assert ended == [True]
