"""torch.vmap and torch.autocast over compiled attention: what one call after another gives, and PyTorch's own."""

import unittest
from unittest import mock

import attune.torch as at
import torch
from torch.nn.functional import scaled_dot_product_attention as exact

TOLERANCE = {"rtol": 1e-4, "atol": 1e-5}


def drawn(*shapes, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator) for shape in shapes]


def performer(batch="?"):
    return {"attention": "mapped", "dtype": "f32", "batch": batch, "queries": "?", "heads": 2, "head_dim": 16,
            "mechanism": {"kind": "kernel", "feature_map": {"kind": "favor", "features": 24}}}


class Calls:
    """How often an operator is computed."""

    def __enter__(self):
        from attune._attention import Attention
        self.count, whole = 0, Attention._call

        def counted(*arguments):
            self.count += 1
            return whole(*arguments)

        self.patch = mock.patch.object(Attention, "_call", counted)
        self.patch.start()
        return self

    def __exit__(self, *what):
        self.patch.stop()


class Vmap(unittest.TestCase):
    def test_is_one_call_of_a_larger_batch(self):
        q, k, v = drawn((2, 3, 20, 5, 16), (5, 2, 3, 30, 16), (5, 2, 3, 30, 24))
        with Calls() as calls:
            got = torch.vmap(at.scaled_dot_product_attention, (3, 0, 0), 1)(q, k, v)
        torch.testing.assert_close(got.movedim(1, 0), exact(q.movedim(3, 0), k, v), **TOLERANCE)
        self.assertEqual(calls.count, 1)

    def test_what_is_not_mapped_is_the_same_for_all(self):
        q, k, v = drawn((4, 1, 2, 20, 16), (1, 2, 30, 16), (1, 2, 30, 16))
        with Calls() as calls:
            got = torch.vmap(at.scaled_dot_product_attention, (0, None, None))(q, k, v)
        torch.testing.assert_close(got, exact(q, k[None].expand(4, -1, -1, -1, -1), v[None].expand(4, -1, -1, -1, -1)), **TOLERANCE)
        self.assertEqual(calls.count, 1)

    def test_tokens_first_and_states(self):
        q, k, v = drawn(*[(3, 2, 40, 2, 16)] * 3)
        got, state = torch.vmap(lambda *qkv: at.linear_attn(*qkv, output_final_state=True))(q, k, v)
        for entry in range(3):
            o, last = at.linear_attn(q[entry], k[entry], v[entry], output_final_state=True)
            torch.testing.assert_close((got[entry], state[entry]), (o, last), **TOLERANCE)

    def test_parameters_and_closed_batches_are_called_one_by_one(self):
        q, k, v, omega = drawn(*[(3, 2, 2, 20, 16)] * 3, (3, 1, 24, 16))
        for spec, dimension in ((performer(), 0), (performer(batch=2), None)):
            one = omega if dimension == 0 else omega[0]
            with Calls() as calls:
                got = torch.vmap(lambda q, k, v, omega, spec=spec: at.attend(spec, q=q, k=k, v=v, omega=omega), (0, 0, 0, dimension))(q, k, v, one)
            self.assertEqual(calls.count, 3)
            for entry in range(3):
                expected = at.attend(spec, q=q[entry], k=k[entry], v=v[entry], omega=one[entry] if dimension == 0 else one)
                torch.testing.assert_close(got[entry], expected, **TOLERANCE)

    def test_gradients(self):
        q, k, v = drawn(*[(3, 2, 2, 20, 16)] * 3)

        def loss(attend):
            return lambda q, k, v: attend(q, k, v).square().sum()

        with Calls() as calls:
            got = torch.vmap(torch.func.grad(loss(at.scaled_dot_product_attention), (0, 1, 2)))(q, k, v)
        expected = torch.vmap(torch.func.grad(loss(exact), (0, 1, 2)))(q, k, v)
        torch.testing.assert_close(got, expected, **TOLERANCE)
        self.assertEqual(calls.count, 2)
        mapped = torch.vmap(at.scaled_dot_product_attention)
        torch.testing.assert_close(torch.func.grad(loss(mapped), (0, 1, 2))(q, k, v), expected, **TOLERANCE)
        leaves = [tensor.clone().requires_grad_() for tensor in (q, k, v)]
        loss(mapped)(*leaves).backward()
        torch.testing.assert_close(tuple(leaf.grad for leaf in leaves), expected, **TOLERANCE)

    def test_a_second_derivative_is_refused(self):
        q, k, v = drawn(*[(1, 2, 20, 16)] * 3)
        first = torch.func.grad(lambda q: at.scaled_dot_product_attention(q, k, v).sum())
        with self.assertRaisesRegex(NotImplementedError, "expected one derivative"):
            torch.func.grad(lambda q: first(q).sum())(q)

    def test_gradients_of_parameters_are_those_of_each_entry(self):
        q, k, v, omega = drawn(*[(3, 2, 2, 20, 16)] * 3, (1, 24, 16))

        def loss(omega, q, k, v):
            return at.attend(performer(), q=q, k=k, v=v, omega=omega).square().sum()

        got = torch.vmap(torch.func.grad(loss), (None, 0, 0, 0))(omega, q, k, v)
        for entry in range(3):
            torch.testing.assert_close(got[entry], torch.func.grad(loss)(omega, q[entry], k[entry], v[entry]), **TOLERANCE)


class Autocast(unittest.TestCase):
    def test_functions_take_its_dtype(self):
        q, k, v = drawn(*[(2, 2, 40, 16)] * 3)
        q.requires_grad_()
        with torch.autocast("cpu", torch.bfloat16):
            got, expected = at.scaled_dot_product_attention(q, k, v), exact(q, k, v)
            flash, (linear, _) = at.flash_attn_func(q, k, v), at.linear_attn(q, k, v)
            named = at.attend(performer(), q=q, k=k, v=v, omega=drawn((1, 24, 16))[0])
        self.assertEqual([o.dtype for o in (got, flash, linear, named)], [torch.bfloat16] * 3 + [torch.float32])
        torch.testing.assert_close(got, expected, rtol=2e-2, atol=2e-2)
        gradients = [torch.autograd.grad(o.float().square().sum(), q)[0] for o in (got, expected)]
        self.assertEqual(gradients[0].dtype, torch.float32)
        self.assertLess((gradients[0] - gradients[1]).norm() / gradients[1].norm(), 4e-2)

    def test_modules_train(self):
        torch.manual_seed(0)
        module, x = at.Linear(32, 2, causal=True), torch.randn(2, 30, 32)
        with torch.autocast("cpu", torch.bfloat16):
            o = module(x)[0]
        o.float().square().sum().backward()
        self.assertEqual(o.dtype, torch.bfloat16)
        self.assertTrue(all(parameter.grad.dtype == torch.float32 and parameter.grad.any() for parameter in module.parameters()))


if __name__ == "__main__":
    unittest.main()
