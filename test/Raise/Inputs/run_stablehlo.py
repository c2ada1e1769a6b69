"""Raises what JAX's functions are in StableHLO, brought to linalg by JAX's own passes: from the text, and from the portable
artifact. Says `NAME: equal` if it is raised and means the same, else why not."""

import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [*os.environ["ATTUNE_FRAMEWORKS"].split(os.pathsep), str(HERE / "exported"), str(HERE.parents[2] / "utils")]

import jax  # noqa: E402

from export_jax import CASES  # noqa: E402
from run_both import check  # noqa: E402
from stablehlo_to_linalg import to_linalg  # noqa: E402

INLINED = ["-inline", "-symbol-dce", "-canonicalize"]

for name, (function, *inputs) in CASES.items():
    exported = jax.export.export(jax.jit(function))(*inputs)
    program = to_linalg(str(exported.mlir_module()).encode())
    if to_linalg(exported.mlir_module_serialized) != program:
        sys.exit(f"expected {name} to be the same from its text and from its artifact, but got different programs")
    program = program.replace("@main", f"@{name}")
    done = subprocess.run(["attn-opt", *INLINED, "-attn-raise", "--remarks-filter=attn-raise"], input=program,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name}: {done.stderr}")
    remarks = re.findall('Remark="(.*?)"', done.stderr)
    if any(remark.startswith("raised") for remark in remarks):
        check(program, INLINED)
        remarks = ["equal" if remark.startswith("raised") else remark for remark in remarks]
    print(f"{name}: {'; '.join(dict.fromkeys(remarks)) or 'nothing found'}", flush=True)
