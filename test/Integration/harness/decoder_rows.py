"""What the mechanisms of a decoder's spec see of its tensors, in float64: the rows of q and k, their places, their features; and
whether those are within the ranges in which the tolerances hold (spec page)."""

import math

import numpy as np

from random_range import layer_norm, project

# In units of √d, a little inside, for rounding moves a norm.
NORM_LIMIT, FAVOR_LIMIT = 29.8, 5.95
# Of β‖φ‖², and of what a state may grow to beside the largest value.
ERASED, GROWTH = 2.0, 1e4


def offsets_of(lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def of_tokens(case, positions, lengths):
    """The place of each token, [batch, tokens]: sequences begin at their positions."""
    if not case.packed:
        return positions[:, None] + np.arange(lengths[0])
    return np.concatenate([first + np.arange(length) for first, length in zip(positions, lengths)])[None]


def rotate(rows, places, base, layout):
    """rope of rows [batch, heads, n, d] at places [batch, n]."""
    d = rows.shape[-1]
    angle = places[:, None, :, None] * float(base) ** (-2 * np.arange(d // 2) / d)
    low, high = (slice(0, None, 2), slice(1, None, 2)) if layout == "interleaved" else (slice(d // 2), slice(d // 2, None))
    turned = np.empty_like(rows)
    turned[..., low] = rows[..., low] * np.cos(angle) - rows[..., high] * np.sin(angle)
    turned[..., high] = rows[..., low] * np.sin(angle) + rows[..., high] * np.cos(angle)
    return turned


def norm(rows, kind="layer", epsilon=None):
    if kind == "l2":
        return rows / np.sqrt((rows ** 2).sum(-1, keepdims=True) + (epsilon or 1e-6))
    return layer_norm(rows, epsilon or 1e-5)


def head_counts(fields):
    """Of q, k and v."""
    heads = fields["heads"]
    if "qk_heads" in fields:
        return fields["qk_heads"], fields["qk_heads"], heads
    kv_heads = fields.get("kv_heads", heads)
    return heads, kv_heads, kv_heads


def rows_seen(case, arrays):
    """q [batch, heads of q, n, d] and k [batch, heads of k, N, d]; keys that do not exist are 0."""
    f = case.fields
    q, k = projected(f, arrays) if "projection" in f else (arrays["q"].astype(float), arrays["k"].astype(float))
    if "rope" in f:
        positions = arrays.get("state.position", np.zeros(case.sequences, int))
        first = case.key_lengths - case.lengths if f["causal"] else 0
        q = rotate(q, of_tokens(case, positions + first, case.lengths), **f["rope"])
        k = rotate(k, of_tokens(case, positions, case.key_lengths), **f["rope"])
    if "qk_norm" in f:
        q, k = norm(q, **f["qk_norm"]), norm(k, **f["qk_norm"])
    if "key_lengths" in arrays:
        k = np.where(exists(case, arrays)[:, None, :, None], k, 0)
    return q, k


def projected(f, arrays):
    q_heads, k_heads, _ = head_counts(f)
    bias = lambda name: arrays[name].astype(float) if f["projection"]["bias"] else 0.0
    x, context = arrays["x"].astype(float), arrays.get("context", arrays["x"]).astype(float)
    return project(x, arrays["wq"], bias("bq"), q_heads), project(context, arrays["wk"], bias("bk"), k_heads)


def exists(case, arrays):
    """[batch, N]: whether a key does."""
    lengths = arrays.get("key_lengths", np.full(case.batch, case.keys))
    return np.arange(case.keys) < lengths[:, None]


def of_head(rows, head, heads):
    """[batch, n, d] of one query head."""
    return rows[:, head * rows.shape[1] // heads]


def longest(rows):
    return float(np.linalg.norm(rows, axis=-1).max(initial=0.0))


def norm_limit(case, mechanism):
    """Of a row of q or k."""
    if mechanism["kind"] in ("polynomial", "polysketch"):
        return math.inf
    kind, d = mechanism.get("feature_map", {}).get("kind"), case.fields["head_dim"]
    favor = kind == "favor"
    lifted = max(1.0, case.fields.get("scale", 0) * math.sqrt(d)) if favor or mechanism["kind"] == "softmax" else 1.0
    return (FAVOR_LIMIT if favor else NORM_LIMIT) * math.sqrt(d / lifted)


def largest_norm(case):
    return min(norm_limit(case, mechanism) for mechanism in case.mechanisms())


def excess(case, arrays):
    """By how much the longest row passes the limit."""
    return max(map(longest, rows_seen(case, arrays))) / largest_norm(case)


def largest_logit(case, arrays):
    """At most |logit|, of softmax with its cap and its slopes, and of what FAVOR approximates."""
    q, k = rows_seen(case, arrays)
    scale, largest, heads = case.fields.get("scale", case.fields["head_dim"] ** -0.5), 0.0, case.fields["heads"]
    for prefix, first, count, m in case.parts():
        if m["kind"] != "softmax" and m.get("feature_map", {}).get("kind") != "favor":
            continue
        slopes = arrays[prefix + "slope"] if m.get("alibi") else np.zeros(count)
        for head in range(first, first + count):
            logit = scale * max((np.abs(a @ b.T).max(initial=0) for a, b in of_sequences(case, of_head(q, head, heads), of_head(k, head, heads))), default=0)
            logit = min(logit, m.get("softcap", math.inf))
            largest = max(largest, logit + abs(slopes[head - first]) * max(case.queries, case.keys))
    return float(largest)


def of_sequences(case, q, k):
    """The rows of each sequence, or batch entry."""
    if not case.packed:
        return list(zip(q, k))
    cut = lambda rows, lengths: np.split(rows[0], offsets_of(lengths)[1:-1])
    return list(zip(cut(q, case.lengths), cut(k, case.key_lengths)))


#===-- Features and states, where keys erase -----------------------------------------------------------------------------===#


def features(mechanism, rows):
    kind = mechanism["feature_map"]["kind"]
    if kind == "elu1":
        return np.where(rows > 0, rows + 1, np.exp(np.minimum(rows, 0)))
    return np.maximum(rows, 0) if kind == "relu" else rows


def state_heads(case, heads):
    fields = case.fields
    return heads if "qk_heads" in fields else heads * fields.get("kv_heads", fields["heads"]) // fields["heads"]


def state_keys(case, arrays, first, heads):
    """The rows of keys of a part's state heads, [batch, Hs, N, d]."""
    _, k = rows_seen(case, arrays)
    count = state_heads(case, heads)
    return np.stack([of_head(k, first + i * heads // count, case.fields["heads"]) for i in range(count)], axis=1)


def grows(case, arrays):
    """Whether a state of keys that erase has an entry beyond the range; of [batch, Hs] side by side."""
    return any(largest_entry(case, arrays, *part) > GROWTH for part in case.parts() if "erase" in part[3])


def largest_entry(case, arrays, prefix, first, heads, m):
    """Of S, in units of the largest of w ⊙ v."""
    phi, values = features(m, state_keys(case, arrays, first, heads)), written(case, arrays, prefix, first, heads, m)
    keep, largest = exists(case, arrays), 0.0
    size = np.abs(np.where(keep[:, None, :, None], values, 0)).max(initial=0.0)
    S = start(case, arrays, prefix, phi, values)
    sequence = np.repeat(np.arange(case.sequences), case.lengths) if case.packed else np.zeros(case.keys, int)
    for t in range(case.keys):
        if case.packed and t and sequence[t] != sequence[t - 1]:
            S = start(case, arrays, prefix, phi, values, sequence[t])
        S = np.where(keep[:, None, t, None, None], step(arrays, prefix, m, S, phi[:, :, t], values[:, :, t], t), S)
        largest = max(largest, float(np.abs(S).max(initial=0.0)))
    return largest / size if size else 0.0


def start(case, arrays, prefix, phi, values, sequence=0):
    if (state := arrays.get(prefix + "state.s")) is not None:
        return state[sequence:sequence + 1].astype(float) if case.packed else state.astype(float)
    return np.zeros((*phi.shape[:2], phi.shape[-1], values.shape[-1]))


def written(case, arrays, prefix, first, heads, m):
    """w ⊙ v of a part's state heads, [batch, Hs, N, dv]."""
    f = case.fields
    if "projection" in f:
        bias = arrays["bv"].astype(float) if f["projection"]["bias"] else 0.0
        v = project(arrays.get("context", arrays["x"]).astype(float), arrays["wv"], bias, head_counts(f)[2])
    else:
        v = arrays["v"].astype(float)
    count = state_heads(case, heads)
    v = np.stack([of_head(v, first + i * heads // count, f["heads"]) for i in range(count)], axis=1)
    w = arrays.get(prefix + "w", arrays[prefix + "beta"] if m["erase"]["per"] == "token" else np.ones(()))
    return v * (w if w.ndim == 4 else w[..., None])


def step(arrays, prefix, m, S, phi, value, t):
    """One token of every batch entry and head."""
    wide = lambda a: a[:, :, t] if a.ndim == 4 else a[:, :, t, None]
    if "decay" in m:
        g = arrays[prefix + "log_decay"][None, :, None] if m["decay"]["per"] == "head" else wide(arrays[prefix + "g"])
        S = np.exp(g.astype(float))[..., None] * S
    erased = np.einsum("bhm,bhmv->bhv", wide(arrays[prefix + "beta"]) * phi, S)
    return S + phi[..., None] * (value - erased)[:, :, None]
