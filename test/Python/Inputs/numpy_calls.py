"""Calls on NumPy arrays: the right numbers, no copies, what is wrong said."""

import re
import unittest

import attune
import numpy as np
from reference import attention, relative_error, rounded
from storage import from_storage, to_storage
from support import TOLERANCE, Spy, linear, performer, tokens


def expected(spec, given, **more):
    kind = {"kind": "softmax"} if spec["mechanism"]["kind"] == "softmax" else {"kind": "elu1"}
    return attention({**kind, "causal": spec.get("causal", False)}, *(given[name] for name in "qkv"), **more)


class Numbers(unittest.TestCase):
    def test_both_mechanisms_agree_with_their_definition(self):
        for mechanism in ({"kind": "softmax"}, {"kind": "kernel", "feature_map": {"kind": "elu1"}}):
            spec = linear(mechanism=mechanism)
            given = tokens()
            got = attune.compile(spec)(**given)
            self.assertLess(relative_error(got, expected(spec, given)), TOLERANCE["f32"])

    def test_storage_types(self):
        for dtype in ("f16", "bf16"):
            spec = linear(dtype=dtype)
            given = {name: to_storage(array, dtype) for name, array in tokens().items()}
            got = attune.compile(spec)(**given)
            self.assertEqual(got.dtype, given["q"].dtype)
            exact = expected(spec, {name: rounded(from_storage(a, dtype), dtype) for name, a in given.items()})
            self.assertLess(relative_error(from_storage(got, dtype), exact), TOLERANCE[dtype])

    def test_gradients_take_what_a_run_leaves(self):
        attend, given = attune.compile(linear(mechanism={"kind": "softmax"}, gradients=["q", "v"])), tokens()
        o = attend(**given)
        self.assertEqual(o.shape, given["q"].shape)  # what is left has to be asked for
        lse = np.zeros(o.shape[:3], np.float32)
        again = np.zeros_like(o)
        attend(**given, out={"o": again, "saved_lse": lse})
        np.testing.assert_array_equal(again, o)
        computed = attend.backward(**given, grad_o=o)
        left = attend.backward(**given, grad_o=o, saved_o=o, saved_lse=lse)
        half = attend.backward(**given, grad_o=o, saved_lse=lse)
        wrong = attend.backward(**given, grad_o=o, saved_o=o, saved_lse=lse + 1)
        for name in ("grad_q", "grad_v"):
            np.testing.assert_array_equal(left[name], computed[name])
            np.testing.assert_array_equal(half[name], computed[name])
            self.assertGreater(relative_error(wrong[name], computed[name]), 0.1)

    def test_one_compilation_serves_any_length(self):
        attend = attune.compile(linear())
        for batch, length in ((1, 1), (3, 65), (1, 700), (0, 5), (2, 0)):
            given = tokens(length, batch)
            got = attend(**given)
            self.assertEqual(got.shape, given["q"].shape)
            if got.size:
                self.assertLess(relative_error(got, expected(linear(), given)), TOLERANCE["f32"])

    def test_lengths_of_keys(self):
        given, lengths = tokens(), np.array([70, 33], np.int32)
        got = attune.compile(linear(key_lengths=True))(**given, key_lengths=lengths)
        self.assertLess(relative_error(got, expected(linear(), given, key_lengths=lengths)), TOLERANCE["f32"])

    def test_further_results(self):
        spec = linear(dtype="bf16", mechanism={"kind": "softmax"}, results=["lse"])
        given = {name: to_storage(array, "bf16") for name, array in tokens().items()}
        got = attune.compile(spec)(**given)
        self.assertEqual({name: (array.dtype, array.shape) for name, array in got.items()},
                         {"o": (given["q"].dtype, (2, 4, 70, 32)), "lse": (np.float32, (2, 4, 70))})
        q, k = (from_storage(given[name], "bf16").astype(np.float64) for name in "qk")
        logits = q @ k.swapaxes(-1, -2) / np.sqrt(32)
        np.testing.assert_allclose(got["lse"], np.log(np.exp(logits).sum(-1)), atol=TOLERANCE["f32"], rtol=TOLERANCE["f32"])

    def test_views_with_strides(self):
        rows = {name: np.ascontiguousarray(a.swapaxes(1, 2)).swapaxes(1, 2) for name, a in tokens().items()}
        plain, attend = attune.compile(linear())(**tokens()), attune.compile(linear())
        np.testing.assert_array_equal(attend(**rows), plain)
        out = np.empty((2, 70, 4, 32), np.float32).swapaxes(1, 2)
        self.assertIs(attend(**rows, out=out), out)
        np.testing.assert_array_equal(out, plain)


