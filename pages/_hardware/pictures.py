"""The two pictures of the hardware page: who owns which element, and which multiprocessor ran which program, and when."""

from __future__ import annotations

import numpy as np
import streamlit as st

from kernels.inside.analysis import Analysis
from kernels.inside.facts import Chip
from kernels.inside.held import Held
from kernels.inside.layouts import Owners, owners, understood
from kernels.inside.threads import Read
from kernels.launch import short
from pages._html import Markup, joined, show
from pages._parts import chart, say, title
from viz import hardware_owners, hardware_schedule
from viz.hardware_terms import TERMS
from viz.theme import Style
from viz.words import seconds_text, shape_text

from . import look
from .state import SHOWN, Shown, state

PIECES = 3
TAG = Markup('<span style="white-space: nowrap" class="tag {}">{}</span>')
VERBS = {"load": "loads", "copy": "copies", "store": "stores", "sum": "adds up"}


def tensor_of(shown: Shown, analysis: Analysis) -> Held | None:
    """The tensor of the kernel that is shown; None where nothing was compiled."""
    return analysis.tensors[min(shown.tensor, len(analysis.tensors) - 1)] if analysis.tensors else None


def _named(one: Held) -> str:
    return f"{VERBS[one.kind]} {short(one.argument)}, line {one.line or '-'}"


def who_owns(shown: Shown, analysis: Analysis, style: Style) -> None:
    """Every element of a block, coloured by who holds it."""
    tensor = tensor_of(shown, analysis)
    if tensor is None:
        title("Who owns which element")
        say("Nothing was compiled, so no thread owns anything yet: choose sizes that are not refused.")
        return
    title("Who owns which element", f"{shape_text(tensor.shape)} of {tensor.dtype}; a square is an element")
    _choices(shown, analysis, style)
    found = look.threads(shown)
    read = next((one for one in found.read if one.tensor == tensor), None) if found else None
    drawn = _owned(tensor, read)
    if drawn is None:
        say(
            f"**{tensor.layout.name}**: how a matrix instruction spreads its result over threads. It is drawn from a real "
            "launch on an attached GPU, and not guessed here."
        )
        return
    threads, registers = drawn
    lanes = analysis.target.warp_size
    figure = hardware_owners.owners_figure(tensor.shape, threads, registers, lanes, shown.colour, style)
    chart(figure, "owners", f"The threads that hold {tensor.argument}")
    show(Markup('<div class="way">{}</div>').format(_told(tensor, analysis, read, threads)))


def _choices(shown: Shown, analysis: Analysis, style: Style) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        numbers = list(range(len(analysis.tensors)))
        st.selectbox(
            "tensor",
            numbers,
            index=min(shown.tensor, len(numbers) - 1),
            key=f"{state.key('tensor')}.{len(numbers)}",
            on_change=_chosen,
            args=(f"{state.key('tensor')}.{len(numbers)}",),
            format_func=lambda number: _named(analysis.tensors[number]),
            label_visibility="collapsed",
            width=round(212 * style.scale),
        )
        st.segmented_control(
            "colour",
            list(hardware_owners.MODES),
            default=shown.colour,
            **state.widget("colour", SHOWN),
            format_func=hardware_owners.MODES.get,
            label_visibility="collapsed",
            required=True,
        )


def _chosen(key: str) -> None:
    state.change({"tensor": st.session_state[key]})


def _owned(tensor: Held, read: Read | None) -> tuple[np.ndarray, np.ndarray | None] | None:
    """Threads and registers by the layout's text, else threads as a real launch told them, else None."""
    if understood(tensor.layout):
        return owners(tensor.layout, tensor.shape).first()
    return (read.threads, None) if read and read.threads is not None else None


def _told(tensor: Held, analysis: Analysis, read: Read | None, threads: np.ndarray) -> Markup:
    parts = []
    if understood(tensor.layout):
        found = owners(tensor.layout, tensor.shape)
        copies = f", and each element is held by {found.copies()} threads" if found.copies() > 1 else ""
        layout = Markup("<b>{:,}</b> of {:,} elements a thread{}; {}.")
        parts.append(layout.format(found.registers, threads.size, copies, _wide(tensor, analysis)))
        parts.append(f"Thread 0 holds {_pieces(found)}.")
    if read is None:
        kind, said = "counted", "from the TTGIR"
    elif read.agrees is None:
        kind, said = "measured", "read in a real launch"
    else:
        kind, agrees = ("measured", "agrees") if read.agrees else ("fault", "DIFFERS")
        said = f"a real launch read the thread numbers: {agrees}"
    return joined([*parts, TAG.format(kind, said)], " ")


