"""Environments as files of other ecosystems: Gymnasium, verifiers, OpenEnv, TRL, plain source."""

from envgen.export.render import KINDS, Exportable, render

__all__ = ["KINDS", "Exportable", "render"]
