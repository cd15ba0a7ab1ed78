"""How often things are done where a measurement of throughput is tested and its figures do not matter."""

LITTLE = {
    "bench.throughput.sandbox": {
        "EPISODES": 2,
        "TOGETHER": 2,
        "TRIPS": 20,
        "BLOCK": 10,
        "COLD": 1,
        "OPENINGS": 4,
        "PEER_OPENINGS": 2,
        "OPEN": 3,
        "WAVE": 3,
        "WAVES": 1,
    },
    "bench.throughput.footprint": {"JAILS": 1, "EPISODES": 2},
}
"""By module and name."""
