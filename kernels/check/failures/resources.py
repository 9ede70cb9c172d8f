"""What a block of a kernel takes from a multiprocessor (shared memory, threads, registers), and shapes it must have."""

from __future__ import annotations

from .recipe import Recipe, Sign, issues

NUMBERS = r"(?:, Required: (?P<required>\d{1,12}), Hardware limit: (?P<limit>\d{1,12}))?"
TRITON = "https://github.com/triton-lang/triton/blob/main/python/triton/compiler/compiler.py"

RECIPES = (
    Recipe(
        "shared-memory",
        "The tile does not fit into shared memory",
        "A block needs {required} bytes of shared memory, and this GPU gives a block {limit}: the tile was tuned for another "
        "GPU.",
        "Take smaller blocks or fewer stages (num_stages); leave configurations above the limit out of the autotuner's list.",
        issues("triton-lang/triton#8182", "vllm-project/vllm#36802", "InternLM/lmdeploy#2451"),
        (Sign("out of resource: shared memory", rf"\bout of resource: shared memory{NUMBERS}"),),
        unnamed={"required": "more", "limit": "less"},
    ),
    Recipe(
        "ptxas-shared",
        "{kernel} declares too much shared memory",
        "ptxas allows {limit} bytes of static shared memory per block, and the kernel declares {required}.",
        "Take smaller tiles; in CUDA C++ ask for dynamic shared memory above 48 KiB instead.",
        issues("ByteDance-Seed/Triton-distributed#5", "ggml-org/llama.cpp#16081", "BruceCanovas/supersurfel_fusion#1"),
        (
            Sign(
                "uses too much shared data",
                r"(?:Entry function '(?P<kernel>\w{1,60})\w{0,900}' )?uses too much shared data \((?P<required>0x[0-9a-f]+)"
                r" bytes, (?P<limit>0x[0-9a-f]+) max\)",
            ),
        ),
        unnamed={"kernel": "The kernel", "required": "more", "limit": "fewer"},
    ),
    Recipe(
        "block-threads",
        "The block has too many threads",
        "The kernel asks for {required} threads per block, and {limit} are allowed: num_warps times the threads of a warp (32 "
        "on NVIDIA, 64 on AMD Instinct).",
        "Take fewer warps: num_warps=16 at most where a warp has 64 threads.",
        issues("unslothai/unsloth#4051", "flagos-ai/FlagTree#714", "linkedin/Liger-Kernel#231"),
        (Sign("out of resource: threads", rf"\bout of resource: threads{NUMBERS}"),),
        unnamed={"required": "more", "limit": "fewer"},
    ),
    Recipe(
        "tensor-memory",
        "The tile does not fit into tensor memory",
        "A block needs {required} columns of Blackwell's tensor memory, and {limit} are there.",
        "Take smaller tiles: the accumulator of tl.dot lies in tensor memory, of BLOCK_M by BLOCK_N elements.",
        (TRITON,),
        (Sign("out of resource: tensor memory", rf"\bout of resource: tensor memory{NUMBERS}"),),
        unnamed={"required": "more", "limit": "fewer"},
    ),
    Recipe(
        "block-registers",
        "The block takes too many registers",
        "A block's threads times the registers of each are more than the multiprocessor has (65,536 on NVIDIA's GPUs).",
        "Take fewer warps or smaller tiles, or cap the registers per thread (maxnreg in Triton, __launch_bounds__ in CUDA "
        "C++).",
        issues("HazyResearch/ThunderKittens#37", "MadryLab/trak#26", "TrajectoryCrafter/TrajectoryCrafter#27"),
        (
            Sign("too many resources requested", r"\btoo many resources requested for launch\b"),
            Sign("launch_out_of_resources", r"\bCUDA_ERROR_LAUNCH_OUT_OF_RESOURCES\b"),
        ),
    ),
    Recipe(
        "power-of-two",
        "A block that is not a power of two",
        "tl.arange, and so a block, takes powers of two only; {size} was given.",
        "Use triton.next_power_of_2(n) as the block, and a mask for what lies past the end.",
        issues("triton-lang/triton#3722", "sgl-project/sglang#25672"),
        (
            Sign("must be a power of 2", r"\barange's range must be a power of 2\b"),
            Sign("must be a power of 2", r"\bShape element (?P<size>\d{1,3}) must be a power of 2\b"),
        ),
        unnamed={"size": "another size"},
    ),
    Recipe(
        "dtype-float8",
        "This GPU does not have {dtype}",
        "Triton has {dtype} on some GPUs only (fp8e4nv, torch.float8_e4m3fn, from compute capability 8.9 on); this one has "
        "{supported}.",
        "Choose by torch.cuda.get_device_capability(): float8_e5m2 (fp8e5) or a 16-bit type here, or a checkpoint without "
        "float8.",
        issues("triton-lang/triton#4319", "sgl-project/sglang#5871", "vllm-project/vllm#17581"),
        (
            Sign(
                "not supported in this architecture",
                r"type (?P<dtype>fp8\w{2,6}) not supported in this architecture(?:\. The supported fp8 dtypes are "
                r"(?P<supported>\([^)\n]{0,80}\)))?",
            ),
        ),
        unnamed={"dtype": "that float8", "supported": "others"},
    ),
    Recipe(
        "dtype-bfloat16",
        "This GPU does not have bfloat16",
        "bfloat16 arithmetic needs compute capability 8.0 (Ampere) or newer.",
        "Use float16 or float32 on this GPU: choose by torch.cuda.get_device_capability().",
        issues("triton-lang/triton#1941", "unslothai/unsloth#434"),
        (
            Sign("feature '.bf16'", r"Feature '\.bf16' requires"),
            Sign(".bf16", r"\.bf16[^\n]{0,80} requires \.?(?:target )?sm_80"),
            Sign("bfloat16 is only supported on", r"\bbfloat16 is only supported on GPUs with compute capability"),
        ),
    ),
)
