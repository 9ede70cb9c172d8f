"""What the compiler built: figures against NVIDIA's own tool, lines by hand, the mix, limits, and what compiles anew."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from kernels import operators
from kernels.inside import assembly, representation
from kernels.inside.checks import checks
from kernels.inside.differences import differing
from kernels.inside.fits import _neighbours
from kernels.inside.interpreted import interpreted, why
from kernels.inside.jobs import fits_job, remarks_job, stages_job, variants_job
from kernels.inside.lines import listing
from kernels.inside.mix import KINDS, kind_of, mix
from kernels.inside.stages import STAGES, Stages
from kernels.inside.variants import arguments
from kernels.runtime.compile import Verdict
from kernels.runtime.device import TARGETS, find_target
from kernels.runtime.limits import shared_refusal
from kernels.runtime.request import Request
from kernels.runtime.settings import corrected
from kernels.runtime.source import source_of
from kernels.runtime.workers import Workers

from .limits import PATIENCE

ROOT = Path(__file__).parents[1]
SPILLS = {"operator": "rms_norm", "rows": 64, "columns": 32768, "BLOCK_SIZE": 32768, "num_warps": 4}
ADD = {"n_elements": 98432, "BLOCK_SIZE": 1024}
MATMUL = {"operator": "matmul_relu", "m": 512, "n": 512, "k": 512, "dtype": "bfloat16"}


def request_of(**texts: object) -> Request:
    settings, said = corrected({name: str(value) for name, value in texts.items()})
    assert not said
    return settings.request


@pytest.fixture(scope="module")
def compiler():
    workers = Workers()
    yield workers["compile"]
    workers.close()


def compiled(compiler, target: str, **texts: object) -> tuple[Request, Stages]:
    request = request_of(**texts)
    return request, compiler.call(stages_job, request, find_target(target), seconds=120)


def linked(request: Request, stages: Stages, stage: str) -> list[tuple[str, str]]:
    """(line of the stage, line of the source it belongs to) for every line of a stage."""
    kernel = request.launch().kernel
    source = source_of(kernel)
    found = listing(stages, stage, source, kernel.fn.__code__.co_filename)
    codes = ["" if place is None else source.lines[place - source.first].strip() for place in found.places]
    return list(zip(found.lines, codes, strict=True))


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_120"])
@pytest.mark.parametrize("texts", [ADD, SPILLS, MATMUL], ids=["add", "spills", "matmul"])
def test_registers_and_spills_are_those_of_cuobjdump(compiler, tmp_path, target, texts):
    _, stages = compiled(compiler, target, **texts)
    path = tmp_path / "kernel.cubin"
    path.write_bytes(stages.binary)
    tool = Path(find_spec("triton").origin).parent / "backends/nvidia/bin/cuobjdump"
    told = subprocess.run([tool, "--dump-resource-usage", path], capture_output=True, text=True, check=True).stdout
    registers, stack, local = (int(re.search(rf"{name}:(\d+)", told).group(1)) for name in ("REG", "STACK", "LOCAL"))
    assert (stages.resources.registers, stages.resources.spill_bytes) == (registers, stack + local)
    if texts is SPILLS:
        counted = mix(stages)
        assert (stages.resources.spill_bytes > 0) == (counted.kinds.get("spill", 0) > 0)
        assert "STL" in stages.texts["sass"]


def test_registers_of_amd_are_those_of_the_assembly(compiler):
    _, stages = compiled(compiler, "gfx942", **MATMUL)
    for name, value in (("vgpr_count", stages.resources.registers), ("sgpr_count", stages.resources.scalar_registers)):
        assert f".{name}:" in stages.texts["amdgcn"]
        assert re.search(rf"\.{name}:\s+{value}\b", stages.texts["amdgcn"])
    assert stages.resources.shared_bytes == stages.metadata["shared"] > 0


def test_the_lines_of_vector_add_in_ptx_and_sass_by_hand(compiler):
    request, stages = compiled(compiler, "sm_90", **ADD)
    for stage, load, store, add, number in (("ptx", "ld.global.v4", "st.global.v4", "add.f32", "%ctaid.x"),
                                            ("sass", "LDG.E.128", "STG.E.128", "FADD", "SR_CTAID.X")):  # fmt: skip
        pairs = linked(request, stages, stage)
        loads = [code for line, code in pairs if load in line]
        assert sorted(loads) == 2 * ["x = tl.load(x_ptr + offsets, mask=mask)"] + 2 * [
            "y = tl.load(y_ptr + offsets, mask=mask)"
        ]
        assert [code for line, code in pairs if store in line] == 2 * ["tl.store(output_ptr + offsets, output, mask=mask)"]
        assert [code for line, code in pairs if add in line] == 8 * ["output = x + y"]
        assert [code for line, code in pairs if number in line] == ["pid = tl.program_id(axis=0)"]
    tid = [code for line, code in linked(request, stages, "ptx") if "%tid.x" in line]
    assert tid == ["offsets = block_start + tl.arange(0, BLOCK_SIZE)"]


def test_the_lines_of_vector_add_in_the_other_stages_by_hand(compiler):
    request, stages = compiled(compiler, "gfx942", **ADD)
    want = {"tt.load": "= tl.load(", "tt.store": "tl.store(", "arith.addf": "output = x + y"}
    want |= {"buffer_load_dwordx4": "= tl.load(", "buffer_store_dwordx4": "tl.store("}
    seen = set()
    for stage in STAGES["hip"]:
        for line, code in linked(request, stages, stage):
            for word in [one for one in want if f"{one} " in line]:
                assert want[word] in code, (stage, line, code)
                seen.add(word)
    assert seen == set(want)


def test_what_a_helper_does_belongs_to_the_line_that_calls_it(compiler):
    request, stages = compiled(compiler, "sm_90", operator="rms_norm", rows=6, columns=5)
    for stage, word in (("ptx", "shfl.sync"), ("sass", "SHFL"), ("ttgir", "tt.reduce.return")):
        codes = {code for line, code in linked(request, stages, stage) if word in line}
        assert codes == {"mean = tl.sum(squares, axis=0) / n_columns"}, stage


@pytest.mark.parametrize("operator", operators())
@pytest.mark.parametrize("target", ["sm_86", "sm_100", "gfx950"])
def test_every_stage_of_every_operator_reaches_every_line_that_does_something(compiler, operator, target):
    request, stages = compiled(compiler, target, operator=operator)
    assert stages.verdict.launchable or request.tiling.blocks.get("BLOCK_SIZE") == 3
    if not stages.texts:
        return
    assert tuple(stages.texts) == STAGES[find_target(target).backend]
    for stage in stages.texts:
        pairs = linked(request, stages, stage)
        codes = {code for _, code in pairs if code}
        assert not any(code.startswith(("#", ")")) for code in codes)
        assert any(code.startswith("tl.store") for code in codes)
        assert any("tl.load" in code for code in codes)
        assert sum(bool(code) for _, code in pairs) > len(pairs) / 3


def test_marks_inside_inline_assembly_are_passed_over():
    text = "\t.loc\t1 31 9\n\t// begin inline asm\n\t.loc\t1 31 9\n\tmov.u32 %r1, 0x0;\n\t.loc\t1 32 9\n\tmov.u32 %r2, 0x0;\n"
    text += '\t// end inline asm\n\tadd.f32 %r3, %r1, %r2;\n\t.file\t1 "/somewhere/else/add.py"\n'
    assert assembly.ptx_places(text, range(26, 40), "add.py") == {4: 31, 6: 31, 8: 31}


def test_inlined_calls_are_followed_to_the_kernel():
    later = "\t.loc\t1 66 12\n\t.loc\t2 314 12, function_name $L, inlined_at 1 66 12\n\tmov.u32 %r1, 0;\n"
    later += "\t.loc\t2 287 12, function_name $L, inlined_at 2 314 12\n\tmov.u32 %r2, 0;\n"
    earlier = "\t.loc\t2 287 12 // standard.py:287:12 @[ standard.py:314:12 @[ norm.py:66:12 ] ]\n\tmov.u32 %r1, 0;\n"
    files = '\t.file\t1 "/a/norm.py"\n\t.file\t2 "/b/standard.py"\n'
    assert assembly.ptx_places(later + files, range(60, 70), "norm.py") == {3: 66, 5: 66}
    assert assembly.ptx_places(earlier + files, range(60, 70), "norm.py") == {2: 66}


def test_locations_of_mlir_and_llvm_are_resolved():
    text = "    %0 = tt.load %1 : f32 loc(#loc3)\n    %2 = arith.addf %0, %0 : f32 loc(callsite(#loc1 at #loc3))\n"
    text += '#loc1 = loc("/b/standard.py":7:3)\n#loc2 = loc("/a/add.py":31:9)\n#loc3 = loc("x"(#loc2))\n'
    assert representation.mlir(text, range(26, 40), "add.py") == [
        ("    %0 = tt.load %1 : f32", 31),
        ("    %2 = arith.addf %0, %0 : f32", 31),
    ]
    text = "    scf.for %i = %a to %b  : i32 {\n      %3 = arith.addi %i, %i : i32 loc(#loc2)\n    } loc(#loc4)\n"
    text += '#loc2 = loc("/a/add.py":31:9)\n#loc4 = loc("/a/add.py":30:9)\n'
    assert [place for _, place in representation.mlir(text, range(26, 40), "add.py")] == [30, 31, None]
    text = "  %1 = fadd float %0, %0, !dbg !3\n!3 = !DILocation(line: 7, column: 1, scope: !1, inlinedAt: !4)\n"
    text += "!4 = distinct !DILocation(line: 33, column: 1, scope: !2)\n"
    assert representation.llvm(text, range(26, 40), "add.py") == [("  %1 = fadd float %0, %0", 33)]


def stages_with(stage: str, text: str) -> Stages:
    target = find_target("sm_90" if stage == "sass" else "gfx942")
    return Stages(target, Verdict(True, target.name), {stage: text})


def test_the_mix_of_a_text_counted_by_hand():
    lines = ["@!P0 LDG.E.128 R4, desc[UR4][R2.64] ;", "LDG.E.U16 R4, [R2] ;", "LDGSTS.E.BYPASS.LTC128B.128 [R1], [R2] ;"]
    lines += ["STG.E.64 [R2], R4 ;", "FADD R1, R2, R3 ;", "MUFU.RSQ R1, R2 ;", "HMMA.16816.F32.BF16 R1, R2, R3, R4 ;", "NOP;"]
    lines += [
        "SHFL.BFLY PT, R1, R2, 0x1, 0x1f ;",
        "STL [R1], R2 ;",
        "@P1 EXIT ;",
        "BAR.SYNC 0x0 ;",
        "UIADD3 UR4, UR4, 1, URZ ;",
    ]
    found = mix(stages_with("sass", "\n".join(f"        /*{16 * n:04x}*/   {line}" for n, line in enumerate(lines))))
    assert found.kinds == {
        "global load": 3, "global store": 1, "spill": 1, "matrix": 1, "special function": 1, "floating point": 1,
        "between threads": 1, "integer": 1, "wait": 1, "control": 1,
    }  # fmt: skip
    assert (found.loads, found.stores, found.instructions) == ({2: 1, 16: 2}, {8: 1}, 12)
    amd = mix(stages_with("amdgcn", "\tglobal_load_dwordx4 v[0:3], v[0:1], off\n\tbuffer_load_ushort v1, v2, s[0:3], 0 offen\n"
                          "\tv_mfma_f32_32x32x8_bf16 a[0:15], v[0:1], v[2:3], 0\n\tds_bpermute_b32 v1, v2, v3\n"))  # fmt: skip
    assert (amd.loads, dict(amd.kinds)) == ({2: 1, 16: 1}, {"global load": 2, "matrix": 1, "between threads": 1})


@pytest.mark.parametrize(
    ("mnemonic", "kind"),
    [
        ("UFMUL", "floating point"),
        ("UFSETP.GEU.AND", "floating point"),
        ("UFSEL", "floating point"),
        ("UI2FP.F32.S32", "floating point"),
        ("UISETP.NE.AND", "integer"),
        ("USEL", "move"),
    ],
)
def test_instructions_of_the_uniform_path_have_a_kind(mnemonic, kind):
    """ptxas of CUDA 13 makes them of what all threads share, on the newest chips."""
    assert kind_of(mnemonic, "sass") == kind


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100", "sm_120", "gfx90a", "gfx942", "gfx950"])
def test_no_instruction_of_the_operators_is_without_a_kind(compiler, target):
    for texts in (MATMUL, {"operator": "softmax", "rows": 6, "columns": 781}, SPILLS):
        _, stages = compiled(compiler, target, **texts)
        found = mix(stages)
        assert "other" not in found.kinds
        assert set(found.kinds) <= set(KINDS)
        assert sum(found.loads.values()) == found.kinds["global load"]


@pytest.mark.parametrize(
    ("target", "name"), [("sm_80", "HMMA"), ("sm_90", "HGMMA"), ("sm_100", "UTCHMMA"), ("gfx942", "v_mfma_f32")]
)
def test_every_target_has_its_own_matrix_instruction(compiler, target, name):
    texts = {**MATMUL, "BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "num_warps": 4}
    request, stages = compiled(compiler, target, **texts)
    found = mix(stages)
    assert {one[: len(name)] for one in found.matrix} == {name}
    assert next(one for one in checks(stages, request.launch(), found) if one.name == "tl.dot").fits


def test_float32_at_full_precision_has_no_matrix_units_on_nvidia(compiler):
    request, stages = compiled(compiler, "sm_90", operator="matmul_relu", m=64, n=64, k=64)
    assert kind_of("HMMA.1688.F32.TF32", "sass") == "matrix"
    assert not mix(stages).matrix
    (said,) = [one for one in compiler.call(remarks_job, request, find_target("sm_90"), seconds=60) if "tl.dot" in one]
    assert "ordinary multiplications" in said


def test_a_size_that_16_does_not_divide_makes_the_loads_narrow_and_the_claim_is_compiled(compiler):
    sm_90 = find_target("sm_90")
    odd, even = request_of(n_elements=1000, BLOCK_SIZE=1024), request_of(n_elements=1024, BLOCK_SIZE=1024)
    (said,) = compiler.call(remarks_job, odd, sm_90, seconds=60)
    assert said == (
        "A thread loads at most 4 bytes at once because n_elements = 1,000 is not divisible by 16; "
        "with n_elements = 1,008 it loads 16 at once."
    )
    assert compiler.call(remarks_job, even, sm_90, seconds=60) == ()


def test_what_specialisation_does_and_when_it_compiles_anew(compiler):
    request, target = request_of(**ADD), find_target("sm_90")
    became = {one.name: one.became for one in arguments(request, target)}
    assert became["n_elements"] == "int32, divisible by 16"
    assert became["x_ptr"] == "pointer, divisible by 16"
    assert {one.name: one.became for one in arguments(request_of(n_elements=1, BLOCK_SIZE=1024), target)}[
        "n_elements"
    ] == "constant"
    found = {one.change.partition(":")[0]: one for one in compiler.call(variants_job, request, target, seconds=120)}
    same = {change for change, one in found.items() if one.same}
    assert same == {"n_elements = 98,432, this launch", "n_elements = 98,448", "seed = 1"}
    assert found["n_elements = 98,435"].kernel == found["n_elements = 98,437"].kernel
    assert (found["n_elements = 98,435"].widest_load, found["n_elements = 98,448"].widest_load) == (4, 16)
    assert len({one.kernel for one in found.values()}) == 6


LAUNCHED = {
    "sm_90": [ADD, {"n_elements": 1000}, {"n_elements": 1}, {"n_elements": 2**33}, MATMUL],
    "gfx942": [{"operator": "rms_norm", "rows": 64, "columns": 4099}, {"n_elements": 2**30}],
}


@pytest.mark.parametrize("target", LAUNCHED)
def test_a_launch_would_run_the_very_kernel_that_is_shown(compiler, target):
    small = [one for one in LAUNCHED[target] if one.get("n_elements", 0) < 2**29]  # Triton's own way needs real tensors
    lines = [" ".join([target, *(f"{name}={value}" for name, value in one.items())]) for one in small]
    environment = {**os.environ, "TRITON_INTERPRET": "0", "TRITON_DEFAULT_FP_FUSION": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.as_launched", *lines],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [compiled(compiler, target, **one)[1].metadata["hash"] for one in small]


def test_a_tensor_past_2_gb_gets_no_buffer_instructions_on_amd(compiler):
    near, far = (compiled(compiler, "gfx942", n_elements=n)[1].texts["amdgcn"] for n in (2**20, 2**30))
    assert "buffer_load" in near
    assert "buffer_load" not in far


def test_a_second_compile_is_taken_from_the_cache_and_afresh_it_is_not(compiler):
    request, first = compiled(compiler, "sm_90", **ADD)
    again = compiler.call(stages_job, request, find_target("sm_90"), seconds=60)
    assert (again.cached, dict(again.texts)) == (True, dict(first.texts))
    assert sum(again.seconds.values()) < 0.1
    fresh = compiler.call(stages_job, request, find_target("sm_90"), True, seconds=60)
    assert (fresh.cached, list(fresh.seconds)[-2:]) == (False, ["cubin", "store"])


LARGE = {**MATMUL, "m": 4096, "n": 4096, "k": 4096, "BLOCK_M": 256, "BLOCK_N": 128, "BLOCK_K": 64, "num_warps": 8}


def test_too_much_shared_memory_is_refused_before_a_launch_with_what_fits(compiler):
    request, stages = compiled(compiler, "gfx942", **LARGE)
    assert not stages.verdict.launchable
    assert stages.verdict.reason == shared_refusal(stages.resources.shared_bytes, TARGETS["gfx942"])
    assert stages.texts
    shared = next(one for one in checks(stages, request.launch(), mix(stages)) if one.name == "shared memory of a program")
    assert (shared.fits, shared.limit) == (False, "65,536 B")
    found = compiler.call(fits_job, request, find_target("gfx942"), seconds=120)
    assert found
    for one in found:
        assert compiler.call(stages_job, one.request, find_target("gfx942"), seconds=60).verdict.launchable
    assert interpreted(request) is None
    assert "no shared memory" in why(stages.verdict.reason)


@pytest.mark.parametrize(
    ("texts", "target", "runs", "because", "fit"),
    [
        ({**MATMUL, "BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 8}, "sm_90", True, "matrix units", "BLOCK_K = 16"),
        ({**ADD, "num_warps": 64}, "sm_90", True, "no threads", "num_warps = 32"),
        ({**ADD, "num_warps": 32}, "gfx90a", True, "no threads", "num_warps = 16"),
        ({"n_elements": 7, "BLOCK_SIZE": 3}, "sm_90", False, "", "BLOCK_SIZE = 4"),
    ],
)
def test_what_runs_in_the_interpreter_but_not_on_the_target(compiler, texts, target, runs, because, fit):
    request, stages = compiled(compiler, target, **texts)
    assert not stages.verdict.launchable
    said = interpreted(request)
    assert (said is None) == runs, said
    assert because in why(stages.verdict.reason)
    assert fit in [one.change for one in compiler.call(fits_job, request, find_target(target), seconds=60)]


def test_neighbours_change_something_and_stay_legal():
    request = request_of(**{**MATMUL, "BLOCK_K": 8})
    for change, other in _neighbours(request, find_target("sm_90")):
        assert other != request
        assert change


def test_what_lacks_a_type_is_said(compiler):
    request, stages = compiled(compiler, "sm_75", **MATMUL, BLOCK_M=16, BLOCK_N=16, BLOCK_K=16)
    types = next(one for one in checks(stages, request.launch(), mix(stages)) if one.name == "types")
    assert (types.fits, types.limit) == (False, "no bfloat16, fp8")
    request, stages = compiled(compiler, "sm_89", **MATMUL)
    assert next(one for one in checks(stages, request.launch(), mix(stages)) if one.name == "types").limit == "all"


def test_two_listings_differ_where_their_instructions_do(compiler):
    request, one = compiled(compiler, "sm_90", **ADD)
    _, other = compiled(compiler, "sm_90", n_elements=98432, BLOCK_SIZE=512)
    kernel = request.launch().kernel
    first, second = (listing(s, "ptx", source_of(kernel), kernel.fn.__code__.co_filename) for s in (one, other))
    only_first, only_second = differing("ptx", first, second)
    assert sum("ld.global" in first.lines[number] for number in only_first) == 2
    assert not any("ld.global" in second.lines[number] for number in only_second)
    assert differing("ptx", first, first) == (frozenset(), frozenset())
