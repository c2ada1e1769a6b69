"""Weights: rows that sum to 1, means, linearity in the values, shards of the keys."""

import numpy as np

from properties.table import BLOCK, CAUSAL_CI, CAUSAL_MEANS, COMPRESSED, MEANS, PAIRWISE, holds, numerators, without

LENGTHS = {"key_lengths": True}


def positive(tensors):
    """Queries and keys above zero, so that maps that cut at zero see each other."""
    return tensors | {name: np.abs(tensors[name]) + 1 / 16 for name in "qk" if name in tensors}


@holds("§15 rows of weights sum to 1, by V = 1")
def rows_sum_to_one(run, draw):
    for table, causal in ((MEANS, None), (draw.some(CAUSAL_MEANS, *CAUSAL_CI), True)):
        for name, mechanism in table.items():
            fields = draw.spec(mechanism, causal=causal, **LENGTHS)
            tensors = positive(draw.tensors(fields, draw.length(BLOCK)))
            tensors["v"] = np.ones_like(tensors["v"])
            tensors["key_lengths"] = draw.rng.integers(1, tensors["k"].shape[2] + 1, 2).astype(np.int32)
            got = run(fields, tensors)
            yield f"{name}{', causal' if causal else ''}", got, np.ones_like(got)


@holds("§4 rows of weights of 0 or more: outputs within the hull of the values")
def within_the_hull(run, draw):
    for name, mechanism in MEANS.items():
        fields = draw.spec(mechanism, **LENGTHS)
        tensors = draw.tensors(fields, draw.length(BLOCK))
        got = run(fields, tensors)
        lowest, highest = (bound(tensors["v"], axis=2, keepdims=True) for bound in (np.min, np.max))
        groups = draw.heads // draw.kv_heads
        lowest, highest = (np.repeat(bound, groups, axis=1) for bound in (lowest, highest))
        # A row without weights is 0; a mean may round past its bound.
        yield name, got, np.where(got == 0, 0, np.clip(got, lowest, highest))


def linear(run, fields, tensors):
    """(output of the sum, sum of the outputs) of these values and others."""
    other = np.roll(tensors["v"], 1, axis=2)
    outputs = [run(fields, tensors | {"v": v}) for v in (tensors["v"] + other, tensors["v"], other)]
    return outputs[0], outputs[1] + outputs[2]


@holds("§4 linearity in the values")
def linear_in_values(run, draw):
    for table, more in ((MEANS, LENGTHS), (COMPRESSED, {}), (draw.some(CAUSAL_MEANS, *CAUSAL_CI), LENGTHS | {"causal": True})):
        for name, mechanism in table.items():
            fields = draw.spec(mechanism, **more)
            tensors = draw.tensors(fields, draw.length(BLOCK))
            yield f"{name}{', causal' if 'causal' in more else ''}", *linear(run, fields, tensors)


@holds("§12 I2 the normalizer is a column [V 1]", compiled_long=True)
def normalizer_is_a_column(run, draw):
    for name, mechanism in draw.some(without(PAIRWISE, "softmax"), "elu1", "polynomial").items():
        fields = draw.spec(mechanism, **LENGTHS)
        tensors = positive(draw.tensors(fields, draw.length(), draw.length()))
        guarded = fields | {"mechanism": numerators(mechanism)}
        sums = run(guarded, tensors | {"v": np.ones_like(tensors["v"])})
        yield name, run(guarded, tensors) / sums, run(fields, tensors)


@holds("§12 I11 sums over shards of the keys")
def shards(run, draw):
    for name, mechanism in draw.some(without(PAIRWISE, "softmax", "cosformer"), "elu1", "polynomial").items():
        fields = draw.spec(numerators(mechanism), **LENGTHS)
        N = draw.length() + 1
        tensors, cut = draw.tensors(fields, draw.length(), N), int(draw.rng.integers(1, N))
        halves = [tensors | {"k": tensors["k"][:, :, part], "v": tensors["v"][:, :, part],
                             "key_lengths": np.full(2, size, np.int32)}
                  for part, size in ((slice(None, cut), cut), (slice(cut, None), N - cut))]
        yield name, sum(run(fields, half) for half in halves), run(fields, tensors)
