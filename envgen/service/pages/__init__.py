"""Web pages of the service: atlas, environment, play, rounds, runs. docs/pages.md says how they are made.

Rendered on the server; scripts add the plots, and parts that change without a new page. Everything that a
page shows can be had as JSON from the API, in `envgen.service.routes`.
"""
