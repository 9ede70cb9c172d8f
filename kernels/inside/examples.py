"""Launches that show something of the hardware; their schedules are recorded and shipped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..runtime.request import Request
from ..runtime.settings import corrected


@dataclass(frozen=True)
class Example:
    """A launch as a link gives it, and one sentence that says what it shows."""

    title: str
    lesson: str
    texts: Mapping[str, str]

    def request(self, operator: str) -> Request:
        """The launch itself."""
        return corrected({"operator": operator, **self.texts})[0].request


def _matmul(size: int, group: int) -> dict[str, str]:
    sides = dict.fromkeys(("m", "n", "k"), str(size))
    return {**sides, "dtype": "float16", "GROUP_M": str(group)}


EXAMPLES: Mapping[str, tuple[Example, ...]] = {
    "vector_add": (
        Example("16 million", "16,384 programs in eight waves, the last of them short.", {"n_elements": str(2**24)}),
        Example("Not divisible", "1,048,575 is not divisible by 16: loads become scalar.", {"n_elements": "1048575"}),
        Example("Few programs", "64 programs: half of the SMs have nothing to do.", {"n_elements": "65536"}),
    ),
    "elementwise_chain": (Example("A million", "1,024 programs of one block each.", {"n_elements": "1048576"}),),
    "softmax": (
        Example("4096 rows", "A row a program, 4,096 columns.", {"rows": "4096", "columns": "4096"}),
        Example("Padded", "781 columns: 4-byte loads, and lanes that hold nothing.", {"rows": "1823", "columns": "781"}),
    ),
    "rms_norm": (
        Example("4096 rows", "A row a program: dozens of programs for every SM.", {"rows": "4096", "columns": "4096"}),
        Example("Six rows", "Six programs: six SMs work, the others stay dark.", {"rows": "6", "columns": "4096"}),
    ),
    "rms_norm_backward": (
        Example("4096 rows", "256 programs, each with every 256th row.", {"rows": "4096", "columns": "4096"}),
    ),
    "matmul_relu": (
        Example("Grouped order", "Groups of 8 rows of tiles share strips of a and b.", _matmul(8192, 8)),
        Example("Row order", "The same tiles, row after row.", _matmul(8192, 1)),
        Example("No help", "Of 4096 by 4096 the tiles that run at once are whole rows already.", _matmul(4096, 8)),
    ),
}
