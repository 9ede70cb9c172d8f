"""Faults that the driver reports of a card, mostly as numbers (Xid) in the kernel's log."""

from __future__ import annotations

from .recipe import Recipe, Sign, issues

CATALOG = "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html"


def xid(number: int) -> tuple[Sign, Sign]:
    """The two ways in which logs write an Xid: with the card's place on the bus, and without."""
    return (
        Sign(f"): {number}", rf"\bXid \((?:PCI:)?[^)\n]{{4,40}}\): {number}\b"),
        Sign(f"xid {number}", rf"\bXid {number}\b"),
    )


RECIPES = (
    Recipe(
        "ecc",
        "Memory errors that could not be corrected",
        "The card found errors in its memory that its code could not repair; what was computed is not to be trusted.",
        "Restart the program, then reset the GPU (nvidia-smi --gpu-reset) or restart. If it comes again, have the card "
        "replaced.",
        (CATALOG, *issues("vllm-project/vllm#5222", "sgl-project/sglang#3204", "nagadit/DeepFaceLab_Linux#89")),
        (
            Sign("uncorrectable ecc", r"\buncorrectable ECC error encountered\b"),
            Sign("cuda_error_ecc_uncorrectable", r"\bCUDA_ERROR_ECC_UNCORRECTABLE\b"),
            *xid(48),
            *xid(95),
        ),
    ),
    Recipe(
        "gpu-lost",
        "The GPU fell off the bus (Xid 79)",
        "The card no longer answers over PCIe: heat, power, a riser or slot, firmware, or the card itself.",
        "Restart. If it comes again: seat card and power cables anew, see cooling and power supply, update the firmware, keep "
        "the clock low (nvidia-smi -lgc 300,1500) to try, have the card replaced.",
        (CATALOG, *issues("NVIDIA/open-gpu-kernel-modules#507", "rossumai/nvgpu#6", "LSSI-ETH/plmfit#40")),
        (
            Sign("fallen off the bus", r"\bfallen off the bus\b"),
            Sign("gpu is lost", r"\bGPU is lost\b"),
            *xid(79),
        ),
    ),
    Recipe(
        "xid-13",
        "A kernel broke on the GPU (Xid 13)",
        "The driver reports an exception of a program on the GPU{what}: most often a kernel that accesses what it may not.",
        "Look for the fault in the program first (masks, indices; compute-sanitizer finds it). Only if good programs meet it "
        "on this one GPU is the card suspect.",
        (CATALOG, *issues("NVIDIA/TensorRT-LLM#15610", "3dem/relion#436", "vllm-project/vllm#5901")),
        (
            Sign(
                "): 13,",
                r"\bXid \((?:PCI:)?[^)\n]{4,40}\): 13,(?:[^\n]{0,200}?SM Warp Exception on \([^)\n]{0,40}\)(?P<what>: [\w"
                r" ]{1,40}))?",
            ),
            xid(13)[1],
        ),
        unnamed={"what": ""},
    ),
    Recipe(
        "xid-31",
        "A program accessed memory that is not there (Xid 31)",
        "The GPU's memory unit met an address that is not mapped: mostly an access out of bounds in a program or a library, "
        "sometimes the driver.",
        "Look for the fault in the program first (masks, offsets past 2^31; compute-sanitizer). If good programs meet it "
        "again and again on this one GPU, update the driver, then have the card tested.",
        (CATALOG, *issues("NVIDIA/open-gpu-kernel-modules#1030", "NVIDIA/NVSentinel#271", "doitsujin/dxvk#2495")),
        xid(31),
    ),
    Recipe(
        "xid-63",
        "The card marked bad memory for replacement (Xid 63)",
        "A row or page with errors is taken out of use: this is the record of a repair, not a failure.",
        "Reset the GPU (nvidia-smi --gpu-reset) or restart at the next chance: the repair is made then. Watch nvidia-smi -q -d "
        "ROW_REMAPPER for a count that grows.",
        (
            CATALOG,
            "https://docs.nvidia.com/deploy/dynamic-page-retirement/visibility.html",
            "https://github.com/stas00/ml-engineering/blob/master/compute/accelerator/nvidia/debug.md",
        ),
        xid(63),
    ),
    Recipe(
        "xid-64",
        "A repair of the card's memory failed (Xid 64)",
        "A bad row or page could not be taken out of use: the spare ones are used up, or the record could not be written.",
        "Reset the GPU or restart; if nvidia-smi -q -d ROW_REMAPPER shows a failure, have the card replaced.",
        (
            CATALOG,
            "https://docs.nvidia.com/deploy/dynamic-page-retirement/visibility.html",
            *issues("awslabs/awsome-distributed-ai#1190"),
        ),
        xid(64),
    ),
    Recipe(
        "xid-94",
        "A memory error hit one program (Xid 94)",
        "An error that could not be corrected was contained: the program that met it ends, others go on.",
        "Start that program again. Reset the GPU when it is free, so that the bad memory is taken out of use; if it comes "
        "often, have the card tested.",
        (CATALOG, *issues("leptonai/gpud#1174", "NVIDIA/gpu-operator#1065")),
        xid(94),
    ),
    Recipe(
        "gsp",
        "The GPU's system processor does not answer (Xid 119)",
        "The driver waited in vain for the GSP, the processor on the card that runs its firmware: a fault of firmware, driver "
        "or card.",
        "Restart (a reset of the GPU may do), and update the driver. If it stays: the option NVreg_EnableGpuFirmware=0 of the "
        "module nvidia does without it, where the closed modules are used; then have the card tested.",
        (CATALOG, *issues("NVIDIA/open-gpu-kernel-modules#446", "NVIDIA/open-gpu-kernel-modules#461")),
        (
            *xid(119),
            *xid(120),
            Sign("from gsp", r"\bTimeout (?:after \d+s of )?waiting for RPC (?:response )?from (?:GPU\d+ )?GSP\d*!"),
        ),
        follows=("gpu-lost",),
    ),
    Recipe(
        "xid-154",
        "The driver asks for: {action} (Xid 154)",
        "After an earlier fault the GPU needs to be recovered; the Xid before this line is the cause.",
        "Do what it names: GPU Reset is nvidia-smi --gpu-reset once nobody uses the GPU, Drain and Reset the same after all "
        "programs have ended, Node or OS Reboot a restart of the machine. Then look at the earlier Xid.",
        (CATALOG, *issues("NVIDIA/open-gpu-kernel-modules#1134")),
        (
            Sign(
                "): 154,",
                r"\bXid \((?:PCI:)?[^)\n]{1,40}\): 154, GPU recovery action changed from [^\n]{1,30}\s{1,20}to 0x\w+ \("
                r"(?P<action>[\w ]{1,40})\)",
            ),
            *xid(154),
        ),
        follows=("gpu-lost", "ecc", "xid-13", "xid-31", "xid-64", "xid-94", "gsp"),
        unnamed={"action": "recovery"},
    ),
)
