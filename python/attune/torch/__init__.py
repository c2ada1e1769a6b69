"""Compiled attention in PyTorch, with gradients where there are kernels of them.

    attune.torch.swap(model, attune.torch.Flurka, rank=64, keys=512)     # every nn.MultiheadAttention, with its weights
    layer.self_attn = attune.torch.PolySketch.take_over(layer.self_attn)
    o = attune.torch.attend(spec, q=q, k=k, v=v)             # an operator: under torch.compile and torch.export
    o = attune.torch.scaled_dot_product_attention(q, k, v, is_causal=True)       # and functions that people know
    o, state = attune.torch.gated_delta_rule(q, k, v, g, beta)

`MultiheadAttention` is called as `torch.nn.MultiheadAttention` is; its subclasses are mechanisms. `take_over` and
`from_state_dict` bring the weights of modules that people have.
"""

from . import _transforms  # noqa: F401  (a rule for each operator)
from ._functional import flash_attn_func, flash_attn_varlen_func, scaled_dot_product_attention
from ._linear import delta_rule, gated_delta_rule, gla, kda, linear_attn, retention, simple_gla
from ._mechanisms import *  # the mechanisms, which only that file lists
from ._mechanisms import __all__ as _names
from ._multihead import MultiheadAttention
from ._op import attend
from ._swap import swap

__all__ = [*_names, "MultiheadAttention", "attend", "delta_rule", "flash_attn_func", "flash_attn_varlen_func", "gated_delta_rule",
           "gla", "kda", "linear_attn", "retention", "scaled_dot_product_attention", "simple_gla", "swap"]
