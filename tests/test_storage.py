"""Files: what is written comes back, what is not as it should be is one line, and nothing but a regular file is read."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import socket
import subprocess
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.extra import numpy as arrays

from kernels.check import history
from kernels.check.values import Report
from kernels.inside import recordings
from kernels.measure import runs
from kernels.measure.records import Run
from kernels.measure.summaries import summaries, summary_of
from kernels.runtime import recorded
from kernels.runtime.picture import Picture
from kernels.storage import codec, files, folders
from kernels.storage.codec import UnreadableError
from kernels.storage.files import UnwritableError

ROOT = Path(__file__).parents[1]
DTYPES = ("bool", "int8", "int32", "int64", "uint8", "float16", "float32", "float64")


# The codec.


@given(some.data())
def test_arrays_come_back_with_their_dtype_shape_and_undefined_items(data):
    dtype = np.dtype(data.draw(some.sampled_from(DTYPES)))
    array = data.draw(arrays.arrays(dtype, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)))
    again = codec.decoded(np.ndarray, codec.compact(array), "array")
    assert (again.dtype, again.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(again, array)


@pytest.mark.parametrize(
    "content",
    [
        '{"array": "int8", "shape": [1], "items": [300]}',
        '{"array": "uint8", "shape": [1], "items": [-1]}',
        '{"array": "int8", "shape": [1], "items": [1.5]}',
        '{"array": "object", "shape": [1], "items": [1]}',
        '{"array": "int8", "shape": [2], "items": [1]}',
        '{"array": "int8", "shape": [-1], "items": [1, 2, 3]}',
        '{"array": "float32", "shape": [1], "items": ["1e9"]}',
        '["x"]',
        "[18446744073709551616]",
    ],
)
def test_an_array_that_is_none_is_refused(content):
    with pytest.raises(UnreadableError, match="damaged"):
        codec.decoded(np.ndarray, content, "array")


def nodes(kind, seen):
    """All types within a type, each once."""
    if id(kind) in seen or not isinstance(kind, msgspec.inspect.Type):
        return
    seen[id(kind)] = kind
    for name in kind.__struct_fields__:
        value = getattr(kind, name)
        for one in value if isinstance(value, tuple) else (value,):
            nodes(one.type if isinstance(one, msgspec.inspect.Field) else one, seen)


@pytest.mark.parametrize("kind", [Run, Report])
def test_every_field_of_what_a_person_may_open_is_bounded(kind):
    seen: dict[int, msgspec.inspect.Type] = {}
    nodes(msgspec.inspect.type_info(kind), seen)
    found = list(seen.values())
    assert {type(one).__name__ for one in found} >= {
        "IntType",
        "FloatType",
        "StrType",
        "VarTupleType",
        "DictType",
        "DataclassType",
    }
    for one in found:
        if isinstance(one, (msgspec.inspect.IntType, msgspec.inspect.FloatType)):
            assert None not in (one.ge, one.le), one
        if isinstance(one, (msgspec.inspect.StrType, msgspec.inspect.VarTupleType, msgspec.inspect.DictType)):
            assert one.max_length is not None, one


def leaves(value, path=()):
    """The paths of everything in what JSON holds that is no object and no list."""
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in leaves(inner, (*path, key))]
    if isinstance(value, list):
        return [leaf for at, inner in enumerate(value) for leaf in leaves(inner, (*path, at))]
    return [path]


def one_of_each_kind(paths):
    """The first and the last place of every field: another result or item of a series is read by the same rule."""
    kinds = defaultdict(list)
    for path in paths:
        kinds[tuple("" if isinstance(key, int) else key for key in path)].append(path)
    return [path for places in kinds.values() for path in dict.fromkeys((places[0], places[-1]))]


def changed(data, path, value):
    again = json.loads(json.dumps(data))
    inner = again
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return again


def samples():
    """A run and a report as JSON holds them, lists cut to two."""
    sweep = next(run for run in runs.recorded() if run.axis)
    short = replace(sweep, points=sweep.points[:2])
    report = next(report for report in history.recorded() if len(report.cards) > 1)
    kept = tuple({one.check: one for one in report.results}.values())
    return {
        "run": (json.loads(codec.encoded(short)), runs.parsed),
        "report": (json.loads(codec.encoded(replace(report, results=kept))), history.from_json),
    }


BAD = ("9" * 400, "1e400", "NaN", "Infinity", '"\\ud800"', "[]", "{}", "-1e31", '"' + "x" * 20_001 + '"')


@pytest.mark.slow
@pytest.mark.parametrize("what", ["run", "report"])
def test_a_bad_value_in_any_field_is_one_line_with_its_path(what):
    data, parse = samples()[what]
    parse(json.dumps(data), "good.json")
    for path in one_of_each_kind(leaves(data)):
        whole = json.dumps(changed(data, path, "HERE"))
        for bad in BAD:
            text = whole.replace('"HERE"', bad)
            try:
                parse(text, "bad.json")
            except UnreadableError as error:
                line = str(error)
                assert line.startswith("bad.json: ")
                assert "\n" not in line
                assert len(line) < 400
            else:
                raise AssertionError(f"{path}: {bad[:20]}")


def test_the_path_of_what_is_wrong_is_told():
    data, parse = samples()["run"]
    with pytest.raises(UnreadableError) as raised:
        parse(json.dumps(changed(data, ("points", 1, "num_warps"), "four")), "x.json")
    assert str(raised.value) == "x.json: damaged: $.points[1].num_warps: expected a whole number, got a text."
    with pytest.raises(UnreadableError, match=re.escape("x.json: damaged: $.points[0]: m is")):
        parse(json.dumps(changed(data, ("points", 0, "sizes", "m"), 2**60)), "x.json")


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("bytes", []),
        ("bytes", [1.0]),
        ("bytes", [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
        ("seconds", [1.0, -1.0, 1.0, 1.0, 1.0, 1.0]),
        ("fit", [1.0]),
        ("fit", [0.0, 0.0]),
        ("empty", []),
        ("count", []),
        ("count", [0.0]),
        ("count", [1e9]),
        ("count", [2.5]),
        ("speeds", [1.0]),
        ("rate", [1.0, 2.0]),
        ("rate time", []),
        ("power", [1.0]),
        ("held", [1.0]),
        ("time", [1.0]),
    ],
)
def test_series_that_do_not_belong_together_are_refused(column, values):
    data, parse = samples()["report"]
    (place,) = [at for at, one in enumerate(data["results"]) if column in one["series"]]
    for bad in (changed(data, ("results", place, "series", column), values), json.loads(json.dumps(data))):
        if bad == data:
            del bad["results"][place]["series"][column]
            if column in ("power", "held"):  # a driver may tell neither
                continue
        with pytest.raises(UnreadableError, match=re.escape(f"$.results[{place}].series: ")):
            parse(json.dumps(bad), "bad.json")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("points", 0, "direction"), "sideways"),
        (("points", 0, "num_warps"), 0),
        (("points", 0, "timed", 0, "way"), "another"),
        (("points", 0, "timed", 0, "way"), "triton"),
        (("points", 1, "operator"), "vector_add"),
        (("axis",), "n_elements"),
    ],
)
def test_a_run_of_what_is_not_measured_here_is_refused(path, value):
    data, parse = samples()["run"]
    with pytest.raises(UnreadableError, match="damaged"):
        parse(json.dumps(changed(data, path, value)), "bad.json")


def test_gradients_of_an_operator_without_any_are_refused():
    run = next(run for run in runs.recorded() if run.title.startswith("Softmax") and run.axis is None)
    wrong = replace(run, points=(replace(run.points[0], direction="backward"),))
    with pytest.raises(UnreadableError, match="backward is not measured of softmax"):
        runs.parsed(codec.encoded(wrong), "x.json")


def test_more_points_than_any_sweep_has_are_refused():
    run = next(run for run in runs.recorded() if run.axis)
    with pytest.raises(UnreadableError, match="length <= 200"):
        runs.parsed(codec.encoded(replace(run, points=run.points[:1] * 201)), "x.json")
    assert len(runs.parsed(codec.encoded(replace(run, points=run.points[:1] * 200)), "x.json").points) == 200


def within(older, newer) -> bool:
    """Whether all that an older file says stands in a newer one, which may have more fields."""
    if isinstance(older, dict):
        return all(name in newer and within(value, newer[name]) for name, value in older.items())
    if isinstance(older, list):
        return len(older) == len(newer) and all(map(within, older, newer))
    return older == newer


def test_what_ships_is_read_and_written_the_same():
    for path in runs.RECORDED.glob("*.json"):
        run = runs.load(path)
        assert runs.parsed(codec.encoded(run), "again") == run
        assert within(json.loads(path.read_text()), json.loads(codec.encoded(run)))
    assert len(recordings.shipped()) == len(list(recordings.FOLDER.glob("*.gz"))) > 0
    for name, raw in recorded._shipped().items():
        picture = codec.decoded(Picture, raw, name)
        assert json.loads(codec.compact(picture)) == json.loads(bytes(raw))


# Files.


def lines(folder: Path) -> list[str]:
    found, problems = summaries(folder)
    assert found == []
    assert runs.listed(folder) == ([], problems)
    return problems


def test_only_regular_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "a-fifo.json")
    (tmp_path / "b-zero.json").symlink_to("/dev/zero")
    (tmp_path / "c-folder.json").mkdir()
    (tmp_path / "d-loop.json").symlink_to(tmp_path / "d-loop.json")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "e-socket.json"))
        with (tmp_path / "f-large.json").open("wb") as large:
            large.truncate(10 * 2**30)
        (tmp_path / "g-gone.json").symlink_to(tmp_path / "nowhere")
        found = lines(tmp_path)
    kind = "not a file but a folder, a device or a pipe."
    assert found == [
        f"a-fifo.json: {kind}",
        f"b-zero.json: {kind}",
        f"c-folder.json: {kind}",
        "d-loop.json: cannot be read (Too many levels of symbolic links).",
        f"e-socket.json: {kind}",
        "f-large.json: larger than 16 MB, which nothing is that is read here.",
        "g-gone.json: cannot be read (No such file or directory).",
    ]


def test_a_file_is_read_up_to_its_bound(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"x" * 100)
    assert files.content(path, 100) == b"x" * 100
    with pytest.raises(UnreadableError, match="larger than"):
        files.content(path, 99)
    assert files.content(Path("/proc/self/cmdline"))  # of a size of 0, as the kernel tells it
    with pytest.raises(UnreadableError, match="not the name of a file"):
        files.content(Path("a\0b"))
    with pytest.raises(UnreadableError, match="File name too long"):
        files.content(tmp_path / ("x" * 300))


def test_a_name_that_is_no_text_is_told_and_the_rest_is_listed(tmp_path):
    good = runs.save(runs.recorded()[0], tmp_path)
    os.write(descriptor := os.open(os.fsencode(tmp_path) + b"/\xff.json", os.O_CREAT | os.O_WRONLY), good.read_bytes())
    os.close(descriptor)
    found, problems = summaries(tmp_path)
    assert [path for path, _ in found] == [good]
    assert problems == ["?.json: its name is not text in UTF-8; rename it."]


@pytest.mark.parametrize(
    ("name", "line"), [("x" * 300, "File name too long"), ("a\0b", "not the name of a file"), ("file/below", "Not a directory")]
)
def test_a_folder_that_is_none_is_one_line(tmp_path, name, line):
    (tmp_path / "file").touch()
    (found,) = lines(tmp_path / name)
    assert line in found
    assert "\0" not in found
    with pytest.raises(UnwritableError) as raised:
        runs.save(runs.recorded()[0], tmp_path / name)
    assert "\0" not in str(raised.value)


def test_a_folder_is_read_again_only_where_it_changed(tmp_path):
    folders._kept.cache_clear()
    paths = [runs.save(run, tmp_path) for run in runs.recorded()[:5]]
    assert len(summaries(tmp_path)[0]) == 5
    assert folders._kept.cache_info().misses == 5
    summaries(tmp_path)
    assert folders._kept.cache_info().misses == 5
    paths[0].write_bytes(codec.encoded(replace(runs.recorded()[0], title="changed")))
    paths[1].write_text("{")
    paths[2].unlink()
    found, problems = summaries(tmp_path)
    assert folders._kept.cache_info().misses == 7
    assert dict(found)[paths[0]].title == "changed"
    assert problems == [f"{paths[1].name}: not a JSON file, or cut short."]
    assert len(found) == 3


def test_a_summary_says_what_the_run_does(tmp_path):
    for run in runs.recorded():
        (_, found), *_ = summaries(runs.save(run, tmp_path / str(id(run))).parent)[0]
        assert found == summary_of(run)
        assert (found.title, found.gpu, found.points) == (run.title, run.device.name, len(run.points))


# Where there is no room, and no right.

KEEP = """
import sys
from pathlib import Path
from kernels.measure import runs
try:
    print("saved", runs.save(runs.recorded()[0], Path(sys.argv[1])))
