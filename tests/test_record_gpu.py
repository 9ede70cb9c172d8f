"""What ships from a real GPU: the list of it, and that only what is missing is made again, without a card's name."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from kernels import operators
from kernels.check import history
from kernels.check.values import PASS
from kernels.commands import bench, record_gpu
from kernels.measure import runs
from kernels.measure.ways import directions_of


def test_every_operator_direction_and_kind_of_sweep_is_on_the_list():
    wanted = list(record_gpu.wanted())
    assert len(set(wanted)) == len(wanted)
    for operator in (one for one in operators().values() if one.measured):
        own = [one for one in wanted if one.operator == operator.name]
        assert {one.dtype for one in own} == {"float32", "bfloat16"}
        assert {one.direction for one in own if one.axis is None} == set(directions_of(operator))
    assert {one.axis for one in wanted if one.axis} == {"n_elements", "columns", "rows", "BLOCK_SIZE", "num_warps", "m = n = k"}


@pytest.mark.slow
def test_only_what_is_missing_is_recorded_and_names_no_card(monkeypatch, tmp_path):
    run = runs.recorded()[0]
    named = dataclasses.replace(run, device=dataclasses.replace(run.device, uuid="GPU-secret"))
    runs.save(run, tmp_path / "runs")
    asked = []

    def measured(arguments: list[str]) -> int:
        asked.append(arguments)
        runs.save(named, Path(arguments[-1]))
        return 0

    monkeypatch.setattr(bench, "no_gpu", lambda: None)
    monkeypatch.setattr(bench, "main", measured)
    monkeypatch.setattr(record_gpu, "_schedules", lambda *_, **__: 0)
    monkeypatch.setattr(record_gpu, "_check", lambda *_, **__: 0)
    assert record_gpu.main(["--folder", str(tmp_path)]) == 0
    first = run.points[0]
    own = record_gpu.Wanted(first.operator, first.dtype, first.direction, run.axis)
    assert len(asked) == len(list(record_gpu.wanted())) - 1
    assert not any(arguments[: len(own.arguments)] == own.arguments for arguments in asked)
    texts = [path.read_text() for path in (tmp_path / "runs").glob("*.json")]
    assert not any("GPU-secret" in text for text in texts)
    assert all(json.loads(text)["kind"] for text in texts)


def test_recording_without_a_gpu_is_one_sentence_and_exit_code_4(monkeypatch, capsys):
    monkeypatch.setattr(bench, "attached", lambda: ())
    assert record_gpu.main([]) == bench.NO_GPU
    assert capsys.readouterr().err.count("\n") == 1


def test_what_ships_names_no_card():
    assert all(run.device.uuid is None for run in runs.recorded())
    reports = history.recorded()
    assert {len(report.cards) for report in reports} == {1, 2}
    assert not any(card.key.startswith("GPU-") for report in reports for card in report.cards)


def test_what_passed_in_the_shipped_checks_is_on_the_good_side_of_its_limit():
    measured = [one for report in history.recorded() for one in report.results if one.threshold]
    assert len(measured) > 20
    assert [one.title for one in measured if (one.distance >= 0) != (one.status == PASS)] == []
