"""Runs a program of MLIR with upstream's passes and mlir-runner."""

import pathlib
import re
import subprocess
import sys

import numpy

DECOMPOSE = pathlib.Path(__file__).resolve().parent / "decompose_softmax.mlir"
UPSTREAM = [
    f"--transform-preload-library=transform-library-paths={DECOMPOSE}", "--transform-interpreter",
    "--convert-elementwise-to-linalg",
    "--one-shot-bufferize=bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map",
    "--convert-linalg-to-loops", "--expand-strided-metadata", "--lower-affine", "--convert-scf-to-cf",
    "--convert-math-to-libm", "--convert-math-to-llvm", "--convert-arith-to-llvm", "--convert-index-to-llvm",
    "--finalize-memref-to-llvm", "--convert-func-to-llvm", "--convert-cf-to-llvm", "--reconcile-unrealized-casts",
]


def main_of(name, arguments, result):
    """A function main that prints what the function makes of (ops, value, type) of each argument, as f32."""
    values, types = (", ".join(words) for words in zip(*((value, f"tensor<{kind}>") for _, value, kind in arguments)))
    shape, _, element = result.rpartition("x")
    widen = "" if element == "f32" else f"%w = arith.extf %o : tensor<{result}> to tensor<{shape}xf32>"
    return "\n".join([
        "func.func private @printMemrefF32(tensor<*xf32>)", "func.func @main() {", *(ops for ops, _, _ in arguments),
        f"%o = call @{name}({values}) : ({types}) -> tensor<{result}>", widen,
        f"%any = tensor.cast {'%w' if widen else '%o'} : tensor<{shape}xf32> to tensor<*xf32>",
        "call @printMemrefF32(%any) : (tensor<*xf32>) -> ()", "return", "}"])


def run_program(program, passes):
    """What it prints by printMemrefF32, after these passes of attn-opt."""
    command = ["attn-opt", *passes, *UPSTREAM]
    lowered = subprocess.run(command, input=program, capture_output=True, text=True, check=False)
    if lowered.returncode:
        sys.exit(lowered.stderr)
    tools = subprocess.run(["llvm-config", "--libdir"], capture_output=True, text=True, check=True).stdout.strip()
    libraries = ",".join(f"{tools}/{name}" for name in ("libmlir_runner_utils.so", "libmlir_c_runner_utils.so"))
    ran = subprocess.run(["mlir-runner", "-e", "main", "--entry-point-result=void", f"--shared-libs={libraries}"],
                         input=lowered.stdout, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(ran.stderr)
    return numpy.array([float(x) for x in re.findall(r"-?\d+\.?\d*(?:e[-+]?\d+)?|nan", ran.stdout.split("data =")[1])])
