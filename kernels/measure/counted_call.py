"""Calls for Nsight Compute to watch, L2 cleared before each: `python -m kernels.measure.counted_call POINT WAY...`."""

from __future__ import annotations

import sys


def main(text: str, *names: str) -> None:
    """Makes every implementation ready, then calls each once while counters are read."""
    import torch

    from ..storage import codec
    from . import ways
    from .records import Point
    from .timing import Clearing

    point = codec.decoded(Point, text, "point")
    inputs = ways.inputs_of(point.request, point.direction)
    calls = [ways.ready(point.request, point.direction, way, inputs).call for way in names]
    clear = Clearing()
    clear()
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStart()
    for call in calls:
        clear()
        call()
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStop()


if __name__ == "__main__":
    main(*sys.argv[1:])
