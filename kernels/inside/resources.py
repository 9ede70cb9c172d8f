"""What one thread and one program take of a multiprocessor, read from the compiled binary."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass


@dataclass(frozen=True)
class Resources:
    """Registers of a thread, bytes that it spills into its stack, bytes of shared memory of a program.

    `scalar_registers` are those that all threads of a wave share (AMD); `accumulators` the ones of its matrix units. None
    where the binary does not tell.
    """

    registers: int | None = None
    spill_bytes: int | None = None
    shared_bytes: int | None = None
    scalar_registers: int | None = None
    accumulators: int | None = None


NO_RESOURCES = Resources()

# Attributes of the section .nv.info, as `cuobjdump -elf` names them: EIATTR_REGCOUNT, EIATTR_FRAME_SIZE.
_REGISTERS, _FRAME = 0x2F, 0x11
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")


def of_cubin(cubin: bytes, kernel: str, shared: int) -> Resources:
    """From the ELF file's section .nv.info. The frame of a Triton kernel holds spilled registers and nothing else."""
    sections = _sections(cubin)
    symbols = sections[".symtab"]
    names = sections[".strtab"]
    number = next(
        index
        for index, (name, *_) in enumerate(_SYMBOL.iter_unpack(symbols))
        if _string(names, name) == kernel and _SYMBOL.unpack_from(symbols, index * _SYMBOL.size)[1] & 0xF == 2
    )
    found = _attributes(sections[".nv.info"], number)
    return Resources(found.get(_REGISTERS), found.get(_FRAME, 0), shared)


def _sections(elf: bytes) -> dict[str, bytes]:
    start, size, count, names = struct.unpack_from("<Q", elf, 0x28)[0], *struct.unpack_from("<HHH", elf, 0x3A)
    headers = [_SECTION.unpack_from(elf, start + index * size) for index in range(count)]
    table = headers[names]
    strings = elf[table[4] : table[4] + table[5]]
    return {_string(strings, header[0]): elf[header[4] : header[4] + header[5]] for header in headers}


def _string(table: bytes, offset: int) -> str:
    return table[offset : table.index(b"\0", offset)].decode()


def _attributes(section: bytes, symbol: int) -> dict[int, int]:
    """(symbol, value) pairs of format 4, "sized value"; formats 1 to 3 have no size and take four bytes."""
    found, at = {}, 0
    while at + 4 <= len(section):
        form, attribute, size = struct.unpack_from("<BBH", section, at)
        at += 4
        if form != 4:
            continue
        if size == 8 and struct.unpack_from("<I", section, at)[0] == symbol:
            found[attribute] = struct.unpack_from("<I", section, at + 4)[0]
        at += size
    return found


def of_amdgcn(text: str, shared: int) -> Resources:
    """From the metadata that the assembly text ends with."""

    def number(name: str) -> int | None:
        found = re.search(rf"^\s+\.{name}:\s+(\d+)", text, re.MULTILINE)
        return int(found.group(1)) if found else None

    spilled = number("vgpr_spill_count")
    return Resources(
        registers=number("vgpr_count"),
        spill_bytes=None if spilled is None else 4 * spilled,
        shared_bytes=shared,
        scalar_registers=number("sgpr_count"),
        accumulators=number("agpr_count"),
    )
