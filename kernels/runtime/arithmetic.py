"""Pictures from the closed forms alone, for machines where the kernel itself cannot be traced. Offsets and masks, no values."""

from __future__ import annotations

from itertools import islice

import numpy as np

from ..operator import id_refusal
from .draw import lanes_of, nothing_to_draw, programs_to_show, programs_to_trace, window
from .limits import traceable
from .memory import undefined
from .picture import Memory, Picture, Touched, cells, grouped, owners_of_parts
from .records import Access, linear, unravel
from .request import Request
from .what_ifs import owner_in

MOST_ACCESSES = 128


def arithmetic(request: Request, chosen: int, lane: int = 0) -> Picture:
    """The picture of a launch by its operator's closed forms: `origin` is "formula", there are no steps and no values.

    It stands in where a trace fails, so it fails of no launch: what has no lanes or too many of them gives an empty picture.
    """
    from ..values import numpy_values

    launch, operator = request.launch(), request.description
    lanes = lanes_of(request)
    if not traceable(launch) or operator.accesses is None:
        return nothing_to_draw(request, "formula")
    chosen = min(chosen, launch.programs - 1)
    numbers = programs_to_trace(launch, lanes, chosen)
    everything = [access for number in numbers for access in _accesses(request, unravel(number, launch.grid))]
    shown = tuple(unravel(number, launch.grid) for number in programs_to_show(numbers, chosen))
    memory = []
    for name, tensor in launch.tensors.items():
        touching = [access for access in everything if access.argument == name]
        own = [access for access in touching if linear(access.program, launch.grid) == chosen]
        start, count = window(tensor, own, lane)
        index = np.arange(start, start + count, dtype=np.int64)
        values = undefined(index.shape, np.dtype("float32"))
        if tensor.filling is not None:
            values = numpy_values(tensor.filling, tensor.dtype, index, request.seed).astype(np.float32)
        held = cells(values, start, tensor, touching, launch.grid)
        reached = Touched(launch.tensors)
        for access in own:
            reached.add_access(access)
        owners = owners_of_parts(tensor, owner_in(request, name))
        memory.append(Memory(name, tensor.shape, tensor.dtype, held, *reached.shares(name), owners))
    return Picture(
        grid=launch.grid,
        chosen=unravel(chosen, launch.grid),
        shown=shown,
        accesses=tuple(grouped(access) for access in everything if access.program in shown),
        steps=(),
        step=0,
        values={},
        active=(),
        memory=tuple(memory),
        faults=tuple(filter(None, [id_refusal(launch.grid)])),
        counted=None,
        complete=True,
        origin="formula",
        program_seconds=0.0,
    )


def _accesses(request: Request, program: tuple[int, int, int]) -> list[Access]:
    launch = request.launch()
    forms = islice(request.description.accesses(request.problem, request.tiling, program), MOST_ACCESSES)
    found = []
    for form in forms:
        offsets, mask = np.broadcast_arrays(form.offsets, form.mask)
        numel = launch.tensors[form.argument].numel
        live = np.ones_like(mask) if request.what_if == "no_mask" else mask
        outside = live & ((offsets < 0) | (offsets >= numel))
        unknown = undefined(offsets.shape, np.dtype("float32"))
        dtype = launch.tensors[form.argument].dtype
        nothing = np.zeros(offsets.shape, bool)
        found.append(Access(form.kind, form.argument, program, 0, (), dtype, offsets, mask, live, outside, unknown, nothing))
    return found
