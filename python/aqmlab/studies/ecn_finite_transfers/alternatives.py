"""Alternatives to the settings that the study leaves open; `frozen.py` has the values in use."""

from aqmlab.studies.framework import Alternative

ALTERNATIVES = (
    Alternative(
        "40 bytes of headers on the wire per data packet",
        changes=(("tcp.wire.data_header", "40 B"),),
    ),
    Alternative(
        "every queue limit counts the packet in service",
        changes=(("network.queue.limit_counts", "waiting-and-in-service"),),
    ),
    Alternative(
        "no queue limit counts the packet in service",
        changes=(("network.queue.limit_counts", "waiting"),),
    ),
    Alternative("initial window of two segments", changes=(("tcp.initial_window", "2 segments"),)),
    Alternative(
        "at most one fast retransmit per window",
        changes=(("tcp.recovery.fast_retransmit", "once-per-window"),),
    ),
    Alternative(
        "the ACK that ends a fast recovery does not increase cwnd",
        changes=(("tcp.recovery.exit", "deflate"),),
    ),
    Alternative("NewReno instead of Reno", changes=(("tcp.recovery.method", "newreno"),)),
    Alternative(
        "SACK instead of Reno",
        changes=(("tcp.sack", "true"), ("tcp.recovery.method", "sack")),
    ),
    Alternative("minimum timeout of 1 s (RFC 6298)", changes=(("tcp.rto.min", "1 s"),)),
    Alternative(
        "an ACK restarts the timer before its round-trip sample (ns-2 without timerfix_)",
        changes=(("tcp.rto.order", "restart-first"),),
    ),
    Alternative("receivers acknowledge each segment", changes=(("tcp.delayed_ack", "1 segment"),)),
    Alternative("gentle RED", changes=(("network.queue.gentle", "true"),)),
    Alternative(
        "RED's uniform distances between signals (RED's paper)",
        changes=(("network.queue.spacing", "uniform"),),
    ),
    Alternative(
        "RED marks ECN-capable packets above maxth",
        changes=(("network.queue.above_maxth", "mark"),),
    ),
)
