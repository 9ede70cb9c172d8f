"""How the tests of public cases reach the product: a page, the command line, the compile worker behind both."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from kernels.inside.jobs import report_job
from kernels.runtime.compile import Verdict
from kernels.runtime.device import find_target
from kernels.runtime.jobs import verdict_job
from kernels.runtime.request import Request
from kernels.runtime.settings import corrected
from kernels.runtime.workers import Worker

from ..test_pages import ROOT

Done = subprocess.CompletedProcess[str]


def command(*arguments: str, cwd: Path = ROOT, seconds: float = 180, **environment: str) -> Done:
    """python -m kernels with these arguments, in a process of its own."""
    line = [sys.executable, "-m", "kernels", *arguments]
    given = {**os.environ, **environment}
    return subprocess.run(line, cwd=cwd, env=given, capture_output=True, text=True, timeout=seconds)


def captions(app: AppTest) -> str:
    """The small print of a page, beside widgets and buttons; what Markdown would read as marks is marked as text there."""
    return " ".join(one.value for one in app.caption).replace("\\", "")


def request_of(**texts: object) -> Request:
    """The request that a link with these settings makes, none of them corrected."""
    settings, said = corrected({name: str(value) for name, value in texts.items()})
    assert not said, said
    return settings.request


def verdict(compiler: Worker, target: str, **texts: object) -> Verdict:
    """Whether a target accepts the launch, as the launch page asks it."""
    return compiler.call(verdict_job, request_of(**texts), find_target(target), seconds=180)


def figures(compiler: Worker, target: str, **texts: object) -> dict[str, Any]:
    """What `python -m kernels compile --json` tells of these settings, from one worker for many."""
    return compiler.call(report_job, request_of(**texts), find_target(target), seconds=180)[1]


def python(code: str, seconds: float = 180, **environment: str) -> Done:
    """A Python program in a process of its own, beside the package."""
    given = {**os.environ, **environment}
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=given, capture_output=True, text=True, timeout=seconds)


def traced(*arguments: str) -> dict[str, Any]:
    """The JSON of `python -m kernels trace`."""
    done = command("trace", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
