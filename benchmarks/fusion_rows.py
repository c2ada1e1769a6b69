"""The alternatives of fusion.py: group: (law, its two forms, {row: fields of the spec})."""


def kernel(n, heads, feature_map, **more):
    return {"queries": n, "heads": heads, "head_dim": 64, "mechanism": {"kind": "kernel", "feature_map": feature_map}, **more}


ELU1 = {"kind": "elu1"}
FAVOR = {"kind": "favor", "features": 128}

STATE = {f"{name}, heads: {heads}, n = {n}": kernel(n, heads, feature_map)
         for name, feature_map in (("elu1", ELU1), ("favor 128", FAVOR))
         for heads, n in ((1, 96), (1, 512), (1, 4096), (2, 128), (2, 1024), (3, 96), (3, 4096), (8, 2048))}

ROWS = {"state and readout": ("linearize", ("state", "fused_state"), STATE)}
