"""Judging policy versions on a fixed set of environments that nothing was trained on."""
