"""Random tensors for a decoder's spec: rows with norms up to the limit, gates at the borders of their ranges, offsets, what nobody
may read, and the state that a prefix leaves."""

import dataclasses

import numpy as np

import decoder_rows
from decoder_grammar import divides
from decoder_rows import ERASED, offsets_of
from random_grammar import Choices, guard_of
from random_tensors import draw_rows, poison

KINDS = ["normal"] * 6 + ["large", "spread", "ties", "zeros"]
UNLIMITED = 1e3
# Largest of what the last bits of a product may add to a norm at its limit.
INSIDE = 0.999
FLOAT = np.float32


@dataclasses.dataclass
class Tensors:
    arrays: dict           # name -> f32 or i32, parameters among them; what does not exist is poisoned
    in_range: bool
    largest_logit: float


def widths(mechanism, d, dv):
    """Of a channel of g and beta, of w."""
    own = mechanism["feature_map"]
    return {"cosformer": 2 * d}.get(own["kind"], own.get("features", d)), dv


def draw_inputs(case, seed, kind, limit):
    f, n, N = case.fields, case.queries, case.keys
    q_heads, k_heads, v_heads = decoder_rows.head_counts(f)
    if "projection" in f:
        shapes = {"x": (n, f["projection"]["model_dim"])}
        if f["projection"]["cross"]:
            shapes["context"] = (N, f["projection"]["model_dim"])
    else:
        shapes = {"q": (q_heads, n, f["head_dim"]), "k": (k_heads, N, f["head_dim"]), "v": (v_heads, N, f["value_dim"])}
    return {name: draw_rows(Choices(seed, name), "normal" if name == "v" else kind, limit, (case.batch, *shape)).astype(FLOAT)
            for name, shape in shapes.items()}


def shrink(case, arrays):
    """Into the range, as far as inputs can; what a layer makes of them may leave it."""
    over = max(1.0, decoder_rows.excess(case, arrays))
    for name in {"q", "k", "x", "context"} & arrays.keys():
        arrays[name] = (arrays[name] / over).astype(FLOAT)


#===-- Gates -------------------------------------------------------------------------------------------------------------===#


def may_vanish(m):
    """Whether a denominator may be that of keys that are long forgotten, and of no other: f32 does not hold e^(−100), and 0 / 0 is 0."""
    kind, own = m["feature_map"]["kind"], m["feature_map"]
    sparse = kind in ("relu", "identity") or kind == "favor_relu" and own["epsilon"] == 0
    return sparse and divides(m) and not any(guard_of(m))


def draw_log_decay(choices, shape, gently):
    rng = choices.rng
    match 4 if gently else choices.below(5):
        case 0:
            return np.zeros(shape)
        case 1:
            return rng.choice([0, -20, -1e-3, -1], shape)
        case 2:
            return rng.uniform(-20, 0, shape)
    return np.log1p(-2.0 ** -(5.0 + rng.integers(0, 4, shape)))


def draw_decay(choices, shape, gently):
    """−50 … 0: all at a border, some there, long memories, those of the spec page."""
    rng = choices.rng
    match 5 if gently else choices.below(8):
        case 0:
            return np.zeros(shape)
        case 1:
            return np.full(shape, -50.0)
        case 2:
            return rng.choice([0, -50, -1e-3, -1, -10], shape)
        case 3:
            return np.where(rng.random(shape) < .1, -50, -np.exp(rng.uniform(-8, 0, shape)))
        case 4:
            return rng.uniform(-50, 0, shape)
        case 5:
            return -np.exp(rng.uniform(-9, -5, shape))
    return -np.logaddexp(0, rng.standard_normal(shape)) * choices.pick([1, 1 / 8, 1 / 64])


def draw_write(choices, shape):
    rng = choices.rng
    match choices.below(5):
        case 0:
            return np.ones(shape)
        case 1:
            return rng.choice([0, 1, .5], shape)
        case 2:
            return rng.standard_normal(shape)
    return 1 / (1 + np.exp(-rng.standard_normal(shape)))


def draw_positive(choices, shape):
    return np.abs(draw_write(choices, shape))


