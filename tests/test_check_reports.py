"""What a report looks like: in a terminal, as markdown without anybody's name, as a page with plots, merged over hosts."""

from __future__ import annotations

import getpass
import re
import socket
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kernels.check import history, merge, page, text
from kernels.check import values as v
from kernels.check.values import FAIL, NOT_MEASURED, PASS, WARN

from .limits import PATIENCE
from .test_check import CARD, one, report

ROOT = Path(__file__).parents[1]
SWEEP = v.Result(
    "sweep",
    "T = a + V / b",
    "speed",
    PASS,
    gpu="GPU-a",
    series={"bytes": (1e6, 1e8, 1e9), "seconds": (4e-6, 3e-5, 2.4e-4), "fit": (3.8e-6, 4.2e12), "empty": (3e-6,)},
)
LOAD = v.Result(
    "sustained rate",
    "Speed kept",
    "sustained",
    PASS,
    gpu="GPU-a",
    value=690.0,
    unit="TFLOP/s",
    series={"time": (0.0, 0.1), "sm_clock": (1980.0, 1900.0), "rate time": (0.0, 0.1), "rate": (700.0, 690.0)},
)


def two_cards() -> v.Report:
    single = report(SWEEP, LOAD)
    second = replace(CARD, key="GPU-b", index=1)
    results = (*single.results, *(replace(found, gpu="GPU-b", value=0.9) for found in single.results))
    return replace(single, cards=(CARD, second), results=results)


def test_the_verdict_is_the_first_line_of_the_terminal():
    shown = text.terminal(report(one(FAIL), one(WARN, "y")))
    lines = shown.split("\n")
    assert lines[0].startswith("Not OK: 1 check failed on NVIDIA H200")
    assert "-> Some check: Do this." in shown
    assert shown.count("Do this.") == 1
    assert "No check of this model ships with the explorer, NVIDIA H200" in shown
    assert "CUDA cores" in shown
    assert not re.search("\x1b", shown)
    assert "\x1b[31;1mFAIL" in text.terminal(report(one(FAIL)), colour=True)
    assert "No check of this model" not in text.terminal(replace(report(), cards=(replace(CARD, seen=True),)))


def test_limits_stand_under_what_did_not_pass():
    shown = text.terminal(report(one(FAIL, limit="at least 80 %", source="the driver")))
    assert "limit: at least 80 % (the driver)" in shown


def test_several_cards_are_a_line_a_check_and_what_stands_out():
    found = two_cards()
    assert "2 GPUs: 0.9 to 690 TFLOP/s" in text.terminal(found)
    slow = replace(
        found, results=tuple(replace(r, status=WARN) if (r.check, r.gpu) == ("ragged", "GPU-b") else r for r in found.results)
    )
    assert "WARN  GPU 1: ragged" in text.terminal(slow)


def test_markdown_names_no_person_and_no_machine():
    said = (
        f"{Path.home()}/.triton/cache and /opt/venv/lib/python3.11/site-packages/torch of {socket.gethostname()} "
        f"C:\\Users\\someone\\file.c 4,270 GB/s and/or"
    )
    shown = text.markdown(report(one(FAIL, said=said)))
    assert shown.startswith("**Not OK**")
    assert "/opt/" not in shown
    assert "Users" not in shown
    assert str(Path.home()) + "/" not in shown
    assert "4,270 GB/s and/or" in shown
    assert "GPU-a" not in shown
    for name in (socket.gethostname(), getpass.getuser()):
        if len(name) > 4:
            assert not re.search(rf"\b{re.escape(name)}\b", shown)
    rows = [line for line in shown.split("\n") if line.startswith("| FAIL")]
    assert len(rows) == 1
    assert rows[0].count(" | ") == 4


def test_the_page_has_plots_and_needs_nothing_from_outside():
    shown = page.html(two_cards())
    assert shown.count("<svg") == 6
    assert shown.count("<polyline") >= 6
    assert "Cards and checks" in shown
    assert not re.search(r"(src|href)=", shown)
    assert "GPU-a" not in shown
    HTMLParser().feed(shown)
    assert "<script>" not in page.html(report(one(FAIL, said="<script>alert(1)</script>")))


