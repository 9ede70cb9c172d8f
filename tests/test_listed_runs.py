"""The list of runs reads of a file what it shows; what is wrong with the rest is told once the run is opened."""

from __future__ import annotations

import json

import pytest

from kernels.measure import runs
from kernels.measure.summaries import summaries
from kernels.storage import codec
from kernels.storage.codec import UnreadableError


def saved(folder, several, change):
    """A shipped run of one point or of several, in a file with a change in its last point."""
    run = next(run for run in runs.recorded() if (len(run.points) > 1) == several)
    data = json.loads(codec.encoded(run))
    change(data["points"][-1])
    path = folder / "run.json"
    path.write_text(json.dumps(data))
    return path


def test_points_of_a_sweep_are_read_when_it_is_opened(tmp_path):
    path = saved(tmp_path, True, lambda point: point.update(operator="unknown"))
    ((listed, summary),), problems = summaries(tmp_path)
    assert (listed, problems) == (path, [])
    assert summary.points > 1
    with pytest.raises(UnreadableError, match="there is no operator 'unknown'"):
        runs.load(path)


def test_a_damaged_point_whose_speed_up_would_be_listed_is_told_in_the_list(tmp_path):
    saved(tmp_path, False, lambda point: point.update(operator="unknown"))
    assert summaries(tmp_path) == ([], ["run.json: damaged: $.points[0]: there is no operator 'unknown'."])


@pytest.mark.parametrize("field", ["made", "device", "versions", "points"])
def test_a_sweep_without_what_the_list_shows_is_told_in_the_list(tmp_path, field):
    path = saved(tmp_path, True, lambda point: None)
    data = json.loads(path.read_text())
    del data[field]
    path.write_text(json.dumps(data))
    listed, (problem,) = summaries(tmp_path)
    assert listed == []
    assert field in problem
