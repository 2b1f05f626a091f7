"""Numbers of users that offer a given load on the uncongested link, for each replication.

`calibration.py` computes each row from runs of the uncongested link. The table of the item
`table-1` shows the load that the calibrated numbers of users offer on the uncongested link.
"""

from aqmlab.studies.power_of_ecn.words import EXPONENTIAL, GENERAL, LOGNORMAL, SMALL, WEB

USERS: dict[tuple[str, int, int], tuple[int, ...]] = {
    (WEB, 10, 80): (2734, 3396, 2886, 3115, 2808),
    (WEB, 10, 90): (2976, 3858, 3343, 3568, 3140),
    (WEB, 10, 98): (3235, 4074, 3657, 3894, 3462),
    (WEB, 10, 105): (3528, 4418, 4013, 4161, 3647),
    (WEB, 10, 115): (3771, 4768, 4435, 4650, 4117),
    (WEB, 10, 125): (4117, 5206, 4892, 4905, 4507),
    (WEB, 60, 80): (2969, 3297, 3191, 3172, 3267),
    (WEB, 60, 90): (3284, 3712, 3651, 3572, 3667),
    (WEB, 60, 98): (3550, 4013, 3973, 3883, 3909),
    (WEB, 60, 105): (3840, 4302, 4226, 4162, 4239),
    (WEB, 60, 115): (4258, 4753, 4344, 4607, 4576),
    (WEB, 60, 125): (4573, 5193, 4675, 4988, 4943),
    (WEB, 300, 80): (3039, 3261, 3326, 3178, 3356),
    (WEB, 300, 90): (3435, 3667, 3680, 3572, 3743, 3623, 3346, 3662, 3606, 3616),
    (WEB, 300, 98): (3750, 3906, 3988, 3895, 4112),
    (WEB, 300, 105): (4039, 4186, 4283, 4213, 4418, 4194, 3978, 4150, 4210, 4205),
    (WEB, 300, 115): (4452, 4615, 4596, 4670, 4838),
    (WEB, 300, 125): (4773, 5026, 5013, 5121, 5223),
    (GENERAL, 20, 90): (2207, 2334, 1830, 2507, 2087),
    (GENERAL, 20, 105): (2606, 2816, 2206, 2951, 2438),
    (GENERAL, 60, 90): (2087, 2403, 2226, 2328, 2092),
    (GENERAL, 60, 105): (2428, 2823, 2550, 2677, 2447),
    (GENERAL, 300, 90): (1835, 2196, 2195, 2151, 2315, 2194, 2131, 2169, 2265, 2061),
    (GENERAL, 300, 105): (2220, 2561, 2600, 2600, 2696, 2512, 2413, 2528, 2606, 2423),
    (LOGNORMAL, 60, 90): (3198, 3239, 3178, 3239, 3150),
    (LOGNORMAL, 60, 105): (3743, 3830, 3750, 3775, 3677),
    ("web, waiting users", 60, 98): (3813, 4251, 4184, 4207, 4161),
    ("web, waiting users", 60, 105): (4106, 4600, 4340, 4521, 4457),
    ("lognormal, waiting users", 60, 105): (3988, 4062, 4048, 4074, 3939),
    ("25 % lognormal", 60, 105): (4213, 4156, 3934, 4010, 4039),
    ("50 % lognormal", 60, 105): (3743, 3873, 4018, 4028, 3840),
    ("75 % lognormal", 60, 105): (3807, 3928, 3845, 3884, 3737),
    ("lognormal, sigma 1.4", 60, 105): (3776, 3796, 3756, 3761, 3707),
    ("lognormal, sigma 2.4", 60, 105): (3769, 3880, 3845, 3927, 3661),
    ("web, at most 1 MB", 60, 105): (4931, 5065, 4975, 4912, 4946),
    ("web, segments of 1000 bytes", 60, 105): (3775, 4251, 4176, 4084, 4188),
    ("lognormal, segments of 1000 bytes", 60, 105): (3695, 3788, 3717, 3726, 3639),
    (SMALL, 60, 95): (660, 851, 966, 862, 928),
    (SMALL, 60, 110): (806, 1010, 1077, 1010, 1045),
    (SMALL, 60, 125): (912, 1154, 1210, 1095, 1183),
    (SMALL, 60, 150): (1193, 1328, 1460, 1331, 1451),
    (EXPONENTIAL, 60, 90): (754, 762, 763),
    (EXPONENTIAL, 60, 95): (793, 806, 808),
}
"""Numbers of users in each replication.

The keys are the mix of object sizes (with the name of a `Reading` if it changes the load), the
duration after the warm-up in s, and the load in % of the rate of the bottleneck.
"""

BROWSERS = (420, 477, 466, 503, 526)
"""Numbers of browsers of the testbed that receive 15 Mbit/s over the uncongested network.

`calibration.browsers` computes one number for each replication.
"""
