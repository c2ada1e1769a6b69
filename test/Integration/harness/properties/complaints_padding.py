"""What users of other libraries complain of: padding that reaches the output (flash-linear-attention#892, performer-pytorch#44)."""

import numpy as np

from properties.table import COMPRESSED, MAPS, MEANS, SKETCH, holds, select

LAYERS = select(MEANS, "softmax", "polynomial", "effatt", "agent", "eva") | select(MAPS, "elu1", "favor", "favor, epsilon") | \
    SKETCH | COMPRESSED
CI = "softmax", "favor", "linformer"
POISON = [np.nan, np.inf, -np.inf]


def spoiled(draw, array, lengths, filling):
    """Rows at or past the length hold what may not be read."""
    copy = np.float32(array)
    for entry, length in enumerate(lengths):
        rows = copy[entry, ..., length:, :]
        rows[...] = draw.rng.choice(filling, rows.shape)
    return copy


def layer(draw, mechanism, cross, **more):
    return draw.spec(mechanism, keys="?" if cross else None, key_lengths=True,
                     projection={"model_dim": 7, "bias": True, "cross": cross}, **more)


@holds("NaN in the padding of a context reaches the output through the projections", compiled_long=True)
def context(run, draw):
    for name, mechanism in draw.some(LAYERS, *CI).items():
        fields = layer(draw, mechanism, True)
        tensors = draw.tensors(fields, 16)
        tensors["key_lengths"] = np.array([11, 0], np.int32)
        poisoned, zeros = (tensors | {"context": spoiled(draw, tensors["context"], [11, 0], filling)} for filling in (POISON, [0.0]))
        yield name, run(fields, poisoned), run(fields, zeros), True


@holds("NaN in the padding of x reaches the rows before it, in self-attention with projections")
def self_attention(run, draw):
    """The padded rows are queries all the same, and theirs to spoil; of EVA's and the agents' pooled queries, what reads them."""
    for name, mechanism in draw.some({key: m for key, m in LAYERS.items() if key not in ("agent", "eva", "flurka, eva")}, *CI).items():
        for causal in (draw.causal() if name in ("softmax", "polynomial", "elu1", "favor", "polysketch") else (None,)):
            fields = layer(draw, mechanism, False, causal=causal)
            tensors = draw.tensors(fields, 300)
            tensors["key_lengths"] = np.array([259, 270], np.int32)
            poisoned, zeros = (tensors | {"x": spoiled(draw, tensors["x"], [259, 270], filling)} for filling in (POISON, [0.0]))
            got, expected = (run(fields, each)[:, :259] for each in (poisoned, zeros))
            yield f"{name}{', causal' if causal else ''}", got, expected, True


@holds("NaN in the padding reaches the output through rotation, norms and LePE")
def around(run, draw):
    surroundings = {"rope": {"rope": {}}, "qk_norm": {"qk_norm": {}}}
    for what, more in draw.some(surroundings, "rope").items():
        for name, mechanism in draw.some(select(LAYERS, "softmax", "elu1", "favor", "linformer"), "linformer").items():
            fields = layer(draw, mechanism, True, **more)
            tensors = draw.tensors(fields, 24)
            tensors["key_lengths"] = np.array([5, 24], np.int32)
            poisoned, zeros = (tensors | {"context": spoiled(draw, tensors["context"], [5, 24], filling)} for filling in (POISON, [0.0]))
            yield f"{what}, {name}", run(fields, poisoned), run(fields, zeros), True
    for name, mechanism in draw.some(select(LAYERS, "softmax", "linformer"), "softmax").items():
        fields = draw.spec(mechanism | {"lepe": {"bias": True}}, key_lengths=True)
        tensors = draw.tensors(fields, 24)
        tensors["key_lengths"] = np.array([5, 0], np.int32)
        poisoned, zeros = (tensors | {key: spoiled(draw, tensors[key], [5, 0], filling) for key in "kv"} for filling in (POISON, [0.0]))
        yield f"lepe, {name}", run(fields, poisoned), run(fields, zeros), True
