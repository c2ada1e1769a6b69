"""What users of other libraries complain of: numbers that 16 bits lose."""

import numpy as np

from properties.numbers import exact
from properties.table import MAPS, PAIRS, SKETCH, holds

NARROW = {"f16": 4e-3, "bf16": 2e-2}


def judged(run, draw, fields, tensors):
    """(compiled, by the interpreter), of values in the storage type."""
    return run(fields, tensors), run.judge(fields, {key: run.rounded(x, fields["dtype"]) for key, x in tensors.items()})


def narrow(draw, mechanism, dtype, **more):
    return draw.spec(mechanism, **more) | {"dtype": dtype}


@holds("elu(x) + 1 of a negative x in bf16 is 0, and the whole row with it (flash-linear-attention#1261)", compiled_only=True)
def elu_of_negative_rows(run, draw):
    for dtype in draw.some(NARROW, "bf16"):
        fields = narrow(draw, MAPS["elu1"], dtype)
        tensors = draw.tensors(fields, 40)
        tensors |= {key: np.float32(-12 + tensors[key]) for key in "qk"}
        got, expected = judged(run, draw, fields, tensors)
        yield dtype, got, expected, NARROW[dtype]
        yield f"{dtype}, no row is lost", np.abs(got).max(axis=-1) > 0, np.ones(got.shape[:-1], bool)


@holds("a state kept in f16 overflows to NaN (flash-linear-attention#1187)", compiled_only=True)
def states_beyond_f16(run, draw):
    """Sums of 3,000 keys reach 10⁷; 65,504 is the largest f16."""
    for causal in draw.causal():
        form = "chunked" if causal else "state"
        for dtype in draw.some(NARROW, "f16"):
            fields = narrow(draw, MAPS["elu1"], dtype, causal=causal, pin={"linearize": form})
            tensors = draw.tensors(fields, 3000, batch=1)
            tensors |= {"k": np.abs(tensors["k"]) + 8, "q": np.abs(tensors["q"]) + 4, "v": tensors["v"] + 100}
            rows = np.array([0, 1500, 2999])
            got = run(fields, tensors)
            yield f"{dtype}, {form}, finite", np.isfinite(got), np.ones(got.shape, bool)
            given = {key: run.rounded(x, dtype) for key, x in tensors.items()}
            yield f"{dtype}, {form}", got[:, :, rows], run.judge(fields, given, rows), NARROW[dtype]


@holds("sums of ones in f16 stop at 2,048 (§0)", compiled_only=True, compiled_long=True)
def sums_of_ones(run, draw):
    """Equal keys: each row is the mean of the values, of which half are 1 and half 0."""
    for mechanism in (PAIRS["softmax"], MAPS["elu1"]):
        fields = narrow(draw, mechanism, "f16")
        tensors = draw.tensors(fields, 3, 9000, batch=1)
        tensors["k"] = np.zeros_like(tensors["k"])
        tensors["v"] = np.float32(np.arange(9000) % 2)[:, None] * np.ones_like(tensors["v"])
        got = run(fields, tensors)
        yield mechanism["kind"], got, np.full_like(got, 0.5), NARROW["f16"]


@holds("powers of f16 rows overflow: ⟨q, q⟩⁴ of a normed row of 64 is 10⁷ (§0, §8)", compiled_only=True, compiled_long=True)
def powers_beyond_f16(run, draw):
    for name, mechanism in draw.some({"polynomial": {"kind": "polynomial", "degree": 8}, **SKETCH}, "polynomial").items():
        for dtype in draw.some(NARROW, "f16"):
            fields = narrow(draw, mechanism, dtype, causal=True, head_dim=64, qk_norm={})
            got, expected = judged(run, draw, fields, draw.tensors(fields, 30))
            yield f"{name}, {dtype}", got, expected, 2 * NARROW[dtype]


@holds("large logits make softmax NaN where the maximum is not taken out first")
def large_logits(run, draw):
    """One key far above all others: the output is its value."""
    fields = draw.spec(PAIRS["softmax"], key_lengths=True)
    tensors = draw.tensors(fields, 7, 50)
    tensors |= {"q": np.full_like(tensors["q"], 900), "k": np.zeros_like(tensors["k"])}
    tensors["k"][:, :, 17] = 900
    expected = np.repeat(tensors["v"][:, :, 17:18], 7, axis=2)
    yield "softmax", run(fields, tensors), np.repeat(expected, draw.heads // draw.kv_heads, axis=1)


@holds("one very long key turns every feature of the published Performer to 0 / 0 (§5)")
def one_long_key(run, draw):
    """Its own weight is nothing; the others are as if it were not there."""
    for causal in (None, True):
        fields = draw.spec(MAPS["favor"], causal=causal, key_lengths=True)
        tensors = draw.tensors(fields, 40)
        tensors["k"][:, :, 20] = 1e3
        others = [i for i in range(40) if i != 20]
        less = tensors | {key: tensors[key][:, :, others] for key in ("k", "v") + (("q",) if causal else ())}
        less["key_lengths"] = np.full(2, 39, np.int32)
        got = run(fields, tensors)
        yield "causal" if causal else "all keys", got[:, :, others] if causal else got, run(fields, less)


@holds("large angles of rotation in 16 bits are wrong beyond position 256 (§10)", compiled_only=True)
def far_rotation(run, draw):
    for dtype in draw.some(NARROW, "bf16"):
        fields = narrow(draw, PAIRS["softmax"], dtype, rope={}, window={"length": 8}, head_dim=8)
        fields["mechanism"] = PAIRS["softmax"] | {"window": fields.pop("window")}
        tensors = draw.tensors(fields, 4000, batch=1)
        given = {key: run.rounded(x, dtype) for key, x in tensors.items()}
        rows = np.arange(3990, 4000)
        yield dtype, run(fields, tensors)[:, :, rows], run.judge(fields, given, rows), NARROW[dtype]


@holds("attention over equal rows and zeros is exact (ties)")
def ties(run, draw):
    """Equal keys have equal weights: the output is the mean of the values, of the agents too."""
    for mechanism in (PAIRS["softmax"], {"kind": "agent", "agents": 4}, {"kind": "effatt"}, MAPS["favor"]):
        fields = draw.spec(mechanism, key_lengths=True)
        tensors = draw.tensors(fields, 8, 33)
        tensors["k"] = np.repeat(tensors["k"][:, :, :1], 33, axis=2)
        yield mechanism["kind"], run(fields, tensors), exact(tensors["q"], 0 * tensors["k"], tensors["v"])
