"""Inputs that a person, a stale link or a harsh tester may send, drawn from a seed; and what a page must answer with."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from streamlit.runtime.state.common import TESTING_KEY
from streamlit.testing.v1 import AppTest

from kernels import operators
from kernels.launch import DTYPES
from kernels.operator import Operator

from .kinds import kind_of

ROOT = Path(__file__).parents[1]
PAGES = {"launch": 60, "fusion": 36, "hardware": 32, "compiler": 28, "check": 22, "runs": 22}
SECONDS = 60
ALL_DRIVEN = ("selectbox", "button_group", "tab")  # a page's runs go on until each of these that was seen was driven

STRANGE = (
    "", " ", "-1", "-0", "2.5", "nan", "inf", "-inf", "1e-400", "²", "①", "٣", "1²", "0x10", "true", "None", "x" * 300, "\0",
    "a\0b", "~nobody", "~nobody/a.json", "../../etc/passwd", "<script>alert(1)</script>", "\u202e7", "1;2", "%00", "--help",
)  # fmt: skip
ENORMOUS = ("1e400", "-1e400", "9" * 5000, "-" + "9" * 5000, str(2**31), str(2**32), str(2**40), str(2**63), str(2**100))
SMALL = ("0", "1", "2", "3", "7", "16", "64", "100", "781", "1000", "1024", "2048")
BLOCKS = ("1", "2", "3", "16", "32", "64", "128", "1000", "1024")
TILES = BLOCKS[:6]  # of two axes that multiply: 1,024 by 1,024 is a million lanes
# A loop of a million turns is traced for a minute, a block of a million lanes compiled for twenty seconds: pages are asked for
# few of either, the readers of settings for all.
LOOPED = {("matmul_relu", "k"), ("rms_norm_backward", "rows"), *((name, "columns") for name in operators())}
OTHERS = ("seed", "layout", "what_if", "other", "program", "step", "lane", "element", "dtype", "operator", "colour", "embed")
OWN = {
    "launch": (),
    "fusion": ("direction",),
    "hardware": ("gpu", "tensor", "colour", "pattern", "warp", "picture"),
    "compiler": ("target", "stage", "line", "differs", "by"),
    "check": ("report", "other", "gpu", "problem"),
    "runs": ("folder", "a", "b", "run", "operator"),
}
LEGAL = {
    "layout": ("contiguous", "strided", "transposed", "broadcast"),
    "what_if": ("no_mask", "floor_grid", "other", "stride", "int32"),
    "dtype": DTYPES,
    "element": ("x:0", "output:6", "c:1", "x:²", "partial:3", "x:-1", "x:99999999999999999999", ":", "x:"),
    "direction": ("forward", "backward", "both", "module"),
    "gpu": ("H200", "A100", "MI300X", "0"),
    "stage": ("ttir", "ttgir", "llir", "ptx", "sass", "amdgcn"),
    "target": ("sm_80", "sm_90", "gfx942"),
    "differs": ("dtype", "num_warps", "target", "BLOCK_SIZE", "m"),
    "pattern": ("launched", "second"),
    "picture": ("machine", "factory"),
    "colour": ("warp", "thread", "register"),
}


def number(draw: random.Random, *, enormous: bool = True) -> str:
    """A number as it may stand in an address: mostly one that is meant, else one that is not."""
    kind = draw.random()
    if kind < 0.6:
        return draw.choice(SMALL)
    return draw.choice(ENORMOUS if enormous and kind < 0.8 else STRANGE)


def address(draw: random.Random, page: str, operator: Operator, *, enormous: bool = True) -> dict[str, str]:
    """Texts by name; without `enormous` none that a worker is busy with for long."""
    texts = {"operator": operator.name} if draw.random() < 0.9 else {}
    for size in operator.sizes:
        if draw.random() < 0.6:
            looped = (operator.name, size.name) in LOOPED
            texts[size.name] = number(draw, enormous=enormous or not looped)
    for block in operator.blocks:
        if draw.random() < 0.35:
            plain = block.name.startswith("BLOCK") and not enormous
            legal = TILES if kind_of(operator) == "tiles" else BLOCKS
            texts[block.name] = draw.choice((*legal, *STRANGE)) if plain else number(draw)
    if draw.random() < 0.2:
        texts["num_warps"] = number(draw)
    for name in draw.sample((*OTHERS, *OWN[page]), draw.randint(0, 4)):
        texts.setdefault(name, draw.choice((*LEGAL.get(name, SMALL), *LEGAL.get(name, SMALL), *STRANGE, *ENORMOUS)))
    return texts


def opened(page: str, texts: dict[str, str]) -> AppTest:
    """The page as that address opens it."""
    app = AppTest.from_file(str(ROOT / "pages" / f"{page}.py"), default_timeout=SECONDS)
    app.session_state["entered"] = True
    for name, text in texts.items():
        app.query_params[name] = text
    return app.run()


def choose(app: AppTest, widget: Any, label: str) -> None:
    """Sets a selectbox or a group of buttons to the option of that label, as a click on it does.

    AppTest sets values and has the page's format function make labels of them; only the labels are known here.
    """
    app.session_state[TESTING_KEY][widget.id] = str
    widget.set_value(label)


def moves(app: AppTest, page: str, draw: random.Random) -> Iterator[tuple[str, Callable[[], object]]]:
    """Everything that can be driven on the page as it stands, by a name that stays when widgets are made anew."""
    for kind in ("selectbox", "button_group"):
        for widget in getattr(app, kind):
            if widget.options and not widget.proto.disabled:
                name = (widget.key or widget.proto.label).split(".")
                label = draw.choice(widget.options)
                yield f"{kind} {'.'.join(name[:2])} to {label!r}", lambda widget=widget, label=label: choose(app, widget, label)
    labels = [tab.label for tab in app.tabs]
    key = f"{page}.tabs"
    if page == "compiler":
        key += ".2" if app.session_state["compiler.settings"].differs else ".1"
    for label in labels:
        yield f"tab {label!r}", lambda label=label: app.session_state.__setitem__(key, label)
    for field in app.number_input:
        value = draw.choice((-1, 0, 1, 2, 3, 7, 64, 100))
        yield f"number {field.label} to {value}", lambda field=field, value=value: field.set_value(value)
    for field in (*app.text_input, *app.text_area):
        text = draw.choice((*STRANGE, *ENORMOUS))
        yield f"text {field.label} to {text[:20]!r}", lambda field=field, text=text: field.set_value(text)


def driven(name: str) -> str:
    """What a move drives, whatever it sets it to."""
    return name.partition(" to ")[0]


def wrong(app: AppTest) -> str:
    """What is wrong with a page run; nothing where it shows a figure, or says in words why there is none."""
    if app.exception:
        return f"exception: {app.exception[0].value[:300]}"
    html = " ".join(element.proto.body for element in app.get("html"))
    if "Traceback (most recent" in html:
        return "a traceback"
    drawn = app.session_state["drawn"] if "drawn" in app.session_state else {}  # noqa: SIM401 (AppTest has no get)
    panes = len(app.get("bidi_component")) > 1  # the compiler page's linked texts; one is the frame that every page has
    if (
        drawn
        or panes
        or app.get("plotly_chart")
        or 'class="say' in html
        or "nothing to launch" in html
        or app.caption
        or app.info
    ):
        return ""
    return "neither a figure nor a sentence"
