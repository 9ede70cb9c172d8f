"""The value types by which an operator is described; what runs or draws kernels knows operators only through them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from .launch import Launch, TypeName

MAX_ELEMENTS = 2**40
MAX_LOOPED = 2**20
INT32_END = 2**31
MAX_PROGRAMS = INT32_END - 1
LAST_LESSON = 1000  # where an operator does not say at which place it is learned


def cdiv(numerator: int, denominator: int) -> int:
    """The quotient rounded up; 0 for a denominator of 0, where no grid exists."""
    return -(-numerator // denominator) if denominator else 0


def floordiv(numerator: int, denominator: int) -> int:
    """The quotient rounded down; 0 for a denominator of 0, where no grid exists."""
    return numerator // denominator if denominator else 0


def next_power_of_2(number: int) -> int:
    """The smallest power of two that is at least `number`; 1 for 0."""
    return 1 << max(number - 1, 0).bit_length()


def offset_type(last_offset: int) -> TypeName:
    """The integer type that holds every offset up to `last_offset`, masked lanes included, without wrapping."""
    return TypeName("int32" if last_offset < INT32_END else "int64")


def grid_refusal(grid: Sequence[int]) -> str | None:
    """Why a grid of so many programs is launched nowhere, whatever its axes; None where that does not speak against it.

    Triton's launcher multiplies the axes as C's `int`, and for CUDA launches only where the product is above 0
    (`if (gridX * gridY * gridZ > 0)` in backends/nvidia/driver.c, Triton 3.6 to 3.9): the grids (32769, 65535) and
    (131072, 32768) launched nothing on an H200 with Triton 3.6, and raised nothing. A program's id is an int32 as well.
    """
    programs = prod(grid)
    if programs <= MAX_PROGRAMS:
        return None
    return (
        f"The grid has {programs:,} programs in all, and Triton counts them in 32 bits, up to {MAX_PROGRAMS:,}: of more it "
        "launches none and raises nothing. Larger blocks make fewer programs."
    )


def id_refusal(grid: Sequence[int]) -> str | None:
    """Why not every program of the grid can know its number; None where it can: `tl.program_id` is an int32."""
    if max(grid) <= INT32_END:
        return None
    return f"Program ids are int32 in Triton and end at {MAX_PROGRAMS:,}; along one axis this grid has {max(grid):,} programs."


class Numbers(Mapping[str, Any]):
    """A mapping of names to numbers, whole ones but for real parameters, that can be hashed and never changes."""

    def __init__(self, *others: Mapping[str, float], **numbers: float) -> None:
        self._numbers = {key: value for mapping in (*others, numbers) for key, value in mapping.items()}

    def __getitem__(self, name: str) -> Any:
        return self._numbers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __hash__(self) -> int:
        return hash(tuple(sorted(self._numbers.items())))

    def __repr__(self) -> str:
        return f"Numbers({', '.join(f'{key}={value}' for key, value in self.items())})"


@dataclass(frozen=True)
class Size:
    """A whole number that a person picks: a size of the problem, or of a block.

    Among blocks an `extent` is the length of one, a power of two for Triton; the others are other compile-time numbers.
    """

    name: str
    meaning: str
    default: int
    maximum: int = MAX_ELEMENTS
    minimum: int = 0
    extent: bool = True


@dataclass(frozen=True)
class Product:
    """The arguments of a matrix product by name: a of m by k times b of k by n is c, a tile of c per program."""

    a: str
    b: str
    c: str


@dataclass(frozen=True)
class Parameter:
    """A real number of an operator's formula that a person picks, as `eps`."""

    name: str
    meaning: str
    default: float
    minimum: float
    maximum: float


@dataclass(frozen=True)
class Problem:
    """What is to be computed: sizes by name, the dtype of the tensors, and the real parameters that are not as by default."""

    sizes: Numbers
    dtype: str = "float32"
    parameters: Numbers = field(default_factory=Numbers)

    def __getitem__(self, name: str) -> int:
        return self.sizes[name]


@dataclass(frozen=True)
class Tiling:
    """How the work is cut: block sizes by name (compile-time constants), warps a program, stages of the pipeline."""

    blocks: Numbers
    num_warps: int = 4
    num_stages: int = 3

    def __getitem__(self, name: str) -> int:
        return self.blocks[name]


