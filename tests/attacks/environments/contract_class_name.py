"""A class whose name is not a name is refused."""
name = "\x1b[2J" + "x" * 300 + "Env"
globals()[name] = type(name, (), {"__module__": __name__, "reset": lambda self, seed=None: ("x", {}), "step": lambda self, a: ("x", 0.0, True, False, {})})
