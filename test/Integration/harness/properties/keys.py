"""Keys: their order, their repetition, and those that do not exist."""

import numpy as np

from properties.table import BLOCK, CAUSAL_CI, CAUSAL_MEANS, COMPRESSED, EVA, MEANS, PAIRWISE, holds, select, without

LENGTHS = {"key_lengths": True}
# Of what a key is, nothing depends on where it stands.
UNPLACED = without(MEANS, "cosformer", "eva")


def taken(tensors, rows, *names):
    """The tensors with these rows of the keys, or of those named."""
    return tensors | {name: tensors[name][:, :, rows] for name in names or ("k", "v")}


def cut(tensors, length, queries=False):
    """Without the keys from `length` on."""
    some = slice(0, length)
    result = taken(tensors, some, *(("q", "k", "v") if queries else ("k", "v")))
    return result | {"key_lengths": np.full(len(tensors["k"]), length, np.int32)}


@holds("§15 a permutation of keys leaves non-causal outputs unchanged")
def permuted(run, draw):
    for name, mechanism in UNPLACED.items():
        fields = draw.spec(mechanism, **LENGTHS)
        N = draw.length()
        tensors = draw.tensors(fields, draw.length(BLOCK), N)
        yield name, run(fields, taken(tensors, draw.rng.permutation(N))), run(fields, tensors)


@holds("§15 a permutation of keys with the columns of E leaves outputs unchanged")
def permuted_with_columns(run, draw):
    for name, mechanism in COMPRESSED.items():
        fields = draw.spec(mechanism)
        N = draw.length()
        tensors, order = draw.tensors(fields, draw.length(BLOCK), N), draw.rng.permutation(N)
        moved = taken(tensors, order) | {"e": tensors["e"][:, :, order]}
        yield name, run(fields, moved), run(fields, tensors)


@holds("§6 a permutation of keys inside the chunks of EVA leaves outputs unchanged", compiled_long=True)
def permuted_inside_chunks(run, draw):
    mechanism = {"kind": "eva", "chunk": 6}
    fields = draw.spec(mechanism)
    n = draw.length(6)
    tensors = draw.tensors(fields, n)
    order = draw.rng.permuted(np.arange(n).reshape(-1, 6), axis=1).reshape(-1)
    yield "eva", run(fields, taken(tensors, order)), run(fields, tensors)


@holds("§12 I11 keys that all stand twice weigh as they did")
def repeated(run, draw):
    for name, mechanism in UNPLACED.items():
        fields = draw.spec(mechanism, **LENGTHS)
        N = draw.length()
        tensors = draw.tensors(fields, draw.length(BLOCK), N)
        twice = taken(tensors, np.tile(np.arange(N), 2)) | {"key_lengths": np.full(2, 2 * N, np.int32)}
        yield name, run(fields, twice), run(fields, tensors)


@holds("§12 I11 a repeated key is one of twice the weight")
def repeated_once(run, draw):
    """Values that mark key 0 show its weight w; standing twice, it gets 2w / (1 + w)."""
    for name, mechanism in without(PAIRWISE, "cosformer").items():
        fields = draw.spec(mechanism, **LENGTHS)
        N = draw.length()
        tensors = draw.tensors(fields, draw.length(), N)
        tensors |= {name: np.abs(tensors[name]) + 1 / 16 for name in "qk"}
        tensors["v"] = np.zeros_like(tensors["v"])
        tensors["v"][:, :, 0] = 1
        more = taken(tensors, [*range(N), 0]) | {"key_lengths": np.full(2, N + 1, np.int32)}
        weight = run(fields, tensors)
        yield name, run(fields, more), 2 * weight / (1 + weight)


def spoiled(draw, tensors, length, *fillings):
    """Copies in which the rows from `length` on are filled so."""
    for filling in fillings:
        copies = {name: tensors[name].copy() for name in "kv"}
        for copy in copies.values():
            rows = copy[:, :, length:]
            rows[...] = draw.rng.choice(filling, rows.shape)
        yield tensors | copies | {"key_lengths": np.full(len(tensors["k"]), length, np.int32)}


@holds("§11 the bits do not depend on what keys hold that do not exist")
def padding_is_not_read(run, draw):
    for table, causal in ((MEANS, None), (draw.some(CAUSAL_MEANS, *CAUSAL_CI), True)):
        for name, mechanism in table.items():
            fields = draw.spec(mechanism, causal=causal, **LENGTHS)
            n = draw.length(BLOCK)
            tensors, length = draw.tensors(fields, n), int(draw.rng.integers(0, n))
            poisons = [0.0], [np.nan, np.inf, -np.inf], [3e38, -3e38, 1.0]
            zeros, *others = (run(fields, each) for each in spoiled(draw, tensors, length, *poisons))
            for other in others:
                yield f"{name}{', causal' if causal else ''}", other, zeros, True


@holds("§12 I18 keys that do not exist are keys cut off")
def padding_is_cutting(run, draw):
    for name, mechanism in without(MEANS, "eva").items():
        fields = draw.spec(mechanism, **LENGTHS)
        N = draw.length()
        tensors, length = draw.tensors(fields, draw.length(BLOCK), N), int(draw.rng.integers(0, N))
        padded, = spoiled(draw, tensors, length, [np.nan])
        if length:
            yield name, run(fields, padded), run(fields, cut(tensors, length))


@holds("§12 I18 keys that do not exist are keys cut off: causal, and in blocks")
def padding_is_cutting_both(run, draw):
    """Where n = N, the rows before the cut."""
    causal = [(name, mechanism, {"causal": True}) for name, mechanism in draw.some(CAUSAL_MEANS, *CAUSAL_CI).items()]
    for name, mechanism, more in [*causal, ("eva, not causal", EVA["eva"], {})]:
        fields = draw.spec(mechanism, **more, **LENGTHS)
        n = draw.length(BLOCK)
        tensors, length = draw.tensors(fields, n), BLOCK * int(draw.rng.integers(1, n // BLOCK + 1))
        padded, = spoiled(draw, tensors, length, [np.nan])
        yield name, run(fields, padded)[:, :, :length], run(fields, cut(tensors, length, queries=True))


@holds("§3 keys that do not exist are zeros under E", compiled_long=True)
def padding_is_zero_under_e(run, draw):
    for name, mechanism in draw.some(without(COMPRESSED, "flurka, naive"), "linformer").items():
        fields = draw.spec(mechanism)
        N = draw.length()
        tensors, length = draw.tensors(fields, draw.length(BLOCK), N), int(draw.rng.integers(0, N))
        padded, = spoiled(draw, tensors, length, [np.nan])
        zeros, = spoiled(draw, tensors, length, [0.0])
        del zeros["key_lengths"]
        yield name, run(fields | LENGTHS, padded), run(fields, zeros)


@holds("§11 all keys masked: output 0")
def none_exists(run, draw):
    for name, mechanism in MEANS.items():
        fields = draw.spec(mechanism, **LENGTHS)
        padded, = spoiled(draw, draw.tensors(fields, draw.length(BLOCK)), 0, [np.nan, np.inf])
        got = run(fields, padded)
        yield name, got, np.zeros_like(got), True


@holds("§0 lengths of all keys are no lengths", compiled_long=True)
def all_exist(run, draw):
    for name, mechanism in draw.some(select(MEANS, "softmax", "favor", "eva"), "softmax").items():
        fields = draw.spec(mechanism)
        tensors = draw.tensors(fields, draw.length(BLOCK))
        lengths = {"key_lengths": np.full(2, tensors["k"].shape[2], np.int32)}
        yield name, run(fields | LENGTHS, tensors | lengths), run(fields, tensors)
