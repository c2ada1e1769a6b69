"""PyTorch: tensors without copies, the operator under torch.compile and torch.export, gradients refused."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import attune
import attune.torch
import numpy as np
import torch
from attune.torch import _op
from forked import Meanwhile, in_child
from support import Spy, linear, performer, tokens

LOADED = """
import sys, torch, attune.torch
program = torch.export.load(sys.argv[1]).module()
q, expected = torch.load(sys.argv[2])
assert torch.equal(program(q, q, q), expected)
"""


def tensors(**more):
    return {name: torch.from_numpy(array) for name, array in tokens(**more).items()}


def same(left, right):
    np.testing.assert_array_equal(np.asarray(left), np.asarray(right))


class Tensors(unittest.TestCase):
    def test_nothing_is_copied(self):
        spy = Spy()
        base = torch.zeros(4, 16)
        q, k, out = base[1:3, 4:12], torch.ones(2, 8), torch.zeros(2, 8)
        spy.attention.prepare(omega=k)
        self.assertEqual(spy.prepared(), k.data_ptr())
        self.assertIs(spy.attention(q=q, k=k, out=out), out)
        self.assertEqual(spy.seen(), [q.data_ptr(), k.data_ptr(), out.data_ptr(), None])
        made = spy.attention(q=q, k=k)
        self.assertEqual(spy.seen()[2:], [made["o"].data_ptr(), made["lse"].data_ptr()])

    def test_numbers_and_storage_types(self):
        same(attune.compile(linear())(**tensors()), attune.compile(linear())(**tokens()))
        attend = attune.compile(linear(dtype="bf16"))
        given = {name: tensor.bfloat16() for name, tensor in tensors().items()}
        words = {name: tensor.view(torch.int16).numpy().view(np.uint16) for name, tensor in given.items()}
        got = attend(**given)
        self.assertEqual(got.dtype, torch.bfloat16)
        same(got.view(torch.int16).numpy().view(np.uint16), attend(**words))

    def test_mixed_with_numpy(self):
        given = {**tokens(), "v": torch.from_numpy(tokens()["v"])}
        self.assertIsInstance(attune.compile(linear())(**given), np.ndarray)

    def test_a_call_records_no_gradients(self):
        given = {**tensors(), "q": tensors()["q"].requires_grad_()}
        attend = attune.compile(linear())
        with self.assertRaisesRegex(attune.ArgumentError, "does not record.*attune.torch.attend.*torch.no_grad"):
            attend(**given)
        with torch.no_grad():
            same(attend(**given), attend(**tokens()))

    def test_memory_that_is_not_what_the_tensor_is(self):
        attend, q = attune.compile(linear()), tensors()["q"]
        for other, text in [(q.to("meta"), "'q': expected a tensor whose memory can be read"),
                            (q.to_sparse(), "'q': expected a tensor whose memory can be read"),
                            (torch._neg_view(q), "'q': expected the numbers that lie in memory.*resolve_neg")]:
            with self.subTest(text), self.assertRaisesRegex(attune.ArgumentError, text):
                attend(**{**tensors(), "q": other})

    def test_float64_is_refused(self):
        with self.assertRaisesRegex(attune.ArgumentError, "expected dtype f32, but got f64"):
            attune.compile(linear())(**{name: tensor.double() for name, tensor in tensors().items()})


class Operator(unittest.TestCase):
    def setUp(self):
        self.expected = attune.compile(linear())(**tensors())

    def test_it_is_the_same_function(self):
        same(attune.torch.attend(linear(), **tensors()), self.expected)
        turned = attune.torch.attend(linear(), tokens_first=True, **tensors())
        self.assertEqual(turned.shape, (2, 70, 4, 32))
        self.assertTrue(turned.is_contiguous())
        same(turned.transpose(1, 2), self.expected)

    def test_what_pytorch_asks_of_an_operator(self):
        text = attune.torch._op.spec_text(linear())
        given = [tensor.requires_grad_() for tensor in tensors().values()]
        utilities = ("test_schema", "test_faketensor", "test_autograd_registration")
        for tokens_first in (False, True):
            torch.library.opcheck(torch.ops.attune.attend, (given, "q,k,v", text, tokens_first), test_utils=utilities)

    def test_compiled(self):
        function = torch.compile(lambda q, k, v: attune.torch.attend(linear(), q=q, k=k, v=v) * 2, fullgraph=True)
        same(function(**tensors()), self.expected * 2)

    def test_further_results(self):
        spec = linear(mechanism={"kind": "softmax"}, results=["lse"])
        expected = attune.compile(spec)(**tokens())
        function = torch.compile(lambda **given: attune.torch.attend(spec, **given), fullgraph=True, backend="eager")
        got = function(**tensors())
        self.assertEqual(list(got), ["o", "lse"])
        same(got["o"], expected["o"])
        same(got["lse"], expected["lse"])

    def test_one_compilation_serves_any_length(self):
        torch._dynamo.reset()
        counter = torch._dynamo.testing.CompileCounter()
        function = torch.compile(lambda q, k, v: attune.torch.attend(linear(), q=q, k=k, v=v), fullgraph=True,
                                 dynamic=True, backend=counter)
        for length in (70, 33, 90):
            given = tensors(length=length)
            same(function(**given), attune.compile(linear())(**given))
        self.assertEqual(counter.frame_count, 1)

    def test_exported_loaded_elsewhere(self):
        class Model(torch.nn.Module):
            def forward(self, q, k, v):
                return attune.torch.attend(linear(), q=q, k=k, v=v)

        length = torch.export.Dim("length", min=2, max=4096)
        program = torch.export.export(Model(), tuple(tensors().values()), dynamic_shapes=({2: length},) * 3)
        same(program.module()(*tensors().values()), self.expected)
        q = tensors(length=45)["q"]
        with tempfile.TemporaryDirectory() as name:
            saved, arrays = pathlib.Path(name) / "program.pt2", pathlib.Path(name) / "arrays.pt"
            torch.export.save(program, saved)
            torch.save((q, attune.compile(linear())(q=q, k=q, v=q)), arrays)
            run = subprocess.run([sys.executable, "-c", LOADED, str(saved), str(arrays)], env=os.environ, check=False,
                                 capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_parameters_that_change(self):
        drawn = torch.from_numpy(attune.init(performer())["omega"])
        given, attend = tensors(), attune.compile(performer())
        call = lambda: attune.torch.attend(performer(), omega=drawn, **given)  # noqa: E731
        same(call(), attend(**given, omega=drawn))
        before = call()
        drawn.data.mul_(2)  # which no version of a tensor tells
        after = call()
        same(after, attend(**given, omega=drawn))
        self.assertGreater((after - before).abs().max(), 1e-3)

    def test_errors(self):
        given = tensors()
        with self.assertRaisesRegex(attune.ArgumentError, "'v': expected size 70"):
            attune.torch.attend(linear(), **{**given, "v": given["v"][:, :, :5]})
        with self.assertRaisesRegex(attune.ArgumentError, "expected inputs among q, k, v, but got 'mask'"):
            attune.torch.attend(linear(), mask=given["q"], **given)
        with self.assertRaises(attune.SpecError):
            attune.torch.attend(linear(heads=0), **given)


class Forks(unittest.TestCase):
    def test_while_another_thread_prepares(self):
        given = {name: tensor[:, :, :8].contiguous() for name, tensor in tensors().items()}
        omega = torch.from_numpy(attune.init(performer())["omega"])
        with Meanwhile(_op._prepared.lock):
            self.assertEqual(in_child(lambda: attune.torch.attend(performer(), **given, omega=omega)), 0)


if __name__ == "__main__":
    unittest.main()
