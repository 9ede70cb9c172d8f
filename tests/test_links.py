"""Every page's link: what it reads is what it wrote, for all operators, dtypes, examples and settings of the page."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import DTYPES, operators
from kernels.inside.examples import EXAMPLES
from kernels.runtime.settings import link
from pages import _state
from pages._check.state import state as check
from pages._compiler.state import differences, targets
from pages._compiler.state import read as read_compiler
from pages._compiler.state import state as compiler
from pages._fusion.state import state as fusion
from pages._hardware.state import state as hardware
from pages._launch.state import state as launch

PAGES: dict[str, _state.State] = {one.page: one for one in (launch, fusion, hardware, compiler, check)}
OF_REQUESTS = [name for name in PAGES if name != "check"]
NAMES = {  # the parameters that a page has beside those of a request, with values of which some are not legal
    "launch": {"program": ["0", "3", "10**9", "-1"], "step": ["0", "5"], "lane": ["2"], "element": ["x:0", "output:2", "c:1"]},
    "fusion": {"direction": ["forward", "backward", "both", "module", "none"]},
    "hardware": {
        "gpu": ["NVIDIA H100", "H200", "none"],
        "tensor": ["1", "-1"],
        "colour": ["warp", "register", "none"],
        "pattern": ["launched", "strided"],
        "warp": ["3"],
        "picture": ["machine", "factory"],
    },
    "compiler": {"target": [*targets(), "none"], "stage": ["ptx", "ttgir", "sass"], "line": ["1", "40", "²"]},
    "check": {"mode": ["full", "quick", "none"], "report": ["latest", "recorded", "a.json", "/etc"]},
}
SHARED = {
    "num_warps": ["1", "8"],
    "seed": ["0", "7"],
    "what_if": ["", "no_mask", "floor_grid", "other"],
    "other": ["-2.5", "1e400"],
    "layout": ["contiguous", "transposed"],
}


def fixed(page: str, texts: dict[str, str]) -> None:
    """What the page makes of the texts it writes again, without a correction."""
    state = PAGES[page]
    first, _ = state.read(texts)
    written = state.write(first)
    again, corrections = state.read(written)
    assert again == first, (page, texts, written)
    assert state.write(again) == written
    assert not corrections, (page, texts, written, corrections)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("operator", operators())
@pytest.mark.parametrize("page", OF_REQUESTS)
def test_a_link_keeps_its_dtype(page, operator, dtype):
    state = PAGES[page]
    wanted = {"operator": operator, "dtype": dtype}
    read, said = state.read(wanted)
    if said:  # measured with the operator it belongs to
        assert page == "fusion"
        return
    assert read.request.problem.dtype == dtype
    assert state.read(state.write(read))[0].request.problem.dtype == dtype


@pytest.mark.parametrize("page", OF_REQUESTS)
@pytest.mark.parametrize("operator", operators())
def test_every_example_is_read_as_it_was_written(page, operator):
    examples = [{**one.sizes, **one.blocks, "dtype": one.dtype} for one in operators()[operator].presets]
    for texts in [*examples, *(one.texts for one in EXAMPLES.get(operator, ()))]:
        fixed(page, {"operator": operator} | {name: str(value) for name, value in texts.items()})


@pytest.mark.parametrize("page", PAGES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_what_a_page_reads_is_what_it_wrote(page, data):
    texts: dict[str, str] = {}
    pools = dict(NAMES[page])
    if page != "check":
        operator = data.draw(st.sampled_from(sorted(operators())))
        description = operators()[operator]
        texts["operator"] = operator
        numbers = st.integers(0, 5000).map(str)
        blocks = st.sampled_from(["1", "16", "64", "100"])
        pools |= SHARED | {"dtype": list(DTYPES)}
        for field in (*description.sizes, *description.blocks):
            if data.draw(st.booleans()):
                texts[field.name] = data.draw(numbers if field in description.sizes else blocks)
    for name, values in pools.items():
        if data.draw(st.booleans()):
            texts[name] = data.draw(st.sampled_from(values))
    if page == "compiler" and data.draw(st.booleans()):
        texts["differs"] = data.draw(st.sampled_from(differences(read_compiler(texts)[0].request)))
        texts["by"] = data.draw(st.sampled_from(["1", "16", "64", "float32", "bfloat16", "sm_80"]))
    fixed(page, texts)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("operator", operators())
def test_the_compiler_page_opens_with_the_launch_page_s_request(operator, dtype):
    from pages._compiler.state import from_launch

    settings, _ = launch.read({"operator": operator, "dtype": dtype})
    taken = compiler.read(from_launch(settings))[0].request
    assert taken == settings.request
    assert link(settings)["operator"] == operator
