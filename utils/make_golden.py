#!/usr/bin/env python3
"""Makes the golden data of test/Integration/Golden with the oracle: make_golden.py ORACLE.py [SPEC…], of all specs by default.

Inputs and parameters that are there are kept, so that only outputs change; those of a new spec are drawn by `attnc init`. Each file
names the oracle that made it, by a digest of its modules.
"""

import argparse
import hashlib
import importlib
import pathlib
import sys
import tempfile

import numpy as np

SOURCE = pathlib.Path(__file__).resolve().parents[1]
FOLDER = SOURCE / "test" / "Integration" / "Golden" / "Inputs"
sys.path[:0] = [str(SOURCE / "test" / "Integration" / "harness"), str(SOURCE / "utils" / "python")]

# pylint: disable=wrong-import-position
import golden  # noqa: E402
from attnc import attnc, read_spec  # noqa: E402
from judges import Case  # noqa: E402


def load_oracle(path):
    """(the oracle's module, "oracle" and the digest of the modules that it is made of). One of them is called `reference`, as one
    of this project is."""
    ours = sys.modules.pop("reference", None)
    sys.path.insert(0, str(path.parent))
    oracle = importlib.import_module(path.stem)
    sys.path.remove(str(path.parent))
    files = sorted({pathlib.Path(module.__file__) for module in list(sys.modules.values()) if getattr(module, "__file__", None)
                    and pathlib.Path(module.__file__).parent == path.parent})
    if ours:
        sys.modules["reference"] = ours
    digest = hashlib.sha256(b"".join(file.name.encode() + b"\0" + file.read_bytes() for file in files)).hexdigest()[:16]
    return oracle, f"oracle {digest}"


def given(program, spec, folder):
    """The inputs and parameters of a spec: those that are kept, or drawn ones."""
    if golden.data_of(spec).exists():
        arrays, _ = golden.read_safetensors(golden.data_of(spec))
        return {name: array for name, array in arrays.items() if name != golden.OUTPUT}
    attnc(program, "init", spec, "--out", folder, "--inputs", "--seed", 11)
    return Case(spec, read_spec(spec), folder).arrays()


def make(args, oracle, maker, spec):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        arrays = given(args.attnc, spec, folder)
        case = Case(spec, read_spec(spec), folder)
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array)
        for name, array in case.rounded().items():
            np.save(folder / f"{name}.npy", array)
        _, output = oracle.run(str(spec), str(folder))
    golden.write_safetensors(golden.data_of(spec), {**arrays, golden.OUTPUT: np.asarray(output)}, maker)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("oracle", type=pathlib.Path)
    parser.add_argument("specs", nargs="*", type=pathlib.Path)
    parser.add_argument("--attnc", default="attnc")
    args = parser.parse_args()
    oracle, maker = load_oracle(args.oracle.resolve())
    specs = args.specs or sorted(FOLDER.glob("*.yaml"))
    for spec in specs:
        make(args, oracle, maker, spec)
    print(f"{len(specs)} files made by {maker}")


if __name__ == "__main__":
    main()
