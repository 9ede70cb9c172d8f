"""The recipes of known failures against posted messages (failure_messages.toml), near misses, logs and worst texts."""

from __future__ import annotations

import re
import time
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from kernels.check.failures import MOST, RECIPES, THEMES, Failure, advice, explain, known
from kernels.check.failures.recipe import Sign

ENTRIES = tomllib.loads((Path(__file__).parent / "failure_messages.toml").read_text())["failure"]
MESSAGES = [(entry["id"], index) for entry in ENTRIES for index in range(len(entry["messages"]))]
BY_ID = {entry["id"]: entry for entry in ENTRIES}
SIGNS = [(recipe.id, sign) for recipe in RECIPES.values() for sign in recipe.signs]


def told(failure: Failure) -> str:
    return f"{failure.title} {failure.cause} {failure.fix}"


def ids(text: str) -> list[str]:
    return [failure.id for failure in explain(text)]


# Messages as they were posted.


@pytest.mark.parametrize(("failure", "index"), MESSAGES)
def test_a_real_message_is_recognised_and_what_it_names_is_named(failure, index):
    entry = BY_ID[failure]
    found = explain(entry["messages"][index])
    assert [one.id for one in found][:1] == [failure]
    if "named" in entry:
        assert entry["named"][index] in told(found[0])


@pytest.mark.parametrize("failure", BY_ID)
def test_a_message_that_is_near_is_not_this_failure(failure):
    for message in BY_ID[failure]["near"]:
        assert failure not in ids(message), message


def test_every_recipe_has_messages_near_misses_and_sources():
    assert set(BY_ID) == set(RECIPES) == {recipe.id for recipes in THEMES.values() for recipe in recipes}
    assert len(ENTRIES) == len(BY_ID)
    for failure, entry in BY_ID.items():
        assert len(set(entry["messages"])) == len(entry["from"]) >= 2, failure
        assert len(set(entry["near"])) >= 2, failure
        assert len(entry.get("named", entry["messages"])) == len(entry["messages"]), failure
        assert all(re.fullmatch(r"https://\S+\.\S+/\S+", source) for source in RECIPES[failure].sources), failure


@pytest.mark.parametrize("failure", RECIPES)
def test_the_texts_stand_without_names_and_guesses_are_guesses(failure):
    recipe = RECIPES[failure]
    assert "{" not in told(known(failure))
    assert RECIPES.keys() >= set(recipe.follows)
    if not recipe.certain:
        assert re.search(r"\bmay\b", told(known(failure)))


def test_no_advice_names_an_index_or_release_that_goes_out_of_date():
    texts = " ".join(told(known(failure)) for failure in RECIPES)
    assert not re.search(r"whl/|\bcu1[0-9]{2}\b|\brocm\d", texts)


# Nothing where nothing is known.


@pytest.mark.parametrize(
    "text",
    [
        "ModuleNotFoundError: No module named 'tritonclient.grpc'",
        "ModuleNotFoundError: No module named 'triton_python_backend_utils'",
        "ModuleNotFoundError: No module named 'torchvision'",
        "ModuleNotFoundError: No module named 'torch_geometric'",
        "RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
        "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:1275, unhandled system error, NCCL version 2.14.3",
        "failed to connect to Triton Inference Server: connection refused",
        "PermissionError: [Errno 13] Permission denied: '/home/someone/notes.txt'",
        "PermissionError: [Errno 13] Permission denied: '/srv/tritonserver/models'",
        "FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'",
        "subprocess.CalledProcessError: Command '['git', 'clone']' returned non-zero exit status 128.",
        "subprocess.CalledProcessError: Command '['/usr/bin/gcc', '/tmp/pip-build/setup.c']' returned non-zero exit status 1.",
        "/usr/bin/ld: cannot find -lcudart",
        "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by ./node)",
        "ImportError: DLL load failed while importing _ssl: The specified module could not be found.",
        "OSError: out of memory",
        "numpy.linalg.LinAlgError: Singular matrix",
        "ValueError: invalid argument",
        "The operation timed out",
        "initialization error",
        "Error 100: continue",
        "Xidious 79",
        "Initialization of the system: system is not yet ready",
    ],
)
def test_other_products_and_other_faults_are_not_explained(text):
    assert ids(text) == []
    assert advice(text) == ""


# A log: the cause before its consequences, the line, three at most.

LAUNCHER = (
    "subprocess.CalledProcessError: Command '['/usr/bin/gcc', '/tmp/tmpwb3f8l0d/main.c', '-O3', '-shared', '-fPIC', "
    "'-o', '/tmp/tmpwb3f8l0d/cuda_utils.so']' returned non-zero exit status 1."
)
PTXAS = (
    "subprocess.CalledProcessError: Command '['/usr/lib/triton/backends/nvidia/bin/ptxas', '-lineinfo', '-v', "
    "'--gpu-name=sm_120a', '/tmp/tmp1.ptx', '-o', '/tmp/tmp1.ptx.o']' returned non-zero exit status 255."
)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            ["main.c:1:10: fatal error: Python.h: No such file or directory", "compilation terminated.", LAUNCHER],
            ["python-headers"],
        ),
        (["/usr/bin/ld: cannot find -lcuda: No such file or directory", LAUNCHER], ["link-libcuda"]),
        ([LAUNCHER, "main.c:1:10: fatal error: Python.h: No such file or directory"], ["python-headers"]),
        ([LAUNCHER], ["launcher-build"]),
        (["ptxas fatal   : Value 'sm_120a' is not defined for option 'gpu-name'", PTXAS], ["ptxas-architecture"]),
        ([PTXAS], ["ptxas-failed"]),
        (
            [
                "'sm_120' is not a recognized processor for this target (ignoring processor)",
                "LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.shfl.sync.bfly.i32",
            ],
            ["llvm-processor"],
        ),
        (
            [
                "NVRM: Xid (PCI:0000:41:00): 79, pid=1234, GPU has fallen off the bus.",
                "NVRM: Xid (PCI:0000:41:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)",
                "RuntimeError: No CUDA GPUs are available",
            ],
            ["gpu-lost"],
        ),
        (
            [
                "ImportError: cannot import name 'get_cuda_stream' from 'triton.runtime.jit' (/usr/lib/triton/runtime/jit.py)",
                "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
            ],
            ["triton-release", "out-of-memory"],
        ),
    ],
)
def test_the_cause_is_told_without_its_consequences(lines, expected):
    assert ids("\n".join(["INFO start", *lines, "INFO end"])) == expected


