"""Files and folders: Triton's cache, temporary folders, full disks, network drives, Windows' paths."""

from __future__ import annotations

from .recipe import Recipe, Sign, issues

# A folder in which Triton or torch's compiler keep kernels, as a part of a path.
KEPT = r"(?:\.triton|torchinductor_[\w.-]{1,60}|triton_cache|tmp[/\\]{1,2}triton)"
WITHIN = rf"[^'\"\n]{{0,200}}[/\\]{KEPT}(?:[/\\][^'\"\n]{{0,300}})?"

RECIPES = (
    Recipe(
        "cache-not-writable",
        "The folder for compiled kernels cannot be written",
        "Triton keeps compiled kernels in a folder, and this user may not write to {path}.",
        "Set TRITON_CACHE_DIR (and TORCHINDUCTOR_CACHE_DIR for torch.compile) to a folder of your own on a local disk.",
        issues("triton-lang/triton#518", "dphnAI/sonar#458"),
        (
            Sign("permission denied", rf"Permission denied: ['\"](?P<path>{WITHIN})['\"]"),
            Sign("read-only file system", rf"Read-only file system: ['\"](?P<path>{WITHIN})['\"]"),
            Sign("access is denied", rf"Access is denied: ['\"](?P<path>{WITHIN})['\"]"),
        ),
        unnamed={"path": "it"},
    ),
    Recipe(
        "cache-not-a-folder",
        "The folder for compiled kernels does not exist",
        "The path that is set for Triton's cache cannot be a folder: a part of it is a file, a device, or cannot be made.",
        "Set TRITON_CACHE_DIR to a folder of your own on a local disk, or unset it (and see that HOME exists).",
        issues("triton-lang/triton#4002"),
        (
            Sign("could not create or locate cache dir", r"Could not create or locate cache dir"),
            Sign("not a directory", rf"Not a directory: ['\"](?P<path>{WITHIN})['\"]"),
        ),
    ),
    Recipe(
        "cache-shared",
        "A compiled kernel vanished from the cache",
        "The cache lies on a network drive, or several processes write and clean it at once.",
        "Set TRITON_CACHE_DIR to a folder on a local disk, one for each user or job.",
        issues("triton-lang/triton#2688", "triton-lang/triton#4002", "pytorch/pytorch#173679"),
        (
            Sign("no such file or directory", rf"No such file or directory: ['\"](?![A-Za-z]:){WITHIN}['\"]"),
            Sign("device or resource busy", rf"Device or resource busy: ['\"]{WITHIN}['\"]"),
            Sign("stale", rf"Stale (?:NFS )?file handle: ['\"]{WITHIN}['\"]"),
        ),
    ),
    Recipe(
        "stale-handle",
        "A file on a network drive vanished",
        "The file was removed or replaced on another machine while it was open here.",
        "Run it again. If it is Triton's or torch's cache, set TRITON_CACHE_DIR and TORCHINDUCTOR_CACHE_DIR to a local disk.",
        issues("pytorch/pytorch#173679", "triton-lang/triton#2688"),
        (Sign("file handle", r"\bStale (?:NFS )?file handle\b"),),
        follows=("cache-shared",),
    ),
    Recipe(
        "noexec",
        "{library} lies where nothing may be executed",
        "Triton compiles {library} and loads it from its cache or temporary folder, which is mounted noexec.",
        "Set TRITON_CACHE_DIR (and TORCHINDUCTOR_CACHE_DIR, TMPDIR) to a folder of a file system without noexec; a container's "
        "tmpfs takes the option exec (--tmpfs /tmp:exec).",
        issues("pytorch/pytorch#123054", "pytorch/pytorch#91005", "pytorch/pytorch#184362"),
        (
            Sign(
                "failed to map segment",
                r"(?P<library>(?:cuda_utils|hip_utils|__triton_launcher|__grp__\w{0,60})[\w.-]{0,80}\.so): failed to map"
                r" segment from shared object",
            ),
            Sign(
                "failed to map segment",
                rf"{WITHIN}[/\\](?P<library>[\w.-]{{1,120}}\.so): failed to map segment from shared object",
            ),
        ),
        unnamed={"library": "A library of Triton"},
    ),
    Recipe(
        "disk-full",
        "The disk is full",
        "There is no room (or no inode, or quota) left for {path}; /tmp, /dev/shm and a container's own layer are often small.",
        "df -h and df -i show which file system it is. TRITON_CACHE_DIR and TORCHINDUCTOR_CACHE_DIR move the compiled kernels, "
        "TMPDIR the compilers' temporary files.",
        issues("huggingface/lerobot#59", "pypa/pip#5816", "NVIDIA/DeepLearningExamples#1339"),
        (
            Sign("no space left on device", r"\bNo space left on device(?:: ['\"](?P<path>[^'\"\n]{1,300})['\"])?"),
            Sign("disk quota exceeded", r"\bDisk quota exceeded(?:: ['\"](?P<path>[^'\"\n]{1,300})['\"])?"),
        ),
        unnamed={"path": "a file"},
    ),
    Recipe(
        "windows-path",
        "A path may be too long for Windows",
        "Windows allows 260 characters, unless long paths are switched on; this may be one that is longer, so that the file "
        "was never written.",
        "Set LongPathsEnabled to 1 under HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\FileSystem and restart, or "
        "set TORCHINDUCTOR_CACHE_DIR and TRITON_CACHE_DIR to short folders such as C:\\t.",
        issues("pytorch/pytorch#167891", "pytorch/pytorch#187283", "Nerogar/OneTrainer#1120"),
        (
            Sign(
                "no such file or directory",
                r"No such file or directory: ?\s?['\"]?[A-Za-z]:[/\\][^'\"\n]{20,400}?[/\\]triton[/\\][^'\"\n]{90,600}",
            ),
        ),
        certain=False,
    ),
)
