"""Tests of the interface for notebooks: changes of a scenario, short texts, HTML and figures."""

from typing import Any

import pytest

import aqmlab
from aqmlab.compare import compare

DELAY = "network.delay"


def test_overrides_are_a_mapping_or_pairs_in_each_function(small: dict[str, Any]) -> None:
    for overrides in ({DELAY: "5 ms"}, [(DELAY, "5 ms")], ((DELAY, "5 ms") for _ in range(1))):
        assert aqmlab.run(small, overrides=overrides).scenario["network"]["delay"] == "5 ms"
    table = {"network.queue": aqmlab.Red(maxp=0.2), "network.queue.maxp": 0.3}
    assert aqmlab.run(small, overrides=table).scenario["network"]["queue"]["maxp"] == 0.3
    (result,) = aqmlab.replicate(small, 1, overrides={DELAY: "5 ms"})
    swept = aqmlab.sweep(small, {"network.queue.limit": ["20 packets"]}, overrides={DELAY: "5 ms"})
    compared = compare(["red"], small, 1, overrides={DELAY: "5 ms"})
    for scenario in (result.scenario, swept.results[0].scenario, compared.scenario):
        assert scenario["network"]["delay"] == "5 ms"


@pytest.mark.parametrize("wrong", ["network.delay=5 ms", 5, [5], {3: "4"}, None])
def test_the_error_of_wrong_overrides_shows_the_form(small: dict[str, Any], wrong: Any) -> None:
    with pytest.raises(aqmlab.ScenarioError, match=r"is not a mapping .* \{\"network.delay\": "):
        aqmlab.run(small, overrides=wrong)
