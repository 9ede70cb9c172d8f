"""Figures and sentences follow the what-if that is shown; what no closed form tells is not told."""

from __future__ import annotations

import pytest

from kernels.launch import Launch
from kernels.measure.timing import needed
from kernels.operator import Numbers, Problem, Tiling, grid_refusal
from kernels.runtime.arithmetic import arithmetic
from kernels.runtime.device import TARGETS
from kernels.runtime.draw import draw
from kernels.runtime.limits import refusal
from kernels.runtime.provenance import origin
from kernels.runtime.request import Request
from kernels.runtime.settings import corrected, digits
from kernels.runtime.what_ifs import lanes_of_launch, moved_bytes, story
from viz import theme, tiles


def vector(count: int, block: int, what_if: str) -> Request:
    return Request("vector_add", Problem(Numbers(n_elements=count)), Tiling(Numbers(BLOCK_SIZE=block)), what_if=what_if)


def product(what_if: str, group: int = 0) -> Request:
    blocks = Numbers(BLOCK_M=16, BLOCK_N=32, BLOCK_K=8, GROUP_M=group)
    return Request("matmul_relu", Problem(Numbers(m=40, n=48, k=8)), Tiling(blocks), what_if=what_if)


def test_a_grid_rounded_down_has_the_figures_of_its_programs():
    floor = vector(100, 64, "floor_grid")
    assert floor.launch().grid == (1, 1, 1)
    assert lanes_of_launch(floor) == (64, 64)
    assert moved_bytes(floor) == 3 * 64 * 4
    assert story(floor) == "n_elements 100, BLOCK_SIZE 64, the grid rounded down: **1** program instead of **2**."
    assert lanes_of_launch(vector(100, 64, "")) == (128, 100)


def test_a_grid_rounded_down_to_nothing_says_what_is_never_written():
    floor = vector(10, 1024, "floor_grid")
    for picture in (draw(floor, 0), arithmetic(floor, 0)):
        assert picture.grid == (0, 1, 1)
        assert picture.faults == ("1 program is missing: 10 elements, from 0 on, are never written.",)
    assert (lanes_of_launch(floor), moved_bytes(floor)) == ((0, 0), 0)


def test_tiles_rounded_down():
    floor = product("floor_grid")
    assert lanes_of_launch(floor) == (2 * 16 * 32, 2 * 16 * 32)
    assert moved_bytes(floor) == 4 * (32 * 8 + 8 * 32 + 32 * 32)
    assert lanes_of_launch(product("floor_grid", group=2)) is None
    inside = origin(floor, "c_ptr", 17 * 48)
    assert (inside.store.program, inside.store.element) == (1, 17 * 48)
    assert origin(floor, "c_ptr", 39 * 48).store is None


def test_without_masks_no_lane_is_masked():
    request = vector(7, 4, "no_mask")
    assert lanes_of_launch(request) == (8, 8)
    assert moved_bytes(request) is None
    assert sum(draw(request, 0).counted) == 3 * 8 * 4
    assert "also the **1** of **8** without an element" in story(request)


def test_a_what_if_that_changes_nothing_has_the_plain_figures():
    for what_if in ("floor_grid", "int32", "other", "stride"):
        assert lanes_of_launch(vector(128, 64, what_if)) == lanes_of_launch(vector(128, 64, ""))
        assert story(vector(128, 64, what_if)) == story(vector(128, 64, ""))


@pytest.mark.parametrize(
    ("grid", "refused"),
    [((2**31 - 1, 1, 1), False), ((32768, 65535, 1), False), ((32769, 65535, 1), True), ((131072, 32768, 1), True)],
)
def test_a_grid_is_counted_in_32_bits(grid, refused):
    launch = Launch(None, grid, {}, {})
    assert bool(grid_refusal(grid)) == refused
    for target in TARGETS.values():
        assert bool(refusal(launch, target)) == refused


@pytest.mark.parametrize(("text", "number"), [("7", 7), ("²", None), ("①", None), ("٣", None), ("", None), ("9" * 5000, None)])
def test_digits_are_those_that_int_takes(text, number):
    assert digits(text) == number


@pytest.mark.parametrize("name", ["BLOCK_M", "BLOCK_N", "BLOCK_K"])
@pytest.mark.parametrize("text", ["0", "-1"])
def test_a_block_starts_at_one(name, text):
    found, said = corrected({"operator": "matmul_relu", name: text})
    assert found.request.tiling[name] == 1
    assert said == (f"{name}: {text} is not a whole number from 1 to 2,147,483,647; 1 is used.",)


def test_a_group_is_no_taller_than_the_tiles():
    texts = {"operator": "matmul_relu", "m": "40", "n": "48", "k": "40", "BLOCK_M": "16", "GROUP_M": "1099511627776"}
    launch = corrected(texts)[0].request.launch()
    assert launch.constants["GROUP_M"] == 3


def test_a_stride_is_a_vectors():
    found, said = corrected({"operator": "softmax", "what_if": "stride"})
    assert found.request.what_if == ""
    assert "'stride' is not one of no_mask" in said[0]


def test_tiles_by_formula_are_drawn():
    request = product("")
    picture = arithmetic(request, 0)
    loads = [one for one in picture.accesses_of((0, 0, 0)) if one.kind == "load"]
    pairs = [(loads[0], loads[1])] * 2
    axes = request.description.axes(request.problem, request.tiling)
    assert tiles.tiles_figure((40, 48, 8), axes, (0, 0), None, pairs, theme.style())["frames"]


def test_a_clearing_of_no_time_divides_by_nothing():
    assert needed(1e-5, 0.0, 0.0) == (1, 1e-5)
