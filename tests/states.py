"""Records what pages and commands say and draw, and compares two recordings.

`python -m tests.states record FOLDER` writes a JSON file for every operator and page or command: every element of the page
(texts, widgets, tables, data of figures) and the output of the commands, for every example of every operator and sizes that
are no example. `python -m tests.states compare FOLDER OTHER` prints what differs and ends with 1 where anything does. Both
take `--only NAME`, an operator or a page.
"""

from __future__ import annotations

import argparse
import base64
import difflib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
COMMANDS = {"trace": ("--json",), "compile": ("--json",)}
SETTLED = 12  # runs at most until a page says the same twice: answers of workers come in between
DIGITS = 9
# What differs between two recordings of one state, and means nothing.
PASSING = (
    (re.compile(r"\$\$ID-[0-9a-f]+-"), ""),
    (re.compile(r"\d[\d,.]* (?:ms|µs|us|ns|s|seconds|minutes)\b"), "TIME"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:?\d\d(:?\d\d)?"), "DATE"),
    (re.compile(r"/tmp/[\w./-]+"), "FOLDER"),
    (re.compile(re.escape(str(ROOT))), "ROOT"),
)
PASSING_FIELDS = {
    "id", "formId", "scriptHash", "activeScriptHash", "metadata", "deltaPath", "elementHash", "queryParamKey", "deferredFileId",
}  # fmt: skip
TIMES = {"seconds", "program_seconds", "compile_seconds"}


def canonical(value: Any) -> Any:
    """A value as it is compared: floats to nine digits, arrays of figures as lists, what passes marked."""
    if isinstance(value, Mapping):
        if set(value) >= {"dtype", "bdata"}:
            return _array(value)
        return {key: "TIME" if key in TIMES else canonical(item) for key, item in value.items() if key not in PASSING_FIELDS}
    if isinstance(value, (list, tuple)):
        return [canonical(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if not isinstance(value, str):
        return value
    if value[:1] in "{[" and (parsed := _json(value)) is not None:
        return canonical(parsed)
    for pattern, mark in PASSING:
        value = pattern.sub(mark, value)
    return value.split("\n") if "\n" in value else value


def _array(value: Mapping[str, Any]) -> list[Any]:
    import numpy as np

    array = np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
    shape = [int(part) for part in str(value.get("shape", array.size)).split(",")]
    return canonical(array.reshape(shape).tolist())


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def elements(app: Any) -> list[Any]:
    """Every element of a page as its message says it, tables as their rows."""
    from google.protobuf.json_format import MessageToDict

    seen = []
    for part in (app.sidebar, app.main):
        for node in part:
            proto = getattr(node, "proto", None)
            if node.type == "arrow_data_frame":
                seen.append({"type": node.type, "rows": canonical(json.loads(node.value.to_json(orient="split")))})
            elif proto is not None:
                seen.append({"type": node.type, **canonical(MessageToDict(proto))})
    return seen


def settled(app: Any) -> list[Any]:
    """The elements of a page once it says the same twice: what workers answer arrives in later runs."""
    before, now = None, elements(app)
    for _ in range(SETTLED):
        if app.exception:
            raise AssertionError(f"exception: {app.exception[0].value}")
        if now == before:
            return now
        time.sleep(0.15)
        before, now = now, elements(app.run())
    return now


def page_states(page: str, texts: Mapping[str, str], tabs: bool) -> dict[str, list[Any]]:
    """What a page shows at an address; with `tabs` also with each of its tabs open."""
    from .fuzz import opened

    app = opened(page, dict(texts))
    states = {"": settled(app)}
    labels = [tab.label for tab in app.tabs] if tabs else []
    for label in labels:
        for number in ("", ".1", ".2"):
            app.session_state[f"{page}.tabs{number}"] = label
        states[label] = settled(app.run())
    return states


def addresses(name: str) -> dict[str, dict[str, str]]:
    """The states of an operator by a name of each: its examples, other sizes, another dtype, a what-if."""
    from kernels import find

    operator = find(name)
    found = {
        preset.title: {"operator": name, **_texts(preset.sizes), **_texts(preset.blocks), "dtype": preset.dtype}
        for preset in operator.presets
    }
    first = next(iter(found.values()))
    ragged = {size.name: str(min(5 + 2 * place, size.maximum)) for place, size in enumerate(operator.sizes)}
    found["ragged"] = {"operator": name, **ragged}
    found["bfloat16"] = {**first, "dtype": "bfloat16"}
    found["no mask"] = {**first, "what_if": "no_mask"}
    return found


def _texts(numbers: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in numbers.items()}


def record_page(page: str, name: str) -> dict[str, Any]:
    """All states of a page for an operator; of one that asks for no operator its only state."""
    given = addresses(name) if name else {"": {}}
    return {title: page_states(page, texts, tabs=place == 0) for place, (title, texts) in enumerate(given.items())}


def record_command(command: str, name: str) -> dict[str, Any]:
    """What a command prints for every state of an operator, from one process."""
    from kernels.commands.options import flag

    cases = {
        title: [name, *(f"{flag(key)}={value}" for key, value in texts.items() if key not in ("operator", "what_if"))]
        for title, texts in addresses(name).items()
        if "what_if" not in texts
    }
    calls = [[command, *arguments, *COMMANDS[command]] for arguments in cases.values()]
    code = (
        "import contextlib, io, json, sys\n"
        "from kernels.__main__ import main\n"
        "for call in json.loads(sys.argv[1]):\n"
        "    out, err, code = io.StringIO(), io.StringIO(), 0\n"
        "    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):\n"
        "        try: code = main(call)\n"
        "        except SystemExit as end: code = end.code\n"
        "    print(json.dumps([code, out.getvalue(), err.getvalue()]))\n"
    )
    environment = {**os.environ, "TRITON_INTERPRET": "0", "COLUMNS": "120"}
    run = subprocess.run(
        [sys.executable, "-c", code, json.dumps(calls)], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    answers = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("[")]
    return {
        title: {"code": answer[0], "out": canonical(answer[1]), "errors": canonical(answer[2])}
        for title, answer in zip(cases, answers, strict=True)
    }


def tasks(only: str | None) -> Iterator[tuple[str, str]]:
    """What is recorded: (page or command, operator), pages found in their folder."""
    from kernels import operators

    pages = sorted(path.stem for path in (ROOT / "pages").glob("[a-z]*.py"))
    for part in (*pages, *COMMANDS):
        names = list(operators()) if part not in ("check", "runs") else [""]
        for name in names:
            if only in (None, part, name):
                yield part, name


def record(folder: Path, only: str | None) -> None:
    """Writes a file for every task, in processes of their own: a page's workers end with it."""
    folder.mkdir(parents=True, exist_ok=True)

    def one(task: tuple[str, str]) -> None:
        part, name = task
        path = folder / f"{part}-{name or 'all'}.json"
        started = time.monotonic()
        command = [sys.executable, "-m", "tests.states", "one", str(path), part, name]
        subprocess.run(command, cwd=ROOT, check=True, stderr=subprocess.DEVNULL)
        print(f"{path.name}: {time.monotonic() - started:.0f} s", flush=True)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, tasks(only)))


def record_one(path: Path, part: str, name: str) -> None:
    """Writes the states of one page or command for one operator."""
    states = record_command(part, name) if part in COMMANDS else record_page(part, name)
    path.write_text(json.dumps(states, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def differences(before: Any, after: Any, place: str = "") -> Iterator[str]:
    """A line for every place at which two recordings differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            if key not in before or key not in after:
                yield f"{place}/{key}: {'new' if key not in before else 'gone'}"
            else:
                yield from differences(before[key], after[key], f"{place}/{key}")
    elif isinstance(before, list) and isinstance(after, list):
        yield from _of_lists(before, after, place)
    elif before != after:
        yield f"{place}: {str(before)[:200]!r} -> {str(after)[:200]!r}"


def _of_lists(before: list[Any], after: list[Any], place: str) -> Iterator[str]:
    """Lists item by item where they are equally long, else what was put in and taken out."""
    if len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from differences(old, new, f"{place}[{number}]")
        return
    old, new = ([json.dumps(item, sort_keys=True, ensure_ascii=False) for item in items] for items in (before, after))
    for line in difflib.unified_diff(old, new, lineterm="", n=0):
        if not line.startswith(("---", "+++", "@@")):
            yield f"{place}: {line[:300]}"


def compare(before: Path, after: Path, only: str | None) -> list[str]:
    """A line for every difference between two recordings, named by its file."""
    names = sorted({path.name for folder in (before, after) for path in folder.glob("*.json")})
    lines = []
    for name in names:
        if only is not None and only not in name.removesuffix(".json").split("-"):
            continue
        if not (before / name).exists() or not (after / name).exists():
            lines.append(f"{name}: only in {before if (before / name).exists() else after}")
            continue
        pair = (json.loads((folder / name).read_text()) for folder in (before, after))
        lines += [f"{name} {line}" for line in differences(*pair)]
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.states", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="write a recording into a folder")
    recording.add_argument("folder", type=Path)
    comparing = commands.add_parser("compare", help="print what differs between two recordings")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    for each in (recording, comparing):
        each.add_argument("--only", help="an operator, a page or a command")
    single = commands.add_parser("one", help="one file of a recording")
    single.add_argument("path", type=Path)
    single.add_argument("part")
    single.add_argument("name")
    given = parser.parse_args(arguments)
    if given.command == "one":
        record_one(given.path, given.part, given.name)
        return 0
    if given.command == "record":
        record(given.folder, given.only)
        return 0
    lines = compare(given.before, given.after, given.only)
    print("\n".join(lines) if lines else "no difference")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
