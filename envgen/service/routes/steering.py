"""Steering: the policy version, the stock."""

from fastapi import APIRouter, HTTPException

from envgen.service.models import PolicyModel, PolicyRequest, StockModel
from envgen.service.state import Service, answers, changing

REFUSALS = (401, 403, 413)


def router(service: Service) -> APIRouter:
    """Return the calls about policy and stock."""
    worker, ledger, versions = service.worker, service.opened.ledger, service.opened.versions
    routes = APIRouter()

    @routes.get("/policy", tags=["policy"], responses=answers())
    def show_policy() -> PolicyModel:
        """Show which policy version designs and plays, and which there are."""
        return PolicyModel.of(worker.serving, ledger.books.pinned, versions.all())

    @routes.put(
        "/policy",
        status_code=202,
        tags=["policy"],
        dependencies=changing(service.rules),
        responses=answers(*REFUSALS, 404),
    )
    def switch_policy(request: PolicyRequest) -> PolicyModel:
        """Choose the version that serves from the next round on; null follows the newest."""
        if request.version is not None and not versions.has(request.version):
            raise HTTPException(404, f"there is no policy version {request.version}")
        worker.pin(request.version)
        return show_policy()

    @routes.get("/stock", tags=["stock"], responses=answers())
    async def show_stock() -> StockModel:
        """Show the stock of frontier environments for the version that serves."""
        return StockModel.of(worker.keeper.status)

    return routes