class Parameters(unittest.TestCase):
    def test_prepared_and_given_are_the_same(self):
        attend, drawn, given = attune.compile(performer()), attune.init(performer()), tokens()
        self.assertEqual(drawn["omega"].shape, (1, 24, 32))
        together = attend(**given, **drawn)
        np.testing.assert_array_equal(attend.prepare(drawn)(**given), together)
        np.testing.assert_array_equal(attune.compile(performer(), parameters=drawn)(**given), together)
        other = attune.init(performer(), seed=1)
        self.assertGreater(np.abs(attend.prepare(other)(**given) - together).max(), 1e-3)

    def test_parameters_are_rounded_to_the_dtype(self):
        spec = performer(dtype="bf16")
        drawn = attune.init(spec)
        given = {name: to_storage(array, "bf16") for name, array in tokens().items()}
        narrow = {"omega": to_storage(drawn["omega"], "bf16")}
        np.testing.assert_array_equal(attune.compile(spec)(**given, **drawn), attune.compile(spec)(**given, **narrow))

    def test_names_with_dots(self):
        spec = linear(attention="parts", queries=16, mechanism={**linear()["mechanism"], "lepe": {}})
        drawn = attune.init(spec)
        self.assertEqual(set(drawn), {"lepe.weight"})
        attend = attune.compile(spec)
        dotted = attend.prepare(drawn)(**tokens(16))
        np.testing.assert_array_equal(attend.prepare(lepe_weight=drawn["lepe.weight"])(**tokens(16)), dotted)

    def test_a_transposed_weight_passes(self):
        spec = linear(attention="layer", projection={"model_dim": 48})
        drawn = attune.init(spec)
        x = np.random.default_rng(0).standard_normal((2, 20, 48), np.float32)
        straight = attune.compile(spec, parameters=drawn)(x=x)
        turned = {name: np.ascontiguousarray(weight.T).T for name, weight in drawn.items()}
        np.testing.assert_array_equal(attune.compile(spec, parameters=turned)(x=x), straight)


class Copies(unittest.TestCase):
    """By address, as the library sees them."""

    def test_nothing_is_copied(self):
        spy = Spy()
        base = np.zeros((6, 16), np.float32)
        q, k, out, omega = base[1:3, 4:12], np.zeros((2, 8), np.float32), np.zeros((2, 8), np.float32), base[:2, :8]
        spy.attention.prepare(omega=omega)
        self.assertEqual(spy.prepared(), omega.ctypes.data)
        self.assertIs(spy.attention(q=q, k=k, out=out), out)
        self.assertEqual(spy.seen(), [q.ctypes.data, k.ctypes.data, out.ctypes.data, None])

    def test_an_output_is_where_it_was_written(self):
        spy = Spy()
        q = np.zeros((2, 8), np.float32)
        outputs = spy.attention.prepare(omega=q)(q=q, k=q)
        self.assertEqual(list(outputs), ["o", "lse"])
        self.assertEqual(spy.seen()[2:], [array.ctypes.data for array in outputs.values()])

    def test_optional_outputs(self):
        spy = Spy()
        q, o, lse = (np.zeros((2, 8), np.float32) for _ in range(3))
        spy.attention.prepare(omega=q)
        spy.attention(q=q, k=q, out={"o": o, "lse": lse})
        self.assertEqual(spy.seen()[2:], [o.ctypes.data, lse.ctypes.data])
        spy.attention(q=q, k=q, out={"o": o})
        self.assertEqual(spy.seen()[2:], [o.ctypes.data, None])

    def test_any_buffer_and_any_dlpack(self):
        class Exporting:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        spy, array, out = Spy(), np.zeros((2, 8), np.float32), np.zeros((2, 8), np.float32)
        spy.attention.prepare(omega=array)
        spy.attention(q=Exporting(array), k=memoryview(array), out=Exporting(out))
        self.assertEqual(spy.seen(), [array.ctypes.data, array.ctypes.data, out.ctypes.data, None])


