"""Writes attn as linalg, runs it through MLIR's own passes and mlir-runner, and holds the output against the float64
interpreter of attn.

Of a YAML file, every spec: by its definition, and after selection (`--emit graph`), whose functions are terms; keys that do
not exist are NaN. Of an MLIR file, every function. Prints `equal: NAME (STAGE)`, else fails.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import numpy
import yaml

from upstream import main_of, run_program

TOLERANCE = {"f32": 2e-5, "f16": 4e-3, "bf16": 2e-2}
SIZES = {"batch": 2, "queries": 24, "keys": 24}


def call(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


def rounded(array, element):
    """As f32; bf16 to nearest even."""
    if element == "f16":
        return array.astype(numpy.float16).astype(numpy.float32)
    if element != "bf16":
        return array
    bits = array.astype(numpy.float32).view(numpy.uint32)
    even = bits + 0x7FFF + ((bits >> 16) & 1)
    return numpy.where(numpy.isnan(array), numpy.float32("nan"), (even & 0xFFFF0000).astype(numpy.uint32).view(numpy.float32))


def stored(array, element):
    if element == "bf16":
        return (rounded(array, element).view(numpy.uint32) >> 16).astype(numpy.uint16)
    return array.astype({"f32": numpy.float32, "f16": numpy.float16, "i32": numpy.int32}[element])


def literal(index, array, kind):
    """A constant, cast to the type of the argument."""
    element = kind.split("x")[-1]
    static = "x".join([*map(str, array.shape), element])
    text = f'%a{index} = arith.constant dense<"0x{stored(array, element).tobytes().hex()}"> : tensor<{static}>'
    if static == kind:
        return text, f"%a{index}"
    return f"{text}\n%c{index} = tensor.cast %a{index} : tensor<{static}> to tensor<{kind}>", f"%c{index}"


def functions(program):
    """(name, [(type, name of the argument)], type of the result) of each."""
    for line in program.splitlines():
        if header := re.match(r"\s*func\.func @(\w+)\((.*?)\) -> \(?tensor<([^>]*)>", line):
            arguments = re.findall(r'%(\w+): tensor<([^>]*)>(?: \{attn\.name = "([^"]+)")?', header[2])
            yield header[1], [(kind, name or argument) for argument, kind, name in arguments], header[3]


def judge(program, function, arrays, expected, tolerance, stage):
    name, arguments, result = function
    literals = [(*literal(index, arrays[of], kind), kind) for index, (kind, of) in enumerate(arguments)]
    got = run_program(program + main_of(name, literals, result), ["-attn-to-linalg"])
    if got.shape != expected.ravel().shape:
        sys.exit(f"expected {expected.size} entries of {name} ({stage}), but got {got.size}")
    error, size = numpy.linalg.norm(got - expected.ravel()), numpy.linalg.norm(expected)
    if not error <= tolerance * size:
        sys.exit(f"expected {name} ({stage}) within {tolerance} of {size}, but got {error}")
    print(f"equal: {name} ({stage})")


def check_spec(spec, folder):
    name, dtype = spec["attention"], spec["dtype"]
    file, inputs, outputs = folder / "spec.yaml", folder / "in", folder / "out"
    file.write_text(yaml.safe_dump(spec), encoding="utf-8")
    sizes = [word for size in SIZES if spec.get(size) == "?" for word in (f"--{size}", SIZES[size])]
    call("attnc", "init", file, "--out", inputs, "--inputs", "--seed", 7, *sizes)
    arrays = {path.stem: numpy.load(path) for path in inputs.glob("*.npy")}
    if "key_lengths" in arrays:
        lengths = arrays["key_lengths"]
        for which in ("k", "v", "context"):
            for entry, length in enumerate(lengths if which in arrays else []):
                arrays[which][entry, ..., int(length):, :] = numpy.nan
    for which, array in arrays.items():
        numpy.save(inputs / f"{which}.npy", array)
    call("attnc", "run", file, "--in", inputs, "--out", outputs, "--reference")
    expected = numpy.load(next(outputs.glob("*.npy"))).astype(numpy.float64)
    for stage in ("attn", "graph"):
        program = call("attnc", "compile", file, "--emit", stage)
        for function in functions(program):
            # Without the end of the module, which the parser needs as little as its beginning.
            body = program.rpartition("}")[0].partition("{")[2]
            judge(body, function, arrays, expected, TOLERANCE[dtype], stage)


def check_terms(part, folder):
    """A function of an MLIR file, of f32."""
    function, = functions(part)
    name, arguments, _ = function
    generator, files, arrays = numpy.random.default_rng(5), [], {}
    for kind, argument in arguments:
        arrays[argument] = generator.standard_normal([int(size) for size in kind.split("x")[:-1]]).astype(numpy.float32)
        files.append(folder / f"{argument}.npy")
        numpy.save(files[-1], arrays[argument])
    (folder / "terms.mlir").write_text(part, encoding="utf-8")
    call("attune-eval", folder / "terms.mlir", "-o", folder / "result.npy", *files)
    judge(part, function, arrays, numpy.load(folder / "result.npy"), TOLERANCE["f32"], "terms")


def main():
    text, of_specs = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"), sys.argv[1].endswith(".yaml")
    for part in yaml.safe_load_all(text) if of_specs else text.split("// -----"):
        with tempfile.TemporaryDirectory() as folder:
            (check_spec if of_specs else check_terms)(part, pathlib.Path(folder))


main()
