"""The recorder of states: the same twice, and every change of what is said or drawn is found with its place."""

from __future__ import annotations

import json

import pytest

from .states import canonical, compare, page_states, record_command, tasks


@pytest.fixture(scope="module")
def launch():
    return page_states("launch", {"n_elements": "7", "BLOCK_SIZE": "4"}, tabs=False)


def written(folder, states):
    folder.mkdir()
    (folder / "launch-vector_add.json").write_text(json.dumps(states))
    return folder


def test_a_page_recorded_twice_is_the_same(launch, tmp_path):
    again = page_states("launch", {"n_elements": "7", "BLOCK_SIZE": "4"}, tabs=False)
    assert compare(written(tmp_path / "a", launch), written(tmp_path / "b", again), None) == []


def test_a_recording_holds_texts_widgets_and_data_of_figures(launch):
    text = json.dumps(launch)
    assert "</b> elements in " in text
    assert "BLOCK_SIZE" in text
    figures = [element["spec"] for element in launch[""] if element["type"] == "plotly_chart"]
    assert figures
    assert all(figure["data"] for figure in figures)
    assert "bdata" not in text


@pytest.mark.parametrize(("old", "new"), [("</b> elements in ", "</b> by "), ('"BLOCK_SIZE"', '"BLOCK"'), ('"#', '"rgb')])
def test_a_changed_text_label_or_colour_is_found(launch, tmp_path, old, new):
    text = json.dumps(launch)
    assert old in text
    changed = json.loads(text.replace(old, new, 1))
    (line, *_) = compare(written(tmp_path / "a", launch), written(tmp_path / "b", changed), None)
    assert line.startswith("launch-vector_add.json /[")


def test_what_is_missing_or_new_is_found(launch, tmp_path):
    shorter = {"": launch[""][:-1], "other": []}
    lines = compare(written(tmp_path / "a", launch), written(tmp_path / "b", shorter), None)
    assert "launch-vector_add.json /other: new" in lines
    assert any(": -" in line for line in lines)
    assert compare(tmp_path / "a", tmp_path / "none", None) == [f"launch-vector_add.json: only in {tmp_path / 'a'}"]


def test_commands_are_recorded_with_their_output_for_every_example():
    states = record_command("trace", "vector_add")
    assert states["Tutorial, 7 by 3"]["code"] == 0
    assert states["Tutorial, 7 by 3"]["out"]["accesses"]
    assert len(states) > 3


def test_every_page_and_operator_is_recorded():
    parts = {part for part, _ in tasks(None)}
    assert {"launch", "fusion", "hardware", "compiler", "check", "runs", "trace", "compile"} <= parts
    assert ("launch", "softmax") in set(tasks("softmax"))


def test_what_passes_is_marked_and_numbers_are_cut_to_nine_digits():
    assert canonical("took 12.5 ms") == "took TIME"
    assert canonical(1 / 3) == 0.333333333
    assert canonical({"dtype": "i1", "bdata": "AQID"}) == [1, 2, 3]
    assert canonical({"program_seconds": 0.1, "id": "x"}) == {"program_seconds": "TIME"}
