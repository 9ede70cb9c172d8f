"""What the instructions of a stage do, a sentence each, for people who meet them the first time."""

from __future__ import annotations

import re
from html import escape

RESOURCES = {  # what a thread and a program take, by the pattern of the word
    "registers?": "A thread's own place for one number, the fastest memory there is; on NVIDIA a thread has at most 255.",
    "spilled": "Moved to the thread's stack in memory, because there were not enough registers: slow.",
    "shared memory": "A small fast memory of the multiprocessor that all threads of one program share.",
}
WORDS = {
    "tt.get_program_id": "This program's number along an axis of the grid.",
    "tt.make_range": "The lane numbers 0, 1, 2, ...: tl.arange.",
    "tt.splat": "One number, repeated in every lane.",
    "tt.addptr": "Addresses: a pointer plus an offset, lane by lane.",
    "tt.load": "Reads memory for every live lane.",
    "tt.store": "Writes memory for every live lane.",
    "tt.dot": "Multiplies two tiles as matrices.",
    "tt.reduce": "Folds all lanes into one value.",
    "ttg.convert_layout": "Hands elements to other threads, mostly through shared memory.",
    "ttg.local_alloc": "Takes shared memory for a tile.",
    "ttg.local_load": "Reads a tile from shared memory.",
    "ttg.async_copy_global_to_local": "Starts a copy from GPU memory to shared memory and goes on.",
    "ttg.async_wait": "Waits until such copies are done.",
    "ttng.warp_group_dot": "Matrix multiplication by four warps together (Hopper).",
    "ttng.tc_gen5_mma": "Matrix multiplication into tensor memory (Blackwell).",
    "ld.global": "Loads from GPU memory; v4.b32 is 16 bytes at once.",
    "st.global": "Stores to GPU memory; v4.b32 is 16 bytes at once.",
    "ld.param": "Reads an argument of the kernel.",
    "ld.shared": "Loads from shared memory.",
    "st.shared": "Stores to shared memory.",
    "cp.async": "Starts a copy from GPU memory to shared memory and goes on.",
    "shfl.sync": "Hands a value to another thread of the warp.",
    "bar.sync": "Waits for all threads of the program.",
    "setp": "Compares, and keeps yes or no for each thread.",
    "selp": "Chooses between two values by a yes or no.",
    "mad": "Multiplies and adds whole numbers.",
    "fma": "Multiplies and adds with one rounding.",
    "mma.sync": "A warp multiplies small matrices on the matrix units.",
    "wgmma": "Four warps multiply matrices on the matrix units (Hopper).",
    "tcgen05": "Matrix multiplication with tensor memory (Blackwell).",
    "ldmatrix": "Loads small matrices from shared memory, spread over the warp.",
    "rsqrt": "One divided by the square root, approximately.",
    "ex2": "Two to the power of a number, approximately: how exp is made.",
    "cvt": "Converts from one type to another.",
    "LDG": "Loads from GPU memory; .128 is 16 bytes at once.",
    "STG": "Stores to GPU memory; .128 is 16 bytes at once.",
    "LDGSTS": "Copies from GPU memory to shared memory without registers.",
    "LDS": "Loads from shared memory.",
    "STS": "Stores to shared memory.",
    "LDSM": "Loads small matrices from shared memory, spread over the warp.",
    "LDL": "Loads a spilled value from the thread's stack.",
    "STL": "Spills a value to the thread's stack.",
    "LDC": "Reads an argument of the kernel from constant memory.",
    "ULDC": "Reads an argument of the kernel, once for the warp.",
    "LDCU": "Reads an argument of the kernel, once for the warp.",
    "S2R": "Reads a special register: the thread's or the program's number.",
    "S2UR": "Reads a special register, once for the warp.",
    "ISETP": "Compares whole numbers: a mask.",
    "FSETP": "Compares floating-point numbers.",
    "IMAD": "Multiplies and adds whole numbers; also used to copy.",
    "LEA": "Computes an address: shifts and adds.",
    "LOP3": "Any logical operation on three numbers.",
    "SHF": "Shifts bits.",
    "FADD": "Adds.",
    "FMUL": "Multiplies.",
    "FFMA": "Multiplies and adds with one rounding.",
    "MUFU": "Special function unit: root, reciprocal, exponential.",
    "SHFL": "Hands a value to another thread of the warp.",
    "HMMA": "A warp multiplies small matrices on the matrix units.",
    "HGMMA": "Four warps multiply matrices on the matrix units (Hopper).",
    "UTCHMMA": "Matrix multiplication with tensor memory (Blackwell).",
    "BAR": "Waits for all threads of the program.",
    "BRA": "Goes on at another place.",
    "EXIT": "This thread is done.",
    "CS2R": "Clears registers: what a masked lane holds.",
    "F2FP": "Converts to a narrower floating-point type.",
    "global_load": "Loads from GPU memory; dwordx4 is 16 bytes at once.",
    "global_store": "Stores to GPU memory; dwordx4 is 16 bytes at once.",
    "buffer_load": "Loads from GPU memory with a check of the bounds.",
    "buffer_store": "Stores to GPU memory with a check of the bounds.",
    "ds_read": "Loads from shared memory (LDS).",
    "ds_write": "Stores to shared memory (LDS).",
    "s_load": "Reads arguments of the kernel, once for the wave.",
    "s_waitcnt": "Waits until loads have arrived.",
    "s_barrier": "Waits for all threads of the program.",
    "s_and_saveexec": "Switches lanes off: a mask.",
    "v_mfma": "A wave multiplies small matrices on the matrix units.",
    "v_cmp": "Compares, lane by lane: a mask.",
    "v_rsq": "One divided by the square root, approximately.",
    "v_exp": "Two to the power of a number, approximately: how exp is made.",
    "s_endpgm": "The program is done.",
}
_NAME = {
    "ttir": re.compile(r'(?:= |^\s*)"?(tt\w*\.[a-z_0-9]+)'),
    "ptx": re.compile(r"^\s+(?:@!?%p\d+ )?([a-z][a-z0-9_.]*)"),
    "sass": re.compile(r"^/\*[0-9a-f]+\*/\s+(?:@!?U?P[0-9T]+\s+)?([A-Z][A-Z0-9]*)"),
    "amdgcn": re.compile(r"^\s+([a-z]+_[a-z0-9_]+)"),
}
_NAME["ttgir"] = _NAME["ttir"]


def explained(line: str, stage: str) -> str:
    """The line as HTML, escaped, its instruction marked and explained where there are words for it."""
    found = _NAME[stage].match(line) if stage in ("ptx", "sass", "amdgcn") else None
    if stage in ("ttir", "ttgir"):
        found = _NAME[stage].search(line)
    if not found:
        return escape(line)
    start, end = found.span(1)
    words = meaning(found.group(1))
    title = f' title="{escape(words, quote=True)}"' if words else ""
    return f'{escape(line[:start])}<b class="does"{title}>{escape(line[start:end])}</b>{escape(line[end:])}'


def meaning(name: str) -> str:
    """What an instruction does: by its name, or by the longest beginning of it that has words; empty where there are none."""
    beginnings = [word for word in WORDS if name == word or name.startswith((f"{word}.", f"{word}_"))]
    return WORDS[max(beginnings, key=len)] if beginnings else ""
