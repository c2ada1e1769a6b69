"""What holds in the mean of many draws; every head is a draw. A mean may miss by 5 of its own standard deviations."""

import numpy as np

from properties.numbers import exact, sketch
from properties.table import FLOOR, MAPS, SKETCH, holds, kernel, numerators

DRAWS = 96


def near(heads, expected):
    """Whether the mean over the draws of axis 1 is the expected one, entry by entry, as numbers."""
    spread = heads.std(axis=1) / np.sqrt(heads.shape[1])
    return np.float64(np.abs(heads.mean(axis=1) - expected) <= 5 * spread)


def one_head(draw, n, N, d):
    """The same q, k, v in every head, near 0."""
    return {"q": draw.grid(1, 1, n, d) / 4, "k": draw.grid(1, 1, N, d) / 4, "v": draw.grid(1, 1, N, 3)}


def many(tensors):
    return {key: np.repeat(array, DRAWS, axis=1) for key, array in tensors.items()}


@holds("§5 E⟨φ(x), φ(y)⟩ = e^{⟨x, y⟩}: favor's numerators are softmax's in the mean", compiled_long=True)
def favor(run, draw):
    mechanism = numerators(kernel("favor", features=16, per_head=True, stabilizer="none"))
    fields = draw.spec(mechanism, heads=DRAWS, kv_heads=DRAWS, head_dim=8, value_dim=3)
    head = one_head(draw, 4, 5, 8)
    weights = np.exp(8 ** -0.5 * head["q"] @ head["k"].swapaxes(2, 3))
    got = near(run(fields, many(head) | draw.parameters(fields, 4, 5)) * FLOOR, (weights @ head["v"])[:, 0])
    yield "favor", got, np.ones_like(got)


@holds("§3 E[EᵀE] = I: naive FLuRKA's outputs are the numerators of its kernel in the mean", compiled_long=True)
def compression(run, draw):
    mechanism = MAPS["elu1"] | {"low_rank": {"rank": 8, "order": "after_map", "per_head": True}, "denominator": "none"}
    fields = draw.spec(mechanism, heads=DRAWS, kv_heads=DRAWS, head_dim=8, value_dim=3)
    head = one_head(draw, 4, 9, 8)
    plain = draw.spec(numerators(MAPS["elu1"]), heads=1, kv_heads=1, head_dim=8, value_dim=3)
    got = near(run(fields, many(head) | draw.parameters(fields, 4, 9)), run(plain, head)[:, 0] * FLOOR)
    yield "elu1", got, np.ones_like(got)


@holds("§8 E⟨S(x), S(y)⟩ = ⟨x, y⟩^{p/2}: the sketches that attnc init draws")
def sketches(_, draw):
    for degree in (4, 8):
        fields = draw.spec(SKETCH["polysketch"] | {"degree": degree}, heads=DRAWS, kv_heads=DRAWS, head_dim=8)
        head = one_head(draw, 4, 5, 8)
        parameters = draw.parameters(fields, 4, 5)
        q, k = (sketch(many(head)[key], parameters) for key in "qk")
        got = near(q @ k.swapaxes(2, 3), (head["q"] @ head["k"].swapaxes(2, 3))[:, 0] ** (degree // 2))
        yield f"degree {degree}", got, np.ones_like(got)


@holds("§5 favor's error falls with the features; exact attention is the limit", compiled_long=True)
def limit(run, draw):
    tensors = one_head(draw, 6, 30, 8)
    expected, errors = exact(tensors["q"], tensors["k"], tensors["v"]), []
    for features in (16, 1024):
        fields = draw.spec(kernel("favor", features=features), heads=1, kv_heads=1, head_dim=8, value_dim=3)
        got = run(fields, tensors | draw.parameters(fields, 6, 30))
        errors.append(np.linalg.norm(got - expected) / np.linalg.norm(expected))
    yield f"errors {errors}", np.float64([errors[1] < 0.1, errors[1] < errors[0] / 3]), np.ones(2)
