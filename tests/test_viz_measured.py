"""The figures of measurements: what Plotly takes, in every style, and what they say by hand-made values."""

from __future__ import annotations

import plotly.graph_objects as go
import pytest

from kernels.operator import Step
from viz.compare import Side, compare_figure
from viz.humps import Hump, Line, humps_figure
from viz.roofline import Dot, Roof, roofline_figure
from viz.sweep import Curve, sweep_figure
from viz.theme import LIGHT, READ, WAYS, WRITTEN
from viz.traffic import Moved, traffic_figure
from viz.ways import Way, binding_figure, timeline_figure, ways_figure
from viz.words import seconds_texts

from .test_viz import EVERY_STYLE, contrast

STEPS = (Step("x.pow(2)", 400, 400), Step("+ eps", 1, 1), Step("rsqrt", 1, 1), Step("* weight", 400, 400))
FUSED = (Step("kernel", 400, 400),)
OURS, THEIRS = Way("triton", "Triton", 3e-4, 2.9e-4, 3.1e-4, 9), Way("pytorch", "PyTorch", 9e-4, 8e-4, 1e-3, 9)
BROKEN = Way("library", "Library", None, problem="RuntimeError: out of memory")
HUMPS = (
    Line("3 kernels", (Hump("pow", 0.0, 4e-4, 400, 400), Hump("eps", 4.1e-4, 1e-6, 1, 1), Hump("mul", 4.2e-4, 4e-4, 400, 200))),
    Line("1 kernel", (Hump("kernel", 0.0, 3e-4, 400, 400),)),
)
SIDES = (Side("A", "one", [("Triton", 3e-4, 2e-4, 4e-4)]), Side("B", "two", [("Triton", 6e-4, 5e-4, 7e-4)]))
CURVES = (
    Curve("triton", "Triton", ((256, 1.0, "a"), (512, None, ""), (1024, 2.0, "c"))),
    Curve("pytorch", "PyTorch", ((256, 0.5, "x"),)),
)


def texts(figure: dict) -> str:
    return " ".join(note.get("text", "") for note in figure["layout"].get("annotations", []))


@EVERY_STYLE
def test_plotly_takes_every_figure(style):
    figures = [
        traffic_figure([Moved("6", STEPS, (800.0, 800.0)), Moved("1", FUSED)], style),
        traffic_figure([Moved("none", ())], style),
        humps_figure(HUMPS, 6e-4, style),
        humps_figure([Line("1 kernel", ())], None, style),
        ways_figure([THEIRS, BROKEN, OURS], 2.5e-4, "the floor", style),
        timeline_figure([(THEIRS, [("pow", 0.0, 4e-4)]), (OURS, [])], style),
        binding_figure([(OURS, {"memory": 0.9, "compute": None, "overhead": 0.01}, "memory")], style),
        roofline_figure(
            [Dot("triton", "Triton", 0.5, 1e12, "words")],
            [Roof("theory", 4.8e12, 6e13), Roof("copy", 4e12, None, "dash")],
            style,
        ),
        sweep_figure(CURVES, "columns", "TB/s", style, gaps=[(512, "out of memory")], roof=(4.2, "copy"), chosen=(256, "rule")),
        sweep_figure(CURVES, "columns", "seconds", style, log=True),
        compare_figure(SIDES, style),
    ]
    drawn = [go.Figure(figure) for figure in figures]  # raises where a property is none of plotly's
    assert all(figure.data or figure.layout.annotations or figure.layout.shapes for figure in drawn)


def test_bytes_are_drawn_end_to_end_and_next_to_nothing_as_lines():
    figure = traffic_figure([Moved("4 kernels", STEPS, (900.0, 800.0)), Moved("1 kernel", FUSED)], LIGHT)
    reads, writes = figure["data"][:2]
    assert reads["base"] == [0, 800, 802, 804]
    assert writes["base"] == [400, 801, 803, 1204]
    assert (reads["marker"]["color"], writes["marker"]["color"]) == (READ.colour, WRITTEN.colour)
    hairlines = [shape for shape in figure["layout"]["shapes"] if shape["type"] == "line"]
    assert len(hairlines) == 2
    assert hairlines[0]["x0"] < hairlines[1]["x0"]
    assert "804 B never move" in texts(figure)
    assert "counters 1.7 kB" in texts(figure)


