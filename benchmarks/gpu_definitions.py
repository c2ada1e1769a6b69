"""The mechanisms that benchmarks/gpu.py times, written directly from their definitions.

`reference` works on NumPy arrays and PyTorch tensors alike (`xp` is the module), in the precision of its arguments, and
gives chosen rows of queries, so it is cheap at any length.
"""

import numpy as np


def elu1(xp, x):
    return xp.where(x > 0, x + 1, xp.exp(xp.clip(x, None, 0)))


def favor(xp, x, omega):
    """Without stabilizer, which cancels; omega [heads or 1, m, d]."""
    scaled = x * x.shape[-1] ** -0.25
    logits = xp.einsum("bhnd,hmd->bhnm", scaled, spread(xp, omega, x.shape[1]))
    return xp.exp(logits - 0.5 * (scaled * scaled).sum(axis=-1)[..., None])


def spread(xp, per_head, heads):
    """A parameter of one head for all, as one for each."""
    return xp.broadcast_to(per_head, (heads, *per_head.shape[1:])) if per_head.shape[0] == 1 else per_head


def normalized(weights, values, xp):
    return xp.einsum("bhij,bhjc->bhic", weights, values) / weights.sum(axis=-1)[..., None]


def softmax(xp, logits):
    return xp.exp(logits - xp.amax(logits, axis=-1, keepdims=True))


def numbers(xp, count, like):
    """0, 1 … where `like` lies."""
    return xp.arange(count) if xp is np else xp.arange(count, device=like.device)


def hidden(xp, rows, keys, like):
    """[rows, keys]: 1 where the key comes after the query."""
    return numbers(xp, keys, like)[None, :] > rows[:, None]


def compress(xp, e, x):
    """[heads or 1, k, N] · [batch, heads, N, c]"""
    return xp.einsum("hkn,bhnc->bhkc", spread(xp, e, x.shape[1]), x)


def reference(xp, spec, q, k, v, parameters, rows):
    """Rows [batch, heads, rows, dv] of the output, in the arrays' own precision."""
    family, some = spec.family.removesuffix("_causal"), q[:, :, rows]
    if family in ("linformer", "flurka"):
        k, v = compress(xp, parameters["e"], k), compress(xp, parameters["e"], v)
    if family in ("softmax", "linformer"):
        logits = xp.einsum("bhid,bhjd->bhij", some, k) * q.shape[-1] ** -0.5
        return normalized(softmax(xp, mask(xp, spec, logits, rows, float("-inf"))), v, xp)
    if family == "softmax_window":
        return window_rows(xp, spec, some, k, v, rows)
    if family == "eva":
        return eva_rows(xp, spec, q, k, v, rows)
    if family == "effatt":
        features = softmax(xp, some) / softmax(xp, some).sum(axis=-1)[..., None]
        weights = xp.exp(k - xp.amax(k, axis=2, keepdims=True))
        state = xp.einsum("bhjd,bhjc->bhdc", weights / weights.sum(axis=2)[:, :, None], v)
        return xp.einsum("bhid,bhdc->bhic", features, state)
    if family == "agent":
        agents = q.reshape(*q.shape[:2], spec.fields["mechanism"]["agents"], -1, q.shape[-1]).mean(axis=3)
        scale = q.shape[-1] ** -0.5
        gathered = normalized(softmax(xp, xp.einsum("bhad,bhjd->bhaj", agents, k) * scale), v, xp)
        return normalized(softmax(xp, xp.einsum("bhid,bhad->bhia", some, agents) * scale), gathered, xp)
    if family in ("elu1", "flurka"):
        weights = xp.einsum("bhid,bhjd->bhij", elu1(xp, some), elu1(xp, k))
    elif family == "performer":
        weights = xp.einsum("bhid,bhjd->bhij", favor(xp, some, parameters["omega"]), favor(xp, k, parameters["omega"]))
    elif family == "polynomial":
        weights = xp.einsum("bhid,bhjd->bhij", some, k) ** spec.fields["mechanism"]["degree"]
    elif family == "polysketch":
        sketches = [sketch(xp, spec, parameters, x) for x in (some, k)]
        weights = xp.einsum("bhir,bhjr->bhij", *sketches) ** 2
    else:
        raise KeyError(f"expected a family with a definition, but got {family}")
    return normalized(mask(xp, spec, weights, rows, 0.0), v, xp)


def mask(xp, spec, weights, rows, value):
    return xp.where(hidden(xp, rows, weights.shape[-1], weights), value, weights) if spec.causal else weights


#===----------------------------------------------------------------------------------------------------------------===#
# Windows and chunks
#===----------------------------------------------------------------------------------------------------------------===#


def blocks(x, length):
    """[batch, heads, n, c] as [batch, heads, n / length, length, c]."""
    return x.reshape(*x.shape[:2], -1, length, x.shape[-1])


