"""python -m kernels merge: the reports of several hosts in one table; a file's name is its host's."""

from __future__ import annotations

import json
from dataclasses import asdict

from ..check import history, merge
from ..storage import files
from ..storage.codec import UnreadableError
from .parser import Parser


def main(arguments: list[str]) -> int:
    """Prints the table; exit code 1 where a card failed or is 10 % behind the best of its model, 3 for warnings, 4 for none."""
    parser = Parser(prog="python -m kernels merge", description=__doc__, epilog=main.__doc__)
    parser.add_argument("files", nargs="+", help="JSON files of `python -m kernels check --json FILE`")
    parser.add_argument("--json", action="store_true", help="a JSON list on standard output")
    given = parser.parse_args(arguments)
    try:
        reports = [(path.stem, history.load(path)) for path in map(files.place, given.files)]
    except UnreadableError as error:
        parser.error(str(error))
    found = merge.lines(reports)
    print(json.dumps([asdict(line) for line in found]) if given.json else merge.table(found))
    return merge.exit_code(found)
