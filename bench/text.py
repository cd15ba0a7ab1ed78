"""Figures as text, the same in every table, page and sentence: ``-`` is what is not known."""

from bench.statistics import Estimate


def number_text(value: float | None, digits: int = 3) -> str:
    """Return a figure with so many places behind the point."""
    return "-" if value is None else f"{value:.{digits}f}"


def estimate_text(value: Estimate) -> str:
    """Return a mean with its interval: ``0.412 (0.350 to 0.474)``."""
    if value.low is None or value.high is None:
        return number_text(value.mean)
    return f"{number_text(value.mean)} ({value.low:.3f} to {value.high:.3f})"


def signed_text(value: Estimate) -> str:
    """Return a difference with its interval, the sign always there: ``+0.062 (0.010 to 0.114)``."""
    text = estimate_text(value)
    return text if text.startswith("-") else f"+{text}"


def compact_text(value: Estimate) -> str:
    """Return a mean with half its interval, for narrow tables: ``0.412 ±0.062``."""
    if value.mean is None or value.high is None:
        return number_text(value.mean)
    return f"{value.mean:.3f} ±{value.high - value.mean:.3f}"
