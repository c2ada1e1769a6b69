"""The alternatives of fusion.py: group: (law, its two forms, {row: fields of the spec})."""


def kernel(n, heads, feature_map, **more):
    return {"queries": n, "heads": heads, "head_dim": 64, "mechanism": {"kind": "kernel", "feature_map": feature_map}, **more}


ELU1 = {"kind": "elu1"}
FAVOR = {"kind": "favor", "features": 128}

STATE = {f"{name}, heads: {heads}, n = {n}": kernel(n, heads, feature_map)
         for name, feature_map in (("elu1", ELU1), ("favor 128", FAVOR))
         for heads, n in ((1, 96), (1, 512), (1, 4096), (2, 128), (2, 1024), (3, 96), (3, 4096), (8, 2048))}


# Pieces have 2,048 keys: one, two, three, eight of them.
MERGE = {f"{name}, heads: {heads}, n = {n}": kernel(n, heads, feature_map)
         for name, feature_map in (("elu1", ELU1), ("favor 128", FAVOR))
         for heads, n in ((1, 64), (2, 64), (1, 512), (1, 4096), (2, 4096), (1, 6144), (1, 16384), (4, 4096))}


def layer(n, heads, model, mechanism, **more):
    return {"queries": n, "heads": heads, "head_dim": 64, "projection": {"model_dim": model, "output": False},
            "mechanism": mechanism, **more}


SOFTMAX = {"kind": "softmax"}
LINEAR = {"kind": "kernel", "feature_map": ELU1}

# Softmax reads its keys once for every 64 queries; chunks and states once; E once for every 64 slots. RoPE keeps E after the
# projection of the keys.
PROJECT = {
    **{f"softmax, D = 256, 4 heads, n = {n}": layer(n, 4, 256, SOFTMAX) for n in (32, 64, 128, 512)},
    **{f"elu1, causal, D = 256, {heads} heads, n = 1024": layer(1024, heads, 256, LINEAR, causal=True) for heads in (1, 2, 4)},
    **{f"elu1, D = 256, {heads} heads, n = 1024": layer(1024, heads, 256, LINEAR) for heads in (1, 4)},
    **{f"low rank {rank} of rotated keys, D = 256, 4 heads, n = 2048":
       layer(2048, 4, 256, {**SOFTMAX, "low_rank": {"rank": rank}}, rope={}) for rank in (64, 256)},
}


def whole(n, heads, model, mechanism, batch=1, **more):
    """A layer with its output projection."""
    fields = layer(n, heads, model, mechanism, **more)
    return fields | {"batch": batch, "projection": {"model_dim": model}}


# Blocks of 64 queries are what the epilogue runs in parallel; a window is a block of its own.
PROJECT_OUT = {
    **{f"softmax, D = {model}, {heads} heads, batch {batch}, n = {n}": whole(n, heads, model, SOFTMAX, batch)
       for n, heads, model, batch in ((32, 4, 256, 1), (64, 4, 256, 1), (32, 4, 256, 2), (64, 2, 128, 8), (128, 4, 256, 1), (192, 4, 256, 1),
                                      (512, 4, 256, 1), (512, 8, 512, 1), (2048, 4, 256, 1), (4096, 8, 512, 1), (64, 8, 512, 8), (128, 4, 1024, 4))},
    **{f"elu1, D = {model}, {heads} heads, batch {batch}, n = {n}": whole(n, heads, model, LINEAR, batch)
       for n, heads, model, batch in ((64, 4, 256, 1), (64, 4, 256, 8), (256, 4, 256, 1), (2048, 4, 256, 1), (2048, 8, 512, 1))},
    **{f"windows of 7 x 7, D = {model}, {heads} heads, n = 28 x 28":
       whole(784, heads, model, {**SOFTMAX, "window": {"grid": [28, 28], "size": [7, 7]}}, head_dim=32) for heads, model in ((3, 96), (6, 192))},
}

RELU = {"kind": "favor_relu", "features": 256}
WIDE = {"kind": "favor", "features": 256}


def causal_group(n, heads, kv_heads, feature_map):
    return kernel(n, heads, feature_map, kv_heads=kv_heads, causal=True)


def windowed(n, length, heads, feature_map):
    return {**kernel(n, heads, feature_map), "mechanism": {"kind": "kernel", "feature_map": feature_map, "window": {"length": length}}}


# Dear maps and cheap ones; keys that query heads share, that blocks of queries visit again, that one head has alone.
MAP = {
    **{f"favor_relu 256, causal, {heads} heads on {kv}, n = {n}": causal_group(n, heads, kv, RELU)
       for heads, kv, n in ((7, 1, 64), (7, 1, 256), (7, 1, 1024), (4, 4, 1024), (4, 2, 1024))},
    **{f"favor 256, causal, {heads} heads on {kv}, n = {n}": causal_group(n, heads, kv, WIDE)
       for heads, kv, n in ((8, 1, 512), (4, 4, 512))},
    **{f"favor_relu 256, windows of {length}, 2 heads, n = 1024": windowed(1024, length, 2, RELU) for length in (32, 64, 128, 256)},
    **{f"elu1, windows of {length}, 2 heads, n = 1024": windowed(1024, length, 2, ELU1) for length in (64, 512)},
    **{f"favor 128, {heads} heads, n = {n}": kernel(n, heads, FAVOR) for heads, n in ((1, 96), (1, 1024), (2, 1024))},
}

SKETCH = {"kind": "polysketch", "degree": 4, "size": 16}
EFFATT = {"kind": "effatt"}


def parts(n, *mechanisms, heads=1, **more):
    return {"queries": n, "heads": heads * len(mechanisms), "head_dim": 64, **more,
            "parts": [{"heads": heads, "mechanism": mechanism} for mechanism in mechanisms]}


WINDOWED = {**SOFTMAX, "window": {"length": 64}}

# One head a part, so that one core has nothing to do; launches of a microsecond; and parts that keep both cores busy.
PARTS = {
    **{f"softmax and elu1, {heads} heads each, n = {n}": parts(n, SOFTMAX, LINEAR, heads=heads)
       for heads, n in ((1, 32), (1, 64), (1, 512), (2, 64), (4, 1024))},
    **{f"EFFATT and windows of 64, {heads} heads each, n = {n}": parts(n, EFFATT, WINDOWED, heads=heads)
       for heads, n in ((1, 128), (1, 1024), (2, 256), (4, 4096))},
    **{f"softmax, elu1, sketches, causal, {heads} heads each, n = {n}": parts(n, SOFTMAX, LINEAR, SKETCH, heads=heads, causal=True)
       for heads, n in ((1, 64), (1, 1024), (2, 1024))},
}

ROWS = {"state and readout": ("linearize", ("state", "fused_state"), STATE),
        "merge of pieces": ("linearize", ("state", "merged_state"), MERGE),
        "projections": ("project", ("materialized", "fused"), PROJECT),
        "output projections": ("project_out", ("materialized", "epilogue"), PROJECT_OUT),
        "maps of keys": ("map", ("fused", "materialized"), MAP),
        "parts": ("launch", ("sequential", "co_launched"), PARTS)}
