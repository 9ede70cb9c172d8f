"""What `python -m kernels explain` reads: regular files and pipes up to a size; one sentence for anything else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MESSAGE = "RuntimeError: Triton Error [CUDA]: device kernel image is invalid"


def command(*arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    line = [sys.executable, "-m", "kernels", "explain", *arguments]
    return subprocess.run(line, cwd=ROOT, capture_output=True, timeout=100, input=given)


def refused(*arguments: str, given: bytes = b"") -> str:
    """The sentence, and nothing else, with which a file is refused."""
    done = command(*arguments, given=given)
    assert (done.returncode, done.stdout) == (2, b"")
    sentence = done.stderr.decode().rstrip("\n")
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return sentence


def test_the_home_of_nobody_known():
    assert "~nobody-of-that-name/log names the home folder of a user who is not known here." in refused(
        "--file", "~nobody-of-that-name/log"
    )


def test_a_folder_and_a_file_that_is_not_there(tmp_path):
    assert f"{tmp_path} cannot be read: Is a directory." in refused("--file", str(tmp_path))
    assert "cannot be read: No such file or directory." in refused("--file", str(tmp_path / "none"))


def test_a_pipe_that_nobody_writes_to_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "is not a regular file" in refused("--file", str(tmp_path / "pipe"))


def test_a_device_without_an_end():
    assert "is not a regular file" in refused("--file", "/dev/zero")


def test_a_file_just_over_the_limit_is_refused_and_one_at_it_is_read(tmp_path):
    log = tmp_path / "log"
    end = f"\n{MESSAGE}\n".encode()
    limit = 16 * 2**20
    with log.open("wb") as file:
        file.truncate(limit - len(end))
        file.seek(0, os.SEEK_END)
        file.write(end)
    assert b"The driver cannot load what was compiled" in command("--file", str(log)).stdout
    os.truncate(log, limit + 1)
    assert "is larger than 16 MiB" in refused("--file", str(log))
    os.truncate(log, 2**40)  # a file of holes: a terabyte that takes no room
    assert "is larger than 16 MiB" in refused("--file", str(log))


def test_standard_input_without_an_end():
    with open("/dev/zero", "rb") as zeros:
        done = subprocess.run(
            [sys.executable, "-m", "kernels", "explain"], cwd=ROOT, capture_output=True, timeout=100, stdin=zeros
        )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1
    assert b"the text is larger than 16 MiB" in done.stderr


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_log_is_read_whole_and_its_first_cause_is_told_with_its_line(tmp_path, encoding):
    lines = [
        MESSAGE,
        *["INFO a step, and another"] * 20_000,
        "ptxas fatal   : Value 'sm_120a' is not defined for option 'gpu-name'",
    ]
    (tmp_path / "log").write_text("\n".join(lines), encoding=encoding)
    done = command("--file", str(tmp_path / "log"))
    assert done.returncode == 0
    told = done.stdout.decode()
    assert told.index(f"  by:  line 1: {MESSAGE}") < told.index("  by:  line 20002: ptxas fatal")
    assert "sm_120a" in told


def test_the_list_and_the_json_have_every_recipe():
    import json

    from kernels.check.failures import RECIPES

    listed = command("--list").stdout.decode()
    assert all(recipe.told().title in listed for recipe in RECIPES.values())
    found = json.loads(command("--list", "--json").stdout)
    assert [failure["id"] for failure in found] == list(RECIPES)
    (failure,) = json.loads(command("--json", MESSAGE).stdout)
    assert (failure["id"], failure["line"], failure["line_number"], failure["certain"]) == ("image-invalid", MESSAGE, 1, True)
