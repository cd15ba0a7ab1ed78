"""Runs: the curves of both roles, and the policy versions with what each was trained on."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from envgen.service.pages import reports, shell
from envgen.service.pages.context import Context
from envgen.service.pages.words import WHY

SHOWN = 60
LINKED = 12
"""Environments of one step that a page links to."""


def router(context: Context) -> APIRouter:
    """Return the page."""
    opened, worker = context.service.opened, context.service.worker
    routes = APIRouter(include_in_schema=False)

    @routes.get("/runs")
    def runs() -> HTMLResponse:
        found = reports.run(opened.store.shards(), opened.versions)
        titles = {one.id: one.title for one in context.catalogue.entries()}
        return shell.page(
            "runs.jinja",
            here="/runs",
            versions=found.policies[::-1][:SHOWN],
            total=len(found.policies),
            trained=len(found.versions) > 0,
            rounds=len(found.rounds) > 0,
            serving=worker.serving,
            titles=titles,
            why=WHY,
            linked=LINKED,
        )

    return routes
