"""Compression by E and F: of the identity, of chosen keys, shared, tied, and ahead of the product."""

import numpy as np

from properties.table import COMPRESSED, MAPS, PAIRS, holds, select

RANK = 8
LENGTHS = {"key_lengths": True}
PLAIN = {"linformer": PAIRS["softmax"], "flurka": MAPS["favor"], "flurka, naive": MAPS["elu1"],
         "flurka, eva": {"kind": "eva", "chunk": 2}}


def compressed(draw, name, **changes):
    mechanism = COMPRESSED[name]
    return draw.spec(mechanism | {"low_rank": mechanism["low_rank"] | changes}, key_lengths=None)


def of_means(run, fields, tensors):
    """The output; of naive FLuRKA, which has no normalizer, over its output for values of 1."""
    got = run(fields, tensors)
    if fields["mechanism"].get("denominator") != "none":
        return got
    return got / run(fields, tensors | {"v": np.ones_like(tensors["v"])})


@holds("§7 §15 degenerate E: the identity gives the mechanism itself")
def identity_matrix(run, draw):
    for name in COMPRESSED:
        fields = compressed(draw, name)
        tensors = draw.tensors(fields, RANK) | {"e": np.eye(RANK)[None]}
        plain = draw.spec(PLAIN[name])
        yield name, of_means(run, fields, tensors), run(plain, {key: x for key, x in tensors.items() if key != "e"})


@holds("§7 (1) = (2) iff E selects: chosen keys, before the map and after it")
def chosen_keys(run, draw):
    for name in COMPRESSED:
        N = draw.length() + RANK
        fields = compressed(draw, name)
        tensors = draw.tensors(fields, draw.length(4), N)
        chosen = draw.rng.permutation(N)[:RANK]
        tensors["e"] = np.eye(N)[chosen][None]
        alone = {key: tensors[key][:, :, chosen] for key in "kv"}
        yield name, of_means(run, fields, tensors), run(draw.spec(PLAIN[name]), without_e(tensors) | alone)


def without_e(tensors):
    return {key: array for key, array in tensors.items() if key not in "ef"}


def small_matrix(draw, *shape):
    """Few entries in each row, of few bits: its products with a grid are exact."""
    matrix = draw.rng.choice([-1, -0.5, 0.5, 1], shape) * (draw.rng.random(shape) < 3 / shape[-1])
    matrix[..., 0] = 0.5
    return matrix


@holds("§3 low rank is the mechanism over E·K and F·V")
def products_first(run, draw):
    for name in draw.some(select(COMPRESSED, "linformer", "flurka", "flurka, eva"), "flurka"):
        N = draw.length() + RANK
        fields = compressed(draw, name, tied=False, per_head=True)
        tensors = draw.tensors(fields, draw.length(4), N)
        tensors |= {key: small_matrix(draw, draw.kv_heads, RANK, N) for key in "ef"}
        slots = {"k": tensors["e"] @ tensors["k"], "v": tensors["f"] @ tensors["v"]}
        yield name, run(fields, tensors), run(draw.spec(PLAIN[name]), without_e(tensors) | slots)


@holds("§12 I4 equal E of all heads are one E, and equal E and F are tied", compiled_long=True)
def shared(run, draw):
    for name in draw.some(COMPRESSED, "linformer"):
        fields = compressed(draw, name)
        tensors = draw.tensors(fields, draw.length(4), draw.length())
        expected = run(fields, tensors)
        copies = np.repeat(tensors["e"], draw.kv_heads, axis=0)
        yield f"{name}, every head", run(compressed(draw, name, per_head=True), tensors | {"e": copies}), expected
        yield f"{name}, untied", run(compressed(draw, name, tied=False), tensors | {"f": tensors["e"]}), expected


@holds("§12 I16 the order of the slots is free")
def slots(run, draw):
    for name in select(COMPRESSED, "linformer", "flurka", "flurka, naive"):
        fields = compressed(draw, name)
        tensors = draw.tensors(fields, draw.length(), draw.length())
        yield name, run(fields, tensors | {"e": tensors["e"][:, draw.rng.permutation(RANK)]}), run(fields, tensors)
