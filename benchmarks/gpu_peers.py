"""What benchmarks/gpu.py times beside the compiled libraries: PyTorch's attention, Triton, and the mechanism in plain
PyTorch. A peer that is not there or cannot do a case says so with `Unavailable`.
"""

import functools

from gpu_definitions import elu1, eva_windows, favor, reference


class Unavailable(Exception):
    """Why a peer cannot do a case."""


#===----------------------------------------------------------------------------------------------------------------===#
# Peers
#===----------------------------------------------------------------------------------------------------------------===#


# Whose powers and exponentials f16 does not hold.
WIDE = ("performer", "polynomial", "polysketch")


def eager(torch, spec, q, k, v, parameters):
    """The mechanism as a user of PyTorch writes it: linear where it is, in the storage type where that holds the numbers."""
    family = spec.family.removesuffix("_causal")
    if family in WIDE and q.dtype == torch.float16:
        run = in_storage(torch, spec, q.float(), k.float(), v.float(), parameters)
        return lambda: run().half()
    return in_storage(torch, spec, q, k, v, parameters)


def in_storage(torch, spec, q, k, v, parameters):
    """The mechanism in the type of q."""
    family = spec.family.removesuffix("_causal")
    parameters = {name: tensor.to(q.dtype) if tensor.is_floating_point() else tensor
                  for name, tensor in parameters.items()}
    if family in ("elu1", "performer") and not spec.causal:
        features = (lambda x: elu1(torch, x)) if family == "elu1" else lambda x: favor(torch, x, parameters["omega"])
        queries, keys = features(q), features(k)
        return lambda: (queries @ (keys.transpose(-1, -2) @ v)) / (queries @ keys.sum(2)[..., None])
    if family == "eva":
        return lambda: eva_windows(torch, spec, q, k, v)
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
    if q.shape[2] != 16384 or spec.dtype != "bf16":
        raise Unavailable("compiled for one length of one type only, as that takes seconds")
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
