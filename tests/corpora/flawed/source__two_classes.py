# flaw: two classes could be meant
class AEnv:
    """One."""


class BEnv:
    """Two."""
