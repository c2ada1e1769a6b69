"""What must not matter: the batch around an entry, other queries, threads, an earlier run, strides."""

import numpy as np

from properties.table import BLOCK, CAUSAL_MEANS, COMPRESSED, MEANS, holds, without
from properties.ways import call
from storage import to_storage

LENGTHS = {"key_lengths": True}


def problems(draw, table, n=None, **more):
    for name, mechanism in table.items():
        fields = draw.spec(mechanism, **more)
        yield name, fields, draw.tensors(fields, n or draw.length(BLOCK), batch=3)


def every(draw, n=None):
    yield from problems(draw, MEANS, n, **LENGTHS)
    yield from problems(draw, COMPRESSED, n)
    yield from problems(draw, draw.some(CAUSAL_MEANS, "softmax", "elu1", "favor", "polynomial", "polysketch, local", "eva"), n,
                        causal=True, **LENGTHS)


@holds("D3 the bits of an entry are those of the entry alone")
def alone(run, draw):
    for name, fields, tensors in every(draw):
        single = tensors | {key: tensors[key][1:2] for key in ("q", "k", "v", "key_lengths") if key in tensors}
        yield name, run(fields, single), run(fields, tensors)[1:2], True


@holds("§4 a query's row does not depend on the other queries")
def other_queries(run, draw):
    """But where queries are pooled: agents, and EVA's chunks."""
    for name, fields, tensors in problems(draw, without(MEANS, "agent", "eva", "cosformer"), **LENGTHS):
        n = tensors["q"].shape[2]
        order = draw.rng.permutation(n)[:int(draw.rng.integers(1, n + 1))]
        yield name, run(fields, tensors | {"q": tensors["q"][:, :, order]}), run(fields, tensors)[:, :, order]


@holds("D3 the bits do not depend on threads, nor on an earlier run", compiled_only=True)
def threads(run, draw):
    for name, fields, tensors in every(draw, 136):
        expected = run(fields, tensors)
        call(run.library(fields), tensors | {key: 2 * tensors[key] for key in "qkv"})
        yield f"{name}, again", run(fields, tensors), expected, True
        yield f"{name}, 2 threads", call(run.library(fields, threads=2), tensors)["o"], expected, True


@holds("D4 outer strides are free: the same bits from [batch, n, heads, d], from every other row, from shared heads",
          compiled_only=True)
def strides(run, draw):
    for name, fields, tensors in every(draw):
        library, stored = run.library(fields), {}
        expected = run(fields, tensors)
        views = {key: library.tensors[key].stored(tensors[key]) for key in library.tensors if key in tensors}
        for key in "qkv":
            turned = np.ascontiguousarray(views[key].swapaxes(1, 2)).swapaxes(1, 2)
            spread = np.full((*turned.shape[:2], 2 * turned.shape[2], turned.shape[3] + 3), 77, turned.dtype)
            spread[:, :, ::2, :turned.shape[3]] = turned
            stored[key] = turned if key != "k" else spread[:, :, ::2, :turned.shape[3]]
        stored |= {key: x for key, x in views.items() if key not in "qkv"}
        results = np.empty(expected.swapaxes(1, 2).shape, to_storage(np.zeros(1), fields["dtype"]).dtype).swapaxes(1, 2)
        once, _ = library.runner(**stored, o=results)
        once()
        yield name, results, to_storage(expected, fields["dtype"]), True
