"""Measuring without a GPU: values and files, the arithmetic of verdicts against hand counts, sweeps, memory, campaigns."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import threading
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import Numbers, Problem, find, operators
from kernels.commands import bench
from kernels.errors import sentence
from kernels.measure import counters, memory, roofs, runs, sweep, timing, verdicts, watch, ways
from kernels.measure import point as measuring
from kernels.measure.campaign import Campaign
from kernels.measure.point import Task
from kernels.measure.profiler import combined, short_name
from kernels.measure.records import KernelBytes, Point, Roofs, Spread, State, Timed
from kernels.measure.timing import spread
from kernels.runtime.device import Gpu, find_target
from kernels.runtime.jobs import TaskError
from kernels.runtime.request import Request
from kernels.storage import codec

from .limits import until
from .properties import examples

MEASURED = [name for name, operator in operators().items() if operator.measured]
H200 = Gpu(
    index=0,
    name="NVIDIA H200",
    target=find_target("sm_90"),
    memory_bytes=150_109_880_320,
    uuid="GPU-1",
    multiprocessors=132,
    l2_bytes=62_914_560,
    clock_hz=1_980_000_000,
    memory_clock_hz=3_201_000_000,
    bus_bits=6016,
)


def request(name: str = "rms_norm", dtype: str = "float32", **sizes: int) -> Request:
    operator = find(name)
    problem = Problem(Numbers(sizes or operator.measured), dtype)
    return Request(name, problem, operator.tiling(problem))


def point(wanted: Request, **seconds: float) -> Point:
    """A point with the given kernel times by implementation."""
    timed = tuple(
        Timed(way, way, events=Spread(value, value, value, 9), host=Spread(1e-5, 1e-5, 1e-5, 9))
        for way, value in seconds.items()
    )
    return dataclasses.replace(
        Task(wanted).point(), timed=timed, copy=Spread(256e-6, 256e-6, 256e-6, 9), copy_bytes=1_073_774_592
    )


# Runs as files.


@pytest.mark.parametrize("run", runs.recorded(), ids=lambda run: run.title)
def test_a_recorded_run_survives_a_file(run, tmp_path):
    path = runs.save(run, tmp_path / "new" / "folder")
    assert runs.load(path) == run
    assert run.device.name
    assert run.versions["torch"]
    assert run.versions["triton"]
    assert run.method
    assert run.made


def test_recorded_runs_cover_every_operator_in_both_dtypes_and_every_direction():
    points = [point for run in runs.recorded() if run.axis is None for point in run.points]
    found = {(point.operator, point.dtype) for point in points}
    assert found >= {(name, dtype) for name in MEASURED for dtype in ("float32", "bfloat16")}
    assert {point.direction for point in points} >= {"forward", "backward", "both", "module"}
    assert all(way.share is not None for point in points for way in point.timed if way.kernel)


def test_saving_never_writes_over_another_run(tmp_path):
    run = runs.recorded()[0]
    paths = {runs.save(run, tmp_path) for _ in range(3)}
    assert len(paths) == 3
    assert all(runs.load(path) == run for path in paths)


def damaged(text: str) -> dict[str, str]:
    data = json.loads(text)
    return {
        "empty": "",
        "cut": text[: len(text) // 2],
        "list": "[]",
        "foreign": json.dumps({"name": "something else"}),
        "deep": "[" * 100_000,
        "newer": json.dumps({**data, "schema": 99}),
        "no schema": json.dumps({name: value for name, value in data.items() if name != "schema"}),
        "no points": json.dumps({name: value for name, value in data.items() if name != "points"}),
        "text for a number": text.replace('"num_warps": ', '"num_warps": "x", "was": ', 1),
        "strange operator": text.replace('"operator": "', '"operator": "x', 1),
        "a size missing": text.replace('"sizes": {', '"sizes": {"other": 1}, "was": {', 1),
        "not a number": text.replace('"median": ', '"median": NaN, "was": ', 1),
        "without end": text.replace('"median": ', '"median": Infinity, "was": ', 1),
        "strange axis": text.replace('"axis": ', '"axis": "<b>rowz</b>", "was": ', 1),
        "points without an axis": text.replace('"axis": ', '"axis": null, "was": ', 1),
    }


@pytest.mark.parametrize("kind", damaged('{"schema": 1, "points": 1}'))
def test_a_damaged_or_foreign_file_is_one_line_and_the_rest_still_loads(kind, tmp_path):
    good = runs.save(next(run for run in runs.recorded() if run.axis), tmp_path)
    bad = tmp_path / "bad.json"
    bad.write_text(damaged(good.read_text())[kind])
    with pytest.raises(runs.UnreadableError) as raised:
        runs.load(bad)
    assert "bad.json" in str(raised.value)
    assert "\n" not in str(raised.value)
    found, wrong = runs.listed(tmp_path)
    assert [path for path, _ in found] == [good]
    assert len(wrong) == 1


def test_binary_files_and_missing_folders(tmp_path):
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    assert runs.listed(tmp_path)[1] == ["bytes.json: not a JSON file, or cut short."]
    assert runs.listed(tmp_path / "nowhere") == ([], [])
    assert runs.listed(tmp_path / "bytes.json") == ([], [f"{tmp_path / 'bytes.json'}: cannot be read (Not a directory)."])


def test_fields_of_a_newer_minor_version_are_left_out():
    data = json.loads(codec.encoded(runs.recorded()[0]))
    data["colour"] = "blue"
    data["points"][0]["mood"] = 1
    assert runs.parsed(json.dumps(data), "x") == runs.recorded()[0]


def test_the_folder_can_be_chosen(monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_EXPLORER_RUNS", str(tmp_path))
    assert runs.default_folder() == tmp_path == runs.folder_of("  ")
    assert str(runs.folder_of("~/x")).endswith("/x")
    assert "~" not in str(runs.folder_of("~/x"))
    assert str(runs.folder_of("~nobody-here/x")) == "~nobody-here/x"


# Samples and profiles.


@given(st.lists(st.floats(1e-7, 1.0), min_size=1, max_size=60))
def test_a_spread_lies_within_its_samples(samples):
    found = spread([round(1e9 * sample) / 1e9 for sample in samples])
    ends = [min(samples), found.low, found.median, found.high, max(samples)]
    assert all(one <= other + 1e-9 for one, other in pairwise(ends))
    assert found.n == len(samples)


def test_a_spread_by_hand():
    assert spread([5.0, 1.0, 2.0, 4.0, 3.0]) == Spread(3.0, 1.8, 4.2, 5)


def test_a_profile_of_several_calls_is_one_call():
    clearing = "void at::native::vectorized_elementwise_kernel<2, at::native::FillFunctor<long>, ...>"
    events = [("warming up", 0.0, 1.0)]
    for call, more in enumerate((0.0, 0.2, 0.1)):
        start = 10.0 * (call + 1)
        events += [(clearing, start, start + 1), ("first", start + 1, start + 3 + more), ("second", start + 4, start + 5)]
    found = combined(list(reversed(events)))
    assert [one.name for one in found] == ["first", "second"]
    assert [one.start for one in found] == pytest.approx([0.0, 3.0])
    assert [one.duration for one in found] == pytest.approx([2.1, 1.0])


@pytest.mark.parametrize(
    ("long", "short"),
    [
        ("rms_norm_kernel", "rms_norm_kernel"),
        (
            "void at::native::elementwise_kernel<128, 2, at::native::BinaryFunctor<float, at::native::MulFunctor<float>>>",
            "elementwise: Mul",
        ),
        ("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float>>>", "reduce: Mean"),
        ("void (anonymous namespace)::softmax_warp<float>(float*)", "softmax_warp"),
    ],
)
def test_kernel_names_are_readable(long, short):
    assert short_name(long) == short


# What the GPU did meanwhile.


def test_reasons_in_words():
    assert watch.held_back(0) == watch.held_back(0x01) == watch.held_back(0x02) == ()
    assert watch.held_back(0x04) == ("power limit",)
    assert watch.held_back(0x48) == ("hardware slowdown", "hardware thermal limit")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (State(), State(), ()),
        (State(sm_clock=1980e6), State(sm_clock=1960e6), ()),
        (State(sm_clock=1980e6), State(sm_clock=1500e6), ("The clock fell from 1,980 to 1,500 MHz.",)),
        (State(), State(throttled=("power limit",)), ("The GPU was held back: power limit.",)),
        (State(others=2), State(others=1), ("2 other processes used the GPU.",)),
    ],
)
def test_what_disturbs_is_said(before, after, said):
    assert watch.disturbed(before, after) == said


# Verdicts by hand: RMSNorm 16384 x 8192 in float32 reads and writes 537 MB fused, seven times that unfused.


def test_the_predicted_ratio_is_that_of_the_bytes():
    traffic = ways.traffic(request(), "forward")
    passes = 16384 * 8192 * 4
    assert verdicts.predicted(traffic) == pytest.approx(7 / 2, rel=1e-3)
    assert sum(step.moved for step in traffic.fused) == 2 * passes + 8192 * 4
    assert verdicts.ratio(point(request(), pytorch=1.2e-3, triton=0.3e-3)) == pytest.approx(4.0)
    assert verdicts.ratio(point(request(), triton=0.3e-3)) is None


ROOFS = Roofs(bandwidth=4.8e12, copy=4.2e12, operations_measured={"bfloat16": 7e14}, operations={"bfloat16": 1e15}, launch=1e-6)


def test_what_binds_by_hand():
    wanted = request()
    memory_bound = point(wanted, pytorch=1.2e-3, triton=260e-6)
    found = verdicts.binding(memory_bound.way("triton"), memory_bound, ROOFS)
    assert found.binds == "memory"
    assert found.memory == pytest.approx((2 * 16384 * 8192 * 4 + 32768) / 4.2e12 / 260e-6)
    tiny = point(request("vector_add", n_elements=1024), pytorch=2e-6, triton=2e-6)
    found = verdicts.binding(tiny.way("triton"), tiny, ROOFS)
    assert found.binds == "overhead"
    assert found.seconds == pytest.approx(1e-5)
    assert verdicts.launch_bound(tiny.way("triton"), tiny, ROOFS)
    matmul = point(request("matmul_relu", "bfloat16"), triton=250e-6)
    found = verdicts.binding(matmul.way("triton"), matmul, ROOFS)
    assert found.binds == "compute"
    assert found.compute == pytest.approx(2 * 4096**3 / 7e14 / 250e-6, rel=0.01)
    slow = point(wanted, triton=3e-3)
    assert verdicts.binding(slow.way("triton"), slow, ROOFS).binds == "neither"


def test_what_draws_much_power_settles_longer():
    long, brief = timing.LONG_SETTLING_SECONDS, timing.SETTLING_SECONDS
    wanted = {name: long if name == "matmul_relu" else brief for name in MEASURED}
    assert {name: measuring.settling(Task(request(name))) for name in MEASURED} == wanted
    assert measuring.settling(Task(request("rms_norm"), "module")) == long


SECONDS = st.floats(1e-6, 1e-2)


@given(host=SECONDS, one=SECONDS, kernels=SECONDS)
def test_the_gpu_is_always_behind_the_cpu_and_rests_as_little_as_possible(host, one, kernels):
    clearings, step = timing.needed(host, one, kernels)
    assert kernels + clearings * one >= 1.2 * host
    assert step == pytest.approx(max(host, kernels + clearings * one))
    assert clearings == 1 or kernels + (clearings - 1) * one < 1.001 * timing.AHEAD * host


def test_figures_above_a_roof_are_invalid_and_say_why():
    device = runs.Device("H200", l2_bytes=60_000_000)
    fast = point(request(), triton=100e-6)
    said = verdicts.invalid(fast.way("triton"), fast, ROOFS, device)
    assert said.startswith("invalid: 10.74 TB/s is more than the 4.80 TB/s")
    assert "bytes that the formula counts" in said
    small = point(request("vector_add", n_elements=2**22), triton=5e-6)
    assert "L2 holds 60 MB of the 50" in verdicts.invalid(small.way("triton"), small, ROOFS, device)
    never = point(request(), triton=-1e-9)
    assert "too short for this clock" in verdicts.invalid(never.way("triton"), never, ROOFS, device)
    right = point(request(), triton=260e-6)
    assert verdicts.invalid(right.way("triton"), right, ROOFS, device) is None
    matmul = point(request("matmul_relu", "bfloat16"), triton=50e-6)
    assert "TFLOP/s is more than the 1,000" in verdicts.invalid(matmul.way("triton"), matmul, ROOFS, device)


def test_the_difference_is_explained_from_the_figures():
    run = next(run for run in runs.recorded() if run.axis is None and run.title.startswith("RMSNorm, forward, float32"))
    said = verdicts.explanation(run.points[0], run.roofs)
    assert len(said) == 2
    assert "mul #2 at 2.7 TB/s, below the copy's 4.2" in said[0]
    assert "adds to the gain" in said[0]
    assert said[1] == "Of these mul and mul #2 stretch a small tensor over a large one."
    tiny = point(request("vector_add", n_elements=1024), pytorch=2e-6, triton=2e-6)
    assert verdicts.explanation(tiny, ROOFS)[0].startswith("Launching takes more of the time")


def recorded(title: str) -> tuple[runs.Run, Point]:
    run = next(run for run in runs.recorded() if run.axis is None and run.title.startswith(title))
    return run, run.points[0]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_clearing_a_few_bytes_is_no_kernel(dtype):
    """Without them PyTorch's kernels are the formula's steps, of gradients too."""
    for title in (f"RMSNorm, backward, {dtype}", f"RMSNorm, both, {dtype}", f"Matmul + ReLU, forward, {dtype}"):
        run, found = recorded(title)
        theirs, steps = found.way("pytorch"), ways.traffic(found.request, found.direction).unfused
        assert len(theirs.launched) == len(steps)
        assert [name for name, _, _ in verdicts.speeds(theirs, steps)] == [step.name for step in steps]
        assert not any("PyTorch launched" in said for said in verdicts.explanation(found, run.roofs))


def test_what_torch_compile_does_not_fuse_moves_all_its_bytes():
    _, found = recorded("Matmul + ReLU, forward, bfloat16")
    traffic = ways.traffic(found.request, "forward")
    moved = {one.way: verdicts.moved_by(one, traffic) for one in found.timed}
    assert moved["compiled"] == moved["pytorch"] == 5 * 4096**2 * 2
    assert moved["triton"] == 3 * 4096**2 * 2


def test_where_launching_decides_there_is_no_speed_up():
    run, found = recorded("RMSNorm, both, bfloat16")
    ours = found.way("triton")
    for host, wanted in ((0.5, verdicts.ratio(found)), (3.0, None)):
        slow = dataclasses.replace(ours, host=Spread(*[host * ours.kernel.median] * 3, 30))
        launched = dataclasses.replace(found, timed=tuple(slow if one is ours else one for one in found.timed))
        assert verdicts.ratio(launched) > 7
        assert verdicts.speed_up(launched, run.roofs, run.device) == wanted


def test_times_that_cannot_be_give_no_ratio():
    device = runs.Device("H200")
    for seconds in (0.0, -1e-9):
        wrong = point(request(), pytorch=1e-3, triton=seconds)
        assert verdicts.ratio(wrong) is None
        assert verdicts.explanation(wrong, ROOFS) == []
        assert verdicts.invalid(wrong.way("triton"), dataclasses.replace(wrong, direction="module"), ROOFS, device)
        nothing = dataclasses.replace(wrong.way("triton"), host=None)
        assert verdicts.binding(nothing, wrong, ROOFS) is None
    assert verdicts.speed_up(point(request(), pytorch=1e-3, triton=1e-6), ROOFS, device) is None


def test_the_share_of_the_copy_is_one_figure():
    """What the explanation says is what stands in the row of figures: against the copy beside it, of as many bytes."""
    run, found = recorded("RMSNorm, backward, bfloat16")
    ours, formula = found.way("triton"), ways.traffic(found.request, "backward")
    share = verdicts.moved_by(ours, formula) / ours.events.median / (found.copy_bytes / found.copy.median)
    quiet = dataclasses.replace(ours, host=ours.kernel)
    found = dataclasses.replace(found, timed=tuple(quiet if one is ours else one for one in found.timed))
    assert f"runs at {share:.0%} of the copy's speed" in " ".join(verdicts.explanation(found, run.roofs))


def test_bytes_that_are_read_again_are_said():
    wanted = request("matmul_relu", m=4096, n=4096, k=4096)
    measured = point(wanted, pytorch=2.7e-3, triton=3.2e-3)
    formula = sum(step.moved for step in ways.traffic(wanted, "forward").fused)
    theirs, ours = measured.timed
    counted = dataclasses.replace(ours, dram=(KernelBytes("matmul_relu_kernel", 9.0 * formula, 1.5 * formula),))
    said = " ".join(verdicts.explanation(dataclasses.replace(measured, timed=(theirs, counted)), ROOFS))
    assert "The GPU counted 10.5 times the formula's bytes for the fused kernel: what L2 does not hold is read again." in said
    assert "counted" not in " ".join(verdicts.explanation(measured, ROOFS))


# Roofs from the driver's figures, against the makers' data sheets.


@pytest.mark.parametrize(
    ("gpu", "bandwidth", "float32", "tensor"),
    [
        (H200, 4.8e12, 66.9e12, 989e12),
        (
            dataclasses.replace(
                H200,
                name="A100",
                target=find_target("sm_80"),
                multiprocessors=108,
                clock_hz=1_410_000_000,
                memory_clock_hz=1_215_000_000,
                bus_bits=5120,
            ),
            1.555e12,
            19.5e12,
            312e12,
        ),
    ],
)
def test_theoretical_roofs_are_those_of_the_data_sheets(gpu, bandwidth, float32, tensor):
    found = roofs.theoretical(gpu)
    assert found.bandwidth == pytest.approx(bandwidth, rel=0.01)
    assert found.operations["float32"] == pytest.approx(float32, rel=0.01)
    # The H200's data sheet counts with its boost clock of 1830 MHz; this driver allows 1980.
    assert found.operations["bfloat16"] == pytest.approx(
        tensor * gpu.clock_hz / (1_830e6 if gpu is H200 else gpu.clock_hz), rel=0.01
    )


def test_unknown_stays_unknown():
    found = roofs.theoretical(dataclasses.replace(H200, memory_clock_hz=None, clock_hz=None))
    assert (found.bandwidth, dict(found.operations), found.formula) == (None, {}, "")


# Sweeps and memory.


@pytest.mark.parametrize("name", MEASURED)
def test_every_axis_can_be_swept_and_keeps_the_rest(name):
    wanted = request(name)
    target = find_target("sm_90")
    for axis in sweep.axes(wanted):
        values = sweep.values(wanted, axis, target)
        assert list(values) == sorted(set(values))
        assert len(values) >= 4
        tasks = sweep.tasks(Task(wanted), axis, target)
        assert [sweep.value_at(task.request, axis) for task in tasks] == list(values)
        for task in tasks if axis != sweep.ALL_SIZES else ():
            assert {size: value for size, value in task.request.problem.sizes.items() if size != axis} == {
                size: value for size, value in wanted.problem.sizes.items() if size != axis
            }
        assert sweep.seconds(tasks) > 0


@given(st.integers(2**20, 2**40))
@examples(40)
def test_what_fits_fits_and_one_more_does_not(free):
    wanted = request("vector_add", n_elements=2**36)
    smaller = memory.fitting(wanted, "forward", free)
    if smaller is None:
        assert memory.needed_bytes(request("vector_add", n_elements=1), "forward") > free
        return
    count = smaller.problem["n_elements"]
    assert memory.needed_bytes(smaller, "forward") <= free
    assert count == 2**36 or memory.needed_bytes(request("vector_add", n_elements=count + 1), "forward") > free


def test_what_does_not_fit_names_the_largest_that_does(counting):
    wanted = request("vector_add", n_elements=2**36)
    most = memory.fitting(wanted, "forward", 10**10).problem["n_elements"]
    said = memory.refusal(wanted, "forward", 10**10)
    assert f"10.0 GB of the GPU are free: n_elements {most:,} is the most that fits." in said
    assert "no smaller size fits" in memory.refusal(wanted, "forward", 1000)
    assert memory.refusal(request("vector_add", n_elements=1), "forward", 10**10) is None


def test_a_sweep_of_gradients_is_estimated_longer(counting):
    tasks = [sweep.tasks(Task(request(), direction), "rows", H200.target) for direction in ("forward", "backward", "both")]
    assert sweep.seconds(tasks[0]) < sweep.seconds(tasks[1]) < sweep.seconds(tasks[2])


# Errors and checks, as far as they need no GPU.


def test_errors_are_one_line_of_what_is_meant():
    from triton.runtime.errors import OutOfResources

    outer = RuntimeError("at 12:21:\n    offsets = tl.arange(0, 3)")
    outer.__cause__ = ValueError("arange's range must be a power of 2")
    assert sentence(outer).text == "arange's range must be a power of 2"
    said = sentence(OutOfResources(262_144, 232_448, "shared memory")).text
    assert said == "Out of shared memory: 262,144 needed, and the GPU gives a program 232,448"


@pytest.mark.parametrize(("rows", "columns"), [(5, 8), (0, 8)])
def test_a_module_is_checked_against_float64_at_any_size(rows, columns):
    import torch

    wanted, norm = request(rows=rows, columns=columns), find("rms_norm").pytorch
    inputs = {name: torch.randn(rows, columns) for name in ("x", "grad_output")}
    inputs |= {"weight": torch.randn(columns), "projection": torch.randn(4, columns)}
    found = measuring.check(wanted, "module", inputs, ways.module_call(norm, inputs)())
    assert found.share < 1
    assert found.norm <= measuring.NORM_LIMIT["float32"]
    if rows:
        doubled = ways.module_call(lambda x, weight: 2 * norm(x=x, weight=weight), inputs)()
        assert measuring.check(wanted, "module", inputs, doubled).share > 1


def test_the_copy_is_timed_by_the_method_of_the_fused_kernel(monkeypatch):
    graph, events = Spread(98e-6, 98e-6, 98e-6, 7), Spread(101e-6, 101e-6, 101e-6, 99)
    monkeypatch.setattr(measuring, "by_graph", lambda call, clear: graph)
    assert measuring._by_method_of(Spread(97e-6, 97e-6, 97e-6, 9), None, events, None) is graph
    assert measuring._by_method_of(Spread(103e-6, 103e-6, 103e-6, 9), None, events, None) is events


# Counters: what Nsight Compute prints.

HEADS = ("ID", "Process ID", "Kernel Name", "Block Size", "Metric Name", "Metric Unit", "Metric Value")
CLEARING = "void at::native::vectorized_elementwise_kernel<2, at::native::FillFunctor<long>>"
COUNTED = (
    (0, CLEARING, "dram__bytes_read.sum", "byte", "0"),
    (1, "pow_kernel", "dram__bytes_read.sum", "Mbyte", "536.9"),
    (1, "pow_kernel", "dram__bytes_write.sum", "Mbyte", "1,511.5"),
    (2, CLEARING, "dram__bytes_read.sum", "byte", "0"),
    (3, "rms_norm_kernel", "dram__bytes_read.sum", "Gbyte", "0.537"),
)


def printed() -> str:
    rows = [HEADS, *((number, 1, name, "(128, 1, 1)", *rest) for number, name, *rest in COUNTED)]
    return "==PROF== Connected\n" + "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows)


NCU = printed()


def test_counters_are_parted_by_the_clearing_before_each_call():
    assert counters.read(NCU, "", 2) == [
        (KernelBytes("pow_kernel", 536.9e6, 1511.5e6),),
        (KernelBytes("rms_norm_kernel", 0.537e9, 0.0),),
    ]


@pytest.mark.parametrize(
    ("output", "errors", "said"),
    [
        ("", "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission", "only an administrator"),
        ("==ERROR== Failed to initialize the profiler: LibraryNotLoaded", "", "LibraryNotLoaded"),
        ("", "", "it printed nothing"),
        (NCU, "", "no figures"),
    ],
)
def test_no_counters_say_why(output, errors, said):
    with pytest.raises(counters.UncountedError, match=said):
        counters.read(output, errors, 3)


def test_counters_are_read_wherever_the_app_was_started(monkeypatch, tmp_path):
    asked = {}

    def run(command, **options):
        asked.update(options)
        return subprocess.CompletedProcess(command, 0, NCU, "")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(counters.shutil, "which", lambda name: "/usr/bin/ncu")
    monkeypatch.setattr(counters.subprocess, "run", run)
    found = counters.counted(point(request(), pytorch=1e-3, triton=3e-4), H200)
    assert (Path(asked["cwd"]) / "kernels" / "measure" / "counted_call.py").exists()
    assert found.way("triton").dram == (KernelBytes("rms_norm_kernel", 0.537e9, 0.0),)
    asked.clear()
    nothing = Task(request()).point(problem="It does not fit.")
    assert (counters.counted(nothing, H200), asked) == (nothing, {})


# The command line where there is no GPU, and a campaign with a worker that only pretends.


def test_bench_without_a_gpu_is_one_sentence_and_exit_code_4(monkeypatch, capsys):
    monkeypatch.setattr(bench, "attached", lambda: ())
    assert bench.main(["rms_norm", "--json"]) == bench.NO_GPU
    out, error = capsys.readouterr()
    assert out == ""
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["rms_norm", "--sweep", "rowz"],
        ["rms_norm", "--target", "sm_90"],
        ["rms_norm", "--rows", "x"],
        ["vector_add", "--direction", "backward"],
    ],
)
def test_bench_refuses_bad_arguments(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        bench.main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_bench_says_what_cannot_be_and_why_there_is_no_speed_up():
    device = runs.device_of(H200)
    said = bench.report(point(request(), pytorch=1e-3, triton=1e-5), ROOFS, device)
    assert "triton: invalid: 107.38 TB/s is more than the 4.80 TB/s" in said
    assert "0 kernels" not in said  # one of a sweep is not profiled
    said = bench.report(point(request("vector_add", n_elements=1024), pytorch=2e-6, triton=0.0), ROOFS, device)
    assert "triton: invalid: the clearing" in said
    tiny = bench.report(point(request("vector_add", n_elements=1024), pytorch=2e-6, triton=2e-6), ROOFS, device)
    assert "Launching takes more of the time" in tiny
    empty = Task(request()).point(problem="It needs about 9 GB")
    assert bench.report(empty, ROOFS, device).endswith("It needs about 9 GB")


class Pretender:
    """In place of a GPU's worker: answers measurements with times that a test chose; `hold` keeps one waiting."""

    def __init__(self, seconds: float = 1e-4, dies: tuple[int, ...] = ()) -> None:
        self.seconds, self.dies, self.asked = seconds, dies, 0
        self.hold: threading.Event | None = None

    def call(self, job, *arguments, seconds, checkpoint=lambda: None, kill=False):
        if job.__name__ == "versions_job":
            return {"torch": "0", "triton": "0"}
        if job.__name__ == "roofs_job":
            self.rates = arguments[1]
            return ROOFS
        self.asked += 1
        while self.hold is not None and self.asked > 1 and not self.hold.wait(0.01):
            checkpoint()
        if self.asked in self.dies:
            raise TaskError("RuntimeError: out of memory")
        task = arguments[0]
        return dataclasses.replace(point(task.request, pytorch=3 * self.seconds, triton=self.seconds), direction=task.direction)


