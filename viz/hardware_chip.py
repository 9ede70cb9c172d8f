"""The GPU drawn to its numbers, with a launch on it: all multiprocessors, one of them from near, caches and memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .hardware import LIT, dark_window, mixed
from .theme import READ, Figure, Style, bare_axis, figure, note
from .words import bytes_text, count

if TYPE_CHECKING:
    from kernels.inside.facts import Chip, Multiprocessor
    from kernels.inside.occupancy import Occupancy

WIDE, HIGH = 100.0, 58.0
NAMES = {
    "machine": {
        "gpu": "GPU: {} multiprocessors ({}s)",
        "unit": "one {}",
        "scheduler": "scheduler",
        "cores": "{} cores",
        "tensor": "tensor core",
        "registers": "registers",
        "shared": "shared memory, L1",
        "l2": "L2 cache",
        "dram": "DRAM",
    },
    "factory": {
        "gpu": "the factory: {} floors",
        "unit": "one floor",
        "scheduler": "foreman",
        "cores": "{} workers",
        "tensor": "big machine",
        "registers": "workers’ drawers",
        "shared": "a table in every room",
        "l2": "the store in the yard",
        "dram": "the warehouse out of town",
    },
}


def chip_figure(
    chip: Chip,
    found: Occupancy | None,
    registers: int,
    shared: int,
    programs: int,
    tensors: int,
    picture: str,
    style: Style,
    *,
    narrow: bool = False,
) -> Figure:
    """`found` is what fits on an SM, `registers` a thread and `shared` bytes a program; `tensors` bytes of the launch.

    Which SM has how many programs of the first wave is a model: dealt out evenly. A narrow figure names no parts of an SM.
    """
    names = NAMES[picture]
    shapes: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    units = chip.multiprocessors or 0
    notes.append(_text(f"<b>{names['gpu'].format(units or '?', chip.unit)}</b>", 0, 1.2, style))
    notes.append(_text(f"<b>{names['unit'].format(chip.unit)}</b>", 53, 1.2, style))
    most = int(dealt(units, found.programs, programs).max()) if units and found else 0
    _unit(chip, found, most, registers, shared, names, style, shapes, notes)
    if chip.multiprocessor and not narrow:
        notes += _parts(chip.multiprocessor, names, style)
    _memory(chip, tensors, names, style, shapes, notes)
    traces = [_units(units, found, programs, style)] if units else []
    if chip.multiprocessor:
        traces.append(_cores(chip.multiprocessor.cores, 5 if narrow else 8, style))
    return figure(
        traces,
        style,
        height=340 if narrow else 440,
        xaxis=bare_axis(style, range=[-0.5, WIDE + 0.5], visible=False),
        yaxis=bare_axis(style, range=[HIGH, -1], visible=False),
        shapes=shapes,
        annotations=notes,
        margin={"l": 4, "r": 4, "t": 4, "b": 4},
    )


def dealt(units: int, at_once: int, programs: int) -> np.ndarray:
    """How many programs of the first wave each multiprocessor has, were they dealt out evenly."""
    here = min(programs, at_once * units)
    return here // units + (np.arange(units) < here % units)


def _units(units: int, found: Occupancy | None, programs: int, style: Style) -> dict[str, Any]:
    columns = math.ceil(math.sqrt(units * 1.35))
    rows = math.ceil(units / columns)
    at_once = found.programs if found else 0
    here = dealt(units, at_once, programs).astype(float)
    cells = np.full(rows * columns, np.nan)
    cells[:units] = here
    night, most = dark_window(style), max(at_once, 1)
    dim = mixed(LIT.colour, night, 0.6)
    return {
        "type": "heatmap",
        "x": np.linspace(0, 47, columns + 1),
        "y": np.linspace(4, 40, rows + 1),
        "z": cells.reshape(rows, columns),
        "zmin": 0,
        "zmax": most,
        "colorscale": [[0, night], [1e-6, dim], [1, LIT.colour]],
        "showscale": False,
        "xgap": 3,
        "ygap": 3,
        "customdata": np.arange(rows * columns).reshape(rows, columns).tolist(),
        "hovertemplate": "<b>SM %{customdata}</b>: %{z} programs of the first wave<extra></extra>",
    }


def _cores(cores: int, size: float, style: Style) -> dict[str, Any]:
    each = cores // 4
    wide = 8 if each >= 32 else 4
    place = np.arange(each)
    x = np.concatenate([53.0 + 12 * part + 1.3 + (place % wide) * (8.6 / wide) for part in range(4)])
    y = np.tile(8.2 + (place // wide) * 1.9, 4)
    marker = {"symbol": "square", "size": style.px(size), "color": READ.colour}
    return {"type": "scatter", "mode": "markers", "x": x, "y": y, "marker": marker, "hoverinfo": "skip"}


def _unit(
    chip: Chip,
    found: Occupancy | None,
    programs: int,
    registers: int,
    shared: int,
    names: dict[str, str],
    style: Style,
    shapes: list[dict[str, Any]],
    notes: list[dict[str, Any]],
) -> None:
    kind = chip.multiprocessor
    if kind is None:
        notes.append(_text(f"What a {chip.unit} of this GPU<br>has is not known here.", 53, 20, style, align="left"))
        return
    for part in range(kind.schedulers):
        left = 53 + 12 * part
        shapes.append(_box(left, left + 11, 4, 21, style.panel, style))
        shapes.append(_box(left + 0.8, left + 10.2, 17.6, 20.4, style.masked, style))
    of_warp = math.ceil(registers * 32 / kind.register_unit) * kind.register_unit  # what a warp is given
    used = 4 * of_warp * found.warps * programs if found else 0
    taken = (shared + kind.shared_reserved) * programs if found and shared else 0
    for top, name, whole, part in (
        (23.5, "registers", 4 * kind.registers, used),
        (32.5, "shared", kind.l1_bytes, taken),
    ):
        shapes.append(_box(53, 100, top, top + 5, dark_window(style), style))
        share = min(part / whole, 1.0)
        if share:
            shapes.append(_box(53, 53 + 47 * share, top, top + 5, LIT.colour, style))
        text = f"{names[name]}: {part / 1024:,.0f} of {whole // 1024} KiB"
        notes.append(_text(text, 53, top + 6.6, style))


def _parts(kind: Multiprocessor, names: dict[str, str], style: Style) -> list[dict[str, Any]]:
    """The names of what an SM has, where there is room for them."""
    slots = f"{kind.warps} places for warps" if names is NAMES["machine"] else f"{kind.warps} places for teams of 32"
    found = [_text(f"{names['cores'].format(kind.cores)}, {slots}", 100, 1.2, style, xanchor="right")]
    for part in range(kind.schedulers):
        left = 53 + 12 * part
        found.append(_text(names["scheduler"], left + 0.8, 6, style))
        found.append(_text(names["tensor"], left + 5.5, 19, style, xanchor="center"))
    return found


def _memory(
    chip: Chip, tensors: int, names: dict[str, str], style: Style, shapes: list[dict[str, Any]], notes: list[dict[str, Any]]
) -> None:
    speed = f" at {chip.bandwidth / 1e12:.2f} TB/s" if chip.bandwidth else ""
    bars = ((43.5, "l2", chip.l2_bytes, ""), (51, "dram", chip.memory_bytes, speed))
    for top, name, size, more in bars:
        shapes.append(_box(0, 100, top, top + 5.5, dark_window(style), style))
        share = min(tensors / size, 1.0) if size else 0.0
        if share:
            shapes.append(_box(0, max(100 * share, 0.3), top, top + 5.5, READ.colour, style))
        said = f"<b>{names[name]}</b>: {bytes_text(size)}{more}" if size else f"<b>{names[name]}</b>: size not known here{more}"
        fit = f"; the tensors’ {bytes_text(tensors)} {'fit' if size and tensors <= size else 'do not fit'}" if size else ""
        inside = share > 0.45
        font = {"size": style.size, "color": READ.text if inside else "#FFFFFF"}
        start = 1 if inside else 100 * share + 1
        notes.append(note(said + fit, start, top + 2.8, style, xanchor="left", yanchor="middle", font=font))


def _box(x0: float, x1: float, y0: float, y1: float, colour: str, style: Style) -> dict[str, Any]:
    line = {"color": style.line, "width": 1}
    return {"type": "rect", "layer": "below", "x0": x0, "x1": x1, "y0": y0, "y1": y1, "fillcolor": colour, "line": line}


def _text(text: str, x: float, y: float, style: Style, **more: Any) -> dict[str, Any]:
    font = {"size": style.size, "color": style.text}
    return note(text, x, y, style, **{"xanchor": "left", "yanchor": "middle", "font": font, **more})


def summary(chip: Chip) -> str:
    """The chip in one line of numbers; what is not known is left out."""
    parts = [f"{count(chip.multiprocessors)} {chip.unit}s" if chip.multiprocessors else ""]
    parts.append(f"{count(chip.cores)} cores" if chip.cores else "")
    parts.append(f"{chip.clock_hz / 1e6:,.0f} MHz" if chip.clock_hz else "")
    return ", ".join(part for part in parts if part)
