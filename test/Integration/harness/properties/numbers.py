"""Small float64 arithmetic that some identities need beside the code under test."""

import numpy as np


def repeat_heads(array, heads):
    """[batch, G, …] -> [batch, H, …]: head h is of ⌊h·G/H⌋."""
    return np.repeat(array, heads // array.shape[1], axis=1)


def exact(q, k, v, scale=None):
    """Softmax attention over all keys."""
    k, v = (repeat_heads(x, q.shape[1]).astype(np.float64) for x in (k, v))
    logits = (scale or q.shape[-1] ** -0.5) * q @ k.swapaxes(-1, -2)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights @ v / weights.sum(axis=-1, keepdims=True)


def sylvester(size):
    """The ±1 Hadamard matrix of a power of two."""
    matrix = np.ones((1, 1))
    while len(matrix) < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix


def srht(x, sign, index):
    """r^{-1/2} (x D H) P of [batch, H, n, h] with [H, h] signs and [H, r] columns."""
    mixed = (x * sign[:, None]) @ sylvester(sign.shape[1])
    chosen = np.stack([mixed[:, h][..., index[h]] for h in range(len(index))], axis=1)
    return chosen * index.shape[1] ** -0.5


def sketch(x, parameters):
    """The tree of degree p/2 over [batch, H, n, d]; TensorSRHTs level by level."""
    leaves = sum(name.startswith("sketch.leaf") for name in parameters) // 2
    get = lambda node, what: parameters[f"sketch.{node}.{what}"]
    x = np.pad(x, [(0, 0)] * 3 + [(0, get("leaf0", "sign").shape[1] - x.shape[-1])])
    level = [srht(x, get(f"leaf{i}", "sign"), get(f"leaf{i}", "index")) for i in range(leaves)]
    done = 0
    while len(level) > 1:
        pairs = [(f"node{done + i}", *level[2 * i:2 * i + 2]) for i in range(len(level) // 2)]
        size = level[0].shape[-1]
        level = [size ** 0.5 * srht(a, get(node, "sign_a"), get(node, "index_a")) * srht(b, get(node, "sign_b"), get(node, "index_b"))
                 for node, a, b in pairs]
        done += len(pairs)
    return level[0]
