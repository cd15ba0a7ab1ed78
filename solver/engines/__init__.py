"""Engines: ways of running a policy's model."""
