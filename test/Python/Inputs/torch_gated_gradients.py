"""Gradients through gated linear attention, against PyTorch's own of the recurrence in float64; a model of such layers trains."""

import pathlib
import sys
import unittest

import attune.torch as at
import torch
from torch.nn.functional import cross_entropy, logsigmoid, normalize

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "examples" / "programs"))

# pylint: disable=wrong-import-position
from gated_delta_model import Decoder, GatedDeltaLayer

# Those of the contract for gradients.
TOLERANCE = {torch.float32: 5e-5, torch.float16: 1e-2, torch.bfloat16: 4e-2}
BATCH, TOKENS, HEADS, WIDTH, VALUES = 2, 70, 4, 16, 24


def recurrence(q, k, v, g=None, beta=None, state=None, scale=WIDTH ** -0.5):
    """Token after token; g [batch, tokens, heads] or [.., width]. With a state (o, state), else o."""
    q, k = (x.repeat_interleave(v.shape[2] // x.shape[2], 2) for x in (q, k))
    given, rows = state is not None, []
    if not given:
        state = v.new_zeros(v.shape[0], v.shape[2], k.shape[3], v.shape[3])
    for t in range(v.shape[1]):
        if g is not None:
            state = state * (g[:, t, :, None, None] if g.dim() == 3 else g[:, t, :, :, None]).exp()
        written = v[:, t]
        if beta is not None:
            written = beta[:, t, :, None] * (written - torch.einsum("bhkv,bhk->bhv", state, k[:, t]))
        state = state + torch.einsum("bhk,bhv->bhkv", k[:, t], written)
        rows.append(scale * torch.einsum("bhkv,bhk->bhv", state, q[:, t]))
    o = torch.stack(rows, 1)
    return (o, state) if given else o


def drawn(qk_heads=HEADS, dtype=torch.float32):
    """(q, k, v, g of tokens, g of channels, β)."""
    generator = torch.Generator().manual_seed(0)
    normal = lambda *shape: torch.randn(BATCH, TOKENS, *shape, generator=generator)
    q, k, v = normal(qk_heads, WIDTH), normalize(normal(qk_heads, WIDTH), dim=-1), normal(HEADS, VALUES)
    tokens, channels, beta = logsigmoid(normal(HEADS)), logsigmoid(normal(HEADS, WIDTH)), normal(HEADS).sigmoid()
    return [x.to(dtype).requires_grad_() for x in (q, k, v)] + [x.requires_grad_() for x in (tokens, channels, beta)]


class GatedGradients(unittest.TestCase):
    def same(self, function, formula, *tensors):
        double = [tensor.detach().double().requires_grad_() for tensor in tensors]
        expected = formula(*double)
        cotangent = torch.randn(expected.shape, generator=torch.Generator().manual_seed(1)).to(tensors[0].dtype)
        got = torch.autograd.grad(function(*tensors)[0], tensors, cotangent)
        for number, (gradient, exactly, tensor) in enumerate(zip(got, torch.autograd.grad(expected, double, cotangent.double()), tensors)):
            with self.subTest(argument=number, dtype=tensors[0].dtype):
                self.assertEqual((gradient.shape, gradient.dtype), (tensor.shape, tensor.dtype))
                unit = max(exactly.norm(), 1e-3 * cotangent.double().norm())
                self.assertLess((gradient.double() - exactly).norm() / unit, TOLERANCE[tensors[0].dtype])

    def test_decay_of_tokens(self):
        for dtype in TOLERANCE:
            q, k, v, g, _, _ = drawn(dtype=dtype)
            self.same(at.simple_gla, recurrence, q, k, v, g)

    def test_decay_of_heads(self):
        q, k, v, _, _, _ = drawn()
        log_decay = torch.tensor([-0.5, -0.1, -0.01, -3.0], requires_grad=True)
        self.same(lambda q, k, v, g: at.simple_gla(q, k, v, g_gamma=g),
                  lambda q, k, v, g: recurrence(q, k, v, g.expand(BATCH, TOKENS, HEADS)), q, k, v, log_decay)

    def test_decay_of_channels(self):
        q, k, v, _, g, _ = drawn()
        self.same(at.gla, recurrence, q, k, v, g)

    def test_erasing(self):
        q, k, v, _, _, beta = drawn()
        self.same(at.delta_rule, lambda q, k, v, beta: recurrence(q, k, v, None, beta), q, k, v, beta)

    def test_erasing_beside_decay(self):
        for qk_heads in (HEADS, 2):
            q, k, v, g, _, beta = drawn(qk_heads)
            self.same(at.gated_delta_rule, recurrence, q, k, v, g, beta)
        q, k, v, _, g, beta = drawn()
        self.same(at.kda, recurrence, q, k, v, g, beta)

    def test_states(self):
        """Of the state that a call goes on from, and through the one that it leaves."""
        q, k, v, g, _, beta = drawn()
        state = torch.randn(BATCH, HEADS, WIDTH, VALUES, generator=torch.Generator().manual_seed(2)).requires_grad_()
        for gates in ((g,), (g, beta)):
            function = at.gated_delta_rule if len(gates) == 2 else at.simple_gla
            o, last = function(q, k, v, *gates, initial_state=state, output_final_state=True)
            double = [x.detach().double().requires_grad_() for x in (q, k, v, *gates, state)]
            exact_o, exact_last = recurrence(*double[:-1], state=double[-1])
            got = torch.autograd.grad((o.square().sum() + 2 * last.square().sum()), (q, k, v, *gates, state))
            for gradient, exactly in zip(got, torch.autograd.grad(exact_o.square().sum() + 2 * exact_last.square().sum(), double)):
                self.assertLess((gradient - exactly).norm() / exactly.norm(), 5e-5)

    def test_of_gates_alone(self):
        q, k, v, g, _, beta = (x.detach() for x in drawn())
        g.requires_grad_()
        got, = torch.autograd.grad(at.gated_delta_rule(q, k, v, g, beta)[0].square().sum(), g)
        exactly, = torch.autograd.grad(recurrence(*(x.double() for x in (q, k, v)), again := g.detach().double().requires_grad_(), beta.double()).square().sum(),
                                       again)
        self.assertLess((got - exactly).norm() / exactly.norm(), 5e-5)

    def test_a_model_trains_as_it_does_in_plain_pytorch(self):
        """Eight steps of both: the same losses, which fall."""
        losses = {}
        for core in (GatedDeltaLayer.core, at.gated_delta_rule):
            torch.manual_seed(0)
            model, tokens = Decoder().train(), torch.randint(199, (2, 48))
            for layer in model.modules():
                if isinstance(layer, GatedDeltaLayer):
                    layer.core = core
            optimizer, losses[core] = torch.optim.Adam(model.parameters(), lr=3e-3), []
            for _ in range(8):
                logits, _ = model(tokens[:, :-1])
                loss = cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses[core].append(loss.item())
        plain, compiled = losses.values()
        torch.testing.assert_close(torch.tensor(compiled), torch.tensor(plain), rtol=1e-3, atol=1e-4)
        self.assertLess(compiled[-1], 0.9 * compiled[0])


if __name__ == "__main__":
    unittest.main()
