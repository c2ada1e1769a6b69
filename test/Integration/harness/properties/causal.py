"""Causal rows: nothing later reaches them, and a prefix is a run of its own."""

import numpy as np

from properties.table import BLOCK, CAUSAL_CI, CAUSAL_MEANS, PAIRS, holds

LENGTHS = {"key_lengths": True}


def causal_specs(draw):
    for name, mechanism in draw.some(CAUSAL_MEANS, *CAUSAL_CI).items():
        fields = draw.spec(mechanism, causal=True, **LENGTHS)
        yield name, fields, draw.tensors(fields, draw.length(BLOCK))


def prefix(tensors, length):
    cut = {name: tensors[name][:, :, :length] for name in "qkv"}
    return tensors | cut | {"key_lengths": np.full(len(cut["q"]), length, np.int32)}


def changed_from(tensors, first, change):
    """The tensors with other rows from `first` on."""
    copies = {key: tensors[key].copy() for key in "qkv"}
    for array in copies.values():
        array[:, :, first:] = change(array[:, :, first:])
    return tensors | copies


@holds("§15 causal probe: a changed suffix leaves the bits of the prefix")
def probe(run, draw):
    """favor's weights of a block have a common unit, which may round the last bit of an earlier row in another way."""
    changes = {"others": lambda rows: draw.grid(*rows.shape), "large": lambda rows: np.full(rows.shape, 1e3)}
    for name, fields, tensors in causal_specs(draw):
        first, before = int(draw.rng.integers(0, tensors["q"].shape[2])), run(fields, tensors)
        start = first if name != "eva" else first // BLOCK * BLOCK
        for what, change in changes.items():
            after = run(fields, changed_from(tensors, first, change))
            pair = after[:, :, :start], before[:, :, :start]
            yield f"{name}, {what}", *pair, *([] if name == "favor" else [True])


@holds("SPEC §6 a NaN reaches rows of the blocks that read it, and no other")
def not_a_number(run, draw):
    """No block is longer than 256 tokens."""
    for name, mechanism in draw.some(CAUSAL_MEANS, *CAUSAL_CI).items():
        fields = draw.spec(mechanism, causal=True, **LENGTHS)
        tensors = draw.tensors(fields, 520)
        after = run(fields, changed_from(tensors, 512, lambda rows: np.full(rows.shape, np.nan)))
        yield name, after[:, :, :256], run(fields, tensors)[:, :, :256], True


@holds("§5 keys of favor that dwarf all before them do not cost the earlier rows their digits")
def late_giants(run, draw):
    """The earlier keys are as long as they may be; the late ones lie along ω, where the exponent is largest."""
    mechanism = {"kind": "kernel", "feature_map": {"kind": "favor", "features": 12}}
    for form in ("quadratic", "chunked"):
        fields = draw.spec(mechanism, causal=True, pin={"linearize": form}, head_dim=64)
        tensors = draw.tensors(fields, 64)
        tensors["k"] = np.float32(tensors["k"] * 47 / np.linalg.norm(tensors["k"], axis=-1, keepdims=True))
        late = {"k": tensors["k"].copy()}
        late["k"][:, :, 32:] = tensors["omega"][0][np.arange(32) % 12] * 64 ** 0.25
        yield form, run(fields, tensors | late)[:, :, :32], run(fields, tensors)[:, :, :32]


@holds("§5 keys of favor that rise above all before them, chunk after chunk, by any amount")
def rising_keys(run, draw):
    """The shorter a key, the larger its features: by 2^60 and more from one chunk to the next, then by less."""
    mechanism = {"kind": "kernel", "feature_map": {"kind": "favor", "features": 12}}
    forms = {form: draw.spec(mechanism, causal=True, pin={"linearize": form}, head_dim=64) for form in ("chunked", "quadratic")}
    tensors = draw.tensors(forms["chunked"], 400)
    lengths = np.repeat([48, 48, 20, 20, 10, 8, 1, 4], 50)[:, None]
    tensors["k"] = np.float32(tensors["k"] * lengths / np.linalg.norm(tensors["k"], axis=-1, keepdims=True))
    yield "chunked", run(forms["chunked"], tensors), run(forms["quadratic"], tensors)


@holds("§0 outputs of a prefix are a prefix of the outputs")
def prefixes(run, draw):
    for name, fields, tensors in causal_specs(draw):
        length = BLOCK * int(draw.rng.integers(1, tensors["q"].shape[2] // BLOCK + 1))
        yield name, run(fields, tensors)[:, :, :length], run(fields, prefix(tensors, length))


@holds("§0 causal rows are rows over the keys up to them")
def rows_alone(run, draw):
    """Exact attention of the last queries only: i sees j iff j ≤ i + N − n."""
    for name, mechanism in PAIRS.items():
        fields = draw.spec(mechanism, causal=True, **LENGTHS)
        tensors = draw.tensors(fields, draw.length() + 1)
        n = tensors["q"].shape[2]
        last = int(draw.rng.integers(1, n))
        yield f"{name}, the last {last}", run(fields, tensors | {"q": tensors["q"][:, :, n - last:]}), run(fields, tensors)[:, :, n - last:]
        free = draw.spec(mechanism, **LENGTHS)
        row = int(draw.rng.integers(0, n))
        alone = prefix(tensors, row + 1) | {"q": tensors["q"][:, :, row:row + 1]}
        yield f"{name}, row {row}", run(free, alone), run(fields, tensors)[:, :, row:row + 1]


@holds("§4 the first causal row is the first value")
def first_row(run, draw):
    for name, fields, tensors in causal_specs(draw):
        tensors |= {key: np.abs(tensors[key]) + 1 / 16 for key in "qk"}
        got = run(fields, tensors)[:, :, 0]
        expected = np.repeat(tensors["v"][:, :, 0], draw.heads // draw.kv_heads, axis=1)
        yield name, got, expected
