"""Packages that are missing, of the wrong release or build, or that load the wrong library."""

from __future__ import annotations

from .recipe import Recipe, Sign, issues

# A file of Triton or torch: the folder of that very name, or one of their libraries. Other products named Triton are not meant.
OURS = r"(?:[^)\s]{0,200}[/\\]\.?(?:triton|torch)[/\\]|[^)\s]{0,200}lib(?:triton|torch|c10))[^)\n]{0,200}"

RECIPES = (
    Recipe(
        "triton-missing",
        "Triton is not installed",
        "The Python that runs this has no package triton, or one that is too old for this torch.",
        "Look with `python -m pip show triton`. Linux: torch's GPU wheels bring it, so install torch again into this very "
        "Python; beside a CPU-only torch: pip install triton. Windows: pip install triton-windows. There are no wheels for "
        "macOS.",
        issues("Vchitect/LaVie#50", "Nerogar/OneTrainer#223", "triton-lang/triton#4034", "pytorch/pytorch#143406"),
        (
            Sign("no module named", r"No module named ['\"`]?triton['\"`]?(?![\w.'\"`])"),
            Sign("working triton installation", r"Cannot find a working triton installation"),
        ),
    ),
    Recipe(
        "torch-missing",
        "torch is not installed where it is looked for",
        "The Python that runs this has no package torch; while pip builds a package, it is pip's own empty environment.",
        "Install torch by the command on pytorch.org, Get started, into this very Python (`python -m pip show torch`). If pip "
        "was building another package: install torch first, then that package with --no-build-isolation.",
        issues("Dao-AILab/flash-attention#246", "Dao-AILab/flash-attention#1421", "unslothai/unsloth#1616"),
        (Sign("no module named", r"No module named ['\"`]?torch['\"`]?(?![\w.'\"`])"),),
    ),
    Recipe(
        "triton-ops",
        "{module} is gone from Triton",
        "Triton removed triton.ops after release 3.0; an older package, most often bitsandbytes before 0.45.1, still imports "
        "it.",
        "Update the package that the traceback names above this line: pip install --upgrade bitsandbytes. Triton is not at "
        "fault.",
        issues("triton-lang/triton#4236", "triton-lang/triton#5471", "bitsandbytes-foundation/bitsandbytes#1492"),
        (Sign("no module named", r"No module named ['\"`]?(?P<module>triton\.ops(?:\.\w{1,60}){0,4})\b"),),
        unnamed={"module": "triton.ops"},
    ),
    Recipe(
        "triton-release",
        "This Triton has no {name}",
        "What asks for it was written for another release of Triton.",
        "The traceback names who asks, above this line. If it is torch (torch/_inductor), install the pair that belongs "
        "together: pip install --force-reinstall torch brings its Triton along. If it is another package, update that one.",
        issues("pytorch/pytorch#123042", "pytorch/pytorch#129639", "deepbeepmeep/Wan2GP#1263", "triton-lang/triton#5728"),
        (
            Sign(
                "cannot import name",
                r"cannot import name '(?P<name>\w{1,80})' from '(?:partially initialized module ')?triton[.']",
            ),
            Sign("has no attribute", r"module 'triton(?:\.\w{1,60}){0,6}' has no attribute '(?P<name>\w{1,80})'"),
            Sign("no module named", r"No module named ['\"`]?(?P<name>triton\.(?!ops\b)\w[\w.]{0,120})"),
        ),
        unnamed={"name": "such name"},
    ),
    Recipe(
        "cpu-build",
        "This torch is a build without GPU support",
        "A CPU-only wheel is installed.",
        "Install torch again by the command on pytorch.org, Get started, for your GPU: its index names the build. Add "
        "--force-reinstall, since pip keeps a CPU build that is there already.",
        issues("opendatalab/MinerU#240", "Comfy-Org/desktop#1647"),
        (
            Sign("not compiled with", r"\bTorch not compiled with (?:CUDA|XPU|ROCm|HIP) enabled"),
            Sign("not linked with support for", r"\bPyTorch is not linked with support for (?:cuda|hip|xpu) devices"),
        ),
    ),
    Recipe(
        "glibcxx",
        "The C++ library here has no {version}",
        "A libstdc++ that is older than {library} needs was loaded first; in a conda environment it is often conda's own.",
        "conda install -c conda-forge 'libstdcxx-ng>=12' updates it there. Elsewhere install a newer libstdc++6, or take the "
        "folder of the old one out of LD_LIBRARY_PATH.",
        issues("triton-lang/triton#1543", "triton-lang/triton#3397", "triton-lang/triton#6747"),
        (
            Sign(
                "glibcxx_",
                rf"version [`'](?P<version>(?:GLIBCXX|CXXABI)_[\d.]{{1,12}})' not found \(required by (?P<library>{OURS})\)",
            ),
        ),
        unnamed={"version": "recent GLIBCXX", "library": "the package"},
    ),
    Recipe(
        "glibc",
        "The C library of this system has no {version}",
        "{library} was built for a newer Linux than this one.",
        "Run it in a newer distribution or a container of one, or take an older wheel: pip cannot replace the C library "
        "(`ldd --version` tells which one is here).",
        issues("ROCm/triton#290", "triton-lang/triton#7088", "intel/intel-xpu-backend-for-triton#5899"),
        (Sign("glibc_", rf"version [`'](?P<version>GLIBC_[\d.]{{1,12}})' not found \(required by (?P<library>{OURS})\)"),),
        unnamed={"version": "recent GLIBC", "library": "The package"},
    ),
    Recipe(
        "dll-load",
        "Windows cannot load {module}",
        "A library that {module} needs is missing or of another release: mostly the Visual C++ runtime, or a build that was "
        "cached by another Python or Triton.",
        "Install the newest Visual C++ Redistributable (vc_redist.x64.exe), delete the folder .triton\\cache of your profile, "
        "and install the triton-windows that belongs to this torch.",
        issues("woct0rdho/triton-windows#27", "woct0rdho/triton-windows#64", "woct0rdho/triton-windows#58"),
        (
            Sign(
                "dll load failed",
                r"DLL load failed while importing (?P<module>libtriton|cuda_utils|hip_utils|__triton_launcher)\b",
            ),
        ),
        unnamed={"module": "Triton's library"},
    ),
    Recipe(
        "nvjitlink",
        "Another CUDA's libnvJitLink is loaded",
        "{library} finds a libnvJitLink that has no {symbol}: LD_LIBRARY_PATH (or a preload) names the folder of another CUDA "
        "toolkit, which comes before the library that torch brought.",
        "Take the toolkit's folders out of LD_LIBRARY_PATH (unset it to try). If it stays: pip install --force-reinstall "
        "torch.",
        issues("pytorch/pytorch#111469", "pytorch/pytorch#134929", "infiniflow/ragflow#4466"),
        (
            Sign(
                "nvjitlink",
                r"(?:(?P<library>lib\w{1,40}\.so[.\d]{0,8}): )?undefined symbol: (?P<symbol>_{0,2}nvJitLink\w{1,60})",
            ),
        ),
        unnamed={"library": "A library of CUDA", "symbol": "such symbol"},
    ),
    Recipe(
        "cudart",
        "{library} is not found",
        "A package was built for CUDA {version}, whose runtime is not installed here: torch was built for another.",
        "Compare with `python -c 'import torch; print(torch.version.cuda)'`, and install the build of that package (or the "
        "torch) for the same CUDA, major version at least.",
        issues("vllm-project/vllm#31018", "vllm-project/vllm#52300", "CannyLab/tsne-cuda#126"),
        (Sign("libcudart.so", r"(?P<library>libcudart\.so\.(?P<version>\d[\d.]{0,6})): cannot open shared object file"),),
        unnamed={"library": "libcudart", "version": "another"},
    ),
)
