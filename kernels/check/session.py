"""The whole check: this machine, then every card in a process of its own, then the cards together; results as they come."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from ..runtime.device import Gpu, attached
from . import compared, driver, facts, health, history, nvml, plan, toolchain
from .child import CancelledError, Child, ChildError
from .failures import advice
from .plan import Check
from .values import FAIL, NOT_MEASURED, Card, Report, Result

COMPILES = {"TRITON_INTERPRET": "0"}
INTERPRETS = {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}


def key_of(gpu: Gpu) -> str:
    """What names a card in a report."""
    return gpu.uuid or f"{gpu.name} {gpu.index}"


@dataclass
class Session:
    """One check of this machine. `run` returns the report; `results` grows meanwhile; `cancel` ends it, results are kept.

    `turn` holds a card while it is checked, where others want it too; `heard` gets every result as it comes.
    """

    quick: bool = False
    only: tuple[int, ...] = ()
    heard: Callable[[Result], None] = lambda result: None
    turn: Callable[[Gpu], AbstractContextManager[object]] = lambda gpu: contextlib.nullcontext()
    earlier: Callable[[str], Sequence[Report]] = lambda gpu: ()
    results: list[Result] = field(default_factory=list)
    cards: tuple[Card, ...] = ()

    def __post_init__(self) -> None:
        self.started = time.monotonic()
        self._lock, self._alone = threading.Lock(), threading.Lock()
        self._stopped = threading.Event()
        self._doing: dict[str, str] = {}

    @property
    def doing(self) -> str:
        """The check that runs now, of several cards the latest started; empty between checks."""
        return next(reversed([*self._doing.values()]), "")

    def cancel(self) -> None:
        """Ends what runs; what was measured stays."""
        self._stopped.set()

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return self._stopped.is_set()

    def run(self) -> Report:
        """Everything, in order."""
        machine = driver.machine()
        self._emit(driver.checks(machine))
        found = nvml.opened()
        gpus = tuple(gpu for gpu in attached() if not self.only or gpu.index in self.only)
        if machine.cuda_driver:
            self._emit([health.library(found)])
        self._emit(toolchain.checks([int(gpu.target.arch) for gpu in gpus if gpu.target.backend == "cuda"]))
        self._known(gpus, found[0])
        if gpus and not machine.torch_xpu:
            self._all_cards(gpus)
        else:
            self._without_gpu()
        return self.report(machine)

    def report(self, machine: driver.Machine | None = None) -> Report:
        """What there is by now."""
        with self._lock:
            results = tuple(self.results)
        seconds = time.monotonic() - self.started
        made = datetime.now(UTC).isoformat(timespec="seconds")
        return Report(made, self.cards, results, _versions(machine), seconds, self.quick, complete=not self.cancelled)

    def _known(self, gpus: Sequence[Gpu], module: object) -> None:
        """Who the cards are."""
        seen = history.models()
        version = driver_of(module)
        cards = []
        for gpu in gpus:
            card = nvml.card(module, gpu.uuid, gpu.index) if module and gpu.target.backend == "cuda" else None
            told = facts.facts(gpu, card.pci() if card else None, version)
            mig = bool(card and card.mig()) or "MIG" in gpu.name
            cards.append(Card(key_of(gpu), gpu.index, gpu.name, told, gpu.name in seen, mig))
        self.cards = tuple(cards)

    def _all_cards(self, gpus: Sequence[Gpu]) -> None:
        threads = [
            threading.Thread(target=self._one_card, args=(gpu, card)) for gpu, card in zip(gpus, self.cards, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if len(gpus) > 1:
            self._together(gpus)
            self._emit(compared.order(self.cards))
            self._emit(compared.cards(self.cards, self.results))
        for card in self.cards:
            self._emit(compared.earlier(card, self.results, self.earlier(card.key)), card.key)

    def _one_card(self, gpu: Gpu, card: Card) -> None:
        """In a thread of its own, where an error would be lost: it is a result of this card."""
        try:
            self._checked(gpu, card)
        except CancelledError:
            pass
        except Exception as error:
            said = f"the check itself broke: {type(error).__name__}: {str(error)[:200]}"
            self._emit([Result("card", "This card", "bring-up", FAIL, said=said, step="Run it again.")], card.key)

    def _checked(self, gpu: Gpu, card: Card) -> None:
        module, _ = nvml.opened()
        with self.turn(gpu):
            handle = nvml.card(module, gpu.uuid, gpu.index) if module and gpu.target.backend == "cuda" else None
            self._emit(health.checks(gpu, handle), card.key)  # before anything of ours runs there
            child = Child({**COMPILES, **visible((gpu,))}, lambda: self.cancelled)
            try:
                for check in plan.device_checks(self.quick):
                    self._ask(child, check, card.key, mig=card.mig)
            finally:
                child.close()

    def _together(self, gpus: Sequence[Gpu]) -> None:
        child = Child({**COMPILES, **visible(gpus)}, lambda: self.cancelled)
        with contextlib.ExitStack() as turns, contextlib.suppress(CancelledError):
            for gpu in gpus:
                turns.enter_context(self.turn(gpu))
            turns.callback(child.close)
            for check in plan.joint_checks(self.quick):
                self._ask(child, check, "")

    def _without_gpu(self) -> None:
        jobs = [(COMPILES, plan.WITHOUT_GPU), (INTERPRETS, () if self.quick else plan.INTERPRETED)]
        for environment, checks in jobs:
            child = Child(environment, lambda: self.cancelled)
            with contextlib.suppress(CancelledError):
                for check in checks:
                    self._ask(child, check, "")
            child.close()

    def _ask(self, child: Child, check: Check, gpu: str, *, mig: bool = False) -> None:
        """One check, whose failure is a result too."""
        if self.cancelled:
            raise CancelledError
        missing = [name for name in check.needs if not self._right(name, gpu)]
        if missing:
            said = f"needs {' and '.join(self._title(name, gpu) for name in missing)}"
            self._emit([Result(check.name, check.title, check.stage, NOT_MEASURED, said=said)], gpu)
            return
        with self._alone if check.alone else contextlib.nullcontext():
            self._doing[gpu] = check.title
            try:
                self._emit(child.ask(check.function, check.seconds, quick=self.quick, mig=mig), gpu)
            except ChildError as error:
                step = (
                    advice(error.text) or "Run it again; if it comes back, paste the message into `python -m kernels explain`."
                )
                self._emit([Result(check.name, check.title, check.stage, FAIL, said=str(error), step=step)], gpu)
            except ValueError as error:  # a figure that is none, NaN for one
                said = f"its result cannot be read: {error}"
                self._emit([Result(check.name, check.title, check.stage, FAIL, said=said, step="Run it again.")], gpu)
                child.close()
            finally:
                self._doing.pop(gpu, None)

    def _right(self, name: str, gpu: str) -> bool:
        """Whether that check of that card, or of any where none is named, has a result that others can build on."""
        return any(one.status not in (FAIL, NOT_MEASURED) for one in self._of(name, gpu)[: 1 if gpu else None])

    def _title(self, name: str, gpu: str) -> str:
        return next((f"“{one.title}”" for one in self._of(name, gpu)), f"“{name}”")

    def _of(self, name: str, gpu: str) -> list[Result]:
        return [one for one in self.results if one.check == name and (not gpu or one.gpu == gpu)]

    def _emit(self, results: Iterable[Result], gpu: str | None = None) -> None:
        """Keeps results as they come, with the time that each took."""
        last = time.monotonic()
        for result in results:
            seconds = result.seconds or time.monotonic() - last
            kept = replace(result, seconds=seconds, gpu=result.gpu if gpu is None else gpu)
            with self._lock:
                self.results.append(kept)
            self.heard(kept)
            last = time.monotonic()


def visible(gpus: Sequence[Gpu]) -> dict[str, str]:
    """What shows exactly these cards to a process. Slices of MIG are shown as they were given: they have names of their own."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    if gpus[0].target.backend != "cuda":
        return {"HIP_VISIBLE_DEVICES": ",".join(str(gpu.index) for gpu in gpus)}
    if given.startswith("MIG") or any("MIG" in gpu.name for gpu in gpus):
        return {}
    return {"CUDA_VISIBLE_DEVICES": ",".join(gpu.uuid or str(gpu.index) for gpu in gpus)}


def driver_of(module: object) -> str | None:
    """The version of NVIDIA's driver."""
    with contextlib.suppress(Exception):
        return str(module.nvmlSystemGetDriverVersion()) if module else None
    return None


def _versions(machine: driver.Machine | None) -> dict[str, str]:
    from platform import python_version

    found = {"python": python_version()}
    if machine is None:
        return found
    more = {"torch": machine.torch, "triton": machine.triton, "build": machine.build}
    driver_cuda = ".".join(map(str, machine.cuda_driver)) if machine.cuda_driver else None
    more |= {"driver CUDA": driver_cuda, "driver": driver_of(nvml.opened()[0])}
    return found | {name: value for name, value in more.items() if value}
