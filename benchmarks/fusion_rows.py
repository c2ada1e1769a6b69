"""The alternatives of fusion.py: group: (law, its two forms, {row: fields of the spec})."""


def kernel(n, heads, feature_map, **more):
    return {"queries": n, "heads": heads, "head_dim": 64, "mechanism": {"kind": "kernel", "feature_map": feature_map}, **more}


ELU1 = {"kind": "elu1"}
FAVOR = {"kind": "favor", "features": 128}

STATE = {f"{name}, heads: {heads}, n = {n}": kernel(n, heads, feature_map)
         for name, feature_map in (("elu1", ELU1), ("favor 128", FAVOR))
         for heads, n in ((1, 96), (1, 512), (1, 4096), (2, 128), (2, 1024), (3, 96), (3, 4096), (8, 2048))}


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

ROWS = {"state and readout": ("linearize", ("state", "fused_state"), STATE),
        "projections": ("project", ("alone", "in_reader"), PROJECT)}
