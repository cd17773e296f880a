"""The page's app: one guard in front of everything, the page's parts, the routes of its views.

    GET  /               the page
    GET  /static/*       its parts
    GET  /api/events     what changes (voice/web/happening.py)

Each view's routes are in `voice/web/views/`. Nothing that reads the user's files runs on the
event loop: `voice/web/aside.py`. What goes wrong is told as in `voice/web/requests.py`.
"""

from __future__ import annotations

import logging
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, JSONResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from memory.errors import MemoryFault
from voice.errors import VoiceFault
from voice.web import happening
from voice.web.aside import Aside
from voice.web.guard import Guard, Policy
from voice.web.house import House
from voice.web.requests import Unreadable, error, memory_fault, voice_fault
from voice.web.views import (
    changes,
    journal,
    lessons,
    month,
    notebooks,
    search,
    settings,
    talk,
    wipe,
)

log = logging.getLogger(__name__)

STATIC = Path(__file__).parent / "static"
_FRESH = {"cache-control": "no-cache"}  # asked again each time; an unchanged part costs a 304

VIEWS = (
    talk,
    notebooks,
    changes,
    journal,
    search,
    lessons,
    month,
    settings,
    wipe,
    happening,
)


class _Parts(StaticFiles):
    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(_FRESH)
        return response


def create_app(
    house: House, *, port: int, token: str | None = None, names: frozenset[str] | None = None
) -> FastAPI:
    """The app for one house. `port` is where it will listen: only that address is answered.

    With `names` other machines are answered as well, at this one's addresses and these names;
    then there must be a `token`.
    """
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    policy = Policy(port=port, token=token, wide=names is not None, names=names or frozenset())
    app.add_middleware(Guard, policy=policy)
    app.mount("/static", _Parts(directory=STATIC))
    aside = Aside()
    for view in VIEWS:
        app.include_router(view.routes(house, aside))

    @app.exception_handler(Unreadable)
    async def unreadable(_: Request, fault: Unreadable) -> JSONResponse:
        return error(fault.status, "unreadable", str(fault))

    @app.exception_handler(VoiceFault)
    async def failed(_: Request, fault: VoiceFault) -> JSONResponse:
        log.warning("a request failed: %s", type(fault).__name__)
        return voice_fault(fault)

    @app.exception_handler(MemoryFault)
    async def unwritten(_: Request, fault: MemoryFault) -> JSONResponse:
        log.warning("a request failed: %s", type(fault).__name__)
        return memory_fault(fault)

    @app.get("/")
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers=_FRESH)

    return app
