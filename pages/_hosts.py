"""What stands before the pages: the names that this server answers to, and how many browsers a public copy takes."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse
from streamlit import config
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from pages import _public

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

STYLE = "font: 18px/1.5 system-ui, sans-serif; max-width: 40em; margin: 15vh auto; padding: 0 1em; color: #17202B"


class KnownHosts:
    """Answers requests for another host than `server.allowedHosts` has with a page that names the option.

    Any site may have its name resolved to this machine and ask from a visitor's browser; so nothing else is served there.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on what is for a known host; Streamlit itself refuses the websockets of the others."""
        host = Headers(scope=scope).get("host") if scope["type"] == "http" else None
        if scope["type"] != "http" or is_host_allowed(host):
            await self.app(scope, receive, send)
        else:
            await page(foreign(host or ""), 421)(scope, receive, send)


class BoundedSessions:
    """Tells a browser that comes to a full public copy so, in a page; elsewhere it lets all pass."""

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.open = app, 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Counts websockets, of which a browser has one for each tab."""
        full = _public.public() and self.open >= _public.SESSIONS
        if scope["type"] == "websocket":
            await self._session(scope, receive, send, full=full)
        elif full and scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", ""):
            await page(f"All {self.open} places of this public copy are taken. Please come back in a few minutes.", 503)(
                scope, receive, send
            )
        else:
            await self.app(scope, receive, send)

    async def _session(self, scope: Scope, receive: Receive, send: Send, *, full: bool) -> None:
        if full:
            await send({"type": "websocket.close", "code": 1013, "reason": "full"})
            return
        self.open += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.open -= 1


def foreign(host: str) -> str:
    """What is read where the host is not known."""
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    allowed = ", ".join(config.get_option("server.allowedHosts"))
    return (
        f"The Triton explorer answers to {allowed} here, not to {name[:80] or 'a request without a name'}. Whoever runs it can "
        "let a name in: by the option server.allowedHosts, in .streamlit/config.toml or as --server.allowedHosts NAME."
    )


def page(sentence: str, status: int) -> HTMLResponse:
    """A page of one sentence, which is escaped."""
    title = "<meta charset=utf-8><title>Triton explorer</title>"
    return HTMLResponse(f"<!doctype html>{title}<p style='{STYLE}'>{escape(sentence)}</p>", status)
