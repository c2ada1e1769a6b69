"""Powers and sketches as kernels of explicit features."""

import numpy as np

from properties.numbers import repeat_heads, sketch
from properties.table import LOCAL, MAPS, SKETCH, holds

LENGTHS = {"key_lengths": True}


def power(degree):
    return {"kind": "polynomial", "degree": degree}


def tensor_power(x, degree):
    result = x
    for _ in range(degree - 1):
        result = (result[..., :, None] * x[..., None, :]).reshape(*x.shape[:-1], -1)
    return result


@holds("§12 I7 I8 ⟨x, y⟩^p = ⟨x^{⊗p}, y^{⊗p}⟩: a polynomial is a kernel of explicit features", compiled_long=True)
def explicit_features(run, draw):
    """Of entries above zero, which relu leaves alone; few bits each, so that their powers are exact."""
    for causal in draw.causal():
        for degree in draw.some({2: 0, 4: 0}, 4):
            fields = draw.spec(power(degree), causal=causal, head_dim=3, **LENGTHS)
            tensors = draw.tensors(fields, draw.length())
            tensors |= {key: np.floor(np.abs(tensors[key]) * 2) / 2 + 0.5 for key in "qk"}
            features = tensors | {key: tensor_power(tensors[key], degree) for key in "qk"}
            relu = draw.spec(MAPS["relu"], causal=causal, head_dim=3 ** degree, **LENGTHS)
            yield f"degree {degree}{', causal' if causal else ''}", run(relu, features), run(fields, tensors)


@holds("§8 I9 a polysketch is the square of ⟨S(q), S(k)⟩, S a tree of dense products")
def explicit_sketch(run, draw):
    """r is a power of 4, so that r^{-1/2} is exact. A row whose weights all cancel is left out: one rounding gives it some."""
    for causal in draw.causal():
        for degree in draw.some({4: 0, 8: 0, 16: 0}, 8):
            size = 4
            fields = draw.spec(SKETCH["polysketch"] | {"degree": degree, "size": size}, causal=causal, **LENGTHS)
            tensors = draw.tensors(fields, draw.length())
            few_bits = np.sign if degree > 4 else lambda x: np.round(x * 2) / 2
            tensors |= {key: few_bits(tensors[key]) for key in "qk"}
            sketches = {key: sketch(repeat_heads(tensors[key], draw.heads), tensors) for key in "qk"}
            values = {"v": repeat_heads(tensors["v"], draw.heads), "key_lengths": tensors["key_lengths"]}
            square = draw.spec(power(2), causal=causal, head_dim=size, kv_heads=draw.heads, scale=1, **LENGTHS)
            products = sketches["q"] @ sketches["k"].swapaxes(2, 3)
            seen = np.abs(np.tril(products) if causal else products).max(axis=-1, keepdims=True) > 0
            got, expected = run(fields, tensors), run(square, sketches | values)
            yield f"degree {degree}{', causal' if causal else ''}", got * seen, expected * seen


@holds("§8 a sketch of one channel and one column is exact", compiled_long=True)
def exact_sketch(run, draw):
    for degree in draw.some({4: 0, 8: 0}, 4):
        fields = draw.spec({"kind": "polysketch", "degree": degree, "size": 1}, head_dim=1, **LENGTHS)
        tensors = draw.tensors(fields, draw.length(), draw.length())
        polynomial = draw.spec(power(degree), head_dim=1, **LENGTHS)
        yield f"degree {degree}", run(fields, tensors), run(polynomial, tensors)


@holds("§8 local exact blocks of everything are the polynomial; of part, in the first block", compiled_long=True)
def local_blocks(run, draw):
    exact = draw.spec(power(4), causal=True, **LENGTHS)
    tensors = draw.tensors(exact, 24)
    expected = run(exact, tensors)
    for block in draw.some({24: 0, 4: 0}, 24):
        local = draw.spec(LOCAL["polysketch, local"] | {"local_exact": block}, causal=True, **LENGTHS)
        got = run(local, tensors | draw.parameters(local, 24))
        yield f"{block} of 24", got[:, :, :block], expected[:, :, :block]


@holds("§8 zero channels up to a power of two change no sketch", compiled_long=True)
def padded_channels(run, draw):
    for name, mechanism in draw.some(SKETCH | LOCAL, "polysketch").items():
        fields = draw.spec(mechanism, head_dim=5, causal=True, **LENGTHS)
        tensors = draw.tensors(fields, draw.length(4))
        padded = tensors | {key: np.pad(tensors[key], [(0, 0)] * 3 + [(0, 3)]) for key in "qk"}
        yield name, run(fields | {"head_dim": 8}, padded), run(fields, tensors)
