"""Results that differ, and a card that is slow with no error."""

from __future__ import annotations

from .recipe import Recipe, Sign, issues

RECIPES = (
    Recipe(
        "tf32",
        "It may be float32 computed in TF32",
        "If the kernel multiplies float32 by tl.dot: that is TF32 unless told otherwise, with 10 bits of mantissa, so results "
        "may differ by about one in a thousand.",
        'Pass input_precision="ieee" to tl.dot, or compare with torch.set_float32_matmul_precision("high"). Otherwise compare '
        "both "
        "with float64: the tolerance may be too small for the dtype, or the kernel wrong.",
        issues("triton-lang/triton#1800", "triton-lang/triton#6265", "triton-lang/triton#8654"),
        (Sign("tensor-likes are not close", r"\bTensor-likes are not close\b"),),
        certain=False,
    ),
    Recipe(
        "held-back",
        "The card is held back: {reason}",
        "The driver lowers the clock because of {reason}.",
        "nvidia-smi -q -d PERFORMANCE,POWER,TEMPERATURE,PCIE shows limits and values while it works. Power cap: the limit "
        "(nvidia-smi -pl) or the cooling; thermal: the cooling; power brake or hardware slowdown: the power supply.",
        issues("flashinfer-ai/flashinfer#2899", "NVIDIA/DCGM#122", "Syllo/nvtop#6"),
        (
            Sign(
                ": active",
                r"\b(?P<reason>(?:HW|SW) (?:Thermal Slowdown|Power Brake Slowdown|Slowdown|Power Cap))[ \t]{0,60}: Active\b",
            ),
            Sign("held back: ", r"\bheld back: (?P<reason>[a-z][a-z ]{2,40})"),
        ),
        unnamed={"reason": "power or temperature"},
    ),
)
