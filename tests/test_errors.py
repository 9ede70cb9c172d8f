"""Errors as sentences: what is said, and whether the kernel or its environment is at fault; with real errors of the system."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.errors import EnvironmentFailure, TaskError, cache_folder, in_sentences, joined, sentence


def raised(function, *arguments) -> BaseException:
    """The error that a call ends with."""
    try:
        function(*arguments)
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


def test_a_check_of_triton_is_a_sentence_of_the_kernel():
    outer = RuntimeError("at 12:21:\n    offsets = tl.arange(0, 3)")
    outer.__cause__ = ValueError("arange's range must be a power of 2")
    told = sentence(outer)
    assert (told.text, told.environment) == ("arange's range must be a power of 2", False)
    assert "at 12:21" in told.whole


def test_an_error_without_a_text_is_named():
    assert sentence(KeyError()).text == "KeyError"
    assert sentence(RuntimeError("PassManager::run failed")).text == "RuntimeError: PassManager::run failed"


def test_a_folder_that_is_a_file_is_named_with_what_to_do(tmp_path, monkeypatch):
    file = tmp_path / "cache"
    file.write_text("")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(file))
    told = sentence(raised(os.makedirs, file / "key"))
    assert told.environment
    assert told.text.startswith(f"Triton's cache folder {file} cannot be used (not a directory: ")
    assert "set TRITON_CACHE_DIR to a folder that can be written" in told.text


def test_a_home_that_is_not_there_is_named(monkeypatch):
    monkeypatch.delenv("TRITON_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", "/proc/nope")
    told = sentence(raised(os.makedirs, cache_folder()))
    assert told.environment
    assert "Triton's cache folder /proc/nope/.triton/cache cannot be used" in told.text


def test_a_file_elsewhere_is_not_called_tritons_cache():
    told = sentence(raised(open, "/proc/nope/weights"))
    assert (told.text, told.environment) == ("No such file or directory: /proc/nope/weights", True)


def test_a_full_device_names_a_folder_and_what_to_do():
    def write() -> None:
        with open("/dev/full", "w") as file:
            file.write("x" * 100_000)

    told = sentence(raised(write))
    assert told.environment
    assert "No space is left in" in told.text
    assert "TRITON_CACHE_DIR" in told.text


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_program_that_was_ended_from_outside_is_the_environment(number):
    """As Triton meets it: its own error is raised while that of the program is handled."""
    command = [sys.executable, "-c", f"import os; os.kill(os.getpid(), {int(number)})"]

    def compiler() -> None:
        try:
            subprocess.run(command, check=True)
        except subprocess.CalledProcessError as error:
            raise type("PTXASError", (Exception,), {})(f"`ptxas` failed with error code {error.returncode}")  # noqa: B904

    told = sentence(raised(compiler))
    assert told.environment
    assert f"was ended by {number.name}" in told.text


@pytest.mark.parametrize("ends", ["os.kill(os.getpid(), 11)", "sys.exit(1)"])
def test_a_program_that_failed_by_itself_is_not(ends):
    command = [sys.executable, "-c", f"import os, sys; {ends}"]

    def compiler() -> None:
        try:
            subprocess.run(command, check=True)
        except subprocess.CalledProcessError:
            raise RuntimeError("ptxas fatal: Unresolved extern function") from None

    told = sentence(raised(compiler))
    assert (told.text, told.environment) == ("RuntimeError: ptxas fatal: Unresolved extern function", False)


def test_memory_that_ran_out_is_the_environment():
    assert sentence(MemoryError()).text == "This machine's memory is full"
    assert sentence(raised(lambda: bytearray(2**62))).environment


def test_a_failure_of_the_environment_stays_one_between_processes():
    with pytest.raises(EnvironmentFailure) as first, in_sentences():
        Path("/proc/nope/file").read_text()
    with pytest.raises(EnvironmentFailure) as second, in_sentences():
        raise first.value
    assert str(second.value) == str(first.value)
    with pytest.raises(TaskError) as third, in_sentences():
        raise ValueError("wrong")
    assert not isinstance(third.value, EnvironmentFailure)


@given(st.lists(st.text("ab ", max_size=4).flatmap(lambda text: st.sampled_from([text, f"{text}.", f"{text}. ", f"{text}.."]))))
def test_sentences_are_joined_with_one_full_stop_each(parts):
    text = joined(*parts)
    assert ".." not in text
    assert ". ." not in text
    assert text == "" or text.endswith(".")


def test_joined_keeps_other_ends_and_leaves_out_what_is_empty():
    assert joined("It was restarted.", "", "Offsets are arithmetic") == "It was restarted. Offsets are arithmetic."
    assert joined("Really?", "Wait…") == "Really? Wait…"
