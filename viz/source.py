"""Source code with a program's values beside each line, as HTML; every text in it is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Token

from .terms import CODE, tip
from .words import sample_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernels.runtime.picture import Sample
    from kernels.runtime.source import Source

POINTER = "The address of this tensor's first element: the kernel gets no tensor, and no length."
CLASSES = (
    (Comment, "comment"),
    (String, "string"),
    (Number, "number"),
    (Keyword, "keyword"),
    (Operator, "operator"),
    (Name.Decorator, "keyword"),
)


def source_html(
    source: Source,
    values: Mapping[int, Mapping[str, Sample]],
    *,
    here: int | None = None,
    done: frozenset[int] | None = None,
    steps: Mapping[int, int] | None = None,
    notes: Mapping[int, str] | None = None,
    refused: int | None = None,
) -> str:
    """The lines of a function. `values` and `notes` stand beside a line, `here` is highlighted, lines not `done` are pale.

    `steps` makes a line clickable: it carries the number of the step to show. `refused` is where the compiler stops.
    """
    shown = [
        _row(number, code, values.get(number, {}), here, done, (steps or {}).get(number), (notes or {}).get(number), refused)
        for number, code in zip(range(source.first, source.first + len(source.lines)), coloured(source.lines), strict=True)
    ]
    return f'<div class="code">{"".join(shown)}</div>'


def _row(
    number: int,
    code: str,
    values: Mapping[str, Sample],
    here: int | None,
    done: frozenset[int] | None,
    step: int | None,
    said: str | None,
    refused: int | None,
) -> str:
    classes = ["row"]
    if number == here:
        classes.append("here")
    elif done is not None and number not in done and step is not None:
        classes.append("later")
    if number == refused:
        classes.append("refused")
    chips = [(name, sample_text(sample)) for name, sample in values.items()]
    texts = [text if len(chips) == 1 else f"{name} {text}" for name, text in chips] + ([said] if said else [])
    beside = "".join(f'<span class="value" data-line="{number}">{escape(text)}</span>' for text in texts)
    click = f' data-step="{step}"' if step is not None else ""
    text = f'<span class="at">{number}</span><span class="text">{code}{beside}</span>'
    return f'<div class="{" ".join(classes)}" data-line="{number}"{click}>{text}</div>'


def coloured(lines: tuple[str, ...]) -> list[str]:
    """Every line as escaped HTML, common indentation removed, known words explained."""
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    text = "\n".join(line[indent:] for line in lines)
    rows, row = [], ""
    for kind, value in PythonLexer(stripnl=False, ensurenl=False).get_tokens(text):
        for number, part in enumerate(value.split("\n")):
            if number:
                rows.append(row)
                row = ""
            row += _token(kind, part)
    return [*rows, row]


def _token(kind: Token, text: str) -> str:
    if kind in Name and text in CODE:
        return tip(text, CODE[text])
    if kind in Name and text.endswith("_ptr"):
        return tip(text, POINTER)
    name = next((name for base, name in CLASSES if kind in base), None)
    return f'<span class="{name}">{escape(text)}</span>' if name and text else escape(text)
