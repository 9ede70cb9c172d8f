"""The limits of a target, checked before a launch and said in words."""

from __future__ import annotations

from dataclasses import dataclass

from ..launch import Launch
from ..runtime.device import Target
from .mix import Mix
from .stages import Stages

# Registers of 32 bits of one block, and the most that one thread can name: CUDA C++ Programming Guide, "Technical
# Specifications per Compute Capability"; AMD's CDNA 2 and CDNA 3 instruction set guides, "VGPRs" (512 a lane, half of them
# accumulators).
BLOCK_REGISTERS = {"cuda": 65536, "hip": None}
THREAD_REGISTERS = {"cuda": 255, "hip": 512}
# The first compute capability with arithmetic of the type: CUDA C++ Programming Guide, "Arithmetic Instructions"; fp8 on the
# matrix units from 8.9 on: PTX ISA, "mma". AMD: CDNA instruction set guides, "MFMA".
BF16_FROM, FP8_FROM = 80, 89
AMD_FP8 = {"gfx90a": "none", "gfx942": "fp8 of AMD's own kind (fnuz)", "gfx950": "fp8 as the Open Compute Project has it"}


@dataclass(frozen=True)
class Check:
    """One limit: what this launch needs, what the target has, whether it fits (None: not a yes or no), and a sentence."""

    name: str
    needed: str
    limit: str
    fits: bool | None
    words: str


def checks(stages: Stages, launch: Launch, counted: Mix) -> tuple[Check, ...]:
    """All limits that can be told from what was compiled; where nothing was, those that need no compiler."""
    target = stages.target
    found = [_programs(launch, target), _threads(launch, target)]
    if stages.texts:
        found += [_shared(stages), _registers(stages, launch), _spills(stages)]
        if "tt.dot" in stages.texts["ttir"]:
            found.append(_dot(counted))
    found.append(_dtypes(launch, target))
    return tuple(found)


def _programs(launch: Launch, target: Target) -> Check:
    axes = zip("xyz", launch.grid, target.grid, strict=True)
    over = [f"{programs:,} programs along {axis}" for axis, programs, most in axes if programs > most]
    limit = " × ".join(f"{most:,}" for most in target.grid)
    words = f"Too many: {', '.join(over)}." if over else "The grid fits."
    return Check("programs", " × ".join(f"{one:,}" for one in launch.grid), limit, not over, words)


def _threads(launch: Launch, target: Target) -> Check:
    threads = launch.num_warps * target.warp_size
    fits = 0 < threads <= target.threads
    words = f"{launch.num_warps} warps of {target.warp_size} threads run one program."
    if not fits:
        words += f" At most {target.threads // target.warp_size} warps fit."
    return Check("threads of a program", f"{threads:,}", f"{target.threads:,}", fits, words)


def _shared(stages: Stages) -> Check:
    needed, limit = stages.resources.shared_bytes or 0, stages.target.shared_bytes
    fits = None if limit is None else needed <= limit
    words = {
        None: f"How much shared memory {stages.target.name} has is not known here.",
        True: f"{needed / (limit or 1):.0%} of what one program may have." if needed else "None is used.",
        False: "Smaller tiles or fewer stages of the pipeline need less.",
    }[fits]
    return Check("shared memory of a program", f"{needed:,} B", "?" if limit is None else f"{limit:,} B", fits, words)


def _registers(stages: Stages, launch: Launch) -> Check:
    target, used = stages.target, stages.resources.registers
    most, block = THREAD_REGISTERS[target.backend], BLOCK_REGISTERS[target.backend]
    if used is None:
        return Check("registers of a thread", "-", f"{most}", None, "The binary does not tell how many registers.")
    threads = launch.num_warps * target.warp_size
    fits = used <= most and (block is None or used * threads <= block)
    words = f"{used * threads:,} in one program" + (f" of {block:,} that a multiprocessor has." if block else ".")
    return Check("registers of a thread", f"{used}", f"{most}", fits, words)


def _spills(stages: Stages) -> Check:
    spilled = stages.resources.spill_bytes
    if not spilled:
        words = "Every value found a register." if spilled == 0 else "The binary does not tell what is spilled."
        return Check("spilled to memory", "-" if spilled is None else "0 B", "0 B", True if spilled == 0 else None, words)
    words = (
        f"{spilled:,} bytes a thread find no register and go to memory and back, which is slow: more warps or a smaller block "
        "leave fewer values to a thread."
    )
    return Check("spilled to memory", f"{spilled:,} B a thread", "0 B", None, words)


def _dot(counted: Mix) -> Check:
    if counted.matrix:
        names = ", ".join(f"{name} × {count}" for name, count in counted.matrix.items())
        return Check("tl.dot", names, "matrix units", True, "tl.dot became matrix instructions.")
    words = (
        "tl.dot became ordinary multiplications and additions: the matrix units here do not take this type at full precision."
    )
    return Check("tl.dot", "no matrix instruction", "matrix units", None, words)


def _dtypes(launch: Launch, target: Target) -> Check:
    used = {tensor.dtype for tensor in launch.tensors.values()}
    if target.backend == "hip":
        has = AMD_FP8.get(str(target.arch), "fp8: not known here")
        return Check("types", ", ".join(sorted(used)), "float32, float16, bfloat16", True, f"On its matrix units: {has}.")
    lacks = [name for name, first in (("bfloat16", BF16_FROM), ("fp8", FP8_FROM)) if int(target.arch) < first]
    missing = "bfloat16" in lacks and "bfloat16" in used
    words = f"{target.name} has no {' and no '.join(lacks)} arithmetic" if lacks else "All types that Triton has, fp8 included"
    if missing:
        words += ": bfloat16 is converted to float32 and back, and no matrix unit takes it"
    return Check("types", ", ".join(sorted(used)), "all" if not lacks else f"no {', '.join(lacks)}", not missing, f"{words}.")