def _pieces(found: Owners) -> str:
    """What thread 0 holds, in words: "0 to 3, 512 to 515"; of a matrix by row and column."""
    own = np.sort(found.elements[0, 0])
    breaks = np.flatnonzero(np.diff(own) > 1)
    firsts, lasts = own[[0, *(breaks + 1)]], own[[*breaks, own.size - 1]]
    pieces = [_piece(first, last, found.shape) for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True)]
    left = len(pieces) - PIECES
    more = f" and {left:,} more piece{'' if left == 1 else 's'}" if left > 0 else ""
    return f"{(', ' if len(found.shape) == 1 else '; ').join(pieces[:PIECES])}{more}"


def _piece(first: int, last: int, shape: tuple[int, ...]) -> str:
    if len(shape) == 1:
        return f"{first:,}" if first == last else f"{first:,} to {last:,}"
    (row, left), (_, right) = divmod(first, shape[1]), divmod(last, shape[1])
    return f"row {row:,}, columns {left:,} to {right:,}" if last > first else f"row {row:,}, column {left:,}"


def _wide(tensor: Held, analysis: Analysis) -> Markup | str:
    width = analysis.width(tensor)
    if not width:
        return "its instructions are not told by the machine’s text"
    each = width // {"f32": 4, "i32": 4}.get(tensor.dtype, 2)
    if each == 1:
        return Markup("<b>{}</b> bytes with one instruction: <b>one element at a time</b>").format(width)
    return Markup("<b>{}</b> bytes with one instruction: {} elements at a time").format(width, each)


def who_ran(shown: Shown, chip: Chip, style: Style) -> bool:
    """A row a multiprocessor, lit while it runs programs; below, when each program started. False where nothing told it."""
    found = look.seen(shown)
    told = look.asked(shown)
    if told and told.failures:
        say(" ".join(told.failures), "fault")
    if found is None:
        return False
    title(
        Markup('Which <abbr title="{}">SM</abbr> ran which program, and when').format(TERMS["multiprocessor"]),
        "a row an SM; shades are waves",
    )
    if not chip.target.startswith("sm_"):
        say(f"On {chip.target} a kernel cannot read which unit runs it: none is recorded there. This is another GPU's.")
    one = found.schedule
    moments = hardware_schedule.moments(one.span)
    chart(
        hardware_schedule.windows_figure(one.running(moments), one.wave(moments), one.span, style),
        "schedule",
        f"{one.programs:,} programs on {one.multiprocessors} multiprocessors",
    )
    chart(hardware_schedule.order_figure(one.starts, one.span, style), "order", "When each program started")
    show(Markup('<div class="way">{}</div>').format(_scheduled(found, chip)))
    return True


def not_told(shown: Shown, chip: Chip) -> str:
    """Why there is no schedule, in a sentence."""
    if not chip.target.startswith("sm_"):
        return f"On {chip.target} a kernel cannot read which unit runs it, so which one ran which program is not shown."
    if look.gpu_of(shown) is None:
        reason = f"no {chip.name} is attached to be asked, and none was recorded"
    else:
        reason = "press the button on the left to ask the GPU"
    return f"No schedule of this operator (which SM ran which program, and when): {reason}."


def _scheduled(found: look.Seen, chip: Chip) -> Markup:
    one = found.schedule
    per_unit = one.per_unit()
    idle = int((per_unit == 0).sum())
    used = per_unit[per_unit > 0]
    each = f"{used.min():,}" if used.min() == used.max() else f"{used.min():,} to {used.max():,}"
    programs = "program" if used.max() == 1 else "programs"
    kind = "recorded" if one.when else "measured"
    tag = TAG.format(kind, f"{kind} on {one.device}{f', {one.when}' if one.when else ''}")
    instead = Markup("<b>Not these sizes</b>, but {}. ").format(found.instead) if found.instead else Markup()
    instead += Markup("" if chip.name in one.device else "<b>Not this GPU.</b> ")
    dark = Markup("<b>{}</b> SMs had nothing to do, the others").format(idle) if idle else "Each SM"
    cost = one.cost
    slower = f"{seconds_text(cost.plain)} without and {seconds_text(cost.instrumented)} with it"
    registers = f"{cost.plain_registers} and {cost.instrumented_registers} registers"
    costs = "costs time" if cost.instrumented > cost.plain else "costs nothing that can be measured"
    clock = f"Reading the clock {costs}: a launch takes {slower}, {registers}; the timer ticks in {one.tick} ns."
    drawn = hardware_schedule.drawn_span(one.starts, one.span)
    zoomed = f"The lower picture has only the first {seconds_text(drawn / 1e9)}. " if drawn < one.span else ""
    layout = Markup(
        "{}{} ran <b>{}</b> {}, at most <b>{}</b> at once, in {}; "
        "for the last {} one SM or more had nothing left to do. {}{} {}"
    )
    took, last = seconds_text(one.span / 1e9), seconds_text(one.tail() / 1e9)
    return layout.format(instead, dark, each, programs, one.together(), took, last, zoomed, tag, clock)
