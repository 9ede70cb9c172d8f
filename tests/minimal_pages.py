"""Opens every page and tab for the operators of tests/minimal; `python -m tests.minimal_pages` prints faults as JSON."""

from __future__ import annotations

import json
import sys
import traceback

from kernels import broken, operators

from . import fuzz
from .states import settled

NAMES = ("transpose", "pick", "cube", "total")
PAGES = ("launch", "hardware", "compiler", "fusion")


def problems(page: str, name: str) -> list[str]:
    """A line for every tab of a page that raises, or shows neither a figure nor a sentence."""
    app = fuzz.opened(page, {"operator": name})
    found = [f"{page}, {name}: {said}" for said in (fuzz.wrong(app),) if said]
    if found:
        return found
    settled(app)
    for tab in [tab.label for tab in app.tabs]:
        for number in ("", ".1", ".2"):
            app.session_state[f"{page}.tabs{number}"] = tab
        if said := fuzz.wrong(app.run()):
            found.append(f"{page}, {name}, tab {tab}: {said}")
    return found


def main() -> int:
    lines = [f"{file}: {reason}" for file, reason in broken().items()]
    lines += [f"{name}: not found" for name in NAMES if name not in operators()]
    for page in sys.argv[1:] or PAGES:
        for name in NAMES:
            try:
                lines += problems(page, name)
            except Exception:
                lines.append(f"{page}, {name}: {traceback.format_exc()[-600:]}")
    print(json.dumps(lines))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
