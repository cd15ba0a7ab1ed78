"""Where sandbox work is done: in this process, or by the workers of a Ray cluster.

Whoever orders the work (the producer) keeps order, seeds, the policy and publishing to itself, so what
comes of it does not depend on where it was done.
"""

from envgen.workers.local import LocalWorkers, Workers

__all__ = ["LocalWorkers", "Workers"]
