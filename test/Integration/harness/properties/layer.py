"""What surrounds a mechanism: projections, rotation, norms, LePE, parts."""

import numpy as np

from properties.table import COMPRESSED, MAPS, MEANS, PAIRS, SKETCH, holds, select

WIDTH = 7
LAYERS = select(MEANS, "softmax", "polynomial", "elu1", "favor", "effatt", "agent", "eva") | SKETCH | \
    select(COMPRESSED, "linformer", "flurka", "flurka, naive")
CI = "linformer", "favor"


def weights(draw, tensors):
    """The projections with few bits, so that what they project is exact."""
    return {name: draw.rng.choice([-0.5, 0, 0.5], array.shape) for name, array in tensors.items()
            if name in ("wq", "wk", "wv", "bq", "bk", "bv")}


def heads_of(x, weight, bias, heads):
    """[batch, n, D] -> [batch, heads, n, d]"""
    batch, n, _ = x.shape
    return (x @ weight + bias).reshape(batch, n, heads, -1).swapaxes(1, 2)


def projected(draw, tensors, context):
    w = tensors
    return {"q": heads_of(w["x"], w["wq"], w["bq"], draw.heads), "k": heads_of(context, w["wk"], w["bk"], draw.kv_heads),
            "v": heads_of(context, w["wv"], w["bv"], draw.kv_heads)}


@holds("§12 I3 I5 I17 a layer is its mechanism between products: biases, E before W, ω folded into W")
def products(run, draw):
    for name, mechanism in draw.some(LAYERS, *CI).items():
        for cross in (False, True) if draw.thorough else (False,):
            fields = draw.spec(mechanism, keys="?" if cross else None,
                               projection={"model_dim": WIDTH, "bias": True, "cross": cross})
            tensors = draw.tensors(fields, draw.length(8))
            tensors |= weights(draw, tensors)
            tensors["x"] = np.round(tensors["x"] * 4) / 4
            if cross:
                tensors["context"] = np.round(tensors["context"] * 4) / 4
            inner = tensors | projected(draw, tensors, tensors["context" if cross else "x"])
            o = run(draw.spec(mechanism), {key: x for key, x in inner.items() if key[0] not in "xcwb"})
            batch, _, n, _ = o.shape
            joined = o.swapaxes(1, 2).reshape(batch, n, -1)
            expected = joined @ tensors["wo"].astype(np.float64) + tensors["bo"]
            yield f"{name}{', cross' if cross else ''}", run(fields, tensors), expected
            if draw.thorough:
                bare = fields | {"projection": fields["projection"] | {"output": False}}
                yield f"{name}, no output", run(bare, {key: x for key, x in tensors.items() if key not in ("wo", "bo")}), o


@holds("§12 I6 Q Kᵀ = X (W_Q W_Kᵀ) Xᵀ", compiled_long=True)
def one_matrix(run, draw):
    for causal in draw.causal():
        fields = draw.spec(PAIRS["softmax"], causal=causal, heads=2, kv_heads=2, scale=0.25, keys=None,
                           projection={"model_dim": 4, "output": False})
        tensors = draw.tensors(fields, draw.length())
        tensors |= weights(draw, tensors)
        tensors["x"] = np.round(tensors["x"] * 4) / 4
        x, heads = tensors["x"], lambda w: tensors[w].reshape(4, 2, -1).swapaxes(0, 1)
        inner = {"q": x[:, None] @ (heads("wq") @ heads("wk").swapaxes(1, 2)), "k": np.repeat(x[:, None], 2, axis=1),
                 "v": x[:, None] @ heads("wv").astype(np.float64)}
        wide = draw.spec(PAIRS["softmax"], causal=causal, heads=2, kv_heads=2, scale=0.25, head_dim=4)
        yield "causal" if causal else "all keys", run(fields, tensors), run(wide, inner)


@holds("§2 a context that is x itself is self-attention", compiled_long=True)
def context_of_itself(run, draw):
    self_attention = draw.spec(PAIRS["softmax"], keys=None, projection={"model_dim": WIDTH})
    tensors = draw.tensors(self_attention, draw.length())
    crossed = draw.spec(PAIRS["softmax"], projection={"model_dim": WIDTH, "cross": True})
    yield "softmax", run(crossed, tensors | {"context": tensors["x"]}), run(self_attention, tensors)


def rotated(draw, mechanism, layout="interleaved", **more):
    return draw.spec(mechanism, rope={"base": 100, "layout": layout}, head_dim=6, **more)


@holds("§10 ⟨R_a q, R_b k⟩ depends on a − b: windows far from the start are windows at it", compiled_long=True)
def relative_positions(run, draw):
    for name, mechanism in draw.some(PAIRS, "softmax").items():
        tensors = draw.tensors(rotated(draw, mechanism), 5 * 16)
        windows = run(rotated(draw, mechanism | {"window": {"length": 16}}), tensors)
        alone = {key: x[:, :, 64:] for key, x in tensors.items()}
        # Angles of 64 and more are rounded to f32 in one and not in the other.
        yield name, windows[:, :, 64:], run(rotated(draw, mechanism), alone), 1e-11


