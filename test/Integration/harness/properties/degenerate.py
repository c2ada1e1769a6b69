"""Mechanisms that become another one: EVA, agents, features, ELFATT."""

import numpy as np

from properties.numbers import exact, repeat_heads
from properties.table import BLOCK, CAUSAL_MEANS, MAPS, MEANS, PAIRS, holds, kernel

SOFTMAX = PAIRS["softmax"]


def eva(**fields):
    return {"kind": "eva", **fields}


@holds("§6 §15 EVA with chunks of one key, or a window of all keys, is softmax", compiled_long=True)
def eva_is_softmax(run, draw):
    fields = draw.spec(SOFTMAX, key_lengths=True)
    tensors = draw.tensors(fields, 24)
    tensors["key_lengths"] = np.array([24, 17], np.int32)
    expected = run(fields, tensors)
    forms = {"chunks of one key": eva(chunk=1), "and mass": eva(chunk=1, mass=True),
             "chunks of one key outside a window": eva(chunk=1, window={"length": 6}, exclude_local=True),
             "a window of all keys": eva(chunk=4, window={"length": 24}, exclude_local=True)}
    for what, mechanism in draw.some(forms, "chunks of one key outside a window").items():
        yield what, run(draw.spec(mechanism, key_lengths=True), tensors), expected


@holds("§6 causal EVA with a window of all keys is causal softmax", compiled_long=True)
def causal_eva_is_softmax(run, draw):
    fields = draw.spec(SOFTMAX, causal=True, key_lengths=True)
    tensors = draw.tensors(fields, 24)
    mechanism = eva(chunk=4, window={"length": 24}, exclude_local=True)
    yield "eva", run(draw.spec(mechanism, causal=True, key_lengths=True), tensors), run(fields, tensors)


@holds("§6 EVA of keys that are constant within chunks, with mass, is softmax")
def constant_chunks(run, draw):
    fields = draw.spec(SOFTMAX, key_lengths=True)
    tensors = draw.tensors(fields, 24)
    tensors["k"] = np.repeat(tensors["k"][:, :, ::4], 4, axis=2)
    tensors["key_lengths"] = np.array([24, 14], np.int32)
    forms = {"no window": eva(chunk=4, mass=True),
             "a window": eva(chunk=4, window={"length": 8}, exclude_local=True, mass=True)}
    for what, mechanism in draw.some(forms, "a window").items():
        yield what, run(draw.spec(mechanism, key_lengths=True), tensors), run(fields, tensors)


@holds("§5 one agent gives every query the attention of the mean query; as many as queries, softmax twice",
       compiled_long=True)
def agents(run, draw):
    fields = draw.spec(SOFTMAX, key_lengths=True)
    tensors = draw.tensors(fields, 8, draw.length())
    mean = tensors | {"q": tensors["q"].mean(axis=2, keepdims=True)}
    one = draw.spec({"kind": "agent", "agents": 1}, key_lengths=True)
    yield "one", run(one, tensors), np.repeat(run(fields, mean), 8, axis=2)
    agents_of = draw.spec({"kind": "agent", "agents": 8}, key_lengths=True)
    inner = exact(tensors["q"], tensors["k"], tensors["v"])
    yield "as many as queries", run(agents_of, tensors), exact(tensors["q"], tensors["q"], inner)


@holds("§5 features that are explicit: focused of power 1, elu1 and favor_relu of positive rows are relu",
       compiled_long=True)
def explicit_relu(run, draw):
    relu = draw.spec(MAPS["relu"], key_lengths=True)
    tensors = draw.tensors(relu, draw.length(), draw.length())
    shifted = lambda by: tensors | {key: np.maximum(tensors[key], 0) + by for key in "qk"}
    focused = draw.spec(kernel("focused", power=1.0, epsilon=0.0625), key_lengths=True)
    focus = {"focus": np.zeros((draw.heads, draw.d))}
    yield "focused", run(focused, tensors | focus), run(relu, shifted(0.0625))
    positive = shifted(0.0625)
    expected = run(relu, shifted(1.0625))
    yield "elu1", run(draw.spec(MAPS["elu1"], key_lengths=True), positive), expected
    projected = draw.spec(kernel("favor_relu", features=draw.d, epsilon=1), key_lengths=True)
    yield "favor_relu", run(projected, positive | {"omega": np.eye(draw.d)[None]}), expected


@holds("§5 cosFormer far from its last position is relu", compiled_long=True)
def far_cosformer(run, draw):
    relu = draw.spec(MAPS["relu"], key_lengths=True)
    tensors = draw.tensors(relu, draw.length(), draw.length())
    far = kernel("cosformer", max_position=2 ** 31 - 1) | {"denominator": {"floor": 0}}
    yield "cosformer", run(draw.spec(far, key_lengths=True), tensors), run(relu, tensors)


@holds("§9 §15 ELFATT without its first part (c₁ = 0) is windowed softmax, without its second EFFATT; one block is softmax",
       compiled_long=True)
def elfatt(run, draw):
    """A part's outputs are those of the part alone."""
    heads = draw.heads // draw.kv_heads
    parts = [{"heads": heads, "mechanism": {"kind": "effatt"}},
             {"heads": draw.heads - heads, "mechanism": SOFTMAX | {"window": {"length": 8}}}]
    if draw.kv_heads < 2:
        parts = parts[:1]
    fields = draw.spec(None, parts=parts)
    tensors = draw.tensors(fields, draw.length(BLOCK))
    got = run(fields, tensors)
    for part, group, rows in zip(parts, (slice(0, 1), slice(1, None)), (slice(0, heads), slice(heads, None))):
        alone = draw.spec(part["mechanism"], heads=part["heads"], kv_heads=len(range(draw.kv_heads)[group]))
        some = {"q": tensors["q"][:, rows], "k": tensors["k"][:, group], "v": tensors["v"][:, group]}
        yield part["mechanism"]["kind"], got[:, rows], run(alone, some)


@holds("§6 §9 attention of one channel: EFFATT, and elu1 of negative rows, are a softmax of the keys",
       compiled_long=True)
def one_channel(run, draw):
    effatt = draw.spec({"kind": "effatt"}, head_dim=1, key_lengths=True)
    tensors = draw.tensors(effatt, draw.length(), draw.length())
    expected = exact(np.ones_like(tensors["q"]), tensors["k"], tensors["v"], 1)
    yield "effatt", run(effatt, tensors), expected
    below = {key: -np.abs(tensors[key]) for key in "qk"}
    expected = exact(np.ones_like(tensors["q"]), below["k"], tensors["v"], 1)
    yield "elu1", run(draw.spec(MAPS["elu1"], head_dim=1, key_lengths=True), tensors | below), expected


@holds("§12 I15 grouped queries: as with the keys and values repeated for each head")
def grouped(run, draw):
    for table, causal in ((MEANS, None), (CAUSAL_MEANS, True)):
        for name, mechanism in draw.some(table, "polysketch, local").items():
            fields = draw.spec(mechanism, causal=causal, key_lengths=True)
            tensors = draw.tensors(fields, draw.length(BLOCK))
            many = tensors | {key: repeat_heads(tensors[key], draw.heads) for key in "kv"}
            yield f"{name}{', causal' if causal else ''}", run(fields | {"kv_heads": draw.heads}, many), run(fields, tensors)
