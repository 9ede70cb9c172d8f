"""Kernels that were launched: wrongly, from the wrong place, or that broke while they ran."""

from __future__ import annotations

from .recipe import Recipe, Sign, issues

BLOCKING = "Run once with CUDA_LAUNCH_BLOCKING=1: the line that is named otherwise is of a later call."

RECIPES = (
    Recipe(
        "tensor-elsewhere",
        "The tensor is not on the GPU that the kernel was launched on",
        "A kernel runs on the current device, which is GPU 0 unless set, and argument {argument} lies elsewhere (on the CPU "
        "or on another GPU).",
        "See that the tensor is on a GPU at all, and launch inside `with torch.cuda.device(x.device):`.",
        issues("triton-lang/triton#2441", "triton-lang/triton#2925", "triton-lang/triton#5205"),
        (
            Sign(
                "cannot be accessed from triton",
                r"(?:Pointer argument \(at (?P<argument>\d{1,3})\) )?cannot be accessed from Triton \(cpu tensor\?\)",
            ),
        ),
        unnamed={"argument": "(a pointer)"},
    ),
    Recipe(
        "autotuner-threads",
        "One autotuned kernel was launched from two threads",
        "The autotuner keeps the arguments of a launch on the kernel; another thread's launch cleared them while it was "
        "measuring.",
        "Hold a lock around the first launches, or launch each kernel once before threads start; processes in place of threads "
        "(DistributedDataParallel in place of DataParallel) do not meet it.",
        issues("triton-lang/triton#11494", "fla-org/flash-linear-attention#66", "state-spaces/mamba#84"),
        (Sign("object is not a mapping", r"\b(?:autotuner|nargs)\b[\s\S]{0,600}?'NoneType' object is not a mapping"),),
    ),
    Recipe(
        "context-threads",
        "A launch from a thread without a CUDA context",
        "A new thread has no current GPU until it is given one.",
        "Call torch.cuda.set_device(number) at the start of every thread that launches kernels.",
        issues("triton-lang/triton#3729", "mstar-project/mstar#180"),
        (
            Sign("invalid device context", r"\binvalid device context\b"),
            Sign("cuda_error_invalid_context", r"\bCUDA_ERROR_INVALID_CONTEXT\b"),
        ),
    ),
    Recipe(
        "fork",
        "CUDA was used before a fork",
        "A forked process inherits CUDA's state and cannot use it; Linux forks multiprocessing's workers unless told "
        "otherwise.",
        "multiprocessing.set_start_method('spawn') in the main module, before any process is made (torch.multiprocessing and a "
        "DataLoader take it as a context), or do not touch CUDA before the fork.",
        issues("pytorch/pytorch#40403", "facebookresearch/pycls#183", "traveller59/spconv#408"),
        (Sign("in forked subprocess", r"Cannot re-initialize CUDA in forked subprocess"),),
    ),
    Recipe(
        "launch-argument",
        "The driver refuses the launch's shape",
        "This may be a grid with more than 65,535 programs in y or z, or more threads per block than the GPU has (num_warps).",
        "Put the large axis of the grid on x (up to 2^31 - 1), and take num_warps of 16 or fewer.",
        issues("triton-lang/triton#3299", "fla-org/flash-linear-attention#172", "triton-lang/triton#1491"),
        (Sign("invalid argument", r"\bTriton Error \[CUDA\]: invalid argument\b"),),
        certain=False,
    ),
    Recipe(
        "illegal-access",
        "The kernel read or wrote where nothing is",
        "A load or store misses its mask, or an offset went past 2^31: a 32-bit offset wraps to a negative one, which the "
        "mask lets through.",
        "See that every load and store has its mask, and cast tl.program_id to tl.int64 for tensors of more than 2^31 "
        "elements. The process has to be started again: its context is lost. " + BLOCKING,
        issues("triton-lang/triton#832", "triton-lang/triton#1058", "triton-lang/triton#1302"),
        (
            Sign("illegal memory access", r"\billegal memory access was encountered\b"),
            Sign("cuda_error_illegal_address", r"\bCUDA_ERROR_ILLEGAL_ADDRESS\b"),
        ),
    ),
    Recipe(
        "misaligned-address",
        "A wide access to an address that is not aligned",
        "The kernel was compiled for pointers or strides that are multiples of 16, and met one that is not: a view that "
        "starts in the middle (x[1:]), an odd stride, or a tl.multiple_of that does not hold.",
        "Make the tensor contiguous (x.contiguous(), or a copy), and take back hints that do not hold for every call. "
        + BLOCKING,
        issues("triton-lang/triton#1297", "triton-lang/triton#1320", "pytorch/pytorch#108102"),
        (
            Sign("misaligned address", r"\b(?:CUDA error|Error \[CUDA\]): misaligned address\b"),
            Sign("cuda_error_misaligned_address", r"\bCUDA_ERROR_MISALIGNED_ADDRESS\b"),
        ),
    ),
    Recipe(
        "launch-failure",
        "A kernel crashed, and the driver does not say how",
        "It may be an access outside shared or local memory, a fault of the compiler, or a driver or card in trouble.",
        "sudo dmesg | grep Xid may name it. "
        + BLOCKING
        + " compute-sanitizer finds bad accesses; other block sizes or another Triton "
        "tell a compiler's fault.",
        issues("triton-lang/triton#8475", "sgl-project/sglang#10570", "leggedrobotics/darknet_ros#149"),
        (
            Sign("unspecified launch failure", r"\bunspecified launch failure\b"),
            Sign("cuda_error_launch_failed", r"\bCUDA_ERROR_LAUNCH_FAILED\b"),
        ),
        certain=False,
        follows=("illegal-access", "misaligned-address", "device-assert"),
    ),
    Recipe(
        "launch-timeout",
        "A kernel ran longer than a display's GPU allows",
        "A GPU that drives a screen ends kernels after a few seconds (the watchdog; TDR on Windows).",
        "Use a GPU without a screen or work over SSH, make launches shorter, or on Windows raise TdrDelay; nvidia-smi shows "
        "Disp.A On for such a GPU.",
        issues("mrnabati/CenterFusion#76", "numba/numba#9381", "pytorch/pytorch#10853"),
        (
            Sign("timed out and was terminated", r"\bthe launch timed out and was terminated\b"),
            Sign("cuda_error_launch_timeout", r"\bCUDA_ERROR_LAUNCH_TIMEOUT\b"),
        ),
    ),
    Recipe(
        "device-assert",
        "A check inside a kernel failed",
        "On the GPU this did not hold: {condition}. Most often an index (a class, a token) lies outside its table.",
        "See the values that index: their smallest and largest against the size. "
        + BLOCKING
        + " The process has to be started again.",
        issues("pytorch/pytorch#48530", "facebookresearch/detectron2#4158", "pytorch/pytorch#55027"),
        (
            Sign("thread: [", r"thread: \[[\d, ]{5,30}\] Assertion [`']?(?P<condition>[^`\n]{1,200}?)[`']? failed"),
            Sign("device-side assert triggered", r"\bdevice-side assert triggered\b"),
        ),
        unnamed={"condition": "the assertion that the lines above name"},
    ),
    Recipe(
        "peer-access",
        "These two GPUs cannot reach each other's memory",
        "Direct copies between GPUs (P2P) need cards and slots that allow it; most GeForce cards do not, nor do many virtual "
        "machines.",
        "nvidia-smi topo -p2p r shows which pairs can. Switch direct access off in the program (NCCL_P2P_DISABLE=1 for NCCL), "
        "or use cards with NVLink.",
        issues("verl-project/verl#1874", "efeslab/Nanoflow#22", "ggml-org/llama.cpp#3230"),
        (
            Sign("peer access is not supported", r"\bpeer access is not supported between these two devices?\b"),
            Sign("peeraccessunsupported", r"\bcudaErrorPeerAccessUnsupported\b"),
        ),
    ),
    Recipe(
        "streamlit-classes",
        "Streamlit walks through torch.classes",
        "Streamlit's file watcher examines every module, and torch.classes answers to any name. It is a warning only.",
        'Set fileWatcherType = "none" in .streamlit/config.toml, or torch.classes.__path__ = [] before the app starts.',
        issues("streamlit/streamlit#10992"),
        (
            Sign("path of torch.classes", r"Examining the path of torch\.classes"),
            Sign("__path__", r"Tried to instantiate class '__path__"),
        ),
    ),
)
