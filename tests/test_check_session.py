"""The check as a whole: one fault costs one check, results come one by one, cancel keeps them, cards are compared."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from kernels.__main__ import NOT_INSTALLED
from kernels.check import history, plan, session, values
from kernels.check.child import CancelledError, Child, ChildError
from kernels.check.plan import Check
from kernels.check.session import Session
from kernels.check.values import FAIL, NOT_MEASURED, PASS, WARN, Result
from kernels.runtime.device import Gpu, find_target

from .limits import PATIENCE

ROOT = Path(__file__).parents[1]
SHIPPED_JOINT = plan.JOINT
H200 = Gpu(
    0, "NVIDIA H200", "GPU-a", find_target("sm_90"), 132, 150 * 10**9, 60 * 2**20, 65536, 2048, 3201000000, 6144, 1980000000
)


@pytest.fixture
def child():
    one = Child({})
    yield one
    one.close()


def ask(child, name, seconds=PATIENCE, **told):
    return list(child.ask(f"tests.check_faults:{name}", seconds, **told))


def test_results_come_back_and_prints_do_not_disturb_them(child):
    (one,) = ask(child, "right", quick=True, mig=True)
    assert (one.check, one.said) == ("right", "quick True, slice True")


def test_one_process_serves_many_checks(child):
    assert ask(child, "process_id") == ask(child, "process_id")


def test_a_killed_worker_is_said_and_replaced(child):
    came = []
    with pytest.raises(ChildError, match="ended by signal SIGKILL"):
        came.extend(child.ask("tests.check_faults:killed", 60))
    assert ask(child, "right")


def test_results_before_the_death_are_kept(child):
    results = child.ask("tests.check_faults:killed", 60)
    assert next(results).check == "right"
    with pytest.raises(ChildError):
        next(results)


def test_an_error_that_the_gpu_reports_late_is_of_the_check_that_made_it(child):
    with pytest.raises(ChildError, match="illegal memory access"):
        ask(child, "late")
    assert [one.status for one in ask(child, "right")] == [PASS]


def test_a_crash_brings_its_last_words(child):
    with pytest.raises(ChildError, match="SIGSEGV") as error:
        ask(child, "crashed")
    assert "Segmentation fault" in error.value.text


def test_a_hang_ends_at_its_limit(child):
    with pytest.raises(ChildError, match="no answer in 1 s"):
        ask(child, "hung", 1.0)
    assert ask(child, "right")


def test_an_exit_code_and_its_message(child):
    with pytest.raises(ChildError, match="with code 7: libcuda"):
        ask(child, "ended")


def test_cancel_ends_what_runs():
    stopped = threading.Event()
    child = Child({}, stopped.is_set)
    threading.Timer(1.0, stopped.set).start()
    with pytest.raises(CancelledError):
        ask(child, "hung")
    child.close()


def faulty(*names: str) -> tuple[Check, ...]:
    return tuple(Check(name, name.title(), "truth", f"tests.check_faults:{name}", 5.0, quick=True) for name in names)


@pytest.fixture
def two_cards(monkeypatch, tmp_path):
    """A machine with two cards, whose checks are those of this test; no driver is asked."""
    cards = (H200, replace(H200, index=1, uuid="GPU-b"))
    monkeypatch.setattr(session, "attached", lambda: cards)
    monkeypatch.setattr(plan, "JOINT", ())
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    return cards


def test_one_fault_costs_one_check_on_every_card(monkeypatch, two_cards):
    monkeypatch.setattr(plan, "DEVICE", faulty("right", "crashed", "illegal", "environment"))
    heard = []
    report = Session(quick=True, heard=heard.append).run()
    assert list(report.results) == heard
    for card in report.cards:
        found = {one.check: one for one in report.of(card.key)}
        assert found["right"].status == PASS
        assert found["crashed"].status == FAIL
        assert found["illegal"].status == FAIL
        assert "tl.int64" in found["illegal"].step
        assert f"'CUDA_VISIBLE_DEVICES': '{card.key}'" in found["environment"].said
    assert values.exit_code(report) == 1
    assert "Not OK" in values.verdict(report)


def test_a_card_whose_check_breaks_says_so_and_the_other_goes_on(monkeypatch, two_cards):
    monkeypatch.setattr(plan, "DEVICE", faulty("right"))
    right = session.health.checks

    def broken(gpu, card):
        if gpu.index == 0:
            raise TypeError("NVML answers in another way")
        return right(gpu, card)

    monkeypatch.setattr(session.health, "checks", broken)
    report = Session(quick=True).run()
    assert report.find("card", "GPU-a").status == FAIL
    assert "NVML answers in another way" in report.find("card", "GPU-a").said
    assert report.find("right", "GPU-b").status == PASS


def test_cancel_while_a_card_is_somebody_elses(monkeypatch, two_cards):
    from contextlib import contextmanager

    @contextmanager
    def never(gpu):
        raise CancelledError
        yield

    report = Session(quick=True, turn=never).run()
    assert report.find("card") is None
    assert values.exit_code(report) == 4


def test_it_says_what_it_does_now(monkeypatch, two_cards):
    monkeypatch.setattr(plan, "DEVICE", faulty("right", "environment"))
    told = []
    running = Session(quick=True, only=(0,), heard=lambda one: told.append((one.check, running.doing)))
    running.run()
    assert ("right", "Right") in told
    assert ("environment", "Environment") in told
    assert running.doing == ""


def test_what_builds_on_a_failure_is_not_measured(monkeypatch, two_cards):
    after = Check("after", "After", "speed", "tests.check_faults:right", 5.0, ("crashed",), quick=True)
    monkeypatch.setattr(plan, "DEVICE", (*faulty("crashed"), after))
    report = Session(quick=True).run()
    one = report.find("after", "GPU-a")
    assert (one.status, one.said) == (NOT_MEASURED, "needs “Crashed”")


def test_what_the_cards_do_together_builds_on_any_of_them(monkeypatch, two_cards):
    joint = [
        Check(f"after {name}", "After", "several GPUs", "tests.check_faults:right", 5.0, (name,)) for name in ("right", "no")
    ]
    joint = [
        replace(one, function="tests.check_faults:" + function)
        for one, function in zip(joint, ("environment", "right"), strict=True)
    ]
    monkeypatch.setattr(plan, "DEVICE", faulty("right"))
    monkeypatch.setattr(plan, "JOINT", tuple(replace(one, quick=True) for one in joint))
    report = Session(quick=True).run()
    assert report.find("environment").status == PASS
    assert (report.find("after no").status, report.find("after no").said) == (NOT_MEASURED, "needs “no”")


def test_cancel_keeps_what_came(monkeypatch, two_cards):
    monkeypatch.setattr(plan, "DEVICE", faulty("right", "hung", "environment"))
    running = Session(quick=True, heard=lambda one: running.cancel() if one.check == "right" else None)
    report = running.run()
    assert report.find("right") is not None
    assert report.find("environment") is None
    assert not report.complete
    assert "Stopped" in values.verdict(report)
    assert values.exit_code(report) != 0


def test_a_card_that_others_want_is_held_meanwhile(monkeypatch, two_cards):
    from contextlib import contextmanager

    monkeypatch.setattr(plan, "DEVICE", faulty("right"))
    held = []

    @contextmanager
    def turn(gpu):
        held.append(gpu.index)
        yield

    Session(quick=True, only=(1,), turn=turn).run()
    assert held == [1]


def test_the_same_card_earlier(monkeypatch, two_cards, tmp_path):
    monkeypatch.setattr(plan, "DEVICE", ())
    then = report_with(4000.0)
    history.save(then, tmp_path)
    for now, status in ((3950.0, PASS), (3700.0, WARN), (3500.0, FAIL), (5000.0, PASS)):
        running = Session(only=(0,), earlier=lambda key: history.of_card(key, tmp_path))
        running.results.append(speed(now))
        found = running.run().find("then dram copy", "GPU-a")
        assert found.status == status, now
    assert "driver" in found.step or found.status == PASS


def test_a_quick_check_since_does_not_hide_the_figures_of_a_full_one(monkeypatch, two_cards, tmp_path):
    monkeypatch.setattr(plan, "DEVICE", ())
    matmul = Result("matmul", "Matmul", "speed", PASS, value=800.0, unit="TFLOP/s", gpu="GPU-a")
    full, quick = report_with(4000.0), replace(report_with(3900.0), made="2026-01-09T03:04:05+00:00", quick=True)
    for report in (replace(full, results=(*full.results, matmul)), quick):
        history.save(report, tmp_path)
    running = Session(only=(0,), earlier=lambda key: history.of_card(key, tmp_path))
    running.results += [speed(3900.0), replace(matmul, value=700.0)]
    found = running.run()
    assert found.find("then matmul", "GPU-a").status == FAIL
    assert found.find("then dram copy", "GPU-a").value == 0.0


def speed(value: float, gpu: str = "GPU-a") -> Result:
    return Result("dram copy", "DRAM copy", "speed", PASS, value=value, unit="GB/s", gpu=gpu)


def report_with(value: float) -> values.Report:
    return values.Report("2026-01-02T03:04:05+00:00", (values.Card("GPU-a", 0, "NVIDIA H200"),), (speed(value),))


def test_cards_against_each_other(monkeypatch, two_cards):
    monkeypatch.setattr(plan, "DEVICE", ())
    running = Session()
    running.results += [speed(4000.0), speed(3500.0, "GPU-b")]
    report = running.run()
    assert report.find("spread dram copy", "GPU-a").status == PASS
    slow = report.find("spread dram copy", "GPU-b")
    assert slow.status == FAIL
    assert "12.5% behind" in slow.said


def test_cards_in_another_order_than_on_the_bus():
    from kernels.check import compared

    def cards(*places: str) -> list[values.Card]:
        return [values.Card(place, number, "H", (values.Fact("PCI", place, "NVML"),)) for number, place in enumerate(places)]

    assert [one.status for one in compared.order(cards("0000:17:00.0", "0000:65:00.0"))] == [PASS]
    (found,) = compared.order(cards("0000:65:00.0", "0000:17:00.0"))
    assert found.status == WARN
    assert "1 is 0, 0 is 1" in found.said
    assert list(compared.order([*cards("a"), values.Card("b", 1, "H")])) == []


def test_the_shipped_run_of_the_model_warns_at_most(monkeypatch, tmp_path):
    from kernels.check import compared

    monkeypatch.setattr(compared, "recorded", lambda: (report_with(5000.0),))
    card = values.Card("GPU-z", 0, "NVIDIA H200")
    (found,) = compared.earlier(card, [speed(4000.0, "GPU-z")], ())
    assert (found.check, found.status) == ("model dram copy", WARN)
    (other,) = compared.earlier(replace(card, name="Another"), [speed(4000.0, "GPU-z")], ())
    assert other.status == NOT_MEASURED


def test_control_c_keeps_what_came(tmp_path):
    import signal

    command = [sys.executable, "-m", "kernels", "check", "--no-save"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if "C compiler" in line:
                process.send_signal(signal.SIGINT)
                break
        output, errors = process.communicate(timeout=PATIENCE)
    assert output.startswith("Stopped after")
    assert "C compiler" in output
    assert "Traceback" not in errors
    assert process.returncode != 0


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def test_what_shows_a_card_to_a_process(monkeypatch):
    amd = Gpu(1, "AMD gfx942", None, find_target("gfx942"), 304, None, None)
    assert session.visible((H200, replace(H200, uuid="GPU-b"))) == {"CUDA_VISIBLE_DEVICES": "GPU-a,GPU-b"}
    assert session.visible((replace(H200, uuid=None, index=3),)) == {"CUDA_VISIBLE_DEVICES": "3"}
    assert session.visible((amd,)) == {"HIP_VISIBLE_DEVICES": "1"}
    assert session.visible((replace(H200, name="NVIDIA A100-SXM4-40GB MIG 1g.5gb"),)) == {}
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "MIG-1234")
    assert session.visible((H200,)) == {}


def test_planted_faults_of_the_machine_are_caught_by_the_command(tmp_path):
    (tmp_path / "file").write_text("")
    file = tmp_path / "report.json"
    faults = {"PATH": str(tmp_path), "TRITON_CACHE_DIR": str(tmp_path / "file" / "cache"), "TRITON_DEBUG": "1"}
    environment = {name: value for name, value in os.environ.items() if name != "CC"} | faults
    command = [sys.executable, "-m", "kernels", "check", "--quick", "--no-save", "--json", str(file)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    report = values.from_json(file.read_text(), "report.json")
    found = {one.check: one for one in report.results}
    assert (found["c compiler"].status, found["headers"].status) == (FAIL, NOT_MEASURED)
    assert found["cache"].status == FAIL
    assert found["variables"].status == WARN
    assert done.returncode in (1, 4)
    assert "Traceback" not in done.stdout + done.stderr
    for name in ("c compiler", "cache"):
        assert found[name].step in done.stdout


def test_a_card_without_torch_fails_the_stage_of_torch_alone(monkeypatch, two_cards, tmp_path):
    """As seen on an H200: one missing package was six failures."""
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')\n")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{ROOT}")
    monkeypatch.setattr(plan, "JOINT", SHIPPED_JOINT)
    report = Session().run()
    cards = [one for one in report.results if one.gpu or one.stage == "several GPUs"]
    assert {one.status for one in cards if one.stage != "several GPUs" and one.check != "order"} == {NOT_MEASURED}
    assert report.find("torch loads", "GPU-a").said == "torch is not installed"
    assert report.find("last gpu").said == "needs “Launch and verify”"


def test_the_first_stage_needs_neither_torch_nor_triton():
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('torch', 'triton', 'numpy', 'loky')))\n"
        "from kernels.commands import check\n"
        "from kernels.check import driver, toolchain\n"
        "results = [*driver.checks(driver.machine()), *toolchain.checks([90])]\n"
        "print(len(results), all(one.status for one in results))"
    )
    done = run("-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("True")


def test_the_command_starts_and_says_what_is_wrong_without_torch(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nfor name in ('torch', 'triton', 'numpy', 'loky', 'streamlit', 'plotly'): sys.modules[name] = None\n"
    )
    done = run("-m", "kernels", "check", "--quick", PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    other = run("-m", "kernels", "list", PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    assert other.stderr == "python -m kernels list: the package numpy is not installed: pip install -r requirements.txt\n"
    assert other.returncode == NOT_INSTALLED
    assert "Traceback" not in done.stderr + done.stdout
    assert done.returncode in (1, 4)
    assert done.stdout.startswith(("No GPU could be measured", "Not OK"))
