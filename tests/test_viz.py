"""Figures: what they say is what they were given; colours keep their contrast; texts are escaped; payloads are bounded."""

from __future__ import annotations

import json

import numpy as np
import plotly.graph_objects as go
import pytest

from kernels import Numbers, Problem, Tiling, operators
from kernels.operator import Axis
from kernels.runtime.draw import draw
from kernels.runtime.records import Limits, linear
from kernels.runtime.request import Request
from kernels.runtime.source import Source, source_of
from viz import cost, fold, lanes, memory, programs, theme, tiles
from viz.source import source_html
from viz.terms import CODE, TERMS, terms_html
from viz.words import bytes_text, cell_text, grid_text, large, sample_text, seconds_text, value_text

from .kinds import kind_of

STYLES = [theme.style(dark, scale) for dark in (False, True) for scale in (1.0, 1.5)]
EVERY_STYLE = pytest.mark.parametrize("style", STYLES, ids=["light", "light, large", "dark", "dark, large"])


def vector(n: int, block: int, **more) -> Request:
    return Request("vector_add", Problem(Numbers(n_elements=n)), Tiling(Numbers(BLOCK_SIZE=block)), **more)


def rows_of(picture) -> list:
    return [(linear(one, picture.grid), picture.accesses_of(one)[0]) for one in picture.shown]


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@EVERY_STYLE
def test_text_keeps_its_contrast_on_every_fill(style):
    fills = [*theme.PROGRAMS, *style.pale, theme.READ, theme.WRITTEN, theme.OUT_OF_BOUNDS]
    assert all(contrast(fill.colour, fill.text) >= 4.5 for fill in fills)
    assert contrast(style.text, style.background) >= 7
    assert contrast(style.muted, style.background) >= 4.5
    assert contrast(style.muted, style.masked) >= 4.5


def test_no_colour_has_two_roles():
    roles = [fill.colour for fill in (*theme.PROGRAMS, theme.READ, theme.WRITTEN, theme.OUT_OF_BOUNDS)]
    assert len(set(roles)) == len(roles)


@EVERY_STYLE
def test_the_tutorials_picture_shows_three_programs_of_three_lanes(style):
    picture = draw(vector(7, 3), 2)
    figure = go.Figure(lanes.lanes_figure(rows_of(picture), 2, 3, style, 4))
    assert [list(trace.customdata) for trace in figure.data] == [[[p, lane] for lane in range(3)] for p in range(3)]
    offsets = [text.split("</b>")[0].removeprefix("<b>") for trace in figure.data for text in trace.text]
    assert offsets == list("012345678")
    shapes = [shape for trace in figure.data for shape in trace.marker.pattern.shape]
    assert shapes == [""] * 7 + ["/", "/"]
    assert "program 2, lane 1</b>: masked" in figure.data[2].hovertext[1]
    assert "bytes 24 to 27" in figure.data[2].hovertext[0]


def test_out_of_bounds_lanes_are_vermilion_and_strayed_ones_crossed():
    picture = draw(Request("softmax", Problem(Numbers(rows=2, columns=5)), Tiling(Numbers(BLOCK_SIZE=8)), what_if="no_mask"), 1)
    figure = go.Figure(lanes.lanes_figure(rows_of(picture), 1, 2, theme.style(), 4))
    assert list(figure.data[0].marker.pattern.shape)[5:] == ["x"] * 3
    assert list(figure.data[1].marker.color)[5:] == [theme.OUT_OF_BOUNDS.colour] * 3
    assert "OUT OF BOUNDS" in figure.data[1].hovertext[7]


def test_large_blocks_are_grouped_and_say_how_many_are_live():
    picture = draw(vector(98432, 1024), 96)
    figure = go.Figure(lanes.lanes_figure(rows_of(picture), 96, 97, theme.style(), 4))
    assert max(len(trace.x) for trace in figure.data) <= 64
    notes = [annotation.text for annotation in figure.layout.annotations]
    assert "94 more programs" in notes
    assert any("128 live" in note and "98,304 to 98,431" in note for note in notes)


