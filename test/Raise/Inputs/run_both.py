"""Runs every function of MLIR files twice with upstream passes and mlir-runner, as it is and raised and lowered again.

Arguments are waves of the place of an entry. Prints `equal: @name` if all entries agree to f32, else fails.
"""

import pathlib
import re
import subprocess
import sys

import numpy

from upstream import main_of, run_program

DYNAMIC = 3


def wave(index, kind):
    """An argument of a type, as ops of a function: other numbers for every argument."""
    *sizes, element = kind.split("x")
    sizes = [DYNAMIC if size == "?" else int(size) for size in sizes]
    shape = "x".join(map(str, sizes))
    if element in ("i32", "i64"):  # numbers of keys
        return f"%a{index} = arith.constant dense<{[3 + place for place in range(sizes[0])]}> : tensor<{kind}>", f"%a{index}"
    static = f"{shape}xf32"
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
    value = f"%a{index}"
    if element != "f32":
        lines.append(f"%r{index} = arith.truncf {value} : tensor<{static}> to tensor<{shape}x{element}>")
        value = f"%r{index}"
    if f"{shape}x{element}" != kind:
        lines.append(f"%c{index} = tensor.cast {value} : tensor<{shape}x{element}> to tensor<{kind}>")
        value = f"%c{index}"
    return "\n".join(lines), value


def with_main(program):
    """The program with a function main that prints what its first function makes of waves; the name of that."""
    name, arguments, result = re.search(r"func\.func (?:public )?@(\w+)\((.*?)\) -> tensor<(.*?)>", program).groups()
    kinds = re.findall(r"tensor<(.*?)>", arguments)
    main = main_of(name, [(*wave(index, kind), kind) for index, kind in enumerate(kinds)], result)
    if re.search("^module", program, re.MULTILINE):
        return re.sub("^}$", lambda _: main + "\n}", program, count=1, flags=re.MULTILINE), name, result
    return program + main, name, result


def check(part, before_both=()):
    """Fails unless the program means the same when it is raised and lowered again."""
    program, name, result = with_main(part)
    raised = subprocess.run(["attn-opt", *before_both, "-attn-raise"], input=program, capture_output=True, text=True,
                            check=True)
    if "attn." not in raised.stdout:
        sys.exit(f"expected @{name} to be raised, but got no op of attn")
    before = run_program(program, [*before_both])
    after = run_program(program, [*before_both, "-attn-raise", "-attn-to-linalg"])
    # The program rounds between its ops to its own type.
    tolerance = 1e-5 if result.endswith("f32") else 2e-2
    if before.shape != after.shape or not numpy.allclose(before, after, rtol=tolerance, atol=tolerance):
        sys.exit(f"expected @{name} to be the same, but got {before} and {after}")
    # Equal constants would show nothing.
    if numpy.ptp(before) < 0.01:
        sys.exit(f"expected entries of @{name} that differ, but got {before}")
    return name


if __name__ == "__main__":
    for file in sys.argv[1:]:
        for function in pathlib.Path(file).read_text(encoding="utf-8").split("// -----"):
            print(f"equal: @{check(function)}")