@holds("§10 both layouts are one function of permuted channels", compiled_long=True)
def layouts(run, draw):
    for name, mechanism in draw.some(select(MEANS, "softmax", "elu1", "effatt"), "elu1").items():
        tensors = draw.tensors(rotated(draw, mechanism), draw.length())
        order = [0, 2, 4, 1, 3, 5]
        permuted = {key: tensors[key][..., order] for key in "qk"}
        yield name, run(rotated(draw, mechanism, "half"), tensors | permuted), run(rotated(draw, mechanism), tensors)


@holds("§10 the last query is rotated as the last key", compiled_long=True)
def last_queries(run, draw):
    for name, mechanism in draw.some(PAIRS, "softmax").items():
        fields = rotated(draw, mechanism, causal=True)
        tensors = draw.tensors(fields, draw.length() + 3)
        yield name, run(fields, tensors | {"q": tensors["q"][:, :, -3:]}), run(fields, tensors)[:, :, -3:]


@holds("§2 the norm of a row does not change with a shift of the row, nor with a factor that ε follows",
       compiled_long=True)
def normed(run, draw):
    for name, mechanism in draw.some(select(MEANS, "polynomial", "softmax", "favor"), "polynomial").items():
        fields = draw.spec(mechanism, qk_norm={"epsilon": 0.015625})
        tensors = draw.tensors(fields, draw.length(), draw.length())
        expected = run(fields, tensors)
        shifted = {key: tensors[key] + draw.grid(*tensors[key].shape[:3], 1) for key in "qk"}
        yield f"{name}, shift", run(fields, tensors | shifted), expected
        twice = {key: tensors[key] * 2 for key in "qk"}
        yield f"{name}, factor", run(fields | {"qk_norm": {"epsilon": 0.0625}}, tensors | twice), expected


def correlation(v, weight, bias, grid):
    """[batch, H, n, dv] with [H, dv, 3] or [H, dv, 3, 3], zero outside."""
    batch, heads, n, width = v.shape
    image = v.reshape(batch, heads, *grid, width)
    taps = weight if weight.ndim == 4 else weight[:, :, None, :]
    reach = taps.shape[2] // 2
    padded = np.pad(image, [(0, 0), (0, 0), (reach, reach), (1, 1), (0, 0)])
    rows, columns = grid
    total = sum(padded[:, :, i:i + rows, j:j + columns] * taps[:, None, None, :, i, j]
                for i in range(taps.shape[2]) for j in range(3))
    return total.reshape(batch, heads, n, width) + bias[:, None]


@holds("§12 I21 LePE is a correlation of V beside the mechanism")
def lepe(run, draw):
    for name, mechanism in draw.some(select(MEANS, "softmax", "favor", "effatt", "eva") | COMPRESSED, "effatt").items():
        for grid in (None, [6, 8]) if draw.thorough else ([6, 8],):
            field = {"bias": True} | ({"grid": grid} if grid else {})
            fields = draw.spec(mechanism | {"lepe": field})
            tensors = draw.tensors(fields, 48)
            v = np.repeat(tensors["v"], draw.heads // draw.kv_heads, axis=1)
            parameters = [tensors.pop(f"lepe.{what}") for what in ("weight", "bias")]
            plain = run(draw.spec(mechanism), tensors)
            more = {"lepe.weight": parameters[0], "lepe.bias": parameters[1]}
            expected = plain + correlation(v, *(p.astype(np.float64) for p in parameters), grid or [1, 48])
            yield f"{name}, {grid or 'sequence'}", run(fields, tensors | more), expected


@holds("§9 LePE inside windows is LePE of each block", compiled_long=True)
def lepe_in_windows(run, draw):
    mechanism = PAIRS["softmax"] | {"lepe": {"bias": True}}
    fields = draw.spec(mechanism | {"window": {"length": 12}})
    tensors = draw.tensors(fields, 36)
    cut = lambda x: x.reshape(2, x.shape[1], 3, 12, -1).swapaxes(1, 2).reshape(6, x.shape[1], 12, -1)
    yield "softmax", cut(run(fields, tensors)), run(draw.spec(mechanism), tensors | {key: cut(tensors[key]) for key in "qkv"})


@holds("SPEC §1 parts of one mechanism are that mechanism", compiled_long=True)
def equal_parts(run, draw):
    heads, kv_heads = 2 * draw.heads, 2 * draw.kv_heads
    shape = {"heads": heads, "kv_heads": kv_heads}
    for name, mechanism in draw.some(MEANS | COMPRESSED, "polysketch").items():
        whole = draw.spec(mechanism, **shape)
        tensors = draw.tensors(whole, draw.length(8))
        parts = {key: x for key, x in tensors.items() if key in "qkv"}
        for name_of, array in tensors.items():
            if name_of not in parts:
                halves = np.split(array, 2) if len(array) == heads else [array, array]
                parts |= {f"part{i}.{name_of}": half for i, half in enumerate(halves)}
        fields = draw.spec(None, parts=2 * [{"heads": draw.heads, "mechanism": mechanism}], **shape)
        yield name, run(fields, parts), run(whole, tensors)
