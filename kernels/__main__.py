"""python -m kernels list | trace | compile | bench | check | ...: the explorer without a browser."""

import os
import sys

COMMANDS = {
    "list": "the operators and their sizes",
    "trace": "offsets, masks and values of chosen programs of a kernel",
    "compile": "what a launch builds for any target: registers, spills, layouts, PTX, SASS; or why it is refused",
    "try": "what an operator's file gives, what is wrong with it, and what is missing",
    "bench": "fused against unfused: time, bytes, kernels, on the attached GPU",
    "check": "whether Triton works on this machine, is right, and as fast as it should be",
    "explain": "what an error message means, and what to do",
    "merge": "the check's reports of several hosts in one table",
    "record": "makes the shipped pictures of the examples again",
    "record-gpu": "makes what ships from a real GPU: runs, schedules, a check",
}
INTERPRETS = ("trace", "try", "record")
NOT_INSTALLED = 5


def main(arguments: list[str]) -> int:
    """Runs one command and returns its exit code: 0, 2 for arguments that are not legal, 5 where a package is missing."""
    command = arguments[0] if arguments else ""
    if command not in COMMANDS:
        lines = "\n".join(f"  {name:12}{does}" for name, does in COMMANDS.items())
        wanted = command in ("-h", "--help")
        print(
            f"usage: python -m kernels COMMAND\n{lines}\nCOMMAND --help says more.", file=sys.stdout if wanted else sys.stderr
        )
        return 0 if wanted else 2
    # Triton decides at its first import whether kernels are interpreted.
    if command != "check":  # it says what is set, and its processes set their own
        os.environ["TRITON_INTERPRET"] = "1" if command in INTERPRETS else "0"
    import importlib

    try:
        return importlib.import_module(f"kernels.commands.{command.replace('-', '_')}").main(arguments[1:])
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("kernels"):
            raise
        wanted = "pip install -r requirements.txt"
        print(f"python -m kernels {command}: the package {error.name} is not installed: {wanted}", file=sys.stderr)
        return NOT_INSTALLED
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
