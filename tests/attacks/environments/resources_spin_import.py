"""A source that never finishes loading is given up after its load limit."""
while True:
    pass
