"""How many users give an offered load on the uncongested link, in each replication.

Found by `calibration.py`, a run of the uncongested link a row, and shown by the first item: what
these users offer there.
"""

from aqmlab.studies.power_of_ecn.words import GENERAL, WEB

USERS: dict[tuple[str, int, int], tuple[int, ...]] = {
    (WEB, 60, 80): (2969, 3297, 3191, 3172, 3267),
    (WEB, 60, 90): (3284, 3712, 3651, 3572, 3667),
    (WEB, 60, 98): (3550, 4013, 3973, 3883, 3909),
    (WEB, 60, 105): (3840, 4302, 4226, 4162, 4239),
    (WEB, 60, 115): (4258, 4753, 4344, 4607, 4576),
    (WEB, 60, 125): (4573, 5193, 4675, 4988, 4943),
    (WEB, 300, 80): (3039, 3261, 3326, 3178, 3356),
    (WEB, 300, 90): (3435, 3667, 3680, 3572, 3743),
    (WEB, 300, 98): (3750, 3906, 3988, 3895, 4112),
    (WEB, 300, 105): (4039, 4186, 4283, 4213, 4418),
    (WEB, 300, 115): (4452, 4615, 4596, 4670, 4838),
    (WEB, 300, 125): (4773, 5026, 5013, 5121, 5223),
    (GENERAL, 60, 90): (2087, 2403, 2226, 2328, 2092),
    (GENERAL, 60, 105): (2428, 2823, 2550, 2677, 2447),
    (GENERAL, 300, 90): (1835, 2196, 2195, 2151, 2315),
    (GENERAL, 300, 105): (2220, 2561, 2600, 2600, 2696),
}
"""By the mix of sizes, the seconds after the warm-up, and the load in % of 100 Mbit/s."""