def finished(campaign: Campaign) -> Campaign:
    until(lambda: campaign.state != "running")
    return campaign


def test_a_campaign_gives_a_run_and_a_failing_point_is_a_labelled_gap():
    wanted = sweep.tasks(Task(request()), "columns", H200.target)
    found = finished(Campaign(Pretender(dies=(2,)), H200, wanted, "columns"))
    assert found.state == "done"
    assert len(found.points) == len(wanted)
    assert found.share() == 1.0
    assert found.points[1].problem == "RuntimeError: out of memory."
    assert not found.points[0].problem
    run = found.run()
    assert run.made == found.made
    assert (run.axis, run.device.name, run.roofs) == ("columns", "NVIDIA H200", ROOFS)


@pytest.mark.parametrize(("name", "dtype"), [("rms_norm", "float32"), ("matmul_relu", "bfloat16")])
def test_the_rate_that_is_measured_is_the_one_that_bounds(name, dtype):
    worker = Pretender()
    finished(Campaign(worker, H200, [Task(request(name, "bfloat16"))]))
    assert worker.rates == (dtype,)


def test_stopping_a_campaign_keeps_what_is_there():
    worker = Pretender()
    worker.hold = threading.Event()
    campaign = Campaign(worker, H200, sweep.tasks(Task(request()), "rows", H200.target), "rows")
    until(lambda: campaign.points)
    campaign.stop()
    assert finished(campaign).state == "stopped"
    assert len(campaign.points) == 1
