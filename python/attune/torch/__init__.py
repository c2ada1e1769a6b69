"""Compiled attention in PyTorch: forward only.

    attune.torch.swap(model, attune.torch.Flurka, rank=64, keys=512)     # every nn.MultiheadAttention, with its weights
    layer.self_attn = attune.torch.PolySketch.take_over(layer.self_attn)
    o = attune.torch.attend(spec, q=q, k=k, v=v)             # an operator: under torch.compile and torch.export

`MultiheadAttention` is called as `torch.nn.MultiheadAttention` is; its subclasses are mechanisms. `take_over` and
`from_state_dict` bring the weights of modules that people have.
"""

from ._mechanisms import (Agent, Cosformer, Effatt, Flurka, Focused, Linear, Linformer, Performer, Polynomial,
                          PolySketch, Relu, Softmax)
from ._multihead import MultiheadAttention
from ._op import attend
from ._swap import swap

__all__ = ["Agent", "Cosformer", "Effatt", "Flurka", "Focused", "Linear", "Linformer", "MultiheadAttention",
           "Performer", "PolySketch", "Polynomial", "Relu", "Softmax", "attend", "swap"]
