"""What a function needs, whatever computes it: the numerators of benchmarks/cpu.py's fractions.

Multiply-adds are the least over the exact forms of the function (ATTENTION_MATH's closed forms, docs/Costs.md), causal
linear forms at their best length of a chunk. Exponentials are those of the definition. Bytes are each input and output once.
The binding limit is the largest of the three times; docs/Performance.md has the formulas as a table.
"""

import cpu_rows

BYTES = {"f32": 4, "bf16": 2}


def pairs(point, keys, width, dv):
    """Every query with each of `keys` keys, half of them if causal."""
    return point.n * keys * (width + dv) * (0.5 if point.causal else 1)


def states(point, keys, m, dv):
    """Through a state of m features by the values and the sum of weights: each key is added to it, each query reads it.

    If causal, chunks of C tokens need 2 (n - C) m (dv + 1) for the states and n (C + 1) / 2 pairs. That is linear in C, so the
    least is one of all pairs, which `pairs` has, and of one token after another without a pair, which is this."""
    return (point.n + keys) * m * (dv + 1)


def window_tokens(mechanism):
    window = mechanism.get("window")
    return window and (window.get("length") or window["size"][0] * window["size"][1])


def map_width(feature_map, d):
    return {"favor": feature_map.get("features"), "favor_relu": feature_map.get("features"), "cosformer": 2 * d}.get(
        feature_map["kind"], d)


def kernel(point, mechanism, keys):
    """(multiply-adds, exponentials) of a head of kernel attention, its maps included."""
    feature_map, d = mechanism["feature_map"], point.d
    kind, m, rows = feature_map["kind"], map_width(mechanism["feature_map"], point.d), point.n + keys
    maps = rows * m * d if kind in ("favor", "favor_relu") else 0
    exponentials = rows * {"favor": m, "elu1": d}.get(kind, 0)
    return maps + min(states(point, keys, m, d), pairs(point, keys, m, d)), exponentials


def polysketch(point, mechanism, keys):
    """The sketch of a row: half the degree leaves of d × r, then pairs of r × r. Its square has r (r + 1) / 2 different features."""
    r, leaves, d = mechanism["size"], mechanism["degree"] // 2, point.d
    sketches = (point.n + keys) * (leaves * d * r + (leaves - 1) * 2 * r * r)
    local = mechanism.get("local_exact", 0)
    inside = point.n * local / 2 * (2 * d + 1)  # pairs of exact weights in blocks of so many tokens
    weights = min(states(point, keys, r * (r + 1) / 2, d), pairs(point, keys - local, r, d))
    return sketches + weights + inside, 0


def eva(point, mechanism, keys):
    seen = mechanism["window"]["length"] + keys / mechanism["chunk"]
    return pairs(point, seen, point.d, point.d) + keys * 2 * point.d, point.n * seen * (0.5 if point.causal else 1) + keys


def head(point, mechanism):
    """(multiply-adds, exponentials) of a head."""
    d, n, keys = point.d, point.n, point.n
    compressed = 0
    if "low_rank" in mechanism:
        keys = mechanism["low_rank"]["rank"]
        compressed = keys * n * 2 * d
    kind = mechanism["kind"]
    if kind in ("softmax", "polynomial"):
        seen = window_tokens(mechanism) or keys
        scores = n * seen * (0.5 if point.causal else 1)
        result = pairs(point, seen, d, d), scores if kind == "softmax" else 0
    elif kind == "kernel":
        result = kernel(point, mechanism, keys)
    elif kind == "polysketch":
        result = polysketch(point, mechanism, keys)
    elif kind == "effatt":
        result = (n + keys) * d * d, (n + keys) * d
    elif kind == "agent":
        result = (n + keys) * mechanism["agents"] * 2 * d, (n + keys) * mechanism["agents"]
    else:
        result = eva(point, mechanism, keys)
    taps = (9 if "grid" in mechanism["lepe"] or "grid" in mechanism.get("window", {}) else 3) if "lepe" in mechanism else 0
    return result[0] + compressed + taps * n * d, result[1]


def layer_with_low_rank(point):
    """A Linformer layer: E before the projections where that is less, as E (X W) = (E X) W; K = V = X and E = F share it."""
    model, n = point.head_count * point.d, point.n
    rank = point.parts[0][1]["low_rank"]["rank"]
    after = 2 * n * model * model + rank * n * 2 * model
    before = rank * n * model + 2 * rank * model * model
    return 2 * n * model * model + min(after, before) + point.head_count * n * rank * 2 * point.d


def parameter_elements(point):
    """Elements of the parameters that a run reads."""
    model, total = point.head_count * point.d, 0
    for _, mechanism in point.parts:
        feature_map = mechanism.get("feature_map", {})
        total += mechanism.get("low_rank", {}).get("rank", 0) * point.n + feature_map.get("features", 0) * point.d
    return total + (4 * model * model if cpu_rows.FAMILIES[point.family].layer else 0)


def needs(point):
    """What the function needs: multiply-adds, exponentials, bytes."""
    per_head = [(heads, *head(point, mechanism)) for heads, mechanism in point.parts]
    products = sum(heads * count for heads, count, _ in per_head)
    exponentials = sum(heads * count for heads, _, count in per_head)
    tensors = 4
    if cpu_rows.FAMILIES[point.family].layer:
        products, tensors = layer_with_low_rank(point), 2
    elements = tensors * point.batch * point.n * point.head_count * point.d + parameter_elements(point)
    return {"multiply_adds": point.batch * products, "exponentials": point.batch * exponentials,
            "bytes": elements * BYTES[point.dtype]}


#===----------------------------------------------------------------------------------------------------------------===#
# Limits
#===----------------------------------------------------------------------------------------------------------------===#


def memory_level(total_bytes, caches):
    """Where the tensors of a warm run lie: the smallest cache that holds them all, or main memory. `caches`: name, bytes of all."""
    return next((name for name, size in caches if total_bytes <= size), "memory")


def binding(point, limits, caches):
    """(seconds, name) of the limit that binds. `limits`: what all threads do a second together."""
    need = needs(point)
    rate = max(limits["f32"], limits.get("bf16", 0)) if point.dtype == "bf16" else limits["f32"]
    unit = "AMX" if rate > 8 * limits["f32"] else "bf16 dot" if rate > limits["f32"] else "f32 FMA"
    level = memory_level(need["bytes"], caches)
    times = {unit: need["multiply_adds"] / rate, "exp": need["exponentials"] / limits["exp"],
             level: need["bytes"] / limits[level]}
    name = max(times, key=times.get)
    return times[name], name
