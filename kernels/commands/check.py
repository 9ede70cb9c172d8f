"""python -m kernels check: does Triton work here, are results right, is the GPU as fast as it should be; if not, what to do."""

from __future__ import annotations

import shutil
import signal
import sys
from pathlib import Path

from ..check import history, text
from ..check.session import Session
from ..check.values import Report, Result, exit_code, to_json
from ..storage import files
from .parser import Parser


def main(arguments: list[str]) -> int:
    """Runs the check; exit code 0 all passed, 1 a failure, 3 warnings only, 4 no GPU could be measured, 2 wrong usage."""
    parser = Parser(prog="python -m kernels check", description=__doc__, epilog=main.__doc__)
    parser.add_argument("--quick", action="store_true", help="under ten seconds: launches, right results, GB/s")
    parser.add_argument(
        "--gpu", action="append", type=int, default=[], metavar="N", help="one card by CUDA's number; may be repeated"
    )
    parser.add_argument("--json", metavar="FILE", nargs="?", const="-", help="the report as JSON, to standard output or a file")
    parser.add_argument(
        "--markdown", metavar="FILE", nargs="?", const="-", help="to paste into an issue: no host, user or path"
    )
    parser.add_argument("--html", metavar="FILE", help="one page with plots")
    parser.add_argument("--no-save", action="store_true", help="keep no report to compare this card with later")
    parser.add_argument("--folder", help="where reports are kept; the user's data folder unless given")
    given = parser.parse_args(arguments)
    _existing(parser, given.gpu)
    folder = files.place(given.folder) if given.folder else history.default_folder()
    colour = sys.stderr.isatty()
    session = Session(
        quick=given.quick,
        only=tuple(given.gpu),
        heard=lambda result: print(text.row(result, colour=colour, where=_where(session, result)), file=sys.stderr, flush=True),
        earlier=lambda key: history.of_card(key, folder),
    )
    signal.signal(signal.SIGINT, lambda *_: session.cancel())
    report = session.run()
    _write(parser, report, given.json, given.markdown, given.html)
    if report.cards and not given.no_save:
        _keep(report, folder)
    return exit_code(report)


def _existing(parser: Parser, wanted: list[int]) -> None:
    """Ends with exit code 2 where a card is asked for that is not there."""
    if not wanted:
        return
    from ..runtime.device import attached

    there = [gpu.index for gpu in attached()]
    for number in wanted:
        if number not in there:
            parser.error(f"there is no GPU {number}; there are: {', '.join(map(str, there)) or 'none'}.")


def _where(session: Session, result: Result) -> str:
    index = next((card.index for card in session.cards if card.key == result.gpu), None)
    return f"GPU {index}: " if index is not None and len(session.cards) > 1 else ""


def _write(parser: Parser, report: Report, json: str | None, markdown: str | None, html: str | None) -> None:
    from ..check.page import html as page_of

    shown = [target for target in (json, markdown) if target == "-"]
    if not shown:
        print(file=sys.stderr)
        width = shutil.get_terminal_size((110, 40)).columns
        print(text.terminal(report, colour=sys.stdout.isatty(), width=min(max(width, 80), 140)))
    for target, content in ((json, to_json), (markdown, text.markdown), (html, page_of)):
        if target == "-":
            print(content(report))
        elif target:
            try:
                files.place(target).write_text(content(report), encoding="utf-8")
            except OSError as error:
                parser.error(f"{target} cannot be written: {error.strerror or error}.")


def _keep(report: Report, folder: Path) -> None:
    try:
        path = history.save(report, folder)
    except OSError as error:
        print(f"The report is not kept. {error}", file=sys.stderr)
    else:
        print(f"kept as {path}, to compare this card with later", file=sys.stderr)