def hosts(tmp_path, *speeds: float) -> list[str]:
    files = []
    for place, speed in enumerate(speeds):
        copy = v.Result("dram copy", "DRAM copy", "speed", PASS, value=speed, unit="GB/s", gpu="GPU-a")
        rest = [found for found in report().results if found.check != "dram copy"]
        file = tmp_path / f"host-{place}.json"
        file.write_text(v.to_json(replace(report(), results=(*rest, copy))))
        files.append(str(file))
    return files


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kernels", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE
    )


@pytest.mark.parametrize(
    ("speeds", "code", "mark"), [((4000, 3990), 0, "3,990"), ((4000, 3700), 3, "3,700 !"), ((4000, 3500), 1, "3,500 !!")]
)
def test_hosts_merged_into_one_table(tmp_path, speeds, code, mark):
    done = command("merge", *hosts(tmp_path, *speeds))
    assert done.returncode == code, done.stderr
    header, first, second = done.stdout.strip().split("\n")
    assert "copy GB/s" in header
    assert first.startswith("host-0  0 NVIDIA H200  PASS")
    assert mark in second


def test_a_host_without_a_gpu_and_a_file_that_is_none(tmp_path):
    (tmp_path / "bare.json").write_text(v.to_json(v.Report("2026", (), (v.Result("driver", "GPU driver", "bring-up", FAIL),))))
    done = command("merge", str(tmp_path / "bare.json"))
    assert done.returncode == 4
    assert "no GPU  FAIL" in done.stdout
    (tmp_path / "other.json").write_text("{}")
    done = command("merge", str(tmp_path / "other.json"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "not a report" in done.stderr


def test_history_keeps_every_report_and_skips_what_is_none(tmp_path):
    first, second = history.save(report(), tmp_path), history.save(report(), tmp_path)
    assert first != second
    (tmp_path / "bad.json").write_text("{")
    found, wrong = history.listed(tmp_path)
    assert len(found) == 2
    assert wrong == ["bad.json: not a JSON file, or cut short."]
    assert len(history.of_card("GPU-a", tmp_path)) == 2
    assert history.of_card("GPU-z", tmp_path) == []
    assert history.listed(tmp_path / "none") == ([], [])


@pytest.mark.parametrize("path", sorted(history.RECORDED.glob("check-*.json")), ids=lambda path: path.name)
def test_shipped_reports_are_whole_and_name_no_machine(path):
    found = history.load(path)
    assert found.complete
    assert found.cards
    assert v.exit_code(found) in (0, 3)
    assert not re.search(r"/(home|root|tmp|opt|usr)/", path.read_text())


def test_lines_of_a_report_hold_the_worst_that_was_measured():
    (line,) = merge.lines([("a", report(one(NOT_MEASURED), one(WARN, "y")))])
    assert line.status == WARN
    assert line.wrong == ("Some check",)


def test_the_command_writes_every_kind(tmp_path):
    files = {kind: tmp_path / f"report.{kind}" for kind in ("json", "markdown", "html")}
    arguments = [text for kind, file in files.items() for text in (f"--{kind}", str(file))]
    done = command("check", "--quick", *arguments, "--folder", str(tmp_path / "kept"))
    found = v.from_json(files["json"].read_text(), "report.json")
    assert done.returncode == v.exit_code(found)
    assert done.stdout.split("\n")[0] == v.verdict(found).replace("**", "")
    assert files["markdown"].read_text().startswith(v.verdict(found))
    assert "<h1>" in files["html"].read_text()
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["--gpu", "97"], "there is no GPU 97"), (["--gpu", "x"], "invalid int value"), (["--nonsense"], "unrecognized")],
)
def test_wrong_usage_is_one_line_and_exit_code_2(arguments, says):
    done = command("check", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert len(done.stderr.strip().split("\n")) == 1


def test_a_file_that_cannot_be_written_is_one_line(tmp_path):
    done = command("check", "--quick", "--no-save", "--json", str(tmp_path / "none" / "report.json"))
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
