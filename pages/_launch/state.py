"""The settings of the launch page."""

from __future__ import annotations

from typing import Any

from kernels.runtime.settings import Settings, corrected, link
from pages._state import State, request_shows


def _shows(settings: Settings) -> dict[str, Any]:
    request = settings.request
    more = {"what_if": request.what_if or None, "other": request.other, "layout": request.layout}
    return request_shows(settings) | more


state = State("launch", corrected, link, _shows, shown=("program", "step", "lane", "element"))
