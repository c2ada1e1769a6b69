"""The mechanisms that benchmarks/gpu.py times, written directly: in float64 as the judge, and as peers.

`reference` works on NumPy arrays and PyTorch tensors alike (`xp` is the module) and gives chosen rows of queries, so it
is cheap at any length. The peers need PyTorch; a peer that is not there or cannot do a case says so with `Unavailable`.
"""

import functools


# Judged by the cases of the bundle alone.
WITHOUT_DEFINITION = ("polysketch", "eva")


class Unavailable(Exception):
    """Why a peer cannot do a case."""


#===----------------------------------------------------------------------------------------------------------------===#
# The definitions
#===----------------------------------------------------------------------------------------------------------------===#


def elu1(xp, x):
    return xp.where(x > 0, x + 1, xp.exp(xp.clip(x, None, 0)))


def favor(xp, x, omega):
    """Without stabilizer, which cancels; omega [heads or 1, m, d]."""
    scaled = x * x.shape[-1] ** -0.25
    logits = xp.einsum("bhnd,hmd->bhnm", scaled, spread(xp, omega, x.shape[1]))
    return xp.exp(logits - 0.5 * (scaled * scaled).sum(axis=-1)[..., None])


def spread(xp, per_head, heads):
    """A parameter of one head for all, as one for each."""
    return xp.broadcast_to(per_head, (heads, *per_head.shape[1:])) if per_head.shape[0] == 1 else per_head


def normalized(weights, values, xp):
    return xp.einsum("bhij,bhjc->bhic", weights, values) / weights.sum(axis=-1)[..., None]


def softmax(xp, logits):
    return xp.exp(logits - xp.amax(logits, axis=-1, keepdims=True))


def hidden(xp, rows, keys, like):
    """[rows, keys]: 1 where the key comes after the query."""
    columns = xp.arange(keys)
    columns = columns.to(like.device) if hasattr(like, "device") and hasattr(columns, "to") else columns
    return columns[None, :] > rows[:, None]


def compress(xp, e, x):
    """[heads or 1, k, N] · [batch, heads, N, c]"""
    return xp.einsum("hkn,bhnc->bhkc", spread(xp, e, x.shape[1]), x)


def reference(xp, spec, q, k, v, parameters, rows):
    """Rows [batch, heads, rows, dv] of the output, in the arrays' own precision. None: there is no definition here."""
    family, some = spec.family.removesuffix("_causal"), q[:, :, rows]
    if family in ("linformer", "flurka"):
        k, v = compress(xp, parameters["e"], k), compress(xp, parameters["e"], v)
    if family in ("softmax", "linformer"):
        logits = xp.einsum("bhid,bhjd->bhij", some, k) * q.shape[-1] ** -0.5
        return normalized(softmax(xp, mask(xp, spec, logits, rows, float("-inf"))), v, xp)
    if family == "effatt":
        features = softmax(xp, some) / softmax(xp, some).sum(axis=-1)[..., None]
        weights = xp.exp(k - xp.amax(k, axis=2, keepdims=True))
        state = xp.einsum("bhjd,bhjc->bhdc", weights / weights.sum(axis=2)[:, :, None], v)
        return xp.einsum("bhid,bhdc->bhic", features, state)
    if family == "agent":
        agents = q.reshape(*q.shape[:2], spec.fields["mechanism"]["agents"], -1, q.shape[-1]).mean(axis=3)
        scale = q.shape[-1] ** -0.5
        gathered = normalized(softmax(xp, xp.einsum("bhad,bhjd->bhaj", agents, k) * scale), v, xp)
        return normalized(softmax(xp, xp.einsum("bhid,bhad->bhia", some, agents) * scale), gathered, xp)
    if family in ("elu1", "flurka"):
        weights = xp.einsum("bhid,bhjd->bhij", elu1(xp, some), elu1(xp, k))
    elif family == "performer":
        weights = xp.einsum("bhid,bhjd->bhij", favor(xp, some, parameters["omega"]), favor(xp, k, parameters["omega"]))
    elif family == "polynomial":
        weights = xp.einsum("bhid,bhjd->bhij", some, k) ** spec.fields["mechanism"]["degree"]
    else:
        return None
    return normalized(mask(xp, spec, weights, rows, 0.0), v, xp)


def mask(xp, spec, weights, rows, value):
    return xp.where(hidden(xp, rows, weights.shape[-1], weights), value, weights) if spec.causal else weights


#===----------------------------------------------------------------------------------------------------------------===#
# Peers
#===----------------------------------------------------------------------------------------------------------------===#


