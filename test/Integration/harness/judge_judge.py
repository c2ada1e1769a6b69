"""The judges judged: the float64 reference against attention written out entry by entry, with every option; and what an
output in a storage type may differ by, and one of sketches by their condition."""

import itertools
import math
import sys

import numpy as np

import judges
import random_condition
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


def sketched(q, k, v, matrix, number):
    """Attention of sketches of degree 2, in the numbers of that type."""
    def sketch(x):
        leaves = [x.astype(number) @ matrix(f"leaf{i}", "").astype(number) for i in range(2)]
        sides = [leaf @ matrix("node0", side).astype(number) for leaf, side in zip(leaves, ["_a", "_b"])]
        return sides[0] * sides[1]
    weights = (sketch(q) @ sketch(k).T) ** 2
    return weights @ v.astype(number) / weights.sum(1, keepdims=True)


def judges_condition():
    """Whether the expected error of f32 is that of f32: about, for most draws, and no less, for those that nearly cancel."""
    rng, ratios, expected = np.random.default_rng(6), [], []
    mechanism = {"kind": "polysketch", "degree": 4, "size": 8}
    for _ in range(400):
        made = {}
        matrix = lambda name, side: made.setdefault((name, side), random_condition.signs(
            rng.choice([-1, 1], 8), rng.integers(0, 8, 8)))
        q, k, v = (rng.standard_normal((n, 8)).astype(np.float32).astype(float) for n in (1, 2, 2))
        exact = sketched(q, k, v, matrix, np.float64)
        if not np.isfinite(exact).all() or not (sketched(q, k, v, matrix, np.float32) != exact).any():
            continue
        error, size = random_condition.head_error(mechanism, matrix, (q, 0 * q), (k, 0 * k), v, np.ones((1, 2)), False)
        expected.append(np.sqrt(error / size))
        ratios.append(reference.relative_error(sketched(q, k, v, matrix, np.float32), exact) / expected[-1])
    ratios, expected = np.array(ratios), np.array(expected)
    print(f"of {len(ratios)}: measured over expected {np.median(ratios):.2f}, at most {ratios.max():.1f}; "
          f"expected up to {expected.max():.0e}")
    return len(ratios) > 300 and ratios.max() < random_condition.SLACK and np.median(ratios) > 0.05 and \
        np.median(expected) < 1e-6 and expected.max() > 2e-6


def main():
    rng = np.random.default_rng(5)
    worst = 0.0
    for kind, causal, keys in itertools.product(["softmax", "elu1"], [False, True], [4, 5, 9]):
        guards = [{}] if kind == "softmax" else [{}, {"bias": 0.5}, {"floor": 20.0}]
        worst = max([worst, *(case(rng, kind, causal, guard, keys) for guard in guards)])
    print(f"largest relative error {worst:.1e}")
    sys.exit(not worst < 1e-13 or not judges_storage() or not judges_condition())


main()