except OSError as error:
    print(error)
print("listed", *runs.listed(Path(sys.argv[1])))
"""


@pytest.fixture
def full(tmp_path):
    """A disk of 64 kB with 2 kB left."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        with contextlib.suppress(OSError), (disk / "rest").open("wb", buffering=0) as rest:
            while True:
                rest.write(b"x" * 4096)
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_full_disk_is_one_sentence_leaves_no_half_file_and_can_be_tried_again(full):
    run = runs.recorded()[0]
    for _ in range(2):
        with pytest.raises(UnwritableError) as raised:
            runs.save(run, full / "runs")
        assert str(raised.value) == (
            f"Nothing can be written into {full / 'runs'} (No space left on device): "
            "make room on that disk, or choose another folder."
        )
    assert list(full.rglob("*.json")) == []
    (full / "rest").unlink()
    assert runs.load(runs.save(run, full / "runs")) == run


def test_a_disk_that_can_only_be_read_is_one_sentence(full):
    subprocess.run(["mount", "-o", "remount,ro", full], check=True)
    with pytest.raises(UnwritableError, match=r"Read-only file system\): that disk can only be read: choose another folder"):
        runs.save(runs.recorded()[0], full)


def test_a_folder_that_may_not_be_written_or_read_as_another_user(tmp_path_factory):
    if os.geteuid():
        pytest.skip("only root can become another user")
    place = Path(tmp_path_factory.mktemp("rights"))
    for parent in (place, *place.parents):
        if str(parent).startswith("/tmp/"):
            parent.chmod(0o755)
    closed, hidden = place / "closed", place / "hidden"
    closed.mkdir(mode=0o755)
    (hidden / "below").mkdir(parents=True)
    hidden.chmod(0o700)

    def tried(folder):
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", sys.executable, "-c", KEEP, str(folder)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, env={**os.environ, "HOME": "/"})
        if "Permission denied" in done.stderr and not done.stdout:
            pytest.skip("another user may not read this checkout")
        return done.stdout.split("\n")

    said, listed, _ = tried(closed)
    assert said == (
        f"Nothing can be written into {closed} (Permission denied): get the right to write there, or choose another folder."
    )
    assert listed == "listed [] []"
    said, listed, _ = tried(hidden / "below")
    assert "(Permission denied)" in said
    assert listed == f"listed [] ['{hidden / 'below'}: cannot be read (Permission denied).']"
    assert list(closed.iterdir()) == []


