"""Modules in the place of torch.nn.MultiheadAttention, with its weights; state dicts of published modules."""

import pathlib
import tempfile
import unittest

import attune
import attune.torch
import numpy as np
import torch
from attune import _compiler
from attune._spec import read_spec
from support import TOLERANCE
from torch import nn

WIDTH, HEADS, LENGTH = 48, 4, 40


def error(got, expected):
    return float((got.double() - expected.double()).norm() / expected.double().norm())


def x(batch=2, length=LENGTH, seed=0):
    return torch.randn(batch, length, WIDTH, generator=torch.Generator().manual_seed(seed))


def encoder(**more):
    torch.manual_seed(1)
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 2 * WIDTH, batch_first=True, **more)
    return nn.TransformerEncoder(layer, 2).eval().requires_grad_(False)


def multihead(**more):
    torch.manual_seed(2)
    module = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True, **more).eval().requires_grad_(False)
    if module.in_proj_bias is not None:
        nn.init.normal_(module.in_proj_bias)  # zeros would hide a bias that is lost
        nn.init.normal_(module.out_proj.bias)
    return module


def heads(module, tokens):
    """q, k, v [batch, heads, n, d] of a module of ours, in double."""
    projections = (module.q_proj, module.k_proj, module.v_proj)
    return tuple(p(tokens).unflatten(-1, (-1, module.head_dim)).transpose(1, 2).double() for p in projections)


def joined(module, o):
    return module.out_proj.double()(o.transpose(1, 2).flatten(2))


def elu1(z):
    return nn.functional.elu(z) + 1


class Swap(unittest.TestCase):
    """A small transformer, with exact attention and with others by one line each."""

    def setUp(self):
        self.padding = torch.zeros(2, LENGTH, dtype=torch.bool)
        self.padding[1, 25:] = True
        self.causal = nn.Transformer.generate_square_subsequent_mask(LENGTH)

    def test_exact(self):
        for norm_first in (False, True):
            model = encoder(norm_first=norm_first)
            plain, masked = model(x()), model(x(), mask=self.causal)
            padded = model(x(), src_key_padding_mask=self.padding)
            attune.torch.swap(model, attune.torch.Softmax)
            self.assertIsInstance(model.layers[1].self_attn, attune.torch.Softmax)
            self.assertLess(error(model(x()), plain), TOLERANCE["f32"])
            self.assertLess(error(model(x(), mask=self.causal), masked), TOLERANCE["f32"])
            exists = ~self.padding
            got = model(x(), src_key_padding_mask=self.padding)
            self.assertLess(error(got[exists], padded[exists]), TOLERANCE["f32"])

    def test_flurka_and_polysketch(self):
        model = encoder()
        exact = model(x())
        attune.torch.swap(model, attune.torch.Flurka, rank=16, keys=64)
        self.assertEqual(model(x()).shape, exact.shape)
        self.assertGreater(error(model(x()), exact), 1e-3)
        longer = model(x(length=64))
        self.assertTrue(longer.isfinite().all())
        attune.torch.swap(model, attune.torch.PolySketch, degree=4, size=16)
        self.assertTrue(model(x(), mask=self.causal).isfinite().all())
        attune.torch.swap(model, attune.torch.Softmax)
        self.assertLess(error(model(x()), exact), TOLERANCE["f32"])

    def test_compiled_and_exported(self):
        model = attune.torch.swap(encoder(), attune.torch.Performer, features=16)
        expected = model(x())
        compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
        self.assertLess(error(compiled(x()), expected), TOLERANCE["f32"])
        length = torch.export.Dim("length", min=2, max=512)
        program = torch.export.export(model, (x(),), dynamic_shapes=({1: length},)).module()
        self.assertLess(error(program(x(length=50)), model(x(length=50))), TOLERANCE["f32"])

    def test_layers_draw_features_of_their_own(self):
        model = attune.torch.swap(encoder(), attune.torch.Performer, features=16)
        first, second = (layer.self_attn.omega for layer in model.layers)
        self.assertGreater((first - second).abs().max(), 0.1)
        model(x())
        alone = [layer.self_attn(x())[0] for layer in model.layers]
        both = [layer.self_attn(x())[0] for layer in model.layers]
        self.assertTrue(all(map(torch.equal, alone, both)))

    def test_a_decoder_with_cross_attention(self):
        torch.manual_seed(3)
        layer = nn.TransformerDecoderLayer(WIDTH, HEADS, WIDTH, batch_first=True)
        model = nn.TransformerDecoder(layer, 1).eval().requires_grad_(False)
        memory = x(length=23, seed=5)
        expected = model(x(), memory, tgt_mask=self.causal, tgt_is_causal=True)
        attune.torch.swap(model, attune.torch.Softmax)
        self.assertLess(error(model(x(), memory, tgt_mask=self.causal, tgt_is_causal=True), expected), TOLERANCE["f32"])

    def test_without_swap_nested_tensors_are_named(self):
        model = encoder()
        for layer in model.layers:
            layer.self_attn = attune.torch.Softmax.take_over(layer.self_attn)
        with self.assertRaisesRegex(RuntimeError, "attune.torch.swap"):
            model(x(), src_key_padding_mask=self.padding)


