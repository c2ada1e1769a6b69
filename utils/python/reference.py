"""Attention in float64, straight from its definition: the judge of the tests and of the demo.

Whole weight matrices are formed, one head and one block of queries at a time, so any n that fits in memory can be
judged on chosen rows. Shapes: q [batch, heads, n, d], k [batch, kv_heads, N, d], v [batch, kv_heads, N, dv].
"""

import numpy as np

BLOCK = 256


def specification(fields):
    """What `attention` needs to know of a spec file's fields."""
    mechanism = fields["mechanism"]
    kind = mechanism["kind"] if mechanism["kind"] == "softmax" else mechanism["feature_map"]["kind"]
    spec = {"kind": kind, "causal": fields.get("causal", False), **(mechanism.get("denominator") or {})}
    if "scale" in fields:
        spec["scale"] = fields["scale"]
    return spec


def softmax_weights(logits, visible):
    """Rows of non-negative weights and their sums, for which o = weights·v / sums is softmax attention."""
    logits = np.where(visible, logits, -np.inf)
    top = logits.max(axis=1, keepdims=True, initial=-np.inf)
    weights = np.exp(logits - np.where(np.isfinite(top), top, 0.0))
    return weights, weights.sum(axis=1)


def elu1(x):
    """elu(x) + 1, the feature map of linear attention: x + 1 above zero, e^x below."""
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def visible_keys(rows, queries, keys, causal, length):
    """Which of the keys each chosen query sees: causal aligns the last query with the last key."""
    column = np.arange(keys)[None, :]
    seen = np.broadcast_to(column < length, (len(rows), keys))
    return seen & (column <= rows[:, None] + keys - queries) if causal else seen


def attend(spec, q, k, v, rows, length):
    """One head: q [rows, d] are the chosen rows of `spec['n']` queries, k [N, d], v [N, dv]."""
    visible = visible_keys(rows, spec["n"], len(k), spec.get("causal", False), length)
    if spec["kind"] == "softmax":
        weights, sums = softmax_weights(spec.get("scale", q.shape[1] ** -0.5) * (q @ k.T), visible)
    else:
        weights = np.where(visible, elu1(q) @ elu1(k).T, 0.0)
        sums = np.maximum(weights.sum(axis=1) + spec.get("bias", 0.0), spec.get("floor", 0.0))
    # A key that does not exist may hold anything, NaN too: its value must not meet its zero weight.
    present = np.where((np.arange(len(k)) < length)[:, None], v, 0.0)
    out = weights @ present
    return np.divide(out, sums[:, None], out=np.zeros_like(out), where=sums[:, None] != 0)


def attention(spec, q, k, v, key_lengths=None, rows=None):
    """The output [batch, heads, rows, dv] for all queries, or for the chosen `rows` of them.

    `spec` has `kind` ('softmax' or 'elu1') and may have `causal`, `scale`, `bias` and `floor`.
    """
    batch, heads, queries, _ = q.shape
    kv_heads, keys = k.shape[1:3]
    rows = np.arange(queries) if rows is None else np.asarray(rows)
    out = np.empty((batch, heads, len(rows), v.shape[3]))
    spec = dict(spec, n=queries)
    for b, h in np.ndindex(batch, heads):
        g = h * kv_heads // heads
        length = keys if key_lengths is None else int(key_lengths[b])
        # What lies past the length is taken out before any product, for it may be NaN or infinite.
        exists = (np.arange(keys) < length)[:, None]
        kg = np.where(exists, k[b, g].astype(np.float64), 0.0)
        vg = v[b, g].astype(np.float64)
        for start in range(0, len(rows), BLOCK):
            some = rows[start:start + BLOCK]
            out[b, h, start:start + BLOCK] = attend(spec, q[b, h, some].astype(np.float64), kg, vg, some, length)
    return out


def rounded(array, dtype):
    """The array in the storage type f32, f16 or bf16, to nearest even, as float64."""
    with np.errstate(over="ignore"):
        narrow = np.asarray(array, np.float16 if dtype == "f16" else np.float32)
    if dtype != "bf16":
        return narrow.astype(np.float64)
    bits = narrow.view(np.uint32)
    even = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(narrow), narrow, even.view(np.float32)).astype(np.float64)


def relative_error(got, expected):
    """Frobenius norm of the difference over that of what was expected; 0 for two zeros, NaN counts as infinite."""
    difference = np.linalg.norm((np.asarray(got, np.float64) - expected).ravel())
    size = np.linalg.norm(np.asarray(expected, np.float64).ravel())
    if not np.isfinite(difference):
        return np.inf
    return difference / size if size > 0 else (0.0 if difference == 0 else np.inf)
