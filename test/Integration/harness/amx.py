"""Libraries of specs in bf16 by products of tiles (AMX), on one thread and two, and by dot products of pairs, at lengths around
tiles; judged by the definition in float64. To be run with the emulator preloaded where the processor has no AMX.
"""

import argparse
import pathlib
import sys
import tempfile

import numpy as np
import yaml

import reference
from attnc import compile_spec
from judges import TOLERANCE
from library import opened
from sizes import MECHANISMS
from storage import from_storage, to_storage

LENGTHS = [1, 17, 49, 63, 65, 100]
WIDTHS = [40, 64, 80, 128]
DTYPE = "bf16"


def drawn(rng, fields, n, scale):
    shapes = [(1, fields["heads"], n, fields["head_dim"])] + [(1, fields["kv_heads"], n, fields["head_dim"])] * 2
    q, k, v = (rng.standard_normal(shape, np.float32) for shape in shapes)
    return [to_storage(x, DTYPE) for x in (q * scale, k, v)]


def outputs(libraries, tensors):
    return [from_storage(library(*tensors), DTYPE) for library in libraries]


def check(libraries, fields, tensors, tolerance):
    """What is wrong, in words."""
    expected = reference.attention(reference.specification(fields), *(from_storage(x, DTYPE) for x in tensors))
    one, two, pairs = outputs(libraries, tensors)
    if not np.array_equal(one, two, equal_nan=True):
        yield "two threads give other bits than one"
    for name, got in (("amx", one), ("avx512_bf16", pairs)):
        error = reference.relative_error(got, expected)
        if not error <= tolerance:
            yield f"{name}: relative error {error:.2e}, tolerance {tolerance:.0e}"


def check_nan(libraries, tensors):
    """A query that is not a number spoils its own row and no other."""
    q, k, v = tensors
    clean = outputs(libraries, tensors)[0]
    spoiled = q.copy()
    spoiled[:, :, 3] = to_storage(np.full(q[:, :, 3].shape, np.nan, np.float32), DTYPE)
    got = outputs(libraries, (spoiled, k, v))[0]
    if not np.isnan(got[:, :, 3]).all():
        yield "expected a row of NaN of a query of NaN"
    if not np.array_equal(np.delete(got, 3, axis=2), np.delete(clean, 3, axis=2)):
        yield "a query of NaN changes the rows of others"


def check_library(args, rng, fields, folder):
    path = folder / "spec.yaml"
    path.write_text(yaml.safe_dump(fields, sort_keys=False), encoding="utf-8")
    compile_spec(args.attnc, path, folder, isa=None)
    name, softmax = fields["attention"], fields["mechanism"]["kind"] == "softmax"
    with opened(folder, name, DTYPE, isa="amx", threads=1) as one, opened(folder, name, DTYPE, isa="amx", threads=2) as two, \
            opened(folder, name, DTYPE, isa="avx512_bf16", threads=1) as pairs:
        libraries = [one, two, pairs]
        for n in LENGTHS:
            yield from (f"n {n}: {text}" for text in check(libraries, fields, drawn(rng, fields, n, 1), TOLERANCE[DTYPE]))
        if softmax:
            tensors = drawn(rng, fields, 100, 30)  # logits of hundreds
            yield from (f"large logits: {text}" for text in check(libraries, fields, tensors, 2 * TOLERANCE[DTYPE]))
            yield from check_nan(libraries, tensors)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--mechanisms", default="softmax,softmax_causal,elu1,elu1_causal", type=lambda text: text.split(","))
    parser.add_argument("--widths", default=WIDTHS, type=lambda text: [int(word) for word in text.split(",")])
    args = parser.parse_args()
    rng, failures, done = np.random.default_rng(3), [], 0
    with tempfile.TemporaryDirectory() as name:
        for mechanism in args.mechanisms:
            for d in args.widths:
                folder = pathlib.Path(name) / f"{mechanism}_{d}"
                folder.mkdir()
                fields = {"attention": f"{mechanism}_{d}", "dtype": DTYPE, "batch": "?", "queries": "?", "keys": "?",
                          "heads": 2, "kv_heads": 1, "head_dim": d, "value_dim": d, **MECHANISMS[mechanism]}
                failures += [f"{fields['attention']}: {text}" for text in check_library(args, rng, fields, folder)]
                done += 1
    print("\n".join(failures))
    print(f"{done} libraries, {len(failures)} failures")
    sys.exit(bool(failures) or not done)


if __name__ == "__main__":
    main()