def draw_erase(choices, phi, channels):
    """β with β‖φ‖² up to 2: at its bound, 0, in between; tokens [.., n], or channels of φ [.., n, m]."""
    rng, size = choices.rng, (phi ** 2).sum(-1)
    shape = phi.shape[:-1]
    match choices.below(6):
        case 0:
            share = np.full(shape, ERASED)
        case 1:
            share = rng.choice([0, 1, ERASED], shape)
        case 2:
            share = np.zeros(shape)
        case _:
            share = ERASED * rng.uniform(0, choices.pick([.5, .5, 1]), shape)
    share = INSIDE * share
    beta = np.divide(share, size, out=np.zeros(shape), where=size > 1e-20)
    if not channels:
        return beta
    wide = rng.uniform(0, 1, phi.shape) if choices.once(2) else rng.choice([0, 1], phi.shape)
    length = np.linalg.norm(wide * phi, axis=-1) * np.sqrt(size)
    return wide * np.divide(share, length, out=np.zeros(shape), where=length > 1e-20)[..., None]


def draw_gates(case, seed, arrays):
    f = case.fields
    for prefix, first, heads, m in case.parts():
        if m["kind"] != "kernel":
            continue
        m_width, dv = widths(m, f["head_dim"], f["value_dim"])
        shape = (case.batch, decoder_rows.state_heads(case, heads), case.keys)
        of = lambda name: Choices(seed, prefix + name)
        gate = lambda name: m.get(name, {}).get("per")
        if gate("decay") in ("token", "channel"):
            arrays[prefix + "g"] = draw_decay(of("g"), shape + (m_width,) * (gate("decay") == "channel"), may_vanish(m)).astype(FLOAT)
        if gate("write"):
            draw = draw_positive if divides(m) else draw_write
            arrays[prefix + "w"] = draw(of("w"), shape + (dv,) * (gate("write") == "channel")).astype(FLOAT)
        if gate("erase"):
            phi = decoder_rows.features(m, decoder_rows.state_keys(case, arrays, first, heads))
            arrays[prefix + "beta"] = draw_erase(of("beta"), phi, gate("erase") == "channel").astype(FLOAT)


def draw_parameters(case, seed, parameters):
    """Those whose borders count, in place of the drawn ones."""
    changed = dict(parameters)
    for name, array in parameters.items():
        choices = Choices(seed, name)
        if name.endswith("log_decay"):
            m = next(m for prefix, _, _, m in case.parts() if name == prefix + "log_decay")
            changed[name] = draw_log_decay(choices, array.shape, may_vanish(m)).astype(FLOAT)
        if name.endswith("slope") and choices.once(3):
            changed[name] = (array * choices.pick([0, 4, .1])).astype(FLOAT)
    return changed


#===-- Lengths and what does not exist -----------------------------------------------------------------------------------===#


def draw_lengths(choices, case, least=0):
    """Of keys, from `least` on."""
    N = case.keys
    return np.array([choices.pick([least, N, choices.between(min(least, N), N), choices.between(min(least, N), N)])
                     for _ in range(case.batch)], np.int32)


def poison_all(case, seed, arrays):
    lengths = arrays.get("key_lengths")
    if lengths is None:
        return
    for name in sorted(arrays):
        last = name.split(".")[-1]
        if name in ("k", "v", "context") or last in ("g", "beta", "w") and arrays[name].ndim == 4:
            poison(Choices(seed, "poison " + name), lengths, arrays[name])
        elif last in ("g", "beta", "w"):
            poison(Choices(seed, "poison " + name), lengths, arrays[name][..., None])


def draw_tensors(case, seed, parameters, state=None, kind=None, least=0):
    """`parameters` by their names; `state`, what a prefix left."""
    choices = Choices(seed, "tensors")
    kind = kind or choices.pick(KINDS + ["outside"] * choices.once(3))
    limit = min(UNLIMITED, decoder_rows.largest_norm(case))
    arrays = draw_parameters(case, seed[0] if isinstance(seed, tuple) else seed, parameters) | draw_inputs(case, seed, kind, limit) | (state or {})
    if case.fields.get("key_lengths"):
        arrays["key_lengths"] = draw_lengths(Choices(seed, "key_lengths"), case, least)
    if case.packed:
        arrays["offsets"] = offsets_of(case.lengths)
        if case.has_key_offsets:
            arrays["key_offsets"] = offsets_of(case.key_lengths)
    if kind != "outside":
        shrink(case, arrays)
    draw_gates(case, seed, arrays)
    in_range = decoder_rows.excess(case, arrays) <= 1.001 and not decoder_rows.grows(case, arrays)
    largest = decoder_rows.largest_logit(case, arrays)
    poison_all(case, seed, arrays)
    return Tensors(arrays, in_range, largest)
