"""What the instructions of a kernel do: counted in the text, so that the body of a loop counts once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from .stages import Stages

KINDS = {
    "global load": "Reads memory of the GPU (DRAM, through L2).",
    "global store": "Writes memory of the GPU.",
    "shared memory": "Reads or writes the multiprocessor's own memory, which the threads of a program share.",
    "spill": "Reads or writes a thread's stack: values that found no register.",
    "matrix": "Multiplies small matrices on the matrix units.",
    "special function": "Root, reciprocal, exponential, logarithm: a unit of its own, at a quarter of the rate or less.",
    "floating point": "Adds, multiplies, compares, converts floating-point numbers.",
    "between threads": "Hands values from thread to thread without memory: how a reduction folds.",
    "integer": "Addresses, masks, counters: whole numbers and bits.",
    "move": "Copies registers, reads arguments of the kernel or the thread's own number.",
    "wait": "Waits: for other threads of the program, or for memory.",
    "control": "Branches, and the end of the program.",
    "other": "None of these.",
}

# By the beginning of the mnemonic; the first that fits counts.
_SASS = (
    ("global load", "LDG|LDGSTS|LD|UTMALDG|UBLKCP|ULDG"),
    ("global store", "STG|ST|ATOMG|ATOM|RED|REDG|UTMASTG|UTMAREDG"),
    ("shared memory", "LDS|STS|LDSM|STSM|ATOMS|MOVM|LDTM|STTM|UTCATOMSWS|UTCCP"),
    ("spill", "LDL|STL"),
    ("matrix", "[HIDBQO]MMA|[HIQ]GMMA|UTC[HIQO]MMA"),
    ("special function", "MUFU"),
    ("between threads", "SHFL|VOTEU?|MATCH|C?REDUX|ELECT"),
    (
        "floating point",
        r"U?F(ADD|MUL|FMA|MNMX|SETP?|SEL|CHK|SWZADD)[23]?|[HD](ADD|MUL|FMA|SETP?|MNMX)2?|U?([FI]2[FI]P?|F2FP|I2FP|FRND)",
    ),
    ("wait", "BAR|DEPBAR|LDGDEPBAR|SYNCS|MEMBAR|WARPSYNC|FENCE|WARPGROUP|ERRBAR|CCTL|NANOSLEEP|UTCBAR|UTMACMDFLUSH|ACQBULK"),
    ("control", "BRA|EXIT|BRX|JMP|RET|CALL|BSSY|BSYNC|BREAK|BPT|UVIRTCOUNT|ENDCOLLECTIVE|KILL"),
    ("move", r"U?MOV|CS2R|S2U?R|U?LDC|LDCU|R2UR|P2R|R2P|U?SEL|U?PRMT"),
    ("integer", r"U?(I|V)[A-Z]+\d?|U?(LEA|LOP3|PLOP3|SHF|SHL|SHR|SGXT|BREV|BMSK|FLO|POPC)|VIADD\w*"),
)
_AMD = (
    ("global load", "(global|buffer|flat)_load_"),
    ("global store", "(global|buffer|flat)_(store|atomic)_"),
    ("spill", "scratch_"),
    ("between threads", r"ds_(b?permute|swizzle)|v_permlane|v_readlane|v_\w+_dpp"),
    ("shared memory", "ds_"),
    ("matrix", "v_(smf|mf|wm)m?ma?c?"),
    ("special function", "v_(rcp|rsq|sqrt|exp|log|sin|cos)_"),
    ("wait", "s_(barrier|waitcnt|nop|sleep)"),
    ("control", r"s_(c?branch|endpgm|setpc|swappc|call)|s_\w+_saveexec"),
    ("move", r"v_(mov|accvgpr|readfirstlane|cndmask|perm)|s_(mov|load|buffer_load|cselect)"),
    ("floating point", r"v_\w*(f16|f32|f64|bf16)"),
    ("integer", "[vs]_"),
)
_LINE = {
    "sass": re.compile(r"^\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P[0-9T]+\s+)?([A-Z][A-Z0-9_.a-z]*)", re.MULTILINE),
    "amdgcn": re.compile(r"^\t([a-z]+_[a-z0-9_]+)", re.MULTILINE),
}
_TABLES = {
    "sass": [(kind, re.compile(rf"(?:{names})(?=[.]|$)")) for kind, names in _SASS],
    "amdgcn": [(kind, re.compile(names)) for kind, names in _AMD],
}


@dataclass(frozen=True)
class Mix:
    """How many instructions of each kind; loads and stores of GPU memory by bytes a thread; matrix instructions by name."""

    kinds: Mapping[str, int]
    loads: Mapping[int, int]
    stores: Mapping[int, int]
    matrix: Mapping[str, int]

    @property
    def instructions(self) -> int:
        return sum(self.kinds.values())


def mix(stages: Stages) -> Mix:
    """Counts the last stage, SASS or AMDGCN; the padding behind the end is left out."""
    names = [name for name in _LINE[stages.last].findall(stages.texts.get(stages.last, "")) if name != "NOP"]
    kinds: Counter[str] = Counter()
    loads: Counter[int] = Counter()
    stores: Counter[int] = Counter()
    matrix: Counter[str] = Counter()
    for name, count in Counter(names).items():
        kind = kind_of(name, stages.last)
        kinds[kind] += count
        if kind == "matrix":
            matrix[name] += count
        if kind in ("global load", "global store"):
            (loads if kind == "global load" else stores)[_width(name)] += count
    ordered = {kind: kinds[kind] for kind in KINDS if kinds[kind]}
    return Mix(ordered, dict(sorted(loads.items())), dict(sorted(stores.items())), dict(matrix))


def kind_of(name: str, stage: str) -> str:
    """What an instruction does, by its mnemonic."""
    return next((kind for kind, names in _TABLES[stage] if names.match(name)), "other")


def _width(name: str) -> int:
    """Bytes that one thread moves; 0 for a bulk copy, whose size is not in the instruction."""
    if name.startswith("U"):
        return 0
    if name.isupper():
        found = re.search(r"\.(128|64|U?S?16|U8|S8|256)(\.|$)", name)
        return int(re.sub(r"\D", "", found.group(1))) // 8 if found else 4
    if found := re.search(r"dwordx?(\d*)|_b(\d+)", name):
        return int(found.group(2)) // 8 if found.group(2) else 4 * int(found.group(1) or 1)
    return 1 if "byte" in name else 2 if "short" in name or "d16" in name else 4
