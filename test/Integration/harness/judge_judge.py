"""The judges judged: the float64 reference against attention written out entry by entry, with every option; and what an
output in a storage type may differ by."""

import itertools
import math
import sys

import numpy as np

import judges
import reference


def weight(spec, q, k):
    if spec["kind"] == "softmax":
        return math.exp(spec["scale"] * sum(a * b for a, b in zip(q, k)))
    feature = [(a + 1 if a > 0 else math.exp(a)) * (b + 1 if b > 0 else math.exp(b)) for a, b in zip(q, k)]
    return sum(feature)


def entry(spec, q, k, v, i, queries, length):
    """Row i of the output of one head, from the definition."""
    keys = len(k)
    total, sums = np.zeros(v.shape[1]), 0.0
    for j in range(min(length, keys)):
        if spec["causal"] and j > i + keys - queries:
            continue
        w = weight(spec, q[i], k[j])
        total, sums = total + w * v[j], sums + w
    sums = max(sums + spec.get("bias", 0.0), spec.get("floor", 0.0))
    return total / sums if sums else np.zeros_like(total)


def case(rng, kind, causal, guard, keys):
    spec = {"kind": kind, "causal": causal, "scale": 0.3, **guard}
    q, k, v = rng.standard_normal((2, 4, 5, 3)), rng.standard_normal((2, 2, keys, 3)), rng.standard_normal((2, 2, keys, 2))
    lengths = np.array([keys, 2], np.int32)
    got = reference.attention(spec, q, k, v, lengths)
    slow = [[[entry(spec, q[b, h], k[b, h // 2], v[b, h // 2], i, 5, lengths[b]) for i in range(5)]
             for h in range(4)] for b in range(2)]
    return reference.relative_error(got, np.array(slow))


def judges_storage():
    """Whether outputs are right or wrong as their storage type says, which holds neither 1e6 nor 1e-9 in f16."""
    exact = np.array([1e6, -2.0, 1e-9])
    inf, nan = np.inf, np.nan
    right = [[inf, -2.0, 0.0], [65504.0, -2.0, 6e-8]]
    wrong = [[-inf, -2.0, 0.0], [60000.0, -2.0, 0.0], [inf, -inf, 0.0], [inf, -2.0, nan], [nan, -2.0, 0.0]]
    small = np.array([1e-6, 2e-6])  # held to an error of 3e-8
    tolerated = lambda got, expected: judges.storage_error(np.array(got), expected, "f16") <= judges.TOLERANCE["f16"]
    return all(tolerated(got, exact) for got in right) and not any(tolerated(got, exact) for got in wrong) and \
        tolerated(small.astype(np.float16).astype(float), small) and not tolerated([1e-6, 2.3e-6], small) and \
        not tolerated([0.0, 0.0], small) and tolerated([0.0], np.zeros(1)) and not tolerated([1e-3], np.zeros(1)) and \
        judges.storage_error(np.zeros(1), np.array([4e-45]), "f32") == 0 and \
        judges.storage_error(np.zeros(1), np.array([4e-38]), "f32") > 0.5


def main():
    rng = np.random.default_rng(5)
    worst = 0.0
    for kind, causal, keys in itertools.product(["softmax", "elu1"], [False, True], [4, 5, 9]):
        guards = [{}] if kind == "softmax" else [{}, {"bias": 0.5}, {"floor": 20.0}]
        worst = max([worst, *(case(rng, kind, causal, guard, keys) for guard in guards)])
    print(f"largest relative error {worst:.1e}")
    sys.exit(not worst < 1e-13 or not judges_storage())


main()