def eager(torch, spec, q, k, v, parameters):
    """The mechanism as a user of PyTorch writes it: linear where it is, in the storage type."""
    family = spec.family.removesuffix("_causal")
    parameters = {name: tensor.to(q.dtype) for name, tensor in parameters.items()}
    if family in ("elu1", "performer") and not spec.causal:
        features = (lambda x: elu1(torch, x)) if family == "elu1" else lambda x: favor(torch, x, parameters["omega"])
        queries, keys = features(q), features(k)
        return lambda: (queries @ (keys.transpose(-1, -2) @ v)) / (queries @ keys.sum(2)[..., None])
    if family in WITHOUT_DEFINITION:
        raise Unavailable("no definition in PyTorch here")
    rows = torch.arange(q.shape[2], device=q.device)
    return lambda: reference(torch, spec, q, k, v, parameters, rows)


def sdpa(backend, torch, spec, q, k, v, parameters):
    """PyTorch's scaled_dot_product_attention with one backend."""
    if spec.family not in ("softmax", "softmax_causal"):
        raise Unavailable("exact attention only")
    from torch.nn.attention import SDPBackend, sdpa_kernel
    chosen = getattr(SDPBackend, backend)

    def run():
        with sdpa_kernel(chosen):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=spec.causal)
    return run


@functools.cache
def compiled_flex(torch):
    from torch.nn.attention.flex_attention import flex_attention
    return torch.compile(flex_attention, dynamic=False)


def flex(torch, spec, q, k, v, parameters):
    """PyTorch's FlexAttention, compiled."""
    if spec.family not in ("softmax", "softmax_causal"):
        raise Unavailable("exact attention only")
    if q.shape[2] not in (4096, 16384):
        raise Unavailable("compiled for two lengths only, as that takes seconds")
    from torch.nn.attention.flex_attention import create_block_mask
    block = create_block_mask(lambda b, h, i, j: i >= j, None, None, q.shape[2], k.shape[2], device=q.device) \
        if spec.causal else None
    return lambda: compiled_flex(torch)(q, k, v, block_mask=block)


@functools.cache
def triton_kernel():
    """Causal linear attention in Triton: a program a head, the state in registers, chunks of 64 tokens."""
    import triton
    import triton.language as tl

    @triton.jit
    def linear_attention(q, k, v, o, n, D: tl.constexpr, C: tl.constexpr):
        head = tl.program_id(0).to(tl.int64)
        token, channel = tl.arange(0, C), tl.arange(0, D)
        state = tl.zeros((D, D), tl.float32)
        total = tl.zeros((D,), tl.float32)
        base = head * n * D
        for start in range(0, n, C):
            place = base + (start + token)[:, None] * D + channel[None, :]
            inside = (start + token)[:, None] < n
            query = tl.load(q + place, mask=inside, other=0.0).to(tl.float32)
            key = tl.load(k + place, mask=inside, other=0.0).to(tl.float32)
            value = tl.load(v + place, mask=inside, other=0.0)
            query = tl.where(query > 0, query + 1, tl.exp(query))
            key = tl.where(inside, tl.where(key > 0, key + 1, tl.exp(key)), 0.0)
            narrow_query, narrow_key = query.to(value.dtype), key.to(value.dtype)
            weights = tl.dot(narrow_query, tl.trans(narrow_key))
            weights = tl.where(token[:, None] >= token[None, :], weights, 0.0)
            out = tl.dot(weights.to(value.dtype), value) + tl.dot(narrow_query, state.to(value.dtype))
            sums = tl.sum(weights, 1) + tl.sum(query * total[None, :], 1)
            tl.store(o + place, (out / sums[:, None]).to(value.dtype), mask=inside)
            state += tl.dot(tl.trans(narrow_key), value)
            total += tl.sum(key, 0)

    return linear_attention


def triton_linear(torch, spec, q, k, v, parameters):
    """A plain Triton kernel of causal linear attention."""
    if spec.family != "elu1_causal":
        raise Unavailable("causal linear attention only")
    try:
        kernel = triton_kernel()
    except ImportError as error:
        raise Unavailable(str(error)) from error
    out = torch.empty_like(q)

    def run():
        kernel[(q.shape[0] * q.shape[1],)](q, k, v, out, q.shape[2], D=q.shape[3], C=64)
        return out
    return run


PEERS = {"eager": eager, "sdpa flash": functools.partial(sdpa, "FLASH_ATTENTION"),
         "sdpa cudnn": functools.partial(sdpa, "CUDNN_ATTENTION"), "flex": flex, "triton": triton_linear}
