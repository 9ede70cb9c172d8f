"""What people type and what links carry, turned into legal settings; every correction is said in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from math import isfinite, prod

from .. import find, operators
from ..launch import DTYPES, short
from ..operator import MAX_ELEMENTS, Numbers, Operator, Parameter, Preset, Problem, Size, Tiling
from .request import LAYOUTS, Request, is_of_vectors, known_what_ifs, possible_layouts

DEFAULT_OPERATOR = "vector_add"
BLOCK_MAXIMUM = 2**31 - 1
SHORT = {"n": "n_elements", "b": "BLOCK_SIZE"}
NUM_WARPS = Size("num_warps", "Groups of 32 threads that run one program.", 4, maximum=1024, minimum=1)
SEED = Size("seed", "Which random inputs; the same seed gives the same values everywhere.", 0, maximum=2**31 - 1)
PROGRAM = Size("program", "The program that is shown.", 0)
STEP = Size("step", "The statement that is shown, counted from 0.", 0, maximum=2**20)
LANE = Size("lane", "The lane that the window of memory lies around.", 0, maximum=2**20)


@dataclass(frozen=True)
class Settings:
    """A request, and what of it is shown: a program by number, a step (None: all done), a lane, an element by argument."""

    request: Request
    program: int = 0
    step: int | None = None
    lane: int = 0
    element: tuple[str, int] | None = None


class RejectedError(ValueError):
    """A value that is not legal; its text says what came and what is allowed, `nearest` is the nearest legal value."""

    def __init__(self, text: str, nearest: float) -> None:
        shown = f"{nearest:,}" if isinstance(nearest, int) else number_text(nearest)
        super().__init__(f"{text}; the nearest is {shown}.")
        self.corrected = f"{text}; {shown} is used."
        self.nearest = nearest


def number_text(value: float) -> str:
    """A real number as it is typed: the shortest decimal that reads back as the same, without a zero behind the point."""
    return repr(value).removesuffix(".0")


def real(text: str, parameter: Parameter) -> float:
    """The real number in a text, within the bounds of the parameter; raises RejectedError for anything else."""
    shown = _shown(text)
    allowed = f"a number from {number_text(parameter.minimum)} to {number_text(parameter.maximum)}"
    try:
        value = float(text.replace("_", "").strip())
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise RejectedError(f"{parameter.name}: {shown!r} is not {allowed}", parameter.default)
    nearest = min(max(value, parameter.minimum), parameter.maximum)
    if nearest != value:
        raise RejectedError(f"{parameter.name}: {shown} is not {allowed}", nearest)
    return abs(value) if value == 0 else value


def _shown(text: str) -> str:
    return text if len(text) <= 24 else f"{text[:20]}… ({len(text)} characters)"


def whole(text: str, size: Size) -> int:
    """The whole number in a text, within the bounds of the size; underscores and commas between digits are allowed.

    Raises RejectedError for anything else.
    """
    shown = _shown(text)
    allowed = f"a whole number from {size.minimum:,} to {size.maximum:,}"
    try:
        number = Decimal(text.replace(",", "").replace("_", "").strip())
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise RejectedError(f"{size.name}: {shown!r} is not {allowed}", size.default)
    if size.minimum <= number <= size.maximum:
        nearest = int(number)
        if number == nearest:
            return nearest
    else:
        nearest = size.minimum if number < size.minimum else size.maximum
    raise RejectedError(f"{size.name}: {shown} is not {allowed}", nearest)


def digits(text: str) -> int | None:
    """The number that plain digits make, at most 18 of them; None for everything else that `str.isdigit` lets through."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else None


def block_size(block: Size, rule: int) -> Size:
    """A block as it may be typed: from 1 on, and Triton's own limits are no bounds here, they are explained.

    A block of no lanes has no picture: a loop would stand still in it.
    """
    least = 1 if block.extent else block.minimum
    return replace(block, default=rule, minimum=least, maximum=min(block.maximum, BLOCK_MAXIMUM))


