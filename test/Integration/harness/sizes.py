"""'?' libraries of odd widths at drawn lengths: compiles a library for each drawn spec, runs it at several n and N.

Every width of WIDTHS is taken by d and by dv, every mechanism and storage type appears; `--samples` says how many runs.
"""

import argparse
import itertools
import pathlib
import sys
import tempfile

import numpy as np
import yaml

import reference
from attnc import compile_spec
from judges import TOLERANCE
from library import opened
from storage import from_storage, to_storage

WIDTHS = [1, 8, 40, 64, 80, 96, 128, 325]
LONGEST = 130
ELU1 = {"kind": "kernel", "feature_map": {"kind": "elu1"}}
MECHANISMS = {
    "softmax": {"mechanism": {"kind": "softmax"}},
    "softmax_causal": {"mechanism": {"kind": "softmax"}, "causal": True},
    "softmax_lengths": {"mechanism": {"kind": "softmax"}, "key_lengths": True},
    "elu1": {"mechanism": ELU1},
    "elu1_causal": {"mechanism": ELU1 | {"denominator": {"bias": 1e-6}}, "causal": True},
    "elu1_lengths": {"mechanism": ELU1, "key_lengths": True},
    "softmax_causal_lengths": {"mechanism": {"kind": "softmax"}, "causal": True, "key_lengths": True},
    "elu1_causal_lengths": {"mechanism": ELU1 | {"denominator": {"floor": 1e-6}}, "causal": True, "key_lengths": True},
}


def drawn_specs(rng):
    """An endless order of specs in which every width comes early as d and as dv."""
    pairs = [(d, WIDTHS[(i + shift) % len(WIDTHS)]) for shift in rng.permutation(len(WIDTHS))
             for i, d in enumerate(WIDTHS)]
    cycle = itertools.cycle(itertools.product(MECHANISMS, TOLERANCE))
    for i in itertools.count():
        d, dv = pairs[i % len(pairs)]
        mechanism, dtype = next(cycle)
        heads, kv_heads = [(1, 1), (2, 2), (4, 2), (3, 1)][rng.integers(4)]
        yield {"attention": f"{mechanism}_{d}_{dv}", "dtype": dtype, "batch": "?", "queries": "?", "keys": "?",
               "heads": heads, "kv_heads": kv_heads, "head_dim": d, "value_dim": dv,
               **MECHANISMS[mechanism]}


def drawn_lengths(rng, fields):
    n, keys = rng.integers(1, LONGEST + 1, 2)
    # Causal linear attention is defined for n = N, and a causal query needs a key to align with.
    return (n, n) if fields.get("causal") and fields["mechanism"]["kind"] == "kernel" else (n, keys)


def spoil_padding(k, v, lengths):
    """NaN and infinities where no key exists: they must not reach the output."""
    for b, length in enumerate(lengths):
        k[b, :, length:] = np.nan
        v[b, :, length:] = np.inf


def check_run(library, fields, rng):
    """One run at drawn sizes; a message if it is outside the tolerance."""
    batch, (n, keys) = rng.integers(1, 4), drawn_lengths(rng, fields)
    dtype, spec = fields["dtype"], reference.specification(fields)
    shapes = [(batch, fields["heads"], n, fields["head_dim"]), (batch, fields["kv_heads"], keys, fields["head_dim"]),
              (batch, fields["kv_heads"], keys, fields["value_dim"])]
    q, k, v = (rng.standard_normal(shape, np.float32) for shape in shapes)
    more = {}
    if fields.get("key_lengths"):
        more["key_lengths"] = rng.integers(0, keys + 1, batch).astype(np.int32)
        spoil_padding(k, v, more["key_lengths"])
    q, k, v = (to_storage(x, dtype) for x in (q, k, v))
    got = from_storage(library(q, k, v, **more), dtype)
    expected = reference.attention(spec, *(from_storage(x, dtype) for x in (q, k, v)), more.get("key_lengths"))
    error = reference.relative_error(got, expected)
    if error <= TOLERANCE[dtype]:
        return None
    return f"{fields['attention']} {dtype}: batch {batch}, n {n}, N {keys}: relative error {error:.2e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--samples", type=int, required=True)
    parser.add_argument("--runs", type=int, default=8, help="runs of each compiled library")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    failures, done = [], 0
    with tempfile.TemporaryDirectory() as name:
        for i, fields in enumerate(drawn_specs(rng)):
            if done >= args.samples:
                break
            # A folder each: a shared library that is loaded already would be handed out again under its old path.
            folder = pathlib.Path(name) / str(i)
            folder.mkdir()
            path = folder / "spec.yaml"
            path.write_text(yaml.safe_dump(fields, sort_keys=False), encoding="utf-8")
            compile_spec(args.attnc, path, folder)
            with opened(folder, fields["attention"], fields["dtype"]) as library:
                messages = [check_run(library, fields, rng) for _ in range(min(args.runs, args.samples - done))]
            done += len(messages)
            failures += [message for message in messages if message]
    print("\n".join(failures[:20]))
    print(f"{done - len(failures)} of {done} drawn runs within the tolerance")
    sys.exit(bool(failures) or done < args.samples)


if __name__ == "__main__":
    main()
