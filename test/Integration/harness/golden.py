"""Golden data: inputs, parameters and outputs of small specs, kept beside the specs, a .safetensors file each.

utils/make_golden.py makes them with the oracle, of which each file says which one it was. Compiled code and the interpreter are
held against the kept output; with `--oracle` the kept output is held against the oracle that is given.
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

OUTPUT, MAKER = "output", "made_by"
KINDS = {"F32": np.dtype("<f4"), "I32": np.dtype("<i4")}


def write_safetensors(path, arrays, maker=None):
    """The header's length in 8 bytes, the header in JSON, the data; `maker`: who made the output."""
    header, data = {"__metadata__": {MAKER: maker}} if maker else {}, b""
    for name, array in arrays.items():
        kind = "I32" if array.dtype.kind == "i" else "F32"
        raw = np.ascontiguousarray(array, KINDS[kind]).tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def read_safetensors(path):
    """(the arrays, who made the output; empty if the file does not say)"""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header, arrays = json.loads(data[8:start]), {}
    maker = header.pop("__metadata__", {}).get(MAKER, "")
    for name, entry in header.items():
        first, end = entry["data_offsets"]
        arrays[name] = np.frombuffer(data[start + first:start + end], KINDS[entry["dtype"]]).reshape(entry["shape"])
    return arrays, maker


def data_of(spec):
    return spec.parent / "data" / f"{spec.stem}.safetensors"


def by_oracle(args, spec, kept, folder):
    case = Case(spec, read_spec(spec), folder / "in")
    case.files.mkdir()
    for name, array in kept.items():
        np.save(case.files / f"{name}.npy", array)
    return judges.main_output(judges.by_oracle(args.oracle, case, folder))


def run(args, spec, given, folder, flags):
    """The output; what went wrong as a text."""
    try:
        attnc(args.attnc, "run", spec, "--in", given, "--out", folder, *flags)
    except Failed as error:
        return str(error)
    return judges.main_output(judges.outputs(folder))


def verdict(case, way, got, golden):
    """(whether it is right, what to say)."""
    if isinstance(got, str):
        return False, got
    tolerance = case.tolerance() if way == "compiled code" else judges.INTERPRETER_TOLERANCE
    error = reference.relative_error(got, golden)
    return error <= tolerance, f"relative error {error:.2e}, tolerance {tolerance:.0e}"


def check(args, spec):
    """(what was compared, whether it is right, what to say)."""
    kept, maker = read_safetensors(data_of(spec))
    golden = kept.pop(OUTPUT).astype(np.float64)
    if not maker.startswith("oracle "):
        yield "maker", False, f"expected an output that an oracle made, but got one by '{maker}'; run utils/make_golden.py"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if args.oracle:
            expected = by_oracle(args, spec, kept, folder)
            error = reference.relative_error(golden, expected)
            yield "against the oracle", error <= judges.INTERPRETER_TOLERANCE, f"relative error {error:.2e}, made by {maker}"
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
    parser.add_argument("--oracle")
    args = parser.parse_args()
    failed, specs = 0, sorted(args.folder.glob("*.yaml"))
    for spec in specs:
        for way, right, said in check(args, spec):
            failed += not right
            print(f"{'pass' if right else 'FAIL'}: {spec.stem}: {way}: {said}")
    sys.exit(failed > 0 or not specs)


if __name__ == "__main__":
    main()