def window_rows(xp, spec, q, k, v, rows):
    """Softmax inside the windows of the rows' queries; q holds those rows alone."""
    length = spec.fields["mechanism"]["window"]["length"]
    keys, values = (blocks(x, length)[:, :, rows // length] for x in (k, v))  # [batch, heads, rows, length, c]
    logits = xp.einsum("bhid,bhijd->bhij", q, keys) * q.shape[-1] ** -0.5
    weights = softmax(xp, logits)
    return xp.einsum("bhij,bhijc->bhic", weights / weights.sum(axis=-1)[..., None], values)


def chunk_summaries(xp, spec, q, k, v):
    """Of each chunk the mean key and its value, the mean under the proposal: [batch, heads, chunks, c] each."""
    mechanism, scale = spec.fields["mechanism"], q.shape[-1] ** -0.5
    queries, keys, values = (blocks(x, mechanism["chunk"]) for x in (q, k, v))
    mean = keys.mean(axis=3)
    proposal = mechanism.get("mu_weight", 0.5) * (queries.mean(axis=3) + mean)
    logits = scale * (xp.einsum("bhcjd,bhcd->bhcj", keys, proposal) - 0.5 * (keys * keys).sum(axis=-1))
    weights = softmax(xp, logits)
    return mean, xp.einsum("bhcj,bhcjv->bhcv", weights / weights.sum(axis=-1)[..., None], values)


def eva_groups(xp, spec, groups, places, summaries):
    """One softmax over the keys of a window and all chunks. Of each group of queries of one window: `groups`, its queries,
    keys and values [batch, heads, groups, size, c]; `places` [groups, size], where its queries and keys stand."""
    (queries, keys, values), (query_places, key_places), (means, gathered) = groups, places, summaries
    scale, chunk = queries.shape[-1] ** -0.5, spec.fields["mechanism"]["chunk"]
    near = xp.einsum("bhgid,bhgjd->bhgij", queries, keys) * scale
    far = xp.einsum("bhgid,bhcd->bhgic", queries, means) * scale
    if spec.causal:
        chunks = numbers(xp, means.shape[2], queries)
        near = xp.where(key_places[:, None, :] > query_places[:, :, None], float("-inf"), near)
        far = xp.where(chunks[None, None, :] >= (query_places // chunk)[:, :, None], float("-inf"), far)
    weights = softmax(xp, xp.concatenate([near, far], axis=-1))
    weights = weights / weights.sum(axis=-1)[..., None]
    count = near.shape[-1]
    return xp.einsum("bhgij,bhgjc->bhgic", weights[..., :count], values) + \
        xp.einsum("bhgic,bhcv->bhgiv", weights[..., count:], gathered)


def eva_rows(xp, spec, q, k, v, rows):
    """The definition for some queries, each a group of its own."""
    length = spec.fields["mechanism"]["window"]["length"]
    windows = rows // length
    groups = [q[:, :, rows][:, :, :, None], blocks(k, length)[:, :, windows], blocks(v, length)[:, :, windows]]
    places = rows[:, None], windows[:, None] * length + numbers(xp, length, q)[None, :]
    return eva_groups(xp, spec, groups, places, chunk_summaries(xp, spec, q, k, v))[:, :, :, 0]


def eva_windows(xp, spec, q, k, v):
    """The definition for all queries, window by window."""
    length = spec.fields["mechanism"]["window"]["length"]
    places = numbers(xp, q.shape[2], q).reshape(-1, length)
    groups = [blocks(x, length) for x in (q, k, v)]
    return eva_groups(xp, spec, groups, (places, places), chunk_summaries(xp, spec, q, k, v)).reshape(v.shape)


#===----------------------------------------------------------------------------------------------------------------===#
# Sketches
#===----------------------------------------------------------------------------------------------------------------===#


def hadamard(size):
    """Sylvester's, of 1 and -1."""
    result = np.ones((1, 1))
    while len(result) < size:
        result = np.block([[result, result], [result, -result]])
    return result


def transformed(xp, x, signs, columns):
    """Chosen columns of the Hadamard transform of x, its signs flipped; signs [heads or 1, size], columns [.., r]. The size is a
    power of two; x is as wide, or counts as filled up with zeros."""
    width = x.shape[-1]
    matrix = hadamard(width)[:width]
    matrix = matrix if xp is np else xp.as_tensor(matrix, dtype=x.dtype, device=x.device)
    dense = xp.stack([sign[:width, None] * matrix[:, column] for sign, column in zip(signs, columns)])
    return xp.einsum("bhnd,hdr->bhnr", x, spread(xp, dense, x.shape[1]))


def sketch(xp, spec, parameters, x):
    """S(x) [batch, heads, n, r] of half the degree: leaves, then pairs of neighbours."""
    leaves, root = spec.fields["mechanism"]["degree"] // 2, spec.fields["mechanism"]["size"] ** 0.5

    def part(y, place, side=""):
        signs, columns = (parameters[f"sketch_{place}_{name}{side}"] for name in ("sign", "index"))
        return transformed(xp, y, signs, columns)

    level = [part(x, f"leaf{i}") / root for i in range(leaves)]
    node = 0
    while len(level) > 1:
        pairs = list(zip(level[::2], level[1::2]))
        level = [part(a, f"node{node + i}", "_a") * part(b, f"node{node + i}", "_b") / root
                 for i, (a, b) in enumerate(pairs)]
        node += len(pairs)
    return level[0]
