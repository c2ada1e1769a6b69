"""Layers of the papers as sums of priced parts."""


def mechanism(kind, width, tokens, chunks=30):
    """The papers' kernel methods; EVA with as many chunks whatever the length."""
    if kind == "eva":
        return {"kind": "eva", "chunk": tokens // chunks}
    maps = {"performer": {"kind": "favor", "features": width}, "rnn": {"kind": "elu1"}}
    return {"kind": "kernel", "feature_map": maps[kind]}


def layer(prices, device, tokens, heads, width, mechanism_spec, batch=1):
    """The plan of projections, attention and output projection; None if there is none."""
    return prices.plan(device, queries=tokens, heads=heads, head_dim=width, mechanism=mechanism_spec, batch=batch,
                       projection={"model_dim": heads * width})


def projected(*shape, **batch):
    """Its seconds."""
    plan = layer(*shape, **batch)
    return plan["seconds"] if plan else None


def feed_forward(prices, device, tokens, heads, width, hidden, batch=1):
    """Two products of hidden · D a token, by the rate of the kernel that projects."""
    plan = layer(prices, device, tokens, heads, width, {"kind": "softmax"}, batch=batch)
    if plan is None:
        return None
    project = [kernel["seconds"] for kernel in plan["kernels"] if kernel["kernel"] == "project"][0]
    return project * 2 * hidden / (heads * width)


def stored(device_bytes_per_second, tokens, keys, heads, batch=1, bytes_per_weight=2):
    """What a softmax takes longer that stores its tokens × keys weights: twice written and twice read."""
    return 4 * batch * heads * tokens * keys * bytes_per_weight / device_bytes_per_second


def flurka_equations(tokens, slots, heads, width):
    """Equations (6), (7), (8): multiply-adds of the low-rank layer, the kernel layer and FLuRKA."""
    n, k, d, model = tokens, slots, width, heads * width
    low_rank = 4 * n * k * model + n * model**2 + 2 * k * model**2 + n * heads * k
    kernel = 3 * n * model**2 + 2 * n * model + 2 * n * model * d
    fused = 2 * n * k * model + n * model**2 + 2 * k * model**2 + (n + k) * model * (1 + d)
    return low_rank, kernel, fused
