"""The embedded policy: its grammar, pre-training, shipped weights and measurements."""
