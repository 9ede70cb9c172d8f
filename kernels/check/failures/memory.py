"""The card's memory: full, or not to be had by a library."""

from __future__ import annotations

from .recipe import Recipe, Sign, issues

RECIPES = (
    Recipe(
        "out-of-memory",
        "The GPU's memory is full",
        "{size} were asked for, and {free} of {total} were free: this process's own tensors, or other processes, hold the "
        "rest.",
        "nvidia-smi (rocm-smi) shows who else uses the card. Take smaller batches or sizes and free what is not needed; if "
        "much is reserved but unallocated, set PYTORCH_ALLOC_CONF=expandable_segments:True.",
        issues("pytorch/pytorch#16417", "lllyasviel/FramePack#369", "AlphaGPU/leetgpu-challenges#52"),
        (
            Sign(
                "out of memory. tried to allocate",
                r"\b(?:CUDA|HIP) out of memory\. Tried to allocate (?P<size>[\d.]+ [KMGT]?i?B)"
                r"(?:\. GPU \d+ has a total capac(?:i?ty) of (?P<total>[\d.]+ [KMGT]?i?B) of which (?P<free>[\d.]+ "
                r"(?:[KMGT]i?B|bytes)) is free)?",
            ),
            Sign("out of memory", r"\b(?:CUDA|HIP) out of memory\b"),
            Sign("out of memory", r"\b(?:CUDA|HIP) error: out of memory\b"),
            Sign("out of memory", r"\bTriton Error \[(?:CUDA|HIP)\]: (?:Code: \d+, Mess?s?age: )?out of memory\b"),
            Sign("cuda_error_out_of_memory", r"\bCUDA_ERROR_OUT_OF_MEMORY\b"),
        ),
        unnamed={"size": "More bytes", "free": "fewer", "total": "all"},
    ),
    Recipe(
        "cublas-memory",
        "cuBLAS could not start",
        "cuBLAS needs some memory of its own when it is first used: the card may be full, or an earlier kernel may have "
        "broken the context.",
        "See nvidia-smi for free memory, and take a smaller batch. If memory is free, run once with CUDA_LAUNCH_BLOCKING=1: "
        "the first error names the real fault.",
        issues("QwenLM/Qwen3#873", "DeepMotionAIResearch/DenseMatchingBenchmark#20", "JDAI-CV/fast-reid#625"),
        (
            Sign("cublas_status_alloc_failed", r"\bCUBLAS_STATUS_ALLOC_FAILED\b"),
            Sign("cublas_status_not_initialized", r"\bCUBLAS_STATUS_NOT_INITIALIZED when calling"),
        ),
        certain=False,
        follows=("device-assert", "illegal-access", "out-of-memory"),
    ),
)
