"""Links and typed values: whatever comes, legal settings come out, with a sentence for every correction."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import operators
from kernels.operator import MAX_ELEMENTS, Numbers, Size
from kernels.runtime.request import possible_what_ifs
from kernels.runtime.settings import RejectedError, corrected, link, whole

from .properties import examples

SIZE = Size("n_elements", "How many.", 7, maximum=1000)


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0), ("1000", 1000), (" 12 ", 12), ("1_000", 1000), ("1,000", 1000), ("1e2", 100)]
)
def test_whole_numbers_in_their_usual_spellings(text, number):
    assert whole(text, SIZE) == number


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("-1", 0),
        ("1001", 1000),
        ("2.5", 2),
        ("1e309", 1000),
        ("9" * 400, 1000),
        ("-" + "9" * 400, 0),
        ("abc", 7),
        ("", 7),
        ("nan", 7),
        ("inf", 7),
    ],
)
def test_what_is_not_legal_names_itself_the_bounds_and_the_nearest_value(text, nearest):
    with pytest.raises(RejectedError) as caught:
        whole(text, SIZE)
    assert caught.value.nearest == nearest
    message = str(caught.value)
    assert text[:20] in message
    assert "from 0 to 1,000" in message
    assert f"nearest is {nearest:,}" in message
    assert len(message) < 160


@pytest.mark.parametrize(
    ("raw", "used"),
    [
        ({"n": "1e309"}, MAX_ELEMENTS),
        ({"n_elements": "-1"}, 0),
        ({"n_elements": "abc"}, 7),
        ({"n_elements": "2.5"}, 2),
        ({"n_elements": ""}, 7),
        ({"n_elements": "9" * 400}, MAX_ELEMENTS),
    ],
)
def test_hostile_links_are_corrected_and_said(raw, used):
    found, said = corrected(raw)
    assert found.request.problem["n_elements"] == used
    assert len(said) == 1
    assert said[0].startswith("n_elements: ")
    assert said[0].endswith(f"{used:,} is used.")


def test_an_unknown_operator_and_unknown_settings_are_said():
    found, said = corrected({"operator": "no_such", "colour": "blue", "embed": "true"})
    assert found.request.operator == "vector_add"
    assert "no_such" in said[0]
    assert said[1] == "colour: there is no such setting here; it is ignored."
    assert len(said) == 2


def test_a_problem_past_2_to_the_40_is_cut_to_it():
    found, said = corrected({"operator": "matmul_relu", "m": "2000000", "n": "2000000", "k": "50"})
    m, n = found.request.problem["m"], found.request.problem["n"]
    assert m * n <= MAX_ELEMENTS < (m + 1) * n
    assert "2^40 are allowed" in said[0]


TEXTS = st.one_of(st.text(max_size=30), st.integers(-(2**70), 2**70).map(str), st.floats().map(str), st.just("9" * 400))


@examples(150)
@given(data=st.data(), operator=st.sampled_from(sorted(operators())))
def test_any_link_gives_legal_settings_that_make_the_same_link_again(data, operator):
    described = operators()[operator]
    names = [size.name for size in (*described.sizes, *described.blocks)]
    others = ["dtype", "num_warps", "seed", "layout", "what_if", "other", "program", "step", "lane", "element"]
    raw = data.draw(st.dictionaries(st.sampled_from(names + others), TEXTS))
    found, _ = corrected({"operator": operator, **raw})
    for size in described.sizes:
        assert size.minimum <= found.request.problem[size.name] <= size.maximum
    programs = found.request.launch().programs
    assert 0 <= found.program <= max(programs - 1, 0)
    assert corrected(link(found)) == (found, ())


def test_the_examples_come_from_links_without_corrections():
    for operator in operators().values():
        for preset in operator.presets:
            texts = {name: str(value) for name, value in {**preset.sizes, **preset.blocks}.items()}
            found, said = corrected({"operator": operator.name, "dtype": preset.dtype, **texts})
            assert said == ()
            assert found.request.problem.sizes == preset.sizes
            assert found.request.tiling.blocks == preset.blocks


def test_a_block_follows_the_rule_until_it_is_typed():
    found, _ = corrected({"operator": "softmax", "rows": "3", "columns": "100"})
    assert found.request.tiling.blocks == Numbers(BLOCK_SIZE=128)
    assert "BLOCK_SIZE" not in link(found)


def test_a_ragged_vector_shows_its_last_program_first():
    assert corrected({"n_elements": "98432", "BLOCK_SIZE": "1024"})[0].program == 96
    assert corrected({"n_elements": "2048", "BLOCK_SIZE": "1024"})[0].program == 0


def test_only_what_changes_something_is_offered_as_a_what_if():
    assert possible_what_ifs(corrected({"n_elements": "7", "BLOCK_SIZE": "3"})[0].request) == (
        "no_mask",
        "floor_grid",
        "other",
        "stride",
    )
    assert "floor_grid" not in possible_what_ifs(corrected({"n_elements": "8", "BLOCK_SIZE": "4"})[0].request)
    assert "int32" in possible_what_ifs(corrected({"n_elements": str(3 * 2**30)})[0].request)
    assert possible_what_ifs(corrected({"operator": "softmax"})[0].request) == ("no_mask", "other")
