"""Every mechanism as a user of an array library writes it, whole outputs [batch, heads, n, d]: what the peers of
benchmarks/cpu.py run. `ops` is the library (TorchOps or JaxOps of cpu_arrays.py); with `ops.fused`, exact softmax is the library's own kernel.
"""

import functools
import math

import numpy as np

CHUNK = 128


#===----------------------------------------------------------------------------------------------------------------===#
# Exact softmax, and inside windows
#===----------------------------------------------------------------------------------------------------------------===#


def causal_mask(ops, scores, value):
    n = ops.arange(scores.shape[-1])
    return ops.where(n[None, :] > n[:, None], value, scores)


def exact(ops, q, k, v, causal=False):
    if ops.fused:
        return ops.exact(q, k, v, causal)
    scores = (q @ k.swapaxes(-1, -2)) * q.shape[-1] ** -0.5
    scores = causal_mask(ops, scores, -math.inf) if causal else scores
    return ops.softmax(scores, -1) @ v


def window_order(window, n):
    """Tokens in the order of their windows, and the length of a window."""
    if "length" in window:
        return None, window["length"]
    (rows, columns), (a, b) = window["grid"], window["size"]
    tokens = np.arange(n).reshape(rows // a, a, columns // b, b)
    return np.ascontiguousarray(tokens.transpose(0, 2, 1, 3)).reshape(-1), a * b


def in_windows(ops, x, order, length):
    """[batch, heads · windows, length, c]"""
    x = x if order is None else ops.take(x, ops.index(order))
    return x.reshape(x.shape[0], -1, length, x.shape[-1])


def convolution_by_heads(ops, images, weight):
    """Depthwise, of images [heads, windows, rows, columns, c], a head at a time; weight [heads, c, 3, 3]."""
    return ops.stack([ops.convolution(own.swapaxes(1, 3).swapaxes(2, 3), taps).swapaxes(2, 3).swapaxes(1, 3)
                      for own, taps in zip(images, weight)])


def batched_convolution(ops, images, weight):
    """The same in one call: a batch of windows whose channels are those of all heads."""
    heads, windows, rows, columns, c = images.shape
    channels = images.swapaxes(0, 1).swapaxes(2, 4).swapaxes(3, 4)  # [windows, heads, c, rows, columns]
    result = ops.convolution(channels.reshape(windows, heads * c, rows, columns), weight.reshape(heads * c, 3, 3))
    return result.reshape(windows, heads, c, rows, columns).swapaxes(3, 4).swapaxes(2, 4).swapaxes(0, 1)


def windowed(ops, window, lepe, q, k, v):
    order, length = window_order(window, q.shape[2])
    queries, keys, values = (in_windows(ops, x, order, length) for x in (q, k, v))
    result = exact(ops, queries, keys, values)
    if lepe is not None:
        images = values.reshape(v.shape[1], -1, *window["size"], v.shape[-1])  # of one batch entry
        convolved = batched_convolution if ops.batched else convolution_by_heads
        result = result + convolved(ops, images, lepe).reshape(result.shape)
    result = result.reshape(v.shape)
    return result if order is None else ops.take(result, ops.index(np.argsort(order)))


def lepe_of(ops, grid, weight, v):
    """The depthwise convolution of v [batch, heads, n, c] as an image; weight [heads, c, 3, 3]."""
    batch, heads, n, c = v.shape
    image = v.swapaxes(2, 3).reshape(batch, heads * c, *grid)
    return ops.convolution(image, weight.reshape(heads * c, 3, 3)).reshape(batch, heads, c, n).swapaxes(2, 3)


#===----------------------------------------------------------------------------------------------------------------===#
# Kernels
#===----------------------------------------------------------------------------------------------------------------===#


def focused(ops, feature_map, x, focus):
    y = (ops.relu(x) + 1e-6) / ops.softplus(focus)[None, :, None, :]
    cube = y * y * y
    return cube * ((y * y).sum(-1) / (cube * cube).sum(-1))[..., None] ** 0.5


def cosformer(ops, feature_map, x):
    horizon = feature_map["max_position"]
    angle = (np.pi / 2 / horizon * np.arange(1, x.shape[2] + 1, dtype=np.float32))[:, None]
    positive = ops.relu(x)
    return ops.concatenate([positive * ops.constant(np.sin(angle), x), positive * ops.constant(np.cos(angle), x)], -1)


def favor(ops, feature_map, x, omega, key):
    """Without stabilizer where it cancels; with ε, the published code's."""
    scaled = x * x.shape[-1] ** -0.25
    projected = scaled @ omega.swapaxes(-1, -2)
    half = (scaled * scaled).sum(-1)[..., None] / 2
    if "epsilon" not in feature_map:
        return ops.exp(projected - half)
    most = ops.amax(ops.amax(projected, -1, True), -2, True) if key else ops.amax(projected, -1, True)
    return ops.exp(projected - half - most) + feature_map["epsilon"]


def features(ops, feature_map, x, parameters, key):
    kind = feature_map["kind"]
    if kind == "elu1":
        return ops.elu1(x)
    if kind == "relu":
        return ops.relu(x)
    if kind == "cosformer":
        return cosformer(ops, feature_map, x)
    if kind == "focused":
        return focused(ops, feature_map, x, parameters["focus"])
    if kind == "favor_relu":
        return ops.relu(x @ parameters["omega"].swapaxes(-1, -2)) + 1e-3
    return favor(ops, feature_map, x, parameters["omega"], key)


def linear(ops, queries, keys, v, floor=0.0):
    """Through the state of all keys."""
    sums = queries @ keys.sum(2)[..., None]
    return (queries @ (keys.swapaxes(-1, -2) @ v)) / (ops.at_least(sums, floor) if floor else sums)


def masked(ops, weights, v, floor):
    """Causal, through all weights: the short way to write it."""
    weights = ops.tril(weights)
    sums = weights.sum(-1)[..., None]
    return (weights @ v) / (ops.at_least(sums, floor) if floor else sums)


def before(ops, per_chunk):
    """Sums over the chunks before each."""
    return ops.cumsum(per_chunk, 2) - per_chunk


def chunked(ops, queries, keys, v, floor=0.0, weights=None):
    """Causal, in chunks: states of whole chunks, weights inside each. `weights` makes those of [.., chunk, tokens, ·]."""
    batch, heads, n, _ = v.shape
    split = [x.reshape(batch, heads, n // CHUNK, CHUNK, x.shape[-1]) for x in (queries, keys, v)]
    q, k, values = split
    inside = ops.tril(weights(CHUNK) if weights else q @ k.swapaxes(-1, -2))
    states = before(ops, k.swapaxes(-1, -2) @ values)
    totals = before(ops, k.sum(3))
    sums = inside.sum(-1) + (q @ totals[..., None])[..., 0]
    sums = ops.at_least(sums, floor) if floor else sums
    return ((inside @ values + q @ states) / sums[..., None]).reshape(v.shape)


def kernel(ops, point, mechanism, q, k, v, parameters, in_chunks):
    feature_map = mechanism["feature_map"]
    floor = 1e-6 if feature_map["kind"] in ("relu", "cosformer") else 0.0
    queries = features(ops, feature_map, q, parameters, key=False)
    keys = features(ops, feature_map, k, parameters, key=True)
    if not point.causal:
        return linear(ops, queries, keys, v, floor)
    if in_chunks:
        return chunked(ops, queries, keys, v, floor)
    return masked(ops, queries @ keys.swapaxes(-1, -2), v, floor)


#===----------------------------------------------------------------------------------------------------------------===#
# Sketches, powers, and the rest
#===----------------------------------------------------------------------------------------------------------------===#


def sketch(x, parameters, mechanism):
    """S(x); the signed Hadamard columns are parameters already, as a user makes them once."""
    leaves = mechanism["degree"] // 2
    level = [x @ parameters[f"leaf{i}"] for i in range(leaves)]
    node = 0
    while len(level) > 1:
        level = [(a @ parameters[f"node{node + i}_a"]) * (b @ parameters[f"node{node + i}_b"])
                 for i, (a, b) in enumerate(zip(level[::2], level[1::2]))]
        node += len(level)
    return level[0]


def lifted(x):
    return (x[..., :, None] * x[..., None, :]).reshape(*x.shape[:-1], -1)


def square(x):
    return x * x


def polysketch(ops, point, mechanism, q, k, v, parameters, in_chunks):
    queries, keys = (sketch(x, parameters, mechanism) for x in (q, k))
    local = mechanism.get("local_exact")
    if not point.causal:
        return linear(ops, lifted(queries), lifted(keys), v)
    if in_chunks and not local:
        narrow = [x.reshape(*x.shape[:2], -1, CHUNK, x.shape[-1]) for x in (queries, keys)]
        return chunked(ops, lifted(queries), lifted(keys), v,
                       weights=lambda _: square(narrow[0] @ narrow[1].swapaxes(-1, -2)))
    weights = square(queries @ keys.swapaxes(-1, -2))
    if local:
        block = ops.arange(point.n) // local
        weights = ops.where(block[:, None] == block[None, :], square(square(q @ k.swapaxes(-1, -2))), weights)
    return masked(ops, weights, v, 0.0)


def polynomial(ops, point, mechanism, q, k, v):
    weights = square(q @ k.swapaxes(-1, -2))
    for _ in range(int(math.log2(mechanism["degree"])) - 1):
        weights = square(weights)
    return masked(ops, weights, v, 0.0) if point.causal else (weights @ v) / weights.sum(-1)[..., None]


def effatt(ops, q, k, v):
    return ops.softmax(q, -1) @ (ops.softmax(k, 2).swapaxes(-1, -2) @ v)


def agent(ops, mechanism, q, k, v):
    agents = q.reshape(*q.shape[:2], mechanism["agents"], -1, q.shape[-1]).mean(3)
    return exact(ops, q, agents, exact(ops, agents, k, v))


def eva(ops, point, mechanism, q, k, v):
    length, chunk, scale = mechanism["window"]["length"], mechanism["chunk"], q.shape[-1] ** -0.5

    def blocks(x, size):
        return x.reshape(*x.shape[:2], -1, size, x.shape[-1])
    queries, keys, values = (blocks(x, chunk) for x in (q, k, v))
    means = keys.mean(3)
    proposal = (queries.mean(3) + means) / 2
    logits = scale * ((keys @ proposal[..., None])[..., 0] - (keys * keys).sum(-1) / 2)
    gathered = (ops.softmax(logits, -1)[..., None, :] @ values)[..., 0, :]
    near_q, near_k, near_v = (blocks(x, length) for x in (q, k, v))
    near = scale * (near_q @ near_k.swapaxes(-1, -2))
    far = scale * (near_q @ means[:, :, None].swapaxes(-1, -2))
    if point.causal:
        near = causal_mask(ops, near, -math.inf)
        places = ops.arange(point.n).reshape(-1, length)
        hidden = ops.arange(means.shape[2])[None, None, :] >= (places // chunk)[:, :, None]
        far = ops.where(hidden, -math.inf, far)
    weights = ops.softmax(ops.concatenate([near, far], -1), -1)
    return (weights[..., :length] @ near_v + weights[..., length:] @ gathered[:, :, None]).reshape(v.shape)


#===----------------------------------------------------------------------------------------------------------------===#
# A point
#===----------------------------------------------------------------------------------------------------------------===#


def part(ops, point, mechanism, q, k, v, parameters, in_chunks):
    """One part; parameters as `prepared` gives them."""
    kind, lepe = mechanism["kind"], parameters.get("lepe_weight")
    if "low_rank" in mechanism:
        k, v = parameters["e"] @ k, parameters["e"] @ v
    if kind == "softmax":
        if "window" in mechanism:
            return windowed(ops, mechanism["window"], lepe, q, k, v)
        return exact(ops, q, k, v, point.causal)
    if kind == "kernel":
        return kernel(ops, point, mechanism, q, k, v, parameters, in_chunks)
    if kind == "polysketch":
        return polysketch(ops, point, mechanism, q, k, v, parameters, in_chunks)
    if kind == "polynomial":
        return polynomial(ops, point, mechanism, q, k, v)
    if kind == "agent":
        return agent(ops, mechanism, q, k, v)
    if kind == "eva":
        return eva(ops, point, mechanism, q, k, v)
    result = effatt(ops, q, k, v)
    return result if lepe is None else result + lepe_of(ops, mechanism["lepe"]["grid"], lepe, v)


def heads_of(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


def run(ops, point, inputs, parameters, in_chunks=False):
    """The output for inputs q, k, v, or x of a layer; `parameters`: those of each part, then a layer's."""
    if point.kind.layer:
        x, layer = inputs["x"], parameters[-1]
        q, k, v = (heads_of(x @ layer[name], point.head_count) for name in ("wq", "wk", "wv"))
        result = part(ops, point, point.parts[0][1], q, k, v, parameters[0], in_chunks)
        return result.swapaxes(1, 2).reshape(x.shape) @ layer["wo"]
    results, first = [], 0
    for (count, mechanism), own in zip(point.parts, parameters):
        q, k, v = (inputs[name][:, first:first + count] for name in "qkv")
        results.append(part(ops, point, mechanism, q, k, v, own, in_chunks))
        first += count
    return results[0] if len(results) == 1 else ops.concatenate(results, 1)


#===----------------------------------------------------------------------------------------------------------------===#
# Parameters
#===----------------------------------------------------------------------------------------------------------------===#


@functools.cache
def hadamard(size):
    result = np.ones((1, 1), np.float32)
    while len(result) < size:
        result = np.block([[result, result], [result, -result]])
    return result


def columns(signs, index, width):
    """Signed columns of the Hadamard matrix [heads, width, r], divided by the root of r."""
    chosen = [sign[:width, None] * hadamard(len(sign))[:width][:, place] for sign, place in zip(signs, index)]
    return np.ascontiguousarray(np.stack(chosen) / index.shape[-1] ** 0.5, np.float32)


def sketch_columns(own, width):
    """By the names that `sketch` uses. A node's product of two is divided by the root of r once, a leaf's root taken apart."""
    root = next(iter(array.shape[-1] for name, array in own.items() if name.endswith("index"))) ** 0.5
    found = {}
    for name in own:
        place = name.split(".")[1]
        if name.endswith(".sign"):
            found[place] = columns(own[name], own[f"sketch.{place}.index"], width)
        for side in "ab":
            if name.endswith(f".sign_{side}"):
                matrix = columns(own[name], own[f"sketch.{place}.index_{side}"], own[name].shape[-1])
                found[f"{place}_{side}"] = matrix * (root if side == "b" else 1)
    return found


def prepared(point, drawn):
    """What attnc draws, as `run` takes it: NumPy arrays of each part, and a layer's at the end."""
    lists = []
    for i in range(len(point.parts)):
        prefix = f"part{i}." if len(point.parts) > 1 else ""
        own = {name.removeprefix(prefix): array for name, array in drawn.items() if name.startswith(prefix)}
        found = {name.replace(".", "_"): array for name, array in own.items() if not name.startswith(("sketch", "w"))}
        sketches = {name: array for name, array in own.items() if name.startswith("sketch")}
        lists.append(found | (sketch_columns(sketches, point.d) if sketches else {}))
    return lists + [{name: drawn[name] for name in ("wq", "wk", "wv", "wo") if name in drawn}]