class TakeOver(unittest.TestCase):
    def same(self, module, *arguments, **more):
        expected = module(*arguments, need_weights=False, **more)[0]
        got = attune.torch.Softmax.take_over(module)(*arguments, **more)[0]
        self.assertEqual(got.shape, expected.shape)
        self.assertLess(error(got, expected), TOLERANCE["f32"])

    def test_forms_of_the_module(self):
        self.same(multihead(), x(), x(), x())
        self.same(multihead(bias=False), x(), x(), x())
        other = torch.randn(2, 17, 20)
        self.same(multihead(kdim=20, vdim=WIDTH), x(), other, x(length=17, seed=4))
        self.same(multihead(), x()[0], x()[0], x()[0])
        sequence_first = multihead()
        sequence_first.batch_first = False
        self.same(sequence_first, x(), x(), x())

    def test_half_precision(self):
        module = multihead()
        expected = module(x(), x(), x(), need_weights=False)[0]
        got = attune.torch.Softmax.take_over(module.bfloat16())(x().bfloat16())[0]
        self.assertEqual(got.dtype, torch.bfloat16)
        self.assertLess(error(got, expected), 2 * TOLERANCE["bf16"])

    def test_masks(self):
        module = attune.torch.Softmax.take_over(multihead())
        causal = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)
        self.assertTrue(torch.equal(module(x(), attn_mask=causal)[0], module(x(), is_causal=True)[0]))
        self.assertTrue(torch.equal(module(x(), attn_mask=torch.zeros(LENGTH, LENGTH))[0], module(x())[0]))
        holes = torch.zeros(2, LENGTH, dtype=torch.bool)
        holes[0, 3] = True
        for text, more in ((r"key_padding_mask.*at the end", {"key_padding_mask": holes}),
                           ("expected the causal mask", {"attn_mask": torch.eye(LENGTH, dtype=torch.bool)}),
                           ("adds no bias", {"attn_mask": torch.rand(LENGTH, LENGTH)})):
            with self.subTest(text), self.assertRaisesRegex(attune.ArgumentError, text):
                module(x(), **more)

    def test_what_cannot_be_taken_over(self):
        for module in (nn.MultiheadAttention(WIDTH, HEADS, add_bias_kv=True), nn.Linear(3, 3)):
            with self.assertRaises(attune.ArgumentError):
                attune.torch.Softmax.take_over(module)
        with self.assertRaisesRegex(attune.SpecError, "low_rank"):
            attune.torch.Linformer(WIDTH, HEADS, rank=4, keys=8, causal=True)
        with self.assertRaisesRegex(attune.ArgumentError, "at most 8 keys"):
            attune.torch.Linformer(WIDTH, HEADS, rank=4, keys=8)(x())

    def test_state_of_our_own(self):
        module = attune.torch.Flurka.take_over(multihead(), rank=8, keys=LENGTH, features=16, seed=1)
        other = attune.torch.Flurka.take_over(multihead(), rank=8, keys=LENGTH, features=16, seed=2)
        self.assertIn("e", dict(module.named_parameters()))
        self.assertIn("omega", dict(module.named_buffers()))
        self.assertFalse(any(weight.requires_grad for weight in module.parameters()))
        trained = attune.torch.Flurka.take_over(multihead().requires_grad_(), rank=8, keys=LENGTH)
        self.assertTrue(all(weight.requires_grad for weight in trained.parameters()))
        other.load_state_dict(module.state_dict())
        with torch.no_grad():
            self.assertTrue(torch.equal(other(x())[0], module(x())[0]))