class _Corrected:
    """Reads values from a mapping of texts and notes what had to be changed."""

    def __init__(self, raw: Mapping[str, str]) -> None:
        self.raw, self.notices, self.known = raw, [], {"embed", "embed_options"}

    def unknown(self) -> list[str]:
        """A sentence for every name that nothing asked for."""
        strange = [name for name in self.raw if name not in self.known]
        return [f"{name[:24]}: there is no such setting here; it is ignored." for name in strange]

    def number(self, size: Size) -> int:
        self.known.add(size.name)
        if size.name not in self.raw:
            return size.default
        try:
            return whole(self.raw[size.name], size)
        except RejectedError as error:
            self.notices.append(error.corrected)
            return error.nearest

    def parameters(self, operator: Operator) -> Numbers:
        """The real parameters that are not as by default."""
        found = {one.name: self.parameter(one) for one in operator.parameters}
        return changed_parameters(operator, found)

    def parameter(self, parameter: Parameter) -> float:
        self.known.add(parameter.name)
        if parameter.name not in self.raw:
            return parameter.default
        try:
            return real(self.raw[parameter.name], parameter)
        except RejectedError as error:
            self.notices.append(error.corrected)
            return error.nearest

    def choice(self, name: str, allowed: tuple[str, ...], default: str) -> str:
        self.known.add(name)
        value = self.raw.get(name, default)
        if value in allowed:
            return value
        options = ", ".join(option for option in allowed if option)
        self.notices.append(f"{name}: {value[:24]!r} is not one of {options}; {default or 'none'} is used.")
        return default

    def element(self, request: Request) -> tuple[str, int] | None:
        """`output:6` as an argument of the launch, by its name or the name that people read, and its element."""
        text = self.raw.get("element")
        if text is None:
            return None
        name, _, number = text.partition(":")
        tensors = request.launch().tensors
        argument, place = next((one for one in tensors if name in (one, short(one))), None), digits(number)
        if argument is not None and place is not None and place < tensors[argument].numel:
            return argument, place
        names = ", ".join(short(name) for name in tensors)
        self.notices.append(
            f"element: {text[:24]!r} is not an element of {names}, like {names.partition(',')[0]}:0; none is used."
        )
        return None

    def real(self, name: str, default: float) -> float:
        self.known.add(name)
        try:
            value = float(self.raw.get(name, default))
        except ValueError:
            value = float("nan")
        if isfinite(value) and abs(value) <= 1e30:
            return value
        self.notices.append(f"{name}: {self.raw[name][:24]!r} is not a number up to 1e30; {default:g} is used.")
        return default


def changed_parameters(operator: Operator, given: Mapping[str, float]) -> Numbers:
    """Those of the real parameters that differ from their defaults: all that a problem carries of them."""
    return Numbers({one.name: given[one.name] for one in operator.parameters if given[one.name] != one.default})


