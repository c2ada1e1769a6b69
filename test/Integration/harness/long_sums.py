"""A causal sum over very many tokens with values above 0, against sums in float64: a state that took tokens one by one would round each of them to its own
last place, and lose those that are small beside it."""

import argparse
import pathlib
import tempfile

import numpy as np

from attnc import attnc

CHUNK = 128
TOLERANCE = 2e-5


def features(x):
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def sums(q, k, v):
    """o [n, dv] of elu + 1, chunk by chunk."""
    a, b, v = features(q.astype(np.float64)), features(k.astype(np.float64)), v.astype(np.float64)
    state, total, out = np.zeros((a.shape[1], v.shape[1])), np.zeros(a.shape[1]), np.empty_like(v)
    for first in range(0, len(v), CHUNK):
        here = slice(first, first + CHUNK)
        weights = np.tril(a[here] @ b[here].T)
        out[here] = (a[here] @ state + weights @ v[here]) / (a[here] @ total + weights.sum(1))[:, None]
        state += b[here].T @ v[here]
        total += b[here].sum(0)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("spec", type=pathlib.Path, help="causal elu + 1 of one head of 64, with sizes '?'")
    parser.add_argument("tokens", type=int)
    args = parser.parse_args()
    rng = np.random.default_rng(1)
    q, k, v = (rng.standard_normal((args.tokens, 64)).astype(np.float32) for _ in range(3))
    v = np.abs(v)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for tensor, array in zip("qkv", (q, k, v)):
            np.save(folder / f"{tensor}.npy", array[None, None])
        attnc("attnc", "run", args.spec, "--in", folder, "--out", folder / "out")
        got, wanted = np.load(folder / "out" / "o.npy")[0, 0], sums(q, k, v)
        error = np.linalg.norm(got - wanted) / np.linalg.norm(wanted)
    print(f"{'pass' if error <= TOLERANCE else 'FAIL'}: {args.tokens} tokens, relative error {error:.1e}, tolerance {TOLERANCE}")
    raise SystemExit(int(error > TOLERANCE))


if __name__ == "__main__":
    main()
