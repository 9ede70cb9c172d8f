"""What the GPU tests of the hardware's side run in a device worker; `python -m tests.hardware_on_gpu` prints all of it."""

from __future__ import annotations

import ctypes
import dataclasses
import multiprocessing
import os
import time

from kernels import DTYPES, Numbers, Problem, operators
from kernels.inside import instrument
from kernels.inside.analysis import analysis
from kernels.inside.examples import EXAMPLES
from kernels.inside.facts import of_gpu
from kernels.inside.hardware_jobs import asked_job
from kernels.inside.layouts import Blocked
from kernels.inside.occupancy import occupancy
from kernels.inside.sector_counters import Counts, counts
from kernels.inside.threads import NOT_REACHED, Threads, agrees, read_threads
from kernels.runtime.device import Target, attached
from kernels.runtime.request import Request
from kernels.runtime.workers import Workers

from .kinds import kind_of

SIZES = {"flat": {"n_elements": 2048}, "rows": {"rows": 64, "columns": 4096}, "tiles": {"m": 1024, "n": 1024, "k": 256}}
MORE = (
    ("vector_add", {"n_elements": 1000}, {}),
    ("vector_add", {"n_elements": 100}, {"BLOCK_SIZE": 64}),
    ("rms_norm", {"rows": 7, "columns": 781}, {}),
    ("rms_norm", {"rows": 5, "columns": 20000}, {}),
    ("matmul_relu", {"m": 100, "n": 70, "k": 40}, {}),
)
COUNTED = (("vector_add", 0), ("vector_add", 1), ("softmax", 1))


def launches() -> list[Request]:
    """Every operator and dtype by the rule, and some ragged ones."""
    found = []
    for operator in operators().values():
        for dtype in DTYPES:
            problem = Problem(Numbers(SIZES[kind_of(operator)]), dtype)
            found.append(Request(operator.name, problem, operator.tiling(problem)))
    for name, sizes, blocks in MORE:
        problem = Problem(Numbers(sizes))
        found.append(Request(name, problem, operators()[name].tiling(problem)).with_blocks(**blocks))
    return found


def wrong(told: Threads) -> list[str]:
    """What of a real launch does not fit the layouts; of a layout that is not understood, what cannot be."""
    said = []
    for one in told.read:
        named = f"{one.tensor.kind} {one.tensor.argument}, line {one.tensor.line}"
        if one.threads is None:
            said.append(f"{named}: not reached")
        elif one.tensor.kind == "sum":
            held = {int((one.threads == thread).sum()) for thread in set(one.threads.tolist())}
            if len(held) != 1:
                said.append(f"{named}: threads hold {sorted(held)} elements each")
        elif not one.agrees:
            said.append(f"{named}: {one.tensor.layout} is not what the launch read, {one.threads[:12].tolist()} ...")
    return said


def planted(told: Threads) -> list[bool | None]:
    """Whether wrong layouts agree with the first tensor's threads: twice the box, and threads counted backwards."""
    one = told.read[0]
    layout = one.tensor.layout
    if not isinstance(layout, Blocked):
        return [agrees(one.tensor, one.threads[::-1])]
    boxes = Blocked(tuple(2 * size for size in layout.size_per_thread), layout.threads_per_warp, layout.warps, layout.order)
    other = dataclasses.replace(one.tensor, layout=boxes)
    return [agrees(other, one.threads), agrees(one.tensor, one.threads[::-1])]


def resident(request: Request, target: Target) -> tuple[int, int]:
    """Programs on one multiprocessor: by the driver (cuOccupancyMaxActiveBlocksPerMultiprocessor), and by our formula."""
    from kernels.inside.device_launch import filled, ready

    launch = request.launch()
    _, ttgir, _ = instrument.plain(launch, target)
    kernel, start = ready(ttgir, launch, target, filled(launch))
    start((1, 1, 1))
    count, shared = ctypes.c_int(), kernel.metadata.shared
    cuda, function = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(kernel.function)
    threads = ctypes.c_int(32 * launch.num_warps)
    cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(ctypes.byref(count), function, threads, ctypes.c_size_t(shared))
    unit = of_gpu(attached()[0]).multiprocessor
    return count.value, occupancy(unit, launch.num_warps, kernel.n_regs, shared).programs


def compared(request: Request) -> tuple[Counts | None, dict[str, int], str]:
    """Sectors and requests by the counters, and by the model; and why there are none."""
    gpu = attached()[0]
    found, reason = counts(request, gpu)
    compiled = analysis(request, gpu.target)
    tensors = tuple((one, compiled.width(one)) for one in compiled.accesses)
    workers = Workers()
    total = workers["trace whole"].call(asked_job, request, tensors, seconds=60)
    workers.close()
    model = {}
    for kind in ("load", "store"):
        told = getattr(total, kind)
        model |= {f"{kind}_sectors": told.asked, f"{kind}_requests": told.requests}
    return found, model, reason


def _compile(request: Request) -> None:
    launch, target = request.launch(), attached()[0].target
    _, ttgir, tensors = instrument.plain(launch, target)
    for text in (ttgir, instrument.with_threads(ttgir, tensors), instrument.with_schedule(ttgir)):
        instrument.compiled(text, launch, target)


def main() -> None:
    """Compiles everything on all cores, then asks the GPU."""
    began = time.perf_counter()

    def note(*words: object) -> None:
        print(f"[{time.perf_counter() - began:5.1f} s]", *words, flush=True)

    examples = [one.request(name) for name, several in EXAMPLES.items() for one in several]
    with multiprocessing.get_context("spawn").Pool(min(os.cpu_count() or 1, 14)) as pool:
        pool.map(_compile, [*launches(), *examples], chunksize=1)
    gpu = attached()[0]
    note("compiled; facts:", gpu)
    failures = 0
    for request in launches():
        told = read_threads(request, gpu.target)
        said = [*wrong(told), *(["a planted wrong layout agrees"] if True in planted(told) else [])]
        failures += bool(said)
        never = sum(int((one.threads == NOT_REACHED).sum()) for one in told.read if one.threads is not None)
        note(request.operator, request.problem, said or "agrees", "registers", told.registers, "unread", never)
    note(failures, "of", len(launches()), "launches disagree")
    for request in (*launches()[::3], examples[-1]):
        driver, formula = resident(request, gpu.target)
        note(
            "programs on one SM", request.operator, "driver", driver, "formula", formula, "" if driver == formula else "DIFFER"
        )


if __name__ == "__main__":
    main()