def corrected(
    raw: Mapping[str, str], start: Callable[[Operator], Preset] | None = None, known: tuple[str, ...] = ()
) -> tuple[Settings, tuple[str, ...]]:
    """Legal settings from texts by name (of a link, say), and a sentence for every correction. Never raises.

    What the texts leave out is as in the operator's `start`; names in `known` are somebody else's to read.
    """
    read = _Corrected(raw)
    read.known.update(known)
    operator = find(read.choice("operator", tuple(operators()), DEFAULT_OPERATOR))
    names = {size.name for size in (*operator.sizes, *operator.blocks)}
    if "n" not in names and SHORT["n"] in names:
        read.raw = raw = {SHORT.get(name, name): value for name, value in raw.items()}
    first = start(operator) if start else operator.start
    named = any(size.name in raw for size in operator.sizes)
    sizes = Numbers({size.name: read.number(_default(size, first.sizes)) for size in operator.sizes})
    problem = Problem(sizes, read.choice("dtype", DTYPES, first.dtype), read.parameters(operator))
    problem, said = fitted(operator, problem)
    rule = operator.tiling(problem)
    chosen = rule.blocks if named else {**rule.blocks, **first.blocks}
    blocks = Numbers({block.name: read.number(block_size(block, chosen[block.name])) for block in operator.blocks})
    warps = read.number(replace(NUM_WARPS, default=rule.num_warps))
    seed, layout = read.number(SEED), read.choice("layout", possible_layouts(operator), next(iter(LAYOUTS)))
    what_if, other = read.choice("what_if", ("", *known_what_ifs(operator)), ""), read.real("other", 1.0)
    request = Request(
        operator.name,
        problem,
        Tiling(blocks, warps, rule.num_stages),
        seed,
        layout,
        what_if,
        other if what_if == "other" else 1.0,
    )
    programs = request.launch().programs
    program = read.number(replace(PROGRAM, maximum=max(programs - 1, 0), default=telling(request, programs)))
    step = read.number(STEP) if "step" in raw else None
    read.known.update(("step", "element"))
    element = read.element(request)
    return Settings(request, program, step, read.number(LANE), element), (*read.notices, *said, *read.unknown())


def telling(request: Request, programs: int) -> int:
    """The program that is shown at first: of a ragged vector the last, which shows what a mask is for."""
    operator = request.description
    if not operator.axes or not programs or not is_of_vectors(operator):
        return 0
    axis, *_ = operator.axes(request.problem, request.tiling)
    return programs - 1 if axis.last < axis.lanes else 0


def _default(size: Size, sizes: Mapping[str, int]) -> Size:
    return replace(size, default=sizes[size.name])


def fitted(operator: Operator, problem: Problem) -> tuple[Problem, tuple[str, ...]]:
    """The problem with its first size reduced where a tensor would have more than 2^40 elements, and a sentence if so."""
    rule = operator.tiling(problem)
    largest = max((prod(tensor.shape) for tensor in operator.plan(problem, rule).tensors.values()), default=0)
    if largest <= MAX_ELEMENTS:
        return problem, ()
    sizes = dict(problem.sizes)
    widest = max(sizes, key=lambda name: sizes[name])
    others = largest // sizes[widest]
    sizes[widest] = MAX_ELEMENTS // others
    said = f"{widest}: {problem[widest]:,} would make a tensor of {largest:,} elements, and 2^40 are allowed"
    smaller = replace(problem, sizes=Numbers(sizes))
    again, _ = fitted(operator, smaller)
    return again, (f"{said}; {again[widest]:,} is used.",)


def link(settings: Settings, start: Callable[[Operator], Preset] | None = None) -> dict[str, str]:
    """The texts that `corrected` turns into these settings again, with the same `start`; what is at its default is left out."""
    request, operator = settings.request, settings.request.description
    first = start(operator) if start else operator.start
    rule = operator.tiling(request.problem)
    texts = {"operator": operator.name, **{name: str(value) for name, value in request.problem.sizes.items()}}
    if request.problem.dtype != first.dtype:
        texts["dtype"] = request.problem.dtype
    texts |= {name: number_text(value) for name, value in request.problem.parameters.items()}
    texts |= {name: str(value) for name, value in request.tiling.blocks.items() if value != rule.blocks[name]}
    defaults = {
        "num_warps": (request.tiling.num_warps, rule.num_warps),
        "seed": (request.seed, 0),
        "layout": (request.layout, next(iter(LAYOUTS))),
        "what_if": (request.what_if, ""),
        "program": (settings.program, telling(request, request.launch().programs)),
        "step": (settings.step, None),
        "lane": (settings.lane, 0),
    }
    texts |= {name: str(value) for name, (value, default) in defaults.items() if value != default}
    if settings.element:
        texts["element"] = f"{short(settings.element[0])}:{settings.element[1]}"
    if request.what_if == "other":
        texts["other"] = repr(request.other)
    return texts
