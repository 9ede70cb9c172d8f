"""Real parameters of a formula, as `eps`: declared once by an operator, and fields, options, arguments and keys by that."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from dataclasses import replace
from math import isfinite, nextafter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import Numbers, Problem, find, operators
from kernels.commands.options import arguments_of, parser_for, request_from
from kernels.measure import runs, ways
from kernels.measure.point import Task
from kernels.numerics import first_infinite_square, lost_beside_one, overflowing_squares, rounded, vanishing
from kernels.operator import Parameter
from kernels.runtime.launch import launch_once
from kernels.runtime.settings import RejectedError, corrected, link, number_text, real
from kernels.runtime.trace import trace
from kernels.storage import codec
from pages._fusion.found import _same
from pages._fusion.state import read, write

from .test_compiler_page import page as compiler_page
from .test_fusion_page import fusion
from .test_hardware_pages import page as hardware_page
from .test_pages import ROOT, checked, field, launched, page, words

WITH = [name for name, operator in operators().items() if operator.parameters]
EPS = Parameter("eps", "", 1e-6, 0.0, 1.0)


def request_of(**texts: object):
    found, said = corrected({name: str(value) for name, value in texts.items()})
    assert not said, said
    return found.request


def test_the_norms_have_them_and_their_defaults_are_legal():
    assert WITH == ["rms_norm", "rms_norm_backward"]
    for name in WITH:
        for one in find(name).parameters:
            assert one.minimum <= one.default <= one.maximum
            assert (
                one.name
                in find(name)
                .plan(Problem(Numbers(rows=2, columns=2)), find(name).tiling(Problem(Numbers(columns=2))))
                .arguments
            )


@given(st.floats(0, 1))
def test_what_is_in_bounds_reads_back_as_itself(value):
    assert real(number_text(value), EPS) == value
    texts = link(corrected({"operator": "rms_norm", "eps": number_text(value)})[0])
    assert corrected(texts)[0].request.problem.parameters.get("eps", 1e-6) == value


@given(st.text(max_size=30) | st.floats().map(str))
@settings(max_examples=200)
def test_no_text_is_taken_for_a_number_that_is_not_legal(text):
    found, said = corrected({"operator": "rms_norm", "eps": text})
    value = found.request.problem.parameters.get("eps", 1e-6)
    assert 0 <= value <= 1
    assert len(said) <= 1
    assert all("is not a number from 0 to 1" in one for one in said)
    assert said or float(text.replace("_", "")) == value


@pytest.mark.parametrize(
    ("text", "nearest"),
    [("-1e-9", 0.0), (str(nextafter(1, 2)), 1.0), ("1e300", 1.0), ("nan", 1e-6), ("inf", 1e-6), ("-inf", 1e-6), ("", 1e-6)],
)
def test_what_is_not_legal_has_a_nearest(text, nearest):
    with pytest.raises(RejectedError) as raised:
        real(text, EPS)
    assert raised.value.nearest == nearest


def test_the_bounds_themselves_are_legal():
    assert (real("0", EPS), real("1", EPS), real("-0.0", EPS)) == (0.0, 1.0, 0.0)
    assert str(real("-0.0", EPS)) == "0.0"


def test_the_default_is_carried_nowhere_so_that_recorded_runs_match():
    assert request_of(operator="rms_norm", eps="0.000001") == request_of(operator="rms_norm")
    assert "eps" not in link(corrected({"operator": "rms_norm", "eps": "1e-6"})[0])
    points = [one for run in runs.recorded() for one in run.points if one.operator == "rms_norm"]
    assert points
    assert all(not one.parameters and not one.request.problem.parameters for one in points)


@pytest.mark.parametrize("name", WITH)
@pytest.mark.parametrize("eps", ["0", "0.001", "0.5", "1"])
def test_a_launch_uses_it_and_so_do_pytorch_and_float64(name, eps):
    request = request_of(operator=name, rows=5, columns=7, eps=eps)
    assert request.launch().arguments["eps"] == float(eps)
    result = launch_once(request, "cpu")
    assert result.within
    plain = launch_once(request_of(operator=name, rows=5, columns=7), "cpu")
    assert (result.printed == plain.printed) == (eps == "0"), "eps of 1e-6 cannot be told from 0 here"


@pytest.mark.parametrize("name", WITH)
def test_a_trace_uses_it(name):
    one, other = (trace(request_of(operator=name, eps=eps).launch(), [(0, 0, 0)]).accesses for eps in ("1", "0.001"))
    stores = [(a.values, b.values) for a, b in zip(one, other, strict=True) if a.kind == "store"]
    assert any((a != b).any() for a, b in stores)


@pytest.mark.parametrize("name", WITH)
def test_the_command_line_takes_it_and_hands_it_on(name):
    request = request_of(operator=name, eps="0.25")
    line = arguments_of(request)
    parser, operator = parser_for("trace", line, "")
    assert request_from(parser, operator, parser.parse_args(line)) == request
    done = subprocess.run(
        [sys.executable, "-m", "kernels", "trace", name, "--eps", "0.25", "--json"], cwd=ROOT, capture_output=True, text=True
    )
    assert json.loads(done.stdout)["parameters"] == {"eps": 0.25}


@pytest.mark.parametrize("name", [name for name in operators() if name not in WITH])
def test_others_have_no_such_option_or_setting(name):
    with pytest.raises(SystemExit):
        parser_for("trace", [name], "")[0].parse_args([name, "--eps", "1"])
    assert any("eps: there is no such setting here" in one for one in corrected({"operator": name, "eps": "1"})[1])


@pytest.mark.parametrize("eps", ["0.125", "1e-08", "0"])
def test_a_script_has_it_in_launch_and_reference(eps):
    from kernels.runtime.script import script

    for name in WITH:
        text = script(request_of(operator=name, eps=eps))
        ast.parse(text)
        assert f"+ {float(eps)!r})" in text
        assert f", {float(eps)!r}, BLOCK_SIZE" in text


def test_a_measurement_is_of_its_eps():
    request = request_of(operator="rms_norm", eps="0.25")
    point = Task(request).point()
    assert point.parameters == {"eps": 0.25}
    assert codec.decoded(type(point), codec.compact(point), "point") == point
    assert point.request.problem == request.problem
    asked, said = read({"operator": "rms_norm", "eps": "0.25", "rows": "6", "columns": "5"})
    assert not said
    assert read(write(asked)) == (asked, ())
    measured = replace(Task(asked.request).point())
    assert _same(measured, asked)
    assert not _same(replace(measured, parameters={}), asked)
    assert ways.request_of(request, "backward").launch().arguments["eps"] == 0.25


def test_every_implementation_gets_it_and_the_default_leaves_pytorchs_function_itself():
    import torch

    x, weight = torch.zeros(2, 4) + 0.5, torch.ones(4)
    found = ways.functions(request_of(operator="rms_norm", rows=2, columns=4, eps="0.75"))
    values = {way: function(x=x, weight=weight) for way, (_, function) in found.items()}
    assert len(values) == 4
    for value in values.values():
        torch.testing.assert_close(value, torch.full((2, 4), 0.5))
    plain = ways.functions(request_of(operator="rms_norm", rows=2, columns=4))
    assert plain["pytorch"][1] is find("rms_norm").pytorch


def run_with(**parameters: float):
    run = next(run for run in runs.recorded() if run.axis is None and run.points[0].operator == "rms_norm")
    return replace(run, points=(replace(run.points[0], parameters=parameters),))


def test_a_file_keeps_it(tmp_path):
    run = run_with(eps=0.5)
    assert runs.load(runs.save(run, tmp_path)) == run


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"eps": -1.0}, "eps is -1, and 0 to 1 is measured"),
        ({"eps": 1.5}, "eps is 1.5, and 0 to 1 is measured"),
        ({"eta": 0.5}, "'eta' is no parameter of rms_norm"),
    ],
)
def test_a_file_with_a_parameter_that_there_is_not_is_refused(tmp_path, parameters, said):
    path = runs.save(run_with(**parameters), tmp_path)
    with pytest.raises(codec.UnreadableError, match=said):
        runs.load(path)


@pytest.mark.parametrize("name", WITH)
def test_typing_it_changes_the_launch_the_address_and_the_result(name):
    app = page(operator=name)
    assert field(app, "text_input", "eps").value == "1e-06"
    checked(field(app, "text_input", "eps").set_value("0.1").run())
    assert app.session_state["launch.settings"].request.problem.parameters["eps"] == 0.1
    assert app.query_params["eps"] in ("0.1", ["0.1"])
    assert "within tolerance" in words(launched(app))
    checked(field(app, "text_input", "eps").set_value("-3").run())
    assert "eps: -3 is not a number from 0 to 1; 0 is used." in words(app)
    assert field(app, "text_input", "eps").value == "0"
    checked(field(app, "text_input", "eps").set_value("1e-6").run())
    assert not app.session_state["launch.settings"].request.problem.parameters
    assert field(app, "text_input", "eps").value == "1e-06"


def test_every_page_that_shows_a_request_has_the_field_and_keeps_it():
    for made, page_name in (
        (compiler_page(operator="rms_norm", eps="0.5"), "compiler"),
        (fusion(operator="rms_norm", eps="0.5"), "fusion"),
        (hardware_page(operator="rms_norm", eps="0.5"), "hardware"),
    ):
        fields = [one for one in made.text_input if one.key and one.key.startswith(f"{page_name}.eps.")]
        assert [one.value for one in fields] == ["0.5"], page_name
        assert made.query_params["eps"] in ("0.5", ["0.5"])
        assert "there is no such setting" not in words(made)
    assert not [one for one in page().text_input if one.key and ".eps." in one.key]


def test_what_was_recorded_is_not_shown_for_another_eps():
    recorded = fusion(operator="rms_norm")
    assert "recorded 2026" in words(recorded)
    assert "recorded 2026" not in words(fusion(operator="rms_norm", eps="0.5")).split("Bytes")[0]


# What a dtype does to numbers.


def test_the_first_square_that_overflows():
    import numpy as np

    for dtype, kind in (("float16", np.float16), ("float32", np.float32)):
        first = kind(first_infinite_square(dtype))
        with np.errstate(over="ignore"):
            assert np.isinf(first * first)
            below = np.nextafter(first, kind(0))
            assert isfinite(float(below * below))
    assert [one.text for one in overflowing_squares("float16")] == [
        "float16 ends at 65,504: unfused, the square of 256 is infinite and its row comes out as 0. "
        "The kernel squares in float32."
    ]
    assert overflowing_squares("bfloat16") == overflowing_squares("float32") == []


@pytest.mark.parametrize(
    ("value", "dtype", "said"),
    [
        (0.0, "float32", "eps = 0: a row of zeros gives NaN, 0 times the reciprocal root of 0."),
        (2.0**-25, "float16", "eps = 2.98023e-08 rounds to 0 in float16: unfused, a row of zeros gives NaN."),
        (2.0**-25 * 1.01, "float16", ""),
        (2.0**-150, "float32", "rounds to 0 in float32, in which the kernel adds it"),
        (2.0**-149, "float32", ""),
        (1e-8, "bfloat16", ""),
        (1e-6, "float16", ""),
    ],
)
def test_an_eps_that_vanishes_is_said(value, dtype, said):
    found = vanishing("eps", value, dtype)
    assert bool(found) == bool(said)
    assert all(said in one.text and one.entered for one in found)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_what_is_lost_beside_1_is_lost_and_the_next_larger_is_not(dtype):
    import torch

    (remark,) = lost_beside_one(dtype)
    half = float(remark.text.split("1 + ")[1].split(" is 1")[0])
    kind = getattr(torch, dtype)
    assert float(torch.tensor(1.0, dtype=kind) + torch.tensor(half, dtype=kind)) == 1
    assert float(torch.tensor(1.0, dtype=kind) + torch.tensor(half * 1.5, dtype=kind)) > 1
    assert rounded(1 + half * 1.5, dtype) > 1
    assert not lost_beside_one("float32")
