"""What the sizes cost: masked lanes and idle multiprocessors over the block sizes that Triton takes."""

from __future__ import annotations

from .theme import Figure, Style, bare_axis, figure, note


def cost_figure(choices: list[tuple[str, int, float]], chosen: str, multiprocessors: int | None, style: Style) -> Figure:
    """(label, programs, share of masked lanes) for every choice: a bar for the share, the programs written under it."""
    labels = [label for label, _, _ in choices]
    colours = [style.hatch if label == chosen else style.masked for label in labels]
    bars = {
        "type": "bar",
        "x": list(range(len(choices))),
        "y": [share for _, _, share in choices],
        "width": 0.7,
        "marker": {
            "color": colours,
            "line": {"color": [style.text if label == chosen else style.line for label in labels], "width": 1.5},
            "pattern": {"shape": "/", "fgcolor": style.hatch, "bgcolor": style.masked, "size": 7, "solidity": 0.2},
        },
        "text": [f"{share:.1%}" if share else "0" for _, _, share in choices],
        "textposition": "outside",
        "textfont": {"size": style.size, "color": style.text},
        "cliponaxis": False,
        "hovertext": [_hover(label, programs, share, multiprocessors) for label, programs, share in choices],
        "hoverinfo": "text",
    }
    ticks = [f"<b>{label}</b><br>{_busy(programs, multiprocessors)}" for label, programs, _ in choices]
    return figure(
        [bars],
        style,
        height=230,
        xaxis=bare_axis(
            style, tickvals=list(range(len(choices))), ticktext=ticks, tickfont={"size": style.size, "color": style.text}
        ),
        yaxis=bare_axis(style, range=[0, max(max((share for _, _, share in choices), default=0) * 1.25, 0.02)], visible=False),
        annotations=[
            note(
                "masked lanes, by the closed form", 0, 1.0, style, xref="paper", yref="paper", xanchor="left", yanchor="bottom"
            )
        ],
        margin={"l": 4, "r": 4, "t": style.px(26), "b": style.px(44)},
    )


def _busy(programs: int, multiprocessors: int | None) -> str:
    if multiprocessors is None:
        return f"{programs:,} programs"
    if programs < multiprocessors:
        return f"{programs:,} of {multiprocessors} SMs"
    return f"{programs / multiprocessors:,.1f} per SM"


def _hover(label: str, programs: int, share: float, multiprocessors: int | None) -> str:
    idle = ""
    if multiprocessors is not None:
        left = multiprocessors - programs
        idle = (
            f"<br>{left} of {multiprocessors} multiprocessors have nothing to do"
            if left > 0
            else f"<br>{_busy(programs, multiprocessors)}"
        )
    return f"<b>{label}</b>: {programs:,} programs, {share:.2%} of their lanes masked{idle}"