def test_memory_shows_values_owners_and_what_lies_past_the_end():
    picture = draw(vector(7, 3, what_if="no_mask"), 2)
    figure = go.Figure(
        memory.strips_figure(
            picture.memory, 2, list(picture.accesses_of(picture.chosen)), [("output_ptr", 6)], theme.style(), 4
        )
    )
    assert list(figure.data[2].customdata)[6] == ["output_ptr", 6]
    assert "written by program 2, lane 0" in figure.data[2].hovertext[6]
    past = [trace for trace in figure.data[3:] if list(trace.text) == ["<b>!</b>"]]
    assert len(past) == 6
    assert len(figure.layout.shapes) == 1


def test_matrices_are_coloured_by_the_program_of_their_row():
    picture = draw(Request("rms_norm", Problem(Numbers(rows=6, columns=5)), Tiling(Numbers(BLOCK_SIZE=8))), 2)
    figure = go.Figure(memory.blocks_figure(picture.memory, 2, [], theme.style(), 4))
    x = figure.data[0]
    assert [x.marker.color[5 * row] for row in range(6)] == [
        theme.program_fill(row, theme.style(), row == 2).colour for row in range(6)
    ]


@pytest.mark.parametrize("count", [1, 3, 128, 129, 2**30])
def test_the_strip_holds_every_program_and_carries_its_number(count):
    figure = go.Figure(programs.strip_figure(Axis(count, 1024, 1024, 5), count - 1, theme.style()))
    used = figure.data[1]
    assert len(used.x) <= 128
    assert next(iter(used.customdata)) == [0]
    width = -(-count // 128)
    last = (count - 1) // width * width
    assert list(used.customdata)[-1] == [last]
    size = count - last
    assert used.y[-1] == pytest.approx(((size - 1) * 1024 + 5) / (size * 1024))


def test_tiles_carry_their_place_and_the_walk_has_a_frame_a_turn():
    operator = operators()["matmul_relu"]
    problem, tiling = Problem(Numbers(m=40, n=48, k=40)), Tiling(Numbers(BLOCK_M=16, BLOCK_N=16, BLOCK_K=16, GROUP_M=0))
    picture = draw(Request("matmul_relu", problem, tiling), 4)
    own = [one for one in picture.accesses_of(picture.chosen) if one.kind == "load"]
    turns = list(zip(own[0::2], own[1::2], strict=True))
    numbers = np.arange(9).reshape(3, 3).T
    figure = go.Figure(tiles.tiles_figure((40, 48, 40), operator.axes(problem, tiling), (1, 1), numbers, turns, theme.style()))
    assert len(figure.frames) == 3
    targets = figure.data[-1]
    assert [list(one)[:3] for one in targets.customdata][5] == [1, 2, 7]
    assert "<b>7</b>" in list(targets.text)
    last_a = figure.frames[2].data[0]
    assert max(last_a.x) - min(last_a.x) == 8  # K = 40 leaves 8 for the third turn
    assert max(last_a.y) - min(last_a.y) == 16


def test_a_fold_shows_the_kernels_own_numbers():
    picture = draw(Request("rms_norm", Problem(Numbers(rows=2, columns=5)), Tiling(Numbers(BLOCK_SIZE=8))), 1)
    found = {name: sample for line in picture.values.values() for name, sample in line.items()}
    figure = go.Figure(
        fold.fold_figure(
            ("squares", found["squares"]),
            [("mean", found["mean"]), ("r", found["r"])],
            ("output", found["output"]),
            5,
            theme.style(),
        )
    )
    mean = float(found["squares"].values.sum() / 5)
    assert float(found["mean"].values[0]) == pytest.approx(mean, rel=1e-6)
    assert any(f"{mean:.4g}" in annotation.text for annotation in figure.layout.annotations)


def test_costs_count_programs_against_multiprocessors():
    figure = go.Figure(cost.cost_figure([("512", 193, 0.01), ("1,024", 97, 0.009)], "1,024", 132, theme.style()))
    assert "35 of 132 multiprocessors have nothing to do" in figure.data[0].hovertext[1]
    assert figure.layout.xaxis.ticktext[0] == "<b>512</b><br>1.5 per SM"


@pytest.mark.slow
@pytest.mark.parametrize("operator", operators().values(), ids=list(operators()))
def test_figures_of_any_size_stay_small(operator):
    sizes = {
        "flat": {"n_elements": 2**40},
        "rows": {"rows": 2**20, "columns": 5000},
        "tiles": {"m": 2**15, "n": 2**15, "k": 512},
    }
    problem = Problem(Numbers(sizes[kind_of(operator)]))
    picture = draw(Request(operator.name, problem, operator.tiling(problem)), 3, limits=Limits(skipping=True))
    figures = [
        go.Figure(memory.map_figure(picture.memory, theme.style())),
        go.Figure(memory.strips_figure(picture.memory, 3, [], [], theme.style(), 4)),
    ]
    shown = [row for row in rows_of(picture) if row[1].shape == rows_of(picture)[0][1].shape]
    figures.append(
        go.Figure(lanes.lanes_figure(shown, 3, 10**6, theme.style(), 4))
        if len(shown[0][1].shape) == 1
        else go.Figure(lanes.tile_figure(shown[0][1], 3, theme.style(), 4))
    )
    assert sum(len(figure.to_json()) for figure in figures) < 260_000


def test_source_texts_are_escaped_and_numbered():
    source = Source(10, ("def f(x_ptr):", '    a = "<script>alert(1)</script>"', "    return tl.load(x_ptr, mask=mask)"))
    html = source_html(source, {}, here=11, steps={11: 4}, notes={12: "<b>3</b> written"})
    assert "<script>" not in html
    assert "<b>3</b>" not in html
    assert '<div class="row here" data-line="11" data-step="4">' in html
    assert html.count('data-line="') >= 3
    assert f'data-tip="{CODE["load"][:20]}' in html


@pytest.mark.parametrize("operator", operators().values(), ids=list(operators()))
def test_every_line_of_a_kernel_is_shown_with_its_values(operator):
    problem = Problem(Numbers({size.name: min(size.default, 20) for size in operator.sizes}))
    request = Request(operator.name, problem, operator.tiling(problem))
    picture = draw(request, 0)
    source = source_of(request.launch().kernel)
    html = source_html(source, picture.values)
    assert html.count('class="at"') == len(source.lines)
    assert html.count('class="value"') >= len(picture.values)
    assert all(source.first <= line < source.first + len(source.lines) for line in picture.values)


def test_every_term_has_a_sentence():
    wanted = ["program", "program id", "grid", "block", "offset", "mask", "lane", "pointer", "constexpr"]
    wanted += ["register", "spilled", "shared memory", "meta"]
    assert list(TERMS) == wanted
    assert all(sentence.endswith(".") for sentence in (*TERMS.values(), *CODE.values()))
    assert terms_html().count("data-tip") == len(wanted)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (bytes_text(84), "84 B"),
        (bytes_text(1_181_184), "1.18 MB"),
        (bytes_text(2**40), "1.1 TB"),
        (seconds_text(2.5e-6), "2.5 µs"),
        (seconds_text(0.27), "270 ms"),
        (seconds_text(600), "10 min"),
        (value_text(float("nan")), "NaN"),
        (value_text(float("-inf")), "−∞"),
        (value_text(-1.5), "−1.5"),
        (value_text(1.0, defined=False), "?"),
        (cell_text(-0.02, True), "0.0"),
        (cell_text(-1.25, True), "−1.2"),
        (large(3.2e9), "3.2 billion"),
        (grid_text((3, 1, 1)), "(3,)"),
        (grid_text((4, 5, 1)), "(4, 5)"),
        (grid_text((1, 1, 1)), "(1,)"),
    ],
)
def test_numbers_as_people_read_them(text, expected):
    assert text == expected


def test_variables_as_people_write_them():
    picture = draw(vector(98432, 1024), 96)
    texts = {name: sample_text(sample) for line in picture.values.values() for name, sample in line.items()}
    assert texts["pid"] == "96"
    assert texts["offsets"] == "[98304 98305 98306 98307 … 99326 99327]"
    assert texts["mask"] == "[1 1 1 1 … 0 0]"
    assert texts["x"].endswith("… ? ?]")


def test_a_figure_is_json_that_browsers_read():
    picture = draw(vector(7, 3), 2)
    figure = go.Figure(lanes.lanes_figure(rows_of(picture), 2, 3, theme.style(), 4))
    assert json.loads(figure.to_json())["layout"]["paper_bgcolor"] == "rgba(0,0,0,0)"