def test_a_hump_goes_up_with_what_is_read_and_down_with_what_is_written():
    figure = humps_figure(HUMPS, 6e-4, LIGHT)
    legs = [shape for shape in figure["layout"]["shapes"] if shape["type"] == "path"]
    assert [leg["fillcolor"] for leg in legs] == [READ.colour, WRITTEN.colour] * 3
    lines = [shape for shape in figure["layout"]["shapes"] if shape["type"] == "line" and shape["x0"] == shape["x1"]]
    assert sum(line["y1"] - line["y0"] > 1.5 for line in lines) == 1
    assert "600 µs given back" in texts(figure)


def test_nothing_is_given_back_by_a_slower_kernel():
    assert "given back" not in texts(humps_figure(HUMPS, -1e-5, LIGHT))


def test_an_implementation_without_a_time_says_why():
    figure = ways_figure([THEIRS, BROKEN, OURS], 2.5e-4, "the floor", LIGHT)
    assert "out of memory" in texts(figure)
    assert figure["data"][0]["error_x"]["array"] == pytest.approx([1e-4, 0, 1e-5])
    (floor,) = figure["layout"]["shapes"]
    assert floor["x0"] == 2.5e-4


def test_a_gap_in_a_sweep_is_a_gap_and_says_its_reason():
    figure = sweep_figure(CURVES, "columns", "TB/s", LIGHT, gaps=[(512, "out of shared memory, or something longer still")])
    assert figure["data"][0]["y"] == [1.0, None, 2.0]
    assert not figure["data"][0]["connectgaps"]
    gap = next(note for note in figure["layout"]["annotations"] if note["text"].startswith("✕"))
    assert gap["hovertext"] == "out of shared memory, or something longer still"


def test_roofs_bend_where_bandwidth_meets_compute():
    figure = roofline_figure([Dot("triton", "Triton", 0.5, 1e12, "w")], [Roof("theory", 4e12, 4e13)], LIGHT)
    assert figure["data"][0]["x"][1] == 10.0
    assert figure["data"][0]["y"][1:] == [4e13, 4e13]


def test_a_roof_without_a_rate_ends_at_the_known_one_and_labels_do_not_lie_on_each_other():
    roofs = [Roof("theory", 4e12, 4e13), Roof("copy", 2e12, None, "dash"), Roof("twice", 8e12, 4e13, "dot")]
    figure = roofline_figure([Dot("triton", "Triton", 0.5, 1e12, "w")], roofs, LIGHT)
    assert figure["data"][1]["x"][-1] == 20.0
    assert max(figure["data"][1]["y"]) == 4e13
    labels = [note for note in figure["layout"]["annotations"] if note["text"].split(",")[0] in ("theory", "copy", "twice")]
    heights = [label["y"] for label in labels]
    assert len({round(height, 1) for height in heights}) == 3


def test_the_second_run_is_told_against_the_first():
    figure = compare_figure(SIDES, LIGHT)
    assert "+100.0%" in texts(figure)
    assert "<b>B</b>" in texts(figure)


def test_runs_of_different_things_have_no_ratios():
    sides = [Side("A", "one", [("Triton", 3e-4, 2e-4, 4e-4)]), Side("C", "two", [("Triton", 6e-4, 5e-4, 7e-4)])]
    assert "%" not in texts(compare_figure(sides, LIGHT, ratios=False))
    assert "<b>C</b>" in texts(compare_figure(sides, LIGHT, ratios=False))


@EVERY_STYLE
def test_implementations_can_be_read(style):
    assert all(contrast(fill.colour, fill.text) >= 4.5 for fill in WAYS.values())
    assert len({fill.colour for fill in WAYS.values()}) == len(WAYS)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [((259e-6, 1191e-6), ["259 µs", "1,191 µs"]), ((1e-6, 2.0), ["1 µs", "2 s"]), ((0.0179, 0.0218), ["17.9 ms", "21.8 ms"])],
)
def test_durations_to_compare_have_one_unit(seconds, said):
    assert seconds_texts(*seconds) == said