@dataclass(frozen=True)
class Axis:
    """One dimension of the programs: each has `lanes` lanes along it and uses `live` of them, the last one `last`."""

    programs: int
    lanes: int
    live: int
    last: int

    @staticmethod
    def over(extent: int, block: int, divide: Callable[[int, int], int] = cdiv) -> Axis:
        """`extent` elements in blocks of `block`."""
        programs = divide(extent, block)
        last = min(block, extent - (programs - 1) * block) if programs else 0
        return Axis(programs, block, block if programs > 1 else last, last)

    @property
    def total(self) -> int:
        return max(self.programs - 1, 0) * self.live + self.last


@dataclass(frozen=True)
class Expected:
    """One load or store as the closed form has it: offsets in elements of the argument, and the mask, both of one shape."""

    kind: str
    argument: str
    offsets: Any
    mask: Any


@dataclass(frozen=True)
class Step:
    """One kernel of a computation: its name and the bytes of DRAM that a perfect cache would need."""

    name: str
    read: int
    written: int

    @property
    def moved(self) -> int:
        return self.read + self.written


@dataclass(frozen=True)
class Traffic:
    """Our kernels, and arithmetic operations, in all; what PyTorch launches is counted, and None where it has not been."""

    fused: tuple[Step, ...]
    operations: int = 0
    unfused: tuple[Step, ...] | None = None


@dataclass(frozen=True)
class Tolerance:
    """How far a result may be from float64: `absolute + relative * |reference|`."""

    absolute: float
    relative: float


