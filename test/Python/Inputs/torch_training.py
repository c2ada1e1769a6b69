"""Modules, layers that a spec has whole, and packed sequences train: their gradients against PyTorch's own of the same formula."""

import unittest

import attune.torch as at
import torch
from torch.nn.functional import elu, linear, scaled_dot_product_attention as exact

TOLERANCE = 5e-5 # of f32, in the contract


def heads_of(layer, x):
    """q, k, v [batch, heads, tokens, width] of a module's projections."""
    return [linear(x, part.weight.double(), part.bias.double()).unflatten(-1, (layer.num_heads, -1)).transpose(1, 2)
            for part in (layer.q_proj, layer.k_proj, layer.v_proj)]


def output_of(layer, o):
    return linear(o.transpose(1, 2).flatten(2), layer.out_proj.weight.double(), layer.out_proj.bias.double())


def softmax(layer, x):
    return output_of(layer, exact(*heads_of(layer, x)))


def linformer(layer, x):
    q, k, v = heads_of(layer, x)
    e = layer.e.double()
    return output_of(layer, exact(q, e @ k, e @ v))


def elu1(layer, x):
    q, k, v = heads_of(layer, x)
    a, b = elu(q) + 1, elu(k) + 1
    return output_of(layer, (a @ (b.transpose(-1, -2) @ v)) / (a @ b.sum(-2)[..., None]))


def effatt(layer, x):
    q, k, v = heads_of(layer, x)
    return output_of(layer, q.softmax(-1) @ (k.softmax(-2).transpose(-1, -2) @ v))


def polynomial(layer, x):
    q, k, v = heads_of(layer, x)
    weights = (q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5) ** 4
    return output_of(layer, weights @ v / weights.sum(-1, keepdim=True))


def agent(layer, x):
    q, k, v = heads_of(layer, x)
    agents = q.unflatten(-2, (7, 10)).mean(-2)
    return output_of(layer, exact(q, agents, exact(agents, k, v)))


class Training(unittest.TestCase):
    def close(self, got, expected, least):
        unit = max(expected.norm(), least)
        self.assertLess((got.double() - expected).norm() / unit, TOLERANCE)

    def test_layers(self):
        torch.manual_seed(0)
        for layer, formula in ((at.Softmax(48, 3), softmax), (at.Linformer(48, 3, keys=70, rank=20), linformer), (at.Linear(48, 3), elu1),
                               (at.Effatt(48, 3), effatt), (at.Polynomial(48, 3), polynomial), (at.Agent(48, 3, agents=7), agent)):
            with self.subTest(type(layer).__name__):
                x = torch.randn(2, 70, 48, requires_grad=True)
                double = x.detach().double().requires_grad_()
                expected = formula(layer, double)
                cotangent = torch.randn(expected.shape)
                tensors = [x, *layer.parameters()]
                got = torch.autograd.grad(layer(x)[0], tensors, cotangent)
                exactly = torch.autograd.grad(expected, [double, *layer.parameters()], cotangent.double())
                for gradient, right in zip(got, exactly):
                    # A bias of keys under softmax has the gradient 0, the difference of two equal parts.
                    self.close(gradient, right.double(), 1e-1 * cotangent.norm())

    def test_layer_of_a_spec(self):
        torch.manual_seed(0)
        layer = at.Softmax(48, 3)
        spec = {"attention": "whole", "dtype": "f32", "batch": "?", "queries": "?", "heads": 3, "head_dim": 16,
                "projection": {"model_dim": 48, "bias": True}, "mechanism": {"kind": "softmax"}}
        weights = {f"w{name[0]}": part.weight.T for name, part in layer.named_children()}
        weights |= {f"b{name[0]}": part.bias for name, part in layer.named_children()}
        x, parts = torch.randn(2, 70, 48, requires_grad=True), [part for part in layer.parameters()]
        double = x.detach().double().requires_grad_()
        cotangent = torch.randn(2, 70, 48)
        got = torch.autograd.grad(at.attend(spec, x=x, **weights), [x, *parts], cotangent)
        for gradient, right in zip(got, torch.autograd.grad(softmax(layer, double), [double, *parts], cotangent.double())):
            self.close(gradient, right.double(), 1e-1 * cotangent.norm())

    def test_every_layer_learns(self):
        torch.manual_seed(0)
        layers = (at.Softmax(32, 2), at.Linear(32, 2), at.Performer(32, 2), at.Focused(32, 2), at.Relu(32, 2), at.Linformer(32, 2, keys=40, rank=12),
                  at.Flurka(32, 2, keys=40, rank=12), at.Effatt(32, 2), at.Agent(32, 2, agents=8), at.PolySketch(32, 2), at.Polynomial(32, 2),
                  at.PolySketch(32, 2, size=8, local_exact=8, causal=True))
        x = torch.randn(4, 40, 32)
        for layer in layers:
            with self.subTest(type(layer).__name__):
                optimizer, losses = torch.optim.SGD(layer.parameters(), lr=0.2), []
                for _ in range(6):
                    loss = (layer(x)[0] - x.mean(1, keepdim=True)).square().mean()
                    optimizer.zero_grad()
                    loss.backward()
                    self.assertTrue(all(part.grad is not None for part in layer.parameters()))
                    optimizer.step()
                    losses.append(loss.item())
                self.assertEqual(losses, sorted(losses, reverse=True))

    def test_packed(self):
        torch.manual_seed(0)
        offsets = torch.tensor([0, 30, 30, 97], dtype=torch.int32)
        q, k, v = [torch.randn(97, heads, 16, requires_grad=True) for heads in (4, 2, 2)]
        o = at.flash_attn_varlen_func(q, k, v, offsets, offsets, causal=True)
        cotangent = torch.randn(o.shape)
        got = torch.autograd.grad(o, (q, k, v), cotangent)
        double = [tensor.detach().double().requires_grad_() for tensor in (q, k, v)]
        each = [exact(*(tensor[a:b].transpose(0, 1)[None] for tensor in double), is_causal=True, enable_gqa=True)[0].transpose(0, 1)
                for a, b in ((0, 30), (30, 97))]
        for gradient, right in zip(got, torch.autograd.grad(torch.cat(each), double, cotangent.double())):
            self.close(gradient, right, 1e-3 * cotangent.norm())

    def test_packed_states(self):
        torch.manual_seed(0)
        offsets = torch.tensor([0, 40, 90], dtype=torch.int32)
        q, k, v = [torch.randn(1, 90, 2, 16, requires_grad=True) for _ in range(3)]
        beta = torch.rand(1, 90, 2, requires_grad=True)
        o, _ = at.delta_rule(q, k, v, beta, cu_seqlens=offsets, use_qk_l2norm_in_kernel=True)
        cotangent = torch.randn(o.shape)
        got = torch.autograd.grad(o, (q, k, v, beta), cotangent)
        for a, b in ((0, 40), (40, 90)):
            parts = [tensor[:, a:b].detach().requires_grad_() for tensor in (q, k, v, beta)]
            alone, _ = at.delta_rule(*parts, use_qk_l2norm_in_kernel=True)
            for gradient, right in zip(got, torch.autograd.grad(alone, parts, cotangent[:, a:b])):
                self.assertTrue(torch.equal(gradient[:, a:b], right))


if __name__ == "__main__":
    unittest.main()
