"""Gradients through compiled attention, against PyTorch's own of the same formula."""

import unittest

import attune
import attune.torch as at
import torch
from torch.nn.functional import elu, scaled_dot_product_attention as exact
from torch.utils.checkpoint import checkpoint

# Those of the contract for gradients.
TOLERANCE = {torch.float32: 5e-5, torch.float16: 1e-2, torch.bfloat16: 4e-2}


def drawn(*shapes, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator).to(dtype).requires_grad_() for shape in shapes]


def elu1_of(q, k, v, causal=False):
    a, b = elu(q) + 1, elu(k) + 1
    w = a @ b.transpose(-1, -2)
    w = w.tril() if causal else w
    return (w @ v) / w.sum(-1, keepdim=True).clamp_min(1e-6)


def elu1_spec(causal=False):
    return {"attention": "trained", "dtype": "f32", "batch": "?", "queries": "?", "heads": 2, "head_dim": 16, "causal": causal,
            "mechanism": {"kind": "kernel", "feature_map": {"kind": "elu1"}}}


class Gradients(unittest.TestCase):
    def same(self, function, formula, *tensors, seed=1):
        """Both take the tensors; the cotangent is drawn."""
        double = [tensor.detach().double().requires_grad_() for tensor in tensors]
        expected = formula(*double)
        cotangent = torch.randn(expected.shape, generator=torch.Generator().manual_seed(seed)).to(tensors[0].dtype)
        got = torch.autograd.grad(function(*tensors), tensors, cotangent)
        for gradient, exactly, tensor in zip(got, torch.autograd.grad(expected, double, cotangent.double()), tensors):
            self.assertEqual((gradient.shape, gradient.dtype), (tensor.shape, tensor.dtype))
            # With one key the gradients of q and k are differences of equal parts, which the contract judges by their parts.
            unit = max(exactly.norm(), 1e-3 * cotangent.double().norm())
            self.assertLess((gradient.double() - exactly).norm() / unit, TOLERANCE[tensor.dtype])

    def test_exact(self):
        for queries, keys in ((50, 70), (1, 70), (50, 2), (1, 2), (129, 65)):
            with self.subTest(queries=queries, keys=keys):
                tensors = drawn((2, 3, queries, 24), (2, 3, keys, 24), (2, 3, keys, 40))
                self.same(at.scaled_dot_product_attention, exact, *tensors)

    def test_causal_with_heads_that_share_keys(self):
        for dtype in TOLERANCE:
            tensors = drawn((2, 8, 50, 32), (2, 2, 50, 32), (2, 2, 50, 32), dtype=dtype)
            both = [lambda q, k, v, of=of: of(q, k, v, is_causal=True, enable_gqa=True) for of in (at.scaled_dot_product_attention, exact)]
            self.same(*both, *tensors)

    def test_what_the_forward_pass_leaves(self):
        """It is read: with other numbers in its place the gradients are others."""
        q, k, v = drawn(*[(1, 2, 50, 16)] * 3)
        for tokens_first in (False, True):
            spec = {"attention": "a", "dtype": "f32", "batch": "?", "queries": "?", "heads": 2, "head_dim": 16, "mechanism": {"kind": "softmax"}}
            o = at.attend(spec, q=q, k=k, v=v, tokens_first=tokens_first)
            saved = o.grad_fn.saved_tensors
            self.assertEqual([list(tensor.shape) for tensor in saved[3:]], [list(o.shape), [1, 2, 50]])
            right = torch.autograd.grad(o.sum(), (q, k, v), retain_graph=True)
            saved[4].data.add_(1)
            wrong = torch.autograd.grad(o.sum(), (q, k, v))
            self.assertTrue(all((a - b).norm() > 1e-2 * a.norm() for a, b in zip(right[:1] + right[2:], wrong[:1] + wrong[2:])))

    def test_keys_that_do_not_exist(self):
        mask = (torch.arange(70) < torch.tensor([30, 70])[:, None])[:, None, None]
        tensors = drawn((2, 3, 50, 24), (2, 3, 70, 24), (2, 3, 70, 24))
        self.same(lambda *qkv: at.scaled_dot_product_attention(*qkv, mask), lambda *qkv: exact(*qkv, mask), *tensors)

    def test_kernel_attention(self):
        for causal in (False, True):
            tensors = drawn(*[(2, 2, 90, 16)] * 3)
            spec = elu1_spec(causal)
            self.same(lambda q, k, v: at.attend(spec, q=q, k=k, v=v), lambda *qkv: elu1_of(*qkv, causal), *tensors)

    def test_views_and_tokens_first(self):
        q, k, v = drawn(*[(2, 40, 3, 24)] * 3)
        turned = lambda of: lambda *qkv: of(*(x.transpose(1, 2) for x in qkv)).transpose(1, 2)
        self.same(turned(at.scaled_dot_product_attention), turned(exact), q, k, v)

    def test_of_what_needs_them_alone(self):
        q, k, v = drawn(*[(1, 2, 30, 16)] * 3)
        o = at.scaled_dot_product_attention(q.detach(), k.detach(), v)
        o.sum().backward()
        self.assertIsNone(q.grad)
        exact(q.detach(), k.detach(), again := v.detach().requires_grad_()).sum().backward()
        self.assertLess((v.grad - again.grad).norm() / again.grad.norm(), 5e-5)

    def test_compiled(self):
        tensors = drawn(*[(2, 4, 40, 16)] * 3)
        function = torch.compile(lambda q, k, v: 2 * at.scaled_dot_product_attention(q, k, v, is_causal=True), fullgraph=True,
                                 backend="aot_eager")
        self.same(function, lambda *qkv: 2 * exact(*qkv, is_causal=True), *tensors)

    def test_checkpointed(self):
        tensors = drawn(*[(2, 4, 40, 16)] * 3)
        self.same(lambda *qkv: checkpoint(at.scaled_dot_product_attention, *qkv, use_reentrant=False), exact, *tensors)

    def test_a_step_of_training_lowers_the_loss(self):
        torch.manual_seed(0)
        layer, x = torch.nn.Linear(16, 48), torch.randn(4, 32, 16)
        optimizer, losses = torch.optim.SGD(layer.parameters(), lr=0.5), []
        for _ in range(5):
            q, k, v = layer(x).view(4, 32, 1, 48).transpose(1, 2).chunk(3, -1)
            loss = (at.scaled_dot_product_attention(q, k, v)[:, 0] - x.roll(1, 1)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        self.assertEqual(losses, sorted(losses, reverse=True))

    def test_a_second_derivative_is_refused(self):
        q, k, v = drawn(*[(1, 2, 30, 16)] * 3)
        gradient, = torch.autograd.grad(at.scaled_dot_product_attention(q, k, v).sum(), q, create_graph=True)
        with self.assertRaisesRegex(NotImplementedError, "expected one derivative"):
            gradient.sum().backward()

    def test_what_has_no_kernel_says_so(self):
        layer, (x,) = at.PolySketch(32, 2, degree=64, size=4), drawn((1, 30, 32))
        with self.assertRaisesRegex(attune.CompileError, "not supported yet"):
            layer(x)[0].sum().backward()

    def test_a_library_of_its_own(self):
        fields = {**elu1_spec(), "gradients": ["q", "v"]}
        q, k, v = (tensor.detach() for tensor in drawn(*[(2, 2, 90, 16)] * 3))
        backward = attune.compile(fields).backward
        got = backward(q=q, k=k, v=v, grad_o=torch.ones_like(v))
        self.assertEqual(list(got), ["grad_q", "grad_v"])
        self.assertTrue(all((gradient == 0).all() for gradient in backward(q=q, k=k, v=v).values()))
        with self.assertRaisesRegex(attune.CompileError, "expected a spec that asks for gradients"):
            attune.compile(elu1_spec()).backward


if __name__ == "__main__":
    unittest.main()
