"""Health, metrics and the interactive documentation, whose scripts come with the package."""

from importlib.metadata import version
from importlib.resources import files
from time import monotonic

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, JSONResponse

from envgen.service import metrics
from envgen.service.models import Health
from envgen.service.state import Service

ASSETS = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon.png": "image/png",
}
DOCS_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'"
)
"""Nothing of the page may come from another host, and nothing may go there."""
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Spadework: HTTP API</title>
<link rel="icon" href="docs/favicon.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""
START = """SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#swagger-ui",
  validatorUrl: null,
  deepLinking: true,
  displayRequestDuration: true,
});
"""


def router(service: Service) -> APIRouter:
    """Return what every service has."""
    routes = APIRouter()

    @routes.get(
        "/health",
        tags=["service"],
        responses={503: {"model": Health, "description": "It no longer works; start it again."}},
    )
    async def health() -> JSONResponse:
        """Say whether the service works. Never waits for a job or for the store."""
        alive = service.worker.alive
        now = Health(
            status="ok" if alive else "failed",
            version=version("spadework"),
            uptime_s=round(monotonic() - service.began, 3),
            policy_version=service.worker.serving.serving,
            running=service.worker.running,
            waiting=sum(job.state == "queued" for job in service.opened.ledger.books.jobs.values()),
        )
        return JSONResponse(now.model_dump(), 200 if alive else 503)

    @routes.get("/metrics", tags=["service"], response_class=Response)
    async def prometheus() -> Response:
        """Return counters for Prometheus in its text format."""
        jobs, worker = service.opened.ledger.books.jobs.values(), service.worker
        service.metrics.state(jobs, worker.serving, worker.keeper.status)
        return Response(service.metrics.text(), media_type=metrics.CONTENT_TYPE)

    @routes.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(PAGE, headers={"content-security-policy": DOCS_POLICY})

    @routes.get("/docs/start.js", include_in_schema=False)
    async def start() -> Response:
        return Response(START, media_type="text/javascript")

    @routes.get("/docs/{name}", include_in_schema=False)
    def asset(name: str) -> Response:
        if name not in ASSETS:
            return JSONResponse({"detail": "there is no such page"}, 404)
        body = (files("fastapi_offline") / "static" / name).read_bytes()
        headers = {"cache-control": "public, max-age=86400"}
        return Response(body, media_type=ASSETS[name], headers=headers)

    return routes
