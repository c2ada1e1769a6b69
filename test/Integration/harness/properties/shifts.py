"""What cancels: shifts of logits, factors, scales, stabilizers; and what is only a name: the order of channels and heads."""

import numpy as np

from properties.table import BLOCK, CAUSAL_MEANS, EVA, MAPS, MEANS, PAIRS, SKETCH, holds, kernel, select, without

LENGTHS = {"key_lengths": True}
POWERS_OF_TWO = 2.0 ** np.arange(-3, 4)


def problem(draw, mechanism, **more):
    fields = draw.spec(mechanism, **LENGTHS, **more)
    return fields, draw.tensors(fields, draw.length(BLOCK))


@holds("§12 I12 softmax(S + u1ᵀ) = softmax(S): the same vector added to all keys")
def shifted_keys(run, draw):
    for name, mechanism in select(MEANS, "softmax", "agent").items():
        fields, tensors = problem(draw, mechanism)
        tensors["k"] /= 2
        shift = draw.grid(2, draw.kv_heads, 1, draw.d) / 2
        yield name, run(fields, tensors | {"k": tensors["k"] + shift}), run(fields, tensors)


@holds("§5 EFFATT does not change with shifts of a query's row and of a key's feature")
def shifted_features(run, draw):
    fields, tensors = problem(draw, MEANS["effatt"])
    expected = run(fields, tensors)
    rows = draw.grid(*tensors["q"].shape[:3], 1)
    yield "rows of q", run(fields, tensors | {"q": tensors["q"] + rows}), expected
    features = draw.grid(2, draw.kv_heads, 1, draw.d)
    yield "features of k", run(fields, tensors | {"k": tensors["k"] + features}), expected


@holds("§12 I12 factors of the rows of A, and one of all rows of B, cancel")
def factors(run, draw):
    homogeneous = select(MAPS, "relu", "cosformer") | {"polynomial": PAIRS["polynomial"]} | SKETCH
    for name, mechanism in homogeneous.items():
        fields, tensors = problem(draw, mechanism)
        rows = draw.rng.choice(POWERS_OF_TWO, (*tensors["q"].shape[:3], 1))
        yield name, run(fields, tensors | {"q": tensors["q"] * rows, "k": tensors["k"] * 4}), run(fields, tensors)


@holds("§12 I12 the scale of polynomial weights cancels without a bias", compiled_long=True)
def scale_of_powers(run, draw):
    for name, mechanism in draw.some({"polynomial": PAIRS["polynomial"]} | SKETCH, "polynomial").items():
        fields, tensors = problem(draw, mechanism)
        yield name, run(fields | {"scale": 0.3}, tensors), run(fields, tensors)


@holds("§0 the scale multiplies ⟨q, k⟩: half of q and of k at four times the scale", compiled_long=True)
def scale_of_logits(run, draw):
    scaled = select(MEANS, "softmax", "favor", "agent", "eva") | {"favor_relu": kernel("favor_relu", features=9, normalize=True)}
    for name, mechanism in draw.some(scaled, "softmax").items():
        fields, tensors = problem(draw, mechanism, scale=0.25)
        halves = {key: tensors[key] / 2 for key in "qk"}
        yield name, run(fields | {"scale": 1}, tensors | halves), run(fields, tensors)


@holds("§12 I22 favor's stabilizers cancel: all are one function", compiled_long=True)
def stabilizers(run, draw):
    for causal in draw.causal(first=False):
        mechanism = lambda kind: kernel("favor", features=12, stabilizer=kind)
        fields, tensors = problem(draw, mechanism("constant"), causal=causal)
        expected = run(fields, tensors)
        for kind in draw.some({"max": 0, "projection": 0, "none": 0}, "max"):
            yield f"{kind}{', causal' if causal else ''}", run(fields | {"mechanism": mechanism(kind)}, tensors), expected


@holds("§12 I12 I22 favor of long rows neither underflows nor overflows: rows of weights sum to 1")
def long_rows(run, draw):
    for causal in (None, True):
        fields, tensors = problem(draw, MAPS["favor"], causal=causal)
        longest = 6 * draw.d ** 0.5  # SPEC §6
        for key in "qk":
            tensors[key] = np.float32(tensors[key] * longest / np.linalg.norm(tensors[key], axis=-1).max())
        tensors["v"] = np.ones_like(tensors["v"])
        got = run(fields, tensors)
        yield "causal" if causal else "all keys", got, np.ones_like(got)


def reordered(tensors, order):
    """The channels of q and k, and what is indexed by them."""
    return tensors | {name: tensors[name][..., order] for name in ("q", "k", "omega", "focus") if name in tensors}


@holds("§12 I16 the order of channels, the same in q and k, is free")
def channels(run, draw):
    for name, mechanism in without(MEANS, "polysketch").items():
        fields, tensors = problem(draw, mechanism)
        yield name, run(fields, reordered(tensors, draw.rng.permutation(draw.d))), run(fields, tensors)


@holds("§12 I16 the order of features is free")
def features(run, draw):
    for name, mechanism in select(MAPS, "favor", "favor, epsilon", "favor_relu").items():
        fields, tensors = problem(draw, mechanism)
        omega = tensors["omega"][:, draw.rng.permutation(tensors["omega"].shape[1])]
        yield name, run(fields, tensors | {"omega": omega}), run(fields, tensors)


@holds("§12 I16 signs of channels, the same in q and k, are free where only ⟨q, k⟩ and norms count")
def signs(run, draw):
    for name, mechanism in select(MEANS, "softmax", "polynomial", "favor", "agent", "eva").items():
        fields, tensors = problem(draw, mechanism)
        flips = draw.rng.choice([-1.0, 1.0], draw.d)
        flipped = {key: tensors[key] * flips for key in ("q", "k", "omega") if key in tensors}
        yield name, run(fields, tensors | flipped), run(fields, tensors)


@holds("§12 I16 the order of value channels is that of the output's")
def value_channels(run, draw):
    for name, mechanism in MEANS.items():
        fields, tensors = problem(draw, mechanism)
        order = draw.rng.permutation(draw.dv)
        yield name, run(fields, tensors | {"v": tensors["v"][..., order]}), run(fields, tensors)[..., order]


@holds("§12 I16 the order of heads is free")
def heads(run, draw):
    groups = draw.heads // draw.kv_heads
    for name, mechanism in MEANS.items():
        fields, tensors = problem(draw, mechanism)
        shared = draw.rng.permutation(draw.kv_heads)
        order = (shared[:, None] * groups + draw.rng.permutation(groups)).reshape(-1)
        moved = {key: tensors[key][:, order if key == "q" else shared] for key in "qkv"}
        moved |= {key: array[order] for key, array in tensors.items()
                  if key not in {"q", "k", "v", "key_lengths"} and len(array) == draw.heads}
        yield name, run(fields, tensors | moved), run(fields, tensors)[:, order]
