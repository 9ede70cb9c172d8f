"""One call of one implementation, for Nsight Compute to watch: `python -m kernels.measure.counted_call POINT WAY`."""

from __future__ import annotations

import json
import sys


def main(text: str, way: str) -> None:
    """Calls twice, and lets the second call be counted, the L2 cache cleared before it."""
    import torch

    from . import ways
    from .records import Point, built
    from .timing import Clearing

    point = built(Point, json.loads(text))
    inputs = ways.inputs_of(point.request, point.direction)
    ready = ways.ready(point.request, point.direction, way, inputs)
    Clearing()()
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStart()
    ready.call()
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStop()


if __name__ == "__main__":
    main(*sys.argv[1:])
