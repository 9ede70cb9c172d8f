"""python -m kernels, as a person runs it: in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .limits import PATIENCE

ROOT = Path(__file__).parents[1]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kernels", *arguments],
        cwd=ROOT,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def document(*arguments: str) -> dict:
    done = run("trace", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_trace_as_json():
    found = document("vector_add", "--n-elements", "7", "--block-size", "4", "--program", "1", "--target", "sm_90")
    assert found["operator"] == "vector_add"
    assert (found["grid"], found["programs"]) == ([2, 1, 1], 2)
    assert (found["launchable"], found["reason"], found["seed"]) == (True, None, 0)
    x, y, output = found["accesses"]
    assert (x["kind"], x["argument"], x["program"], output["kind"]) == ("load", "x_ptr", [1, 0, 0], "store")
    assert x["offsets"] == [4, 5, 6, 7]
    assert x["mask"] == [True, True, True, False]
    assert x["out_of_bounds"] == [False] * 4
    assert (x["shape"], x["dtype"]) == ([4], "float32")
    assert [access["values"][3] for access in (x, y, output)] == [None] * 3
    assert output["values"][:3] == pytest.approx(
        [a + b for a, b in zip(x["values"][:3], y["values"][:3], strict=True)], rel=1e-6
    )
    source = (ROOT / "kernels/vector_add.py").read_text().split("\n")
    assert "tl.load(x_ptr" in source[x["line"] - 1]


def test_the_tutorials_block_of_3_is_drawn_and_refused_in_tritons_words():
    found = document("vector_add", "--n-elements", "7", "--block-size", "3", "--program", "2")
    assert (found["grid"], found["launchable"]) == ([3, 1, 1], False)
    assert found["reason"] == "arange's range must be a power of 2"
    assert found["accesses"][0]["offsets"] == [6, 7, 8]


def test_programs_may_be_repeated_and_have_three_coordinates():
    sizes = ["--m", "20", "--n", "20", "--k", "5", "--block-m", "16", "--block-n", "16", "--block-k", "16"]
    found = document("matmul_relu", *sizes, "--program", "1,1,0", "--program", "0")
    assert [access["program"] for access in found["accesses"]] == [[1, 1, 0]] * 3 + [[0, 0, 0]] * 3
    assert found["accesses"][0]["shape"] == [16, 16]
    assert len(found["accesses"][0]["offsets"]) == 256


def test_special_values_are_words():
    found = document("softmax", "--rows", "1", "--columns", "3", "--block-size", "4")
    assert found["accesses"][0]["values"][3] == "-inf"


def test_blocks_that_cannot_be_drawn_are_still_answered():
    found = document("vector_add", "--n-elements", "7", "--block-size", "2097152")
    assert found["launchable"] is False
    assert "exceeds triton maximum tensor numel" in found["reason"]
    assert found["accesses"] == []
    assert len(found["grid"]) == 3


def test_limits_of_the_hardware_are_reasons_too():
    warps = document("vector_add", "--num-warps", "64", "--target", "sm_90", "--block-size", "1024")
    assert "2,048 threads" in warps["reason"]
    grid = document("matmul_relu", "--m", "16", "--n", "2000000", "--k", "16", "--block-n", "16", "--target", "sm_90")
    assert "65,535 programs along y" in grid["reason"]


def test_a_drawing_in_characters():
    done = run("trace", "vector_add", "--n-elements", "7", "--block-size", "4", "--program", "1")
    assert done.returncode == 0
    assert "7 elements in blocks of 4 make 2 programs" in done.stdout
    lines = done.stdout.split("\n")
    assert any(line.split() == ["offset", "4", "5", "6", "7"] for line in lines)
    assert any(line.split() == ["mask", "#", "#", "#", "."] for line in lines)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["trace"], "which operator?"),
        (["trace", "vecto_add"], "the nearest is vector_add"),
        (["trace", "vector_add", "--n-elements", "-1"], "from 0 to 1,099,511,627,776; the nearest is 0"),
        (["trace", "vector_add", "--n-elements", "abc"], "'abc' is not a whole number"),
        (["trace", "vector_add", "--program", "9"], "there is no program 9"),
        (["trace", "vector_add", "--program", "x"], "three like 1,0,0"),
        (["trace", "vector_add", "--target", "sm_1"], "There is no target 'sm_1'"),
        (["trace", "vector_add", "--unknown"], "unrecognized arguments"),
        (["trace", "softmax", "--columns", "2000000"], "from 0 to 1,048,576"),
        (["compile", "rms_norm", "--rows", "2.5"], "2.5 is not a whole number"),
        (["nonsense"], "usage"),
    ],
)
def test_bad_arguments_are_one_clear_line_and_exit_code_2(arguments, says):
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    if says != "usage":
        assert len(done.stderr.strip().split("\n")) == 1


def test_the_list_names_every_operator_and_its_sizes():
    done = run("list")
    assert done.returncode == 0
    for text in ("vector_add", "--n-elements", "rms_norm_backward", "--rows", "matmul_relu", "--group-m"):
        assert text in done.stdout
    assert done.stderr == ""


def test_the_compiler_answers_for_any_target():
    done = run("compile", "vector_add", "--block-size", "1024", "--target", "gfx942", "--json")
    assert json.loads(done.stdout)["launchable"] is True


def test_a_refused_launch_says_what_would_fit():
    done = run("compile", "vector_add", "--n-elements", "7", "--block-size", "3", "--target", "sm_90")
    assert "arange's range must be a power of 2" in done.stdout
    assert "would fit     BLOCK_SIZE = 4" in done.stdout


def test_what_an_old_gpu_lacks_is_a_warning():
    options = ["--columns", "64", "--rows", "4", "--dtype", "bfloat16", "--json", "--target"]
    old, new = (json.loads(run("compile", "rms_norm", *options, target).stdout) for target in ("sm_75", "sm_80"))
    assert "sm_75 has no bfloat16" in " ".join(old["warnings"])
    assert "Triton supports compute capability 8.0 and newer" in " ".join(old["warnings"])
    assert new["warnings"] == []


def test_compile_as_json_has_figures_layouts_and_warnings():
    done = run("compile", "rms_norm", "--columns", "8192", "--dtype", "float16", "--target", "sm_90", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["launchable"], found["target"], found["threads"]) == (True, "sm_90", 512)
    assert 16 <= found["registers"] <= 255
    assert (found["spills"], found["spill_bytes"]) == (0, 0)
    assert found["shared_bytes"] > 0
    assert "sizePerThread = [8]" in found["layouts"]["#blocked"]
    assert list(found["load_bytes"]) == ["16"]
    assert found["warnings"] == []
    odd = json.loads(run("compile", "rms_norm", "--columns", "8191", "--target", "sm_90", "--json").stdout)
    assert "columns = 8,191" in odd["warnings"][0]


@pytest.mark.parametrize(
    ("target", "stage", "text"),
    [("sm_80", "ptx", ".target sm_80"), ("sm_90", "sass", "LDG.E"), ("gfx942", "amdgcn", "s_endpgm")],
)
def test_compile_emits_a_stage(target, stage, text):
    done = run("compile", "vector_add", "--n-elements", "1000", "--target", target, "--emit", stage)
    assert (done.returncode, done.stderr) == (0, "")
    assert text in done.stdout


def test_compile_says_in_one_line_what_it_cannot_emit():
    done = run("compile", "vector_add", "--n-elements", "1000", "--target", "gfx942", "--emit", "sass")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == ("python -m kernels compile: there is no sass for gfx942. It has ttir, ttgir, llir, amdgcn.\n")
    done = run("compile", "vector_add", "--n-elements", "7", "--block-size", "3", "--target", "sm_90", "--emit", "ptx")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "arange's range must be a power of 2" in done.stderr
