"""python -m kernels bench: fused against unfused on the attached GPU, checked, timed, and saved where asked."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..errors import TaskError, joined
from ..language import MISSING
from ..measure import runs, sweep, verdicts, ways
from ..measure.campaign import POINT_SECONDS
from ..measure.counters import UncountedError, counted
from ..measure.jobs import measure_job, roofs_job, versions_job
from ..measure.point import Task
from ..measure.records import DIRECTIONS, Device, Point, Roofs, Run, Timed
from ..runtime.device import Gpu, attached
from ..runtime.workers import Lanes, Worker, Workers
from ..storage import codec
from ..traffic.known import count_here
from .options import Parser, parser_for, request_from

NO_GPU = 4


def main(arguments: list[str]) -> int:
    """Prints one measurement or a sweep; exit code 4, after one sentence, where no GPU can be measured."""
    parser, operator = parser_for("bench", arguments, __doc__ or "")
    parser.add_argument("--direction", choices=ways.directions_of(operator), default="forward", help=_directions())
    parser.add_argument("--sweep", metavar="AXIS", help="a size, a block or num_warps: measured at many values")
    parser.add_argument("--without", action="append", choices=ways.WAYS, default=[], help="an implementation to leave out")
    parser.add_argument("--counters", action="store_true", help="also DRAM bytes by hardware counters, through Nsight Compute")
    parser.add_argument("--save", action="store_true", help="keep the run as a file")
    parser.add_argument("--folder", help=f"where; {runs.default_folder()} unless given")
    given = parser.parse_args(arguments)
    request = request_from(parser, operator, given, operator.measured_start)
    if given.sweep is not None and given.sweep not in sweep.axes(request):
        parser.error(f"{given.sweep[:40]!r} cannot be swept; {', '.join(sweep.axes(request))} can.")
    reason = no_gpu()
    if reason:
        print(f"python -m kernels bench: {reason}", file=sys.stderr)
        return NO_GPU
    count_here()
    gpu = attached()[0]
    task = Task(request, given.direction, tuple(way for way in ways.WAYS if way not in given.without))
    wanted = sweep.tasks(task, given.sweep, gpu.target) if given.sweep else (task,)
    try:
        run = _run(wanted, gpu, given.sweep, quiet=given.json, counters=given.counters)
    except TaskError as error:
        print(f"python -m kernels bench: {joined(str(error))}", file=sys.stderr)
        return 1
    if given.json:
        print(codec.compact(run).decode())
    if given.save or given.folder:
        _save(parser, run, given.folder)
    return 1 if all(point.problem or not any(one.events for one in point.timed) for point in run.points) else 0


def no_gpu() -> str | None:
    """Why nothing can be measured here, in a sentence; None where a GPU is there."""
    if MISSING:
        return MISSING
    if not attached():
        return "no GPU is attached, so there is nothing to time; recorded runs are on the app's Fused vs unfused page."
    import torch

    if not torch.cuda.is_available():
        return f"PyTorch {torch.__version__} does not see the {attached()[0].name}: it is a build without GPU support."
    return None


def _directions() -> str:
    return "; ".join(f"{name}: {meaning}" for name, meaning in DIRECTIONS.items())


def _run(wanted: Sequence[Task], gpu: Gpu, axis: str | None, *, quiet: bool, counters: bool) -> Run:
    """Measures in the GPU's worker, as the page does: a process that used torch.profiler may crash as it ends (kineto's exit
    handlers, 6 of 11 on an H200), and one that made an illegal access measures nothing more.
    """
    workers = Workers()
    try:
        return _measured(workers[gpu.worker], wanted, gpu, axis, quiet=quiet, counters=counters)
    finally:
        workers.close()


def _measured(
    worker: Worker | Lanes, wanted: Sequence[Task], gpu: Gpu, axis: str | None, *, quiet: bool, counters: bool
) -> Run:
    out = sys.stderr if quiet else sys.stdout
    if len(wanted) > 1:
        print(f"{len(wanted)} points, about {sweep.seconds(wanted):.0f} s.", file=out, flush=True)
    versions = worker.call(versions_job, seconds=POINT_SECONDS)
    roofs = worker.call(roofs_job, gpu, (verdicts.compute_dtype(wanted[0].point()),), seconds=POINT_SECONDS)
    points: list[Point] = []
    try:
        for task in wanted:
            point = _point(worker, task, gpu)
            points.append(_with_counters(point, gpu) if counters else point)
            print(report(points[-1], roofs, runs.device_of(gpu)), file=out, flush=True)
    except KeyboardInterrupt:
        print(f"Stopped; {len(points)} points are kept.", file=out, flush=True)
    return runs.run_of(points, gpu, roofs, versions, axis)


def _point(worker: Worker | Lanes, task: Task, gpu: Gpu) -> Point:
    """One measurement; where its process dies or hangs, the point says so and the others go on."""
    try:
        return worker.call(measure_job, task, gpu, seconds=POINT_SECONDS, kill=True)
    except TaskError as error:
        return task.point(problem=joined(str(error)))


def _with_counters(point: Point, gpu: Gpu) -> Point:
    try:
        return counted(point, gpu)
    except UncountedError as error:
        print(error, file=sys.stderr, flush=True)
        return point


def report(point: Point, roofs: Roofs, device: Device) -> str:
    """A measurement as lines of text, with what cannot be true and why the ratio is not that of the bytes."""
    sizes = ", ".join(f"{name}={value}" for name, value in {**point.sizes, **point.blocks}.items())
    lines = [f"{point.operator} {point.direction} {point.dtype} {sizes} num_warps={point.num_warps}"]
    if point.problem:
        return f"{lines[0]}\n  {point.problem}"
    lines += [f"  {line(one, point)}" for one in point.timed]
    if point.copy and point.copy_bytes:
        speed = point.copy_bytes / point.copy.median / 1e12
        lines.append(f"  {'copy of as many bytes':24}{point.copy.median * 1e6:10.1f} us  {speed:.2f} TB/s")
    wrong = [(one.title, verdicts.invalid(one, point, roofs, device)) for one in point.timed]
    said = [*(f"{title}: {reason}" for title, reason in wrong if reason), *verdicts.explanation(point, roofs)]
    return "\n".join([*lines, *(f"  {note}" for note in (*point.notes, *said))])


def line(one: Timed, point: Point) -> str:
    """One implementation in a line."""
    if one.kernel is None:
        return f"{one.title:24}{one.problem}"
    traffic = ways.traffic(point.request, point.direction)
    moved = verdicts.moved_by(one, traffic) if traffic else None
    spread = one.kernel
    between = f"[{spread.low * 1e6:.1f}, {spread.high * 1e6:.1f}] n={spread.n} {one.method}"
    parts = [f"{one.title:24}{spread.median * 1e6:10.1f} us  {between}"]
    if moved and spread.median > 0:
        parts.append(f"{moved / spread.median / 1e12:.2f} TB/s")
    if one.dram:
        read, written = sum(each.read for each in one.dram), sum(each.written for each in one.dram)
        parts.append(f"counters {read / 1e9:.3f} + {written / 1e9:.3f} GB")
    if one.host:
        parts.append(f"host {one.host.median * 1e6:.1f} us")
    parts += [f"{len(one.launched)} kernels"] if one.launched else []
    parts += [f"peak {one.peak_bytes / 1e6:.0f} MB"] if one.peak_bytes is not None else []
    parts += [f"{one.share:.0%} of tolerance"] if one.share is not None else []
    if one.compile_seconds is not None:
        parts.append(f"first call {one.compile_seconds:.1f} s")
    return "  ".join(parts)


def _save(parser: Parser, run: Run, folder: str | None) -> None:
    try:
        path = runs.save(run, runs.folder_of(folder))
    except OSError as error:
        parser.error(str(error))
    print(f"saved as {path}", file=sys.stderr)