def test_every_trouble_of_a_disk_has_a_step():
    assert set(files.STEPS) >= {errno.ENOSPC, errno.EROFS, errno.EACCES}
    assert all(step.startswith(("make room", "that disk", "get the right", "choose")) for step in files.STEPS.values())


# What ships.


def test_only_a_persons_own_runs_are_deleted_and_none_is_kept_among_those_that_ship(monkeypatch, tmp_path):
    own, other = tmp_path / "own", tmp_path / "other"
    monkeypatch.setenv("TRITON_EXPLORER_RUNS", str(own))
    run = runs.recorded()[0]
    mine, theirs = runs.keep(run, own), runs.keep(run, other)
    (own / "shipped").symlink_to(runs.RECORDED)
    (own / "other").symlink_to(other)
    assert runs.deletable(mine)
    assert not runs.deletable(theirs)
    assert not runs.deletable(own / "other" / theirs.name)
    assert not runs.deletable(own / ".." / "other" / theirs.name)
    shipped = next(runs.RECORDED.iterdir()).name
    assert not runs.deletable(own / "shipped" / shipped)
    before = sorted(runs.SHIPPED.rglob("*"))
    for folder in (runs.RECORDED, own / "shipped", own / "shipped" / "new", own / "shipped" / ".."):
        with pytest.raises(UnwritableError, match="holds what ships"):
            runs.keep(run, folder)
    monkeypatch.setenv("TRITON_EXPLORER_RUNS", str(runs.RECORDED))
    assert not runs.deletable(runs.RECORDED / shipped)
    assert sorted(runs.SHIPPED.rglob("*")) == before


# Commands.


@pytest.mark.parametrize("name", ["~nobody-here/a", "x" * 300, "fifo", "zero", "folder", "nowhere"])
def test_merge_says_in_a_line_what_it_cannot_read(tmp_path, name):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    path = name if name.startswith("~") else str(tmp_path / name)
    done = subprocess.run(
        [sys.executable, "-m", "kernels", "merge", path], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert "cannot be read" in done.stderr or "not a file" in done.stderr
