"""Workspaces: stated for every length, and bounded: for exact attention by a constant, for a linear form by its q, k, v and o in f32."""

import argparse
import pathlib
import sys
import tempfile

import numpy as np

from attnc import attnc, compile_spec
from library import opened
from storage import DTYPES

# Room for a fixed number of partial results; more would mean that something of size n·N is kept.
EXACT_LIMIT = 2 ** 28
# The states of a few pieces, however short the sequence.
FEW_STATES = 2 ** 20
LENGTHS = [1, 64, 1000, 4096, 65536]


def is_exact(fields):
    mechanisms = [part["mechanism"] for part in fields.get("parts", [fields])]
    return any(mechanism["kind"] in ("softmax", "polynomial", "eva") and "low_rank" not in mechanism for mechanism in mechanisms)


def limit_of(fields, n):
    heads, d = fields["heads"], fields["head_dim"]
    both = heads + fields.get("kv_heads", heads)
    return EXACT_LIMIT if is_exact(fields) else FEW_STATES + 4 * n * both * (d + fields.get("value_dim", d))


def prepare(args, library, spec, fields, n, folder):
    """Parameters, which may show N."""
    sizes = ["--batch", 1, "--queries", n] + (["--keys", n] if fields.get("keys") == "?" else [])
    attnc(args.attnc, "init", spec, "--out", folder, *sizes)
    library.prepare({file.stem: np.load(file) for file in folder.glob("*.npy")})


def check_length(library, fields, n):
    sizes = {"batch": 1, "n": n, "N": n}
    arrays = {name: np.zeros([int(size) if size.isdigit() else sizes[size] for size in member.sizes],
                             DTYPES.get(member.dtype, np.int32)) for name, member in library.tensors.items()}
    used, limit = library.workspace_bytes(library.bind(**arrays)), limit_of(fields, n)
    print(f"{'pass' if used <= limit else 'FAIL'}: {fields['attention']} n = {n}: workspace {used} bytes, limit {limit}")
    return used <= limit


def check_spec(args, spec, folder):
    """Whether all lengths pass that the spec's blocks divide."""
    fields = compile_spec(args.attnc, spec, folder)
    lengths = args.lengths or LENGTHS
    with opened(folder, fields["attention"], fields["dtype"]) as library:
        results = []
        for n in lengths:
            if library.parameters:
                prepare(args, library, spec, fields, n, folder / str(n))
            results.append(check_length(library, fields, n))
    return all(results)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="+", type=pathlib.Path)
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--lengths", type=lambda text: list(map(int, text.split(","))))
    args = parser.parse_args()
    passed = True
    for spec in args.specs:
        with tempfile.TemporaryDirectory() as folder:
            passed &= check_spec(args, spec, pathlib.Path(folder))
    sys.exit(not passed)


if __name__ == "__main__":
    main()
