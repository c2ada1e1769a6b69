"""Tensors for a random spec, by its seed: rows in the range of the tolerances and beyond it, and what nobody may read."""

import dataclasses

import numpy as np

import random_range
from random_grammar import Choices

KINDS = ["normal", "normal", "large", "large", "spread", "ties", "zeros", "outside"]


@dataclasses.dataclass
class Tensors:
    arrays: dict           # name -> f32 (key_lengths: i32)
    in_range: bool         # whether the tolerances hold
    largest_logit: float
    spoiled: bool          # whether the first batch entry holds a NaN in a row that exists


def scaled_to(rows, norms):
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows * norms[..., None] / np.where(lengths > 0, lengths, 1)


def draw_rows(choices, kind, limit, shape):
    rng = choices.rng
    if kind == "ties":  # few different rows
        few = rng.standard_normal((3, shape[-1]))
        return few[rng.integers(0, 3, shape[:-1])]
    if kind == "outside":
        return rng.uniform(-1e3, 1e3, shape)
    rows = rng.standard_normal(shape)
    if kind == "zeros":
        rows[rng.random(shape) < 1 / 3] = 0
    if kind == "large":
        rows = scaled_to(rows, rng.uniform(0, limit, shape[:-1]))
    if kind == "spread":  # small ones beside large ones
        rows = scaled_to(rows, limit * 10 ** rng.uniform(-4, 0, shape[:-1]))
    return rows


def draw_lengths(choices, case):
    N = case.keys
    return np.array([choices.pick([0, N, choices.below(N + 1), choices.below(N + 1)]) for _ in range(case.batch)], np.int32)


def draw_inputs(case, seed, kind, limit):
    """The inputs' rows, f32."""
    f = case.fields
    if "projection" in f:
        shapes = {"x": (case.queries, f["projection"]["model_dim"])}
        if f["projection"]["cross"]:
            shapes["context"] = (case.keys, f["projection"]["model_dim"])
    else:
        shapes = {"q": (f["heads"], case.queries, f["head_dim"]), "k": (f["kv_heads"], case.keys, f["head_dim"]),
                  "v": (f["kv_heads"], case.keys, f["value_dim"])}
    rows = {name: draw_rows(Choices(seed, name), "normal" if name == "v" else kind, limit, (case.batch, *sizes))
            for name, sizes in shapes.items()}
    return {name: array.astype(np.float32) for name, array in rows.items()}


def shrink(case, arrays, parameter):
    """Scales the inputs into the range; a norm and a bias may keep them out of it."""
    over = random_range.excess(case, arrays, parameter)
    both = max(over.values())
    by = {"q": over["q"], "k": over["k"], "x": both if "context" not in arrays else over["q"], "context": over["k"]}
    for name in by.keys() & arrays.keys():
        arrays[name] = (arrays[name] / max(1.0, by[name])).astype(np.float32)


def poison(choices, lengths, tokens):
    """What nobody may read, in every row at or past the length."""
    for entry, length in enumerate(lengths):
        rows = tokens[entry, ..., length:, :]
        rows[...] = choices.rng.choice([np.nan, np.inf, -np.inf, 3e38], rows.shape)


def spoil(choices, arrays):
    """A NaN in one row of the first entry, which may reach that entry's rows and no other's."""
    tensor = arrays[choices.pick(sorted(arrays.keys() - {"key_lengths"}))][0]
    tensor[tuple(choices.below(size) for size in tensor.shape)] = np.nan


def draw_tensors(case, seed, parameter):
    """`parameter` gives the f64 array of a parameter by its name."""
    choices = Choices(seed, "inputs")
    kind = choices.pick(KINDS)
    arrays = draw_inputs(case, seed, kind, random_range.draw_limit(case))
    if case.fields["key_lengths"]:
        arrays["key_lengths"] = draw_lengths(Choices(seed, "key_lengths"), case)
    if kind != "outside":
        shrink(case, arrays, parameter)
    in_range = max(random_range.excess(case, arrays, parameter).values()) <= 1.001
    largest = random_range.largest_logit(case, arrays, parameter)
    for name in {"k", "v", "context"} & arrays.keys():
        poison(Choices(seed, "poison " + name), arrays.get("key_lengths", []), arrays[name])
    spoiled = case.batch > 1 and choices.once(8)
    if spoiled:
        spoil(choices, arrays)
    return Tensors(arrays, in_range, largest, spoiled)
