"""Bits: the same output for 1 and 2 threads, alone and inside a batch of 5, and in a second run.

The lengths span several pieces of the sequence and end inside one.
"""

import argparse
import pathlib
import sys
import tempfile

import numpy as np

from attnc import compile_spec
from library import opened
from storage import to_storage

LENGTHS = [77, 2048, 5003]
BATCH, CHOSEN = 5, 3


def inputs_of(fields, n, rng):
    heads, kv_heads = fields["heads"], fields.get("kv_heads", fields["heads"])
    d, dv = fields["head_dim"], fields.get("value_dim", fields["head_dim"])
    shapes = {"q": (BATCH, heads, n, d), "k": (BATCH, kv_heads, n, d), "v": (BATCH, kv_heads, n, dv)}
    arrays = {name: to_storage(rng.standard_normal(shape, np.float32), fields["dtype"])
              for name, shape in shapes.items()}
    if fields.get("key_lengths"):
        arrays["key_lengths"] = rng.integers(1, n + 1, BATCH).astype(np.int32)
    return arrays


def check_length(folder, fields, n, rng):
    arrays = inputs_of(fields, n, rng)
    alone = {name: np.ascontiguousarray(array[CHOSEN:CHOSEN + 1]) for name, array in arrays.items()}
    outputs = {}
    for threads in (1, 2):
        with opened(folder, fields["attention"], fields["dtype"], threads=threads) as library:
            outputs[f"{threads} threads"] = library(**arrays)
            outputs[f"{threads} threads, again"] = library(**arrays)
            one = library(**alone)
        if one.tobytes() != outputs["1 threads"][CHOSEN:CHOSEN + 1].tobytes():
            yield f"n = {n}: entry {CHOSEN} alone ({threads} threads) differs from itself in a batch of {BATCH}"
    first = outputs["1 threads"].tobytes()
    for name, output in outputs.items():
        if output.tobytes() != first:
            yield f"n = {n}: {name} differs from 1 threads"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="+", type=pathlib.Path)
    parser.add_argument("--attnc", default="attnc")
    args = parser.parse_args()
    rng = np.random.default_rng(3)
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for spec in args.specs:
            fields = compile_spec(args.attnc, spec, folder)
            for n in LENGTHS:
                failures += [f"{spec.stem}: {message}" for message in check_length(folder, fields, n, rng)]
            print(f"{spec.stem}: compared at n = {LENGTHS}")
    print("\n".join(failures) if failures else "all bits equal")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
