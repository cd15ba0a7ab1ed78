"""The calls, one module for each subject: ``router(service)`` returns its routes."""
