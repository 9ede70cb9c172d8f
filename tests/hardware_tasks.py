"""What the tests of the hardware's side ask of workers that compile or launch."""

from __future__ import annotations

import numpy as np

from kernels.inside import instrument
from kernels.inside.analysis import analysis
from kernels.inside.layouts import Blocked, Linear, owners
from kernels.inside.schedule import Cost, Schedule
from kernels.inside.threads import Read, Threads
from kernels.runtime.device import Target
from kernels.runtime.jobs import TaskError
from kernels.runtime.request import Request


def instrumented(request: Request, target: Target) -> dict[str, object]:
    """The kernel and its two instrumented copies, compiled: what their machine texts and metadata say."""
    launch = request.launch()
    kernel, ttgir, tensors = instrument.plain(launch, target)
    threads = instrument.compiled(instrument.with_threads(ttgir, tensors), launch, target)
    schedule = instrument.compiled(instrument.with_schedule(ttgir), launch, target)
    texts = [str(one.asm["ptx"]) for one in (kernel, threads, schedule)]
    return {
        "parameters": instrument.parameters(ttgir),
        "signature": len(threads.src.signature),
        "threads": [text.count("%tid.x") for text in texts],
        "timers": [text.count("%globaltimer") for text in texts],
        "units": [text.count("%smid") for text in texts],
        "shared": [one.metadata.shared for one in (kernel, threads, schedule)],
        "same": instrument.with_schedule(ttgir).count("tt.load") == ttgir.count("tt.load"),
    }


def tritons_own(blocked: Blocked, shape: tuple[int, ...]) -> Linear:
    """The same layout as Triton's compiler converts it to bits."""
    import triton
    from triton._C.libtriton import gluon_ir, ir
    from triton.backends.compiler import GPUTarget
    from triton.experimental.gluon import language

    context = ir.context()
    ir.load_dialects(context)
    triton.compiler.make_backend(GPUTarget("cuda", 90, 32)).load_dialects(context)
    builder = gluon_ir.GluonOpBuilder(context)
    fields = (blocked.size_per_thread, blocked.threads_per_warp, blocked.warps, blocked.order)
    layout = language.BlockedLayout(*(list(field) for field in fields))
    found = builder.to_linear_layout(layout._to_ir(builder), list(shape))
    bases = (found.reg_bases, found.lane_bases, found.warp_bases)
    return Linear(*(tuple(tuple(one) for one in base) for base in bases))


def tritons_own_of_all(blocked: list[tuple[Blocked, tuple[int, ...]]]) -> list[Linear]:
    """`tritons_own` of many."""
    return [tritons_own(one, shape) for one, shape in blocked]


def threads_as_compiled(request: Request, target: Target, progress: str | None = None) -> Threads:
    """Stands in for a launch on a GPU: threads as the layouts have them, of matrix sums one thread a row."""
    found = []
    for one in analysis(request, target).tensors:
        threads = (
            owners(one.layout, one.shape).first()[0] if one.kind != "sum" else np.arange(np.prod(one.shape)) // one.shape[1]
        )
        found.append(Read(one, threads))
    return Threads("A test's GPU", tuple(found), (26, 30))


def threads_gone_wrong(request: Request, target: Target, progress: str | None = None) -> Threads:
    """The same, but one element of each tensor is held by another thread."""
    told = threads_as_compiled(request, target)
    for one in told.read:
        one.threads[5] += 1
    return told


def schedule_of_four(request: Request, target: Target, progress: str | None = None) -> Schedule:
    """Stands in for a launch on a GPU of four multiprocessors, one program after the other on each."""
    number = np.arange(request.launch().programs)
    starts = number // 4 * 64
    return Schedule("A test's GPU", 4, starts, starts + 32, number % 4, Cost(1e-6, 2e-6, 26, 30), {})


def refused_schedule(request: Request, target: Target, progress: str | None = None) -> Schedule:
    """A launch that fails."""
    raise TaskError("The tensors need 9.9 GB, and the GPU has 1.0 GB free.")


def order_of_work(request: Request, target: Target) -> list[str]:
    """The schedule's copy as machine code: which of its instructions read clocks, wait, load and store, in order.

    "clock", "unit", "wait", "load", "store" (what the kernel itself stores) and "told" (what the copy adds).
    """
    import re

    from kernels.inside.sass import _disassembled

    launch = request.launch()
    _, ttgir, _ = instrument.plain(launch, target)
    copy = instrument.compiled(instrument.with_schedule(ttgir), launch, target)
    kinds = {
        "clock": r"CS2R\S* R\d+, SR_GLOBALTIMER",
        "unit": "SR_VIRTUALSMID",
        "wait": r"BAR\.SYNC",
        "load": r"LDG|LDGSTS|UBLKCP",
        "told": r"STG\.E\.64 ",
        "store": r"STG|ST\.E",
    }
    lines = _disassembled(copy.asm["cubin"]).split("\n")
    found = (next((kind for kind, text in kinds.items() if re.search(text, line)), None) for line in lines)
    return [kind for kind in found if kind]
