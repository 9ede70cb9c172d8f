"""Drawn inputs: pages, the command line and the readers of settings answer each with a picture or with words.

FUZZ_SEED repeats a run; a failure prints the seed.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import resource

import pytest

from kernels import operators
from kernels.__main__ import COMMANDS
from kernels.__main__ import main as command_line
from kernels.runtime.arithmetic import arithmetic
from kernels.runtime.limits import lanes_held, traceable
from kernels.runtime.settings import corrected, link
from kernels.runtime.what_ifs import lanes_of_launch, moved_bytes, story
from pages._compiler import state as compiler
from pages._fusion import state as fusion
from pages._hardware import state as hardware

from . import fuzz

pytestmark = pytest.mark.slow

SEED = int(os.environ.get("FUZZ_SEED", random.SystemRandom().randrange(2**32)))
READ, COMMAND_LINES = 250, 60
DRAWN_LANES = 2**14  # a block of a million lanes takes a second to draw, and draws no other way
MEMORY = 700 << 20  # what the test's process may grow by; a page run takes less than a megabyte


def drawing(part: str) -> random.Random:
    """Draws of a part of its own, which do not depend on which tests run."""
    return random.Random(f"{SEED} {part}")


@pytest.mark.parametrize("page", fuzz.PAGES)
def test_every_page_answers_whatever_comes(page):
    draw, runs, known, done = drawing(page), 0, set(), set()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    while runs < fuzz.PAGES[page] or known - done:
        operator = draw.choice(list(operators().values()))
        texts = {} if runs == 0 else fuzz.address(draw, page, operator, enormous=False)
        app, story_of = fuzz.opened(page, texts), [f"FUZZ_SEED={SEED} {page} {texts}"]
        runs += 1
        assert not fuzz.wrong(app), (fuzz.wrong(app), story_of)
        for _ in range(3):
            possible = dict(fuzz.moves(app, page, draw))
            known |= {fuzz.driven(name) for name in possible if name.startswith(fuzz.ALL_DRIVEN)} if runs < 40 else set()
            fresh = [name for name in possible if fuzz.driven(name) in known - done]
            if not possible:
                break
            name = draw.choice(fresh or list(possible))
            possible[name]()
            story_of.append(name)
            done.add(fuzz.driven(name))
            app.run()
            runs += 1
            assert not fuzz.wrong(app), (fuzz.wrong(app), story_of)
        assert runs < 4 * fuzz.PAGES[page], (f"FUZZ_SEED={SEED}", known - done)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10) - before
    assert grown < MEMORY, f"FUZZ_SEED={SEED} {page}: {grown >> 20} MB more"


def test_at_least_200_page_runs():
    assert sum(fuzz.PAGES.values()) >= 200
    assert sum(fuzz.PAGES.values()) + READ + COMMAND_LINES >= 500


def test_every_text_is_read_into_a_launch_that_has_a_picture_or_nothing_to_draw():
    draw = drawing("readers")
    for _ in range(READ):
        operator = draw.choice(list(operators().values()))
        texts = fuzz.address(draw, "launch", operator)
        told = f"FUZZ_SEED={SEED} {texts}"
        found, said = corrected(texts)
        assert all(len(sentence) < 400 for sentence in said), told
        assert corrected(link(found)) == (found, ()), told
        request, launch = found.request, found.request.launch()
        if lanes_held(launch) <= DRAWN_LANES or not traceable(launch):
            assert bool(arithmetic(request, found.program, found.lane).shown) == traceable(launch), told
        lanes = lanes_of_launch(request)
        assert lanes is None or 0 <= lanes[1] <= lanes[0], told
        moved = moved_bytes(request)
        assert moved is None or moved >= 0, told
        assert story(request), told
        for page, module in (("compiler", compiler), ("fusion", fusion), ("hardware", hardware)):
            own = fuzz.address(draw, page, operator)
            state, _ = module.read(own)
            assert module.read(module.write(state)) == (state, ()), f"{told} {page} {own}"


def test_every_command_line_ends_with_an_answer_or_one_line():
    draw = drawing("commands")
    for _ in range(COMMAND_LINES):
        arguments = _arguments(draw)
        code, errors = _run(arguments)
        told = f"FUZZ_SEED={SEED} {arguments} {code} {errors[-500:]}"
        assert code in (0, 1, 2, 4, 5, 10), told
        assert "Traceback" not in errors, told
        if code == 2 and arguments and arguments[0] in COMMANDS:
            assert errors.count("\n") == 1, told


def _arguments(draw: random.Random) -> list[str]:
    """An illegal command line, or one that asks little: nothing is compiled, checked or measured here."""
    operator = draw.choice(list(operators().values()))
    if draw.random() < 0.15:
        return draw.choice([[], ["--help"], ["list"], [draw.choice(fuzz.STRANGE)], ["list", draw.choice(fuzz.STRANGE[4:])]])
    size = draw.choice((*operator.sizes, *operator.blocks))
    flag = f"--{size.name.lower().replace('_', '-')}"
    hostile = draw.choice([text for text in fuzz.STRANGE if not text.startswith("-")])
    bad = draw.choice(
        [[flag, hostile], [flag, "9" * 5000], ["--dtype", hostile], ["--program", hostile], ["--seed", "9" * 5000]]
    )
    if bad[0] == flag and bad[1].strip().isdecimal() and len(bad[1]) < 5:  # a digit of another alphabet is a number
        bad = [flag, "x"]
    return [draw.choice(("trace", "compile")), operator.name, *bad, "--target", "none"]


def _run(arguments: list[str]) -> tuple[int, str]:
    output, errors = io.StringIO(), io.StringIO()
    interpreted = os.environ.get("TRITON_INTERPRET")
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            code = command_line(arguments)
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        os.environ["TRITON_INTERPRET"] = interpreted or "1"
    return code, errors.getvalue()
