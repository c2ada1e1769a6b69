"""Implementations of mechanisms that others published as packages, as peers of benchmarks/cpu.py. Each is given the
parameters that attnc drew, and must compute the same function.
"""

import importlib

from cpu_peers import Unavailable, fits, torch_module, torch_parameters, torch_tensor


def package(name):
    torch_module()
    try:
        return importlib.import_module(name)
    except Exception as error:  # what breaks while it is loaded is as good as absent
        raise Unavailable(f"no {name.split('.', maxsplit=1)[0]}: {error}") from error


def only(point, *families):
    if point.family not in families:
        raise Unavailable("another mechanism")


def tensors_of(inputs):
    return [torch_tensor(inputs[name]) for name in "qkv"]


def performer_pytorch(point, inputs, drawn):
    """performer-pytorch's FastAttention, f32; its features have the factor m^-1/2, which its own ε shares."""
    only(point, "performer_published")
    module = package("performer_pytorch.performer_pytorch")
    attention = module.FastAttention(point.d, nb_features=drawn["omega"].shape[-2])
    attention.projection_matrix.copy_(torch_module().from_numpy(drawn["omega"][0]))
    tensors = tensors_of(inputs)
    return lambda: attention(*tensors)


def performer_causal(point, inputs, drawn):
    """performer-pytorch's causal attention without CUDA, on elu(x) + 1."""
    only(point, "elu1_causal")
    fits(point.head_count * 128 * point.d * point.d, point)
    module = package("performer_pytorch.performer_pytorch")
    q, k, v = tensors_of(inputs)
    elu = torch_module().nn.functional.elu
    return lambda: module.causal_linear_attention_noncuda(elu(q) + 1, elu(k) + 1, v)


def linformer(point, inputs, drawn):
    """linformer's LinformerSelfAttention, E = F."""
    only(point, "linformer_layer")
    torch = torch_module()
    model = point.head_count * point.d
    layer = package("linformer").LinformerSelfAttention(model, point.n, k=256, heads=point.head_count)
    parameters = {name: array for own in torch_parameters(point, drawn) for name, array in own.items()}
    layer = layer.to(parameters["wq"].dtype).eval()
    for own, name in ((layer.to_q, "wq"), (layer.to_k, "wk"), (layer.to_v, "wv"), (layer.to_out, "wo")):
        own.weight.copy_(parameters[name].T)
    layer.to_out.bias.zero_()
    e = parameters["e"][0].T.contiguous()
    layer.proj_k, layer.proj_v = torch.nn.Parameter(e, requires_grad=False), torch.nn.Parameter(e, requires_grad=False)
    x = torch_tensor(inputs["x"])
    return lambda: layer(x)


def linear_attention_transformer(point, inputs, drawn):
    """linear-attention-transformer's linear_attn: efficient attention times d^-1/2, which the queries bring here."""
    only(point, "effatt")
    module = package("linear_attention_transformer.linear_attention_transformer")
    q, k, v = tensors_of(inputs)
    scaled = v * point.d ** 0.5
    return lambda: module.linear_attn(q, k, scaled)


def fast_transformers(point, inputs, drawn):
    """pytorch-fast-transformers: LinearAttention, CausalLinearAttention; elu(x) + 1, f32."""
    only(point, "elu1", "elu1_causal")
    if point.dtype != "f32":
        raise Unavailable("f32 only")
    masking = package("fast_transformers.masking")
    name = "CausalLinearAttention" if point.causal else "LinearAttention"
    attention = getattr(package(f"fast_transformers.attention.{'causal_' if point.causal else ''}linear_attention"), name)(point.d)
    q, k, v = (x.transpose(1, 2).contiguous() for x in tensors_of(inputs))
    full = (masking.TriangularCausalMask if point.causal else masking.FullMask)(point.n)
    lengths = masking.LengthMask(torch_module().full((point.batch,), point.n, dtype=torch_module().int64))
    return lambda: attention(q, k, v, full, lengths, lengths).transpose(1, 2)


PUBLIC = {"performer-pytorch": performer_pytorch, "performer-pytorch causal": performer_causal, "linformer": linformer,
          "linear-attention-transformer": linear_attention_transformer, "fast-transformers": fast_transformers}
