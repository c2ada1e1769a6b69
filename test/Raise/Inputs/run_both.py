"""Runs every function of MLIR files twice with upstream passes and mlir-runner, as it is and raised and lowered again.

Arguments are waves of the place of an entry. Prints `equal: @name` if all entries agree to f32, else fails.
"""

import pathlib
import re
import subprocess
import sys

import numpy

from upstream import run_program

DYNAMIC = 3


def wave(index, kind):
    """An argument of a type, as ops of a function: other numbers for every argument."""
    sizes = [DYNAMIC if size == "?" else int(size) for size in kind.split("x")[:-1]]
    static = "x".join(map(str, sizes)) + "xf32"
    dims = ", ".join(f"d{place}" for place in range(len(sizes)))
    loops = ", ".join(['"parallel"'] * len(sizes))
    lines = [f"%e{index} = tensor.empty() : tensor<{static}>",
             f"%a{index} = linalg.generic {{indexing_maps = [affine_map<({dims}) -> ({dims})>], "
             f"iterator_types = [{loops}]}} outs(%e{index} : tensor<{static}>) {{",
             "^bb0(%old: f32):", "%sum = arith.constant 1 : index"]
    last = "%sum"
    for place, factor in enumerate([131, 37, 17, 5, 3][:len(sizes)]):
        lines += [f"%i{place} = linalg.index {place} : index",
                  f"%f{place} = arith.constant {factor + 2 * index} : index",
                  f"%p{place} = arith.muli %i{place}, %f{place} : index",
                  f"%s{place} = arith.addi {last}, %p{place} : index"]
        last = f"%s{place}"
    lines += [f"%n = arith.index_cast {last} : index to i32", "%x = arith.sitofp %n : i32 to f32",
              "%wave = math.sin %x : f32", "linalg.yield %wave : f32", f"}} -> tensor<{static}>"]
    if static != kind:
        lines.append(f"%c{index} = tensor.cast %a{index} : tensor<{static}> to tensor<{kind}>")
    return "\n".join(lines), f"%c{index}" if static != kind else f"%a{index}"


def main_of(name, arguments, result):
    made = [wave(index, kind) for index, kind in enumerate(arguments)]
    types = ", ".join(f"tensor<{kind}>" for kind in arguments)
    return "\n".join([
        "func.func private @printMemrefF32(tensor<*xf32>)", "func.func @main() {", *(text for text, _ in made),
        f"%o = call @{name}({', '.join(value for _, value in made)}) : ({types}) -> tensor<{result}>",
        f"%any = tensor.cast %o : tensor<{result}> to tensor<*xf32>",
        "call @printMemrefF32(%any) : (tensor<*xf32>) -> ()", "return", "}"])


def check(part):
    name, arguments, result = re.search(r"func\.func @(\w+)\((.*?)\) -> tensor<(.*?)>", part).groups()
    program = part + main_of(name, re.findall(r"tensor<(.*?)>", arguments), result)
    command = ["attn-opt", "-attn-raise"]
    raised = subprocess.run(command, input=program, capture_output=True, text=True, check=True)
    if "attn." not in raised.stdout:
        sys.exit(f"expected @{name} to be raised, but got no op of attn")
    before, after = run_program(program, []), run_program(program, ["-attn-raise", "-attn-to-linalg"])
    if before.shape != after.shape or not numpy.allclose(before, after, rtol=1e-5, atol=1e-5):
        sys.exit(f"expected @{name} to be the same, but got {before} and {after}")
    # Equal constants would show nothing.
    if numpy.ptp(before) < 0.01:
        sys.exit(f"expected entries of @{name} that differ, but got {before}")
    print(f"equal: @{name}")


for file in sys.argv[1:]:
    for part in pathlib.Path(file).read_text(encoding="utf-8").split("// -----"):
        check(part)
