"""Golden data: inputs, parameters and outputs of small specs, kept beside the specs, a .safetensors file each.

`--make` draws them and writes what the interpreter gives. Without it compiled code and the interpreter are held against the
kept output; with `--oracle` the kept output is held against the oracle.
"""

import argparse
import json
import pathlib
import sys
import tempfile

import numpy as np

import judges
import reference
from attnc import Failed, attnc, read_spec
from judges import Case

OUTPUT = "output"
KINDS = {"F32": np.dtype("<f4"), "I32": np.dtype("<i4")}


def write_safetensors(path, arrays):
    """The header's length in 8 bytes, the header in JSON, the data."""
    header, data = {}, b""
    for name, array in arrays.items():
        kind = "I32" if array.dtype.kind == "i" else "F32"
        raw = np.ascontiguousarray(array, KINDS[kind]).tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def read_safetensors(path):
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    arrays = {}
    for name, entry in json.loads(data[8:start]).items():
        first, end = entry["data_offsets"]
        arrays[name] = np.frombuffer(data[start + first:start + end], KINDS[entry["dtype"]]).reshape(entry["shape"])
    return arrays


def make(args, spec, data):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        attnc(args.attnc, "init", spec, "--out", folder, "--inputs", "--seed", 11)
        case = Case(spec, read_spec(spec), folder)
        arrays = {**case.arrays(), OUTPUT: judges.by_interpreter(args.attnc, case, folder)}
        write_safetensors(data, arrays)


def by_oracle(args, spec, kept, folder):
    case = Case(spec, read_spec(spec), folder / "in")
    case.files.mkdir()
    for name, array in kept.items():
        np.save(case.files / f"{name}.npy", array)
    return judges.by_oracle(args.oracle, case, folder)


def run(args, spec, given, folder, flags):
    """The output; what went wrong as a text."""
    try:
        attnc(args.attnc, "run", spec, "--in", given, "--out", folder, *flags)
    except Failed as error:
        return str(error)
    return judges.only_output(folder)


def verdict(case, way, got, golden):
    """(whether it is right, what to say)."""
    if isinstance(got, str):
        return False, got
    tolerance = case.tolerance() if way == "compiled code" else judges.INTERPRETER_TOLERANCE
    error = reference.relative_error(got, golden)
    return error <= tolerance, f"relative error {error:.2e}, tolerance {tolerance:.0e}"


def check(args, spec, data):
    """(what was compared, whether it is right, what to say)."""
    kept = read_safetensors(data)
    golden = kept.pop(OUTPUT).astype(np.float64)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if args.oracle:
            expected = by_oracle(args, spec, kept, folder)
            error = reference.relative_error(golden, expected)
            yield "against the oracle", error <= judges.INTERPRETER_TOLERANCE, f"relative error {error:.2e}"
            return
        given = folder / "given.safetensors"
        write_safetensors(given, kept)
        for way, flags in (("interpreter", ["--reference"]), ("compiled code", [])):
            got = run(args, spec, given, folder / way.split()[0], flags)
            yield way, *verdict(Case(spec, read_spec(spec), given), way, got, golden)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="of specs; the data lies in `data`")
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--oracle")
    args = parser.parse_args()
    failed, specs = 0, sorted(args.folder.glob("*.yaml"))
    for spec in specs:
        data = spec.parent / "data" / f"{spec.stem}.safetensors"
        if args.make:
            make(args, spec, data)
            continue
        for way, right, said in check(args, spec, data):
            failed += not right
            print(f"{'pass' if right else 'FAIL'}: {spec.stem}: {way}: {said}")
    sys.exit(failed > 0 or not specs)


main()
