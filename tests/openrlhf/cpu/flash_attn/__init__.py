"""Stands in for flash-attn, which builds on machines with CUDA only; OpenRLHF imports it, and does not
call it when packing is off."""

__version__ = "0.0.0"