def rounding(dtype: str, terms: int = 1) -> Tolerance:
    """The tolerance of a result stored in `dtype` after a float32 sum of `terms` products of numbers near 1.

    Two units in the last place for the store; `terms` float32 roundings of a sum that grows like the square root of
    `terms` (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2), with a factor of 16 to spare: of
    16 million sums of 4096 products the worst takes 23 % of it, in Triton and in cuBLAS alike (H200, float32).
    """
    unit = {"float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}[dtype]
    return Tolerance(absolute=unit / 2**6 + 2.0**-20 * max(terms, 1), relative=2 * unit)


@dataclass(frozen=True)
class Library:
    """PyTorch's own fused operation: its name, and the function, with the inputs of the operator's `pytorch`."""

    name: str
    function: Callable[..., Any]


@dataclass(frozen=True)
class Preset:
    """A named example: sizes, blocks and dtype, and one sentence that says what it shows."""

    title: str
    lesson: str
    sizes: Numbers
    blocks: Numbers
    dtype: str = "float32"


@dataclass(frozen=True)
class Remark:
    """A sentence about the numbers of a launch; `entered` where it is about a value that a person chose."""

    text: str
    entered: bool = False


@dataclass(frozen=True, repr=False)
class Operator:
    """All that is known of an operator; `plan` is enough for the pictures, what follows it is optional.

    A tensor argument `x_ptr` of the launch is the input `x` of the wrapper and of PyTorch's version where it has a filling,
    an output where it has none.

    plan      -- (problem, tiling, divide) to the launch; pure; `divide` rounds the grid
    tiling    -- (problem) to the launch rule's choice; the blocks' defaults where there is none
    story     -- (problem, tiling) to the sentence over the picture, numbers between `**`
    axes      -- (problem, tiling, divide) to the programs and their lanes
    owner     -- (problem, tiling, argument, elements) to the numbers of the programs that write them, or first read them
    accesses  -- (problem, tiling, program) to that program's loads and stores in order: the closed form
    feeds     -- (problem, tiling, output argument, element) to the elements of each input that it depends on
    grid      -- the grid function that the launch calls with the block sizes as `meta`
    wrapper   -- torch tensors, named like the inputs, and `parameters` to the outputs named in `outputs`; takes `tiling=`
    pytorch   -- the same in PyTorch, as the source texts have it
    traffic   -- (problem, tiling) to the bytes moved, a step a kernel
    tolerance -- (problem) to the largest difference from float64 that is rounding
    amplifies -- inputs in float64 and parameters to a factor on the absolute tolerance by output, where a formula cancels
                 large numbers
    expression -- PyTorch's version as one expression of the inputs, for scripts, `{eps}` where a parameter's value stands;
                 `results` how an output is had from the launch's tensors where it is not one of them
    parameters -- the real numbers of the formula: fields of pages, options of commands, arguments of all functions
    remarks   -- (problem) to what its dtype and parameters do to the numbers
    fold      -- in a reduction: the variables with lanes before it, the numbers between, the lanes after
    accumulates -- how outputs that are not final by themselves become so
    summed    -- outputs that are sums over all rows; the others are what each row makes of itself
    library   -- PyTorch's own fused operation, where there is one
    backward  -- the name of the operator that is the backward pass, where that is a kernel too
    measured  -- sizes at which fusion shows
    rowwise   -- whether a row of every output needs just that row of the inputs, so that results are compared in parts
    product   -- the arguments of a matrix product, drawn as tiles and measured in operations per second
    """

    name: str
    title: str
    sizes: tuple[Size, ...]
    blocks: tuple[Size, ...]
    plan: Callable[..., Launch]
    lesson: int = LAST_LESSON
    idea: str = ""
    formula: str = ""
    tiling: Callable[[Problem], Tiling] = None  # type: ignore[assignment]  # the blocks' defaults, see __post_init__
    story: Callable[[Problem, Tiling], str] | None = None
    axes: Callable[..., tuple[Axis, ...]] | None = None
    owner: Callable[[Problem, Tiling, str, Any], Any] | None = None
    accesses: Callable[[Problem, Tiling, tuple[int, int, int]], Iterator[Expected]] | None = None
    feeds: Callable[[Problem, Tiling, str, int], Mapping[str, Any]] | None = None
    grid: Callable[..., tuple[int, ...]] | None = None
    wrapper: Callable[..., Any] | None = None
    pytorch: Callable[..., Any] | None = None
    traffic: Callable[[Problem, Tiling], Traffic] | None = None
    tolerance: Callable[[Problem], Tolerance] | None = None
    amplifies: Callable[..., Mapping[str, Any]] | None = None
    outputs: tuple[str, ...] = ("output",)
    expression: str = ""
    results: Mapping[str, str] = field(default_factory=dict)
    fold: tuple[str, ...] = ()
    accumulates: Mapping[str, str] = field(default_factory=dict)
    summed: tuple[str, ...] = ()
    library: Library | None = None
    backward: str = ""
    measured: Numbers = field(default_factory=Numbers)
    presets: tuple[Preset, ...] = ()
    rowwise: bool = False
    product: Product | None = None
    parameters: tuple[Parameter, ...] = ()
    remarks: Callable[[Problem], Sequence[Remark]] | None = None

    def __post_init__(self) -> None:
        """Completes what was left out: blocks as by default whatever the problem, and an example of all defaults."""
        defaults = Numbers({block.name: block.default for block in self.blocks})
        if self.tiling is None:
            object.__setattr__(self, "tiling", lambda problem: Tiling(defaults))
        if not self.presets:
            sizes = Numbers({size.name: size.default for size in self.sizes})
            object.__setattr__(self, "presets", (Preset("As by default", "", sizes, defaults),))

    def __repr__(self) -> str:
        return f"<Operator {self.name}>"

    @property
    def start(self) -> Preset:
        """The example that the pictures start from."""
        return self.presets[0]

    @property
    def measured_start(self) -> Preset:
        """The sizes that a measurement starts from; it has no blocks, so that the launch rule chooses them for every dtype."""
        return Preset(self.title, "", self.measured, Numbers()) if self.measured else self.start

    @property
    def extents(self) -> tuple[str, ...]:
        """The names of the blocks that are lengths of blocks."""
        return tuple(block.name for block in self.blocks if block.extent)

    def values(self, problem: Problem) -> dict[str, float]:
        """The real parameters of the problem by name, those by default too."""
        return {one.name: problem.parameters.get(one.name, one.default) for one in self.parameters}

    def limits(self, problem: Problem, inputs: Mapping[str, Any], reference: Mapping[str, Any]) -> dict[str, Any]:
        """The largest difference from the float64 reference that is rounding, for every element of every output."""
        tolerance = self.tolerance(problem)
        factors = self.amplifies(**inputs, **self.values(problem)) if self.amplifies else {}
        return {
            name: tolerance.absolute * factors.get(name, 1.0) + tolerance.relative * abs(exact)
            for name, exact in reference.items()
        }