class Wrong(unittest.TestCase):
    def fails(self, kind, text, call, *arguments, **more):
        with self.assertRaisesRegex(kind, text):
            call(*arguments, **more)

    def test_tensors(self):
        attend, given = attune.compile(linear()), tokens()
        wrong = {
            r"linear: argument 'v': expected a tensor, but got null": {"v": None},
            r"'v': expected size 70 \(keys of argument 'k'\) in dimension 2, but got 9": {"v": given["v"][:, :, :9]},
            r"argument 'q': expected dtype f32, but got f16": {"q": given["q"].astype(np.float16)},
            r"argument 'q': expected dtype f32, but got f64": {"q": given["q"].astype(np.float64)},
            r"argument 'q': expected dtype f32, but got complex numbers": {"q": given["q"].astype(np.complex64)},
            r"argument 'q': expected dtype f32, but got another 32-bit type": {"q": given["q"].astype(">f4")},
            r"argument 'q': expected rank 4, but got rank 3": {"q": given["q"][0]},
            r"argument 'k': expected a tensor .*, but got list": {"k": [1.0]},
            r"expected inputs among q, k, v, but got 'mask'": {"mask": given["q"]},
        }
        for text, change in wrong.items():
            with self.subTest(text):
                self.fails(attune.ArgumentError, text, attend, **{**given, **change})
        self.fails(attune.ArgumentError, "got none; give v=", attend, q=given["q"], k=given["k"])
        self.fails(attune.ArgumentError, r"linear: expected tensors by name, f\(q=…, k=…, v=…\), but got 3 without",
                   attend, *given.values())

    def test_an_output_that_cannot_be_written(self):
        attend, out = attune.compile(linear()), np.zeros((2, 4, 70, 32), np.float32)
        out.flags.writeable = False
        self.fails(attune.ArgumentError, "'o': expected memory that may be written", attend, **tokens(), out=out)
        self.fails(attune.ArgumentError, "expected outputs among o, but got 'p'", attend, **tokens(), out={"p": out})
        short = np.zeros((2, 4, 3, 32), np.float32)
        self.fails(attune.ArgumentError, "'o': expected size 70", attend, **tokens(), out=short)

    def test_an_output_in_the_place_of_an_input(self):
        attend, given = attune.compile(linear()), tokens()
        self.fails(attune.ArgumentError, "'o': expected memory of its own, but got memory of argument 'v'", attend,
                   **given, out=given["v"])

    def test_parameters(self):
        attend, omega = attune.compile(performer()), attune.init(performer())["omega"]
        self.fails(attune.StateError, "expected the parameters omega, but got none", attend, **tokens())
        self.fails(attune.ArgumentError, "expected parameters among omega, but got 'w'", attend.prepare, w=omega)
        self.fails(attune.ArgumentError, "'omega': expected size 24 in dimension 1, but got 3", attend.prepare,
                   omega=omega[:, :3])

    def test_instruction_sets(self):
        def made_for(**options):
            return re.findall(r"^ \*   (\w+):", attune.compile(linear(), **options).header.read_text(), re.M)

        self.assertEqual(len(made_for()), 1)
        self.assertEqual(made_for(isa="all"), ["avx2", "avx512"])
        self.assertEqual(made_for(isa="avx2"), ["avx2", "avx512"])
        self.assertEqual(attune.compile(linear()).info["isa"], attune.compile(linear(), isa="all").info["isa"])

    def test_options(self):
        self.fails(attune.ArgumentError, "'threads': expected 0", attune.compile, linear(), threads=-1)
        self.fails(attune.ArgumentError, "'isa': expected null, avx2, avx512, avx512_bf16 or amx", attune.compile, linear(), isa="avx9")
        self.fails(attune.SpecError, "--target", attune.compile, linear(), target="sm_1")

    def test_specs(self):
        with self.assertRaises(attune.SpecError) as caught:
            attune.compile("attention: a\ndtype: f32\nbatch: 1\nqueries: 4\nheads: 1\nhaed_dim: 8\n"
                           "mechanism: {kind: softmax}\n")
        place = caught.exception.diagnostics[0]
        self.assertEqual((place.file, place.line, place.column), ("<spec>", 6, 1))
        self.assertIn("did you mean 'head_dim'?", str(caught.exception))
        self.fails(attune.SpecError, "nowhere.yaml:1:1: error: expected a readable", attune.compile, "nowhere.yaml")
        self.fails(attune.SpecError, "but got int", attune.compile, 3)


if __name__ == "__main__":
    unittest.main()