class Mechanisms(unittest.TestCase):
    """Against their definitions in double precision."""

    def test_flurka(self):
        for length in (LENGTH, 29):  # 29: padded to the keys that E has
            module = attune.torch.Flurka.take_over(multihead(), rank=12, keys=LENGTH, feature_map={"kind": "elu1"})
            with torch.no_grad():
                got = module(x(length=length))[0]
                q, k, v = heads(module, x(length=length))
                e = module.e.double()[:, :, :length]
                a = elu1(q) @ elu1(e @ k).transpose(-1, -2)
                expected = joined(module, a @ (e @ v) / a.sum(-1, keepdim=True))
            self.assertLess(error(got, expected), TOLERANCE["f32"])

    def test_polysketch(self):
        module = attune.torch.PolySketch.take_over(multihead(), degree=4, size=16)
        captured = {}
        spec = read_spec(module._texts["f32", False, False] + "\n")
        with torch.no_grad(), tempfile.TemporaryDirectory() as name, _compiler.spec_file(spec) as path:
            q, k, v = heads(module, x())
            captured = {"q": q, "k": k, "v": v, **dict(module.named_buffers())}
            drawn = attune.init(spec.text)
            for given, array in drawn.items():
                self.assertTrue(np.array_equal(array, captured[given.replace(".", "_")]))
                np.save(pathlib.Path(name) / f"{given}.npy", array)
            for given in "qkv":
                np.save(pathlib.Path(name) / f"{given}.npy", captured[given].float().numpy())
            _compiler.call(spec, "run", path, "--in", name, "--out", f"{name}/out", "--reference")
            o = torch.from_numpy(np.load(f"{name}/out/o.npy")).double()
            got = module(x())[0]
            self.assertLess(error(got, joined(module, o)), TOLERANCE["f32"])

    def test_every_class_runs(self):
        kinds = {"Softmax": {"window": {"length": 8}}, "Linear": {}, "Relu": {}, "Cosformer": {"max_position": LENGTH},
                 "Focused": {}, "Performer": {}, "Linformer": {"rank": 8, "keys": LENGTH}, "PolySketch": {"size": 8},
                 "Flurka": {"rank": 8, "keys": LENGTH}, "Polynomial": {}, "Effatt": {}, "Agent": {"agents": 8}}
        for name, options in kinds.items():
            with self.subTest(name), torch.no_grad():
                module = getattr(attune.torch, name).take_over(multihead(), **options)
                self.assertTrue(module(x())[0].isfinite().all())
        modules = {name for name in attune.torch.__all__ if isinstance(getattr(attune.torch, name), type)}
        self.assertEqual(modules, set(kinds) | {"MultiheadAttention"})


class Published(unittest.TestCase):
    def state(self, kv_heads=HEADS):
        torch.manual_seed(6)
        width = WIDTH // HEADS
        return {"to_q.weight": torch.randn(WIDTH, WIDTH) / 7, "to_k.weight": torch.randn(kv_heads * width, WIDTH) / 7,
                "to_v.weight": torch.randn(kv_heads * width, WIDTH) / 7, "to_out.weight": torch.randn(WIDTH, WIDTH) / 7,
                "to_out.bias": torch.randn(WIDTH)}

    def test_linformer(self):
        for shared, kv_heads in ((False, HEADS), (True, 1)):
            state = {**self.state(kv_heads), "proj_k": torch.randn(LENGTH, 8) / 3}
            if not shared:
                state["proj_v"] = torch.randn(LENGTH, 8) / 3
            module = attune.torch.Linformer.from_state_dict(state, HEADS)
            with torch.no_grad():
                got = module(x())[0]
                q, k, v = heads(module, x())
                e, f = state["proj_k"].double().T, state.get("proj_v", state["proj_k"]).double().T
                weights = (q @ (e @ k).transpose(-1, -2) / module.head_dim ** 0.5).softmax(-1)
                expected = joined(module, weights @ (f @ v))
            self.assertLess(error(got, expected), TOLERANCE["f32"])

    def test_performer(self):
        """As published: ε = 1e-4 is added to features whose maxima leave |x|²/2 out."""
        width, features = WIDTH // HEADS, 20
        state = {f"attn.{name}": tensor for name, tensor in self.state().items()}
        state["attn.fast_attention.projection_matrix"] = omega = torch.randn(features, width)
        module = attune.torch.Performer.from_state_dict(state, HEADS, prefix="attn.")
        with torch.no_grad():
            got = module(x())[0]
            q, k, v = heads(module, x())

            def mapped(z, axes):
                z = z * width ** -0.25
                dash, half = z @ omega.double().T, (z * z).sum(-1, keepdim=True) / 2
                return features ** -0.5 * ((dash - half - dash.amax(axes, keepdim=True)).exp() + 1e-4)

            a = mapped(q, -1) @ mapped(k, (-1, -2)).transpose(-1, -2)
            expected = joined(module, a @ v / a.sum(-1, keepdim=True))
        self.assertLess(error(got, expected), TOLERANCE["f32"])

    def test_what_is_missing(self):
        with self.assertRaisesRegex(attune.ArgumentError, r"'block.to_q.weight'.*give prefix="):
            attune.torch.Performer.from_state_dict(self.state(), HEADS, prefix="block.")


if __name__ == "__main__":
    unittest.main()