def test_the_line_and_its_number_are_those_of_the_text():
    found = explain("INFO start\r\n\r\n  device kernel image is invalid \x1b[0m\r\nend")
    assert [(one.id, one.line_number, one.line) for one in found] == [
        ("image-invalid", 3, "device kernel image is invalid  [0m")
    ]
    (long,) = explain("x" * 5000 + " device kernel image is invalid " + "y" * 5000)
    assert "device kernel image is invalid" in long.line
    assert len(long.line) <= 300


def test_three_are_told_at_most_the_first_first_and_guesses_last():
    causes = [
        "Triton Error [CUDA]: invalid argument",  # a guess
        "device kernel image is invalid",
        "out of resource: shared memory, Required: 131072, Hardware limit: 101376",
        "Examining the path of torch.classes raised: x",
        "arange's range must be a power of 2",
    ]
    assert ids("\n".join(causes)) == ["image-invalid", "shared-memory", "streamlit-classes"]
    assert ids("\n".join(causes[:2])) == ["image-invalid", "launch-argument"]
    assert ids("\n".join(reversed(causes[1:4]))) == ["streamlit-classes", "shared-memory", "image-invalid"]


def test_a_failure_is_found_anywhere_in_a_long_text():
    message = "out of resource: shared memory, Required: 131072, Hardware limit: 101376"
    for before in (0, 1, 1999, 2000, 2001, 150_000):
        (found,) = explain("out of resource: shared paper\n" * (before // 30) + "." * (before % 30) + message)
        assert "131072" in found.cause
    assert ids("İ" * 3000 + " " + message) == ["shared-memory"]


def texts_of(tree: Iterable) -> list[str]:
    """Texts that a parsed pattern matches: each of its alternatives, its optional parts left out and put in."""
    texts = [""]
    for kind, value in tree:
        name = str(kind)
        if name == "LITERAL":
            parts = [chr(value)]
        elif name == "BRANCH":
            parts = [text for branch in value[1] for text in texts_of(branch)]
        elif name == "SUBPATTERN":
            parts = texts_of(value[-1])
        elif name in ("MAX_REPEAT", "MIN_REPEAT"):
            least, _, repeated = value
            parts = ([""] if least == 0 else []) + [text * max(least, 1) for text in texts_of(repeated)]
        elif name in ("IN", "NOT_LITERAL", "ANY"):
            parts = ["\0"]
        else:
            assert name in ("AT", "ASSERT", "ASSERT_NOT"), name
            parts = [""]
        texts = [before + part for before in texts for part in parts][:20_000]
    return texts


@pytest.mark.parametrize(("failure", "sign"), SIGNS)
def test_every_text_that_a_pattern_matches_holds_its_word(failure, sign):
    assert sign.word == sign.word.lower()
    texts = texts_of(re._parser.parse(sign.pattern, re.IGNORECASE | re.ASCII))
    assert texts
    for text in texts:
        assert sign.word in text.lower().replace("\0", ""), text


# Linear in the text.


@cache
def seeds() -> tuple[str, ...]:
    """Beginnings of what the patterns look for: their words, and a real message of each cut before its end."""
    cut = [entry["messages"][0][: len(entry["messages"][0]) * 2 // 3] for entry in ENTRIES]
    return (*dict.fromkeys(sign.word for _, sign in SIGNS), *cut)


def seconds(text: str) -> float:
    """CPU time of one search, which other programs do not change much."""
    started = time.process_time()
    explain(text)
    return time.process_time() - started


SHORTEST = 0.003  # seconds: a search in 20,000 characters of nothing


def worst(seed: str, length: int) -> str:
    return (seed * (length // max(len(seed), 1) + 1))[:length]


@pytest.mark.slow
@pytest.mark.parametrize("joint", [" ", "\n", "/a'" * 50])
def test_recognising_is_linear_in_the_text(joint):
    slow = []
    for seed in seeds():
        long = seconds(worst(seed + joint, MOST))
        if long < 15 * SHORTEST:
            continue
        long = min(long, *(seconds(worst(seed + joint, MOST)) for _ in range(4)))
        short = max(seconds(worst(seed + joint, MOST // 10)) for _ in range(3))
        if long > 0.2 or long > 15 * max(short, SHORTEST):
            slow.append((seed, long, short))
    assert slow == []


def test_a_pattern_alone_is_linear_around_its_own_word():
    def searched(sign: Sign, length: int) -> float:
        text = worst(sign.word + " ", length)
        started = time.process_time()
        sign.compiled.search(text)
        return time.process_time() - started

    for failure, sign in SIGNS:
        assert min(searched(sign, 4000) for _ in range(2)) < 0.05, (failure, sign.word)
