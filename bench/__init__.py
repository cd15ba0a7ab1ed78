"""Measurements on top of everything else: held-out evaluation, reports of a run, throughput."""
