"""Nodes of ONNX models against ONNX's reference evaluator."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import attune
import attune.onnx
import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from support import TOLERANCE

ORDER = {"Attention": ("Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"),
         "LinearAttention": ("query", "key", "value", "past_state", "decay", "beta")}
TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.float16): TensorProto.FLOAT16,
         np.dtype(np.int64): TensorProto.INT64, np.dtype(bool): TensorProto.BOOL}


def model(operator, given, outputs, opset=27, name="layer/attention", **attributes):
    """One node, whose tensors are open in batch and length."""
    names = [name if name in given else "" for name in ORDER[operator]]
    node = helper.make_node(operator, names, outputs, name=name, **attributes)
    inputs = [helper.make_tensor_value_info(name, TYPES[array.dtype], [None, *array.shape[1:2], None, *array.shape[3:]]
                                            if array.ndim == 4 else [None] * (array.ndim - 1) + [array.shape[-1]])
              for name, array in given.items()]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs if name]
    graph = helper.make_graph([node], "graph", inputs, infos)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def drawn(seed=0, **shapes):
    rng = np.random.default_rng(seed)
    return {name: rng.standard_normal(shape, np.float32) for name, shape in shapes.items()}


# A convolution before q, k and v, a gated delta rule, a projection.
LAYER = """<ir_version: 11, opset_import: ["" : 27]>
    layer (float[b, n, 96] x, float[96, 1, 4] weight, float[b, 96, 3] before, float[b, 2, 16, 32] state, float[b, n, 2] g,
           float[b, n, 2] beta, float[64, 10] out) => (float[b, n, 10] y, float[b, 96, 3] after, float[b, 2, 16, 32] next) {
      rows = Transpose <perm = [0, 2, 1]> (x)
      mixed, after = CausalConvWithState <activation = "silu"> (rows, weight, , before)
      columns = Transpose <perm = [0, 2, 1]> (mixed)
      sizes = Constant <value_ints = [16, 16, 64]> ()
      q, k, v = Split <axis = -1> (columns, sizes)
      small = Constant <value_float = 0.2> ()
      scaled = Mul (k, small)
      pair = Concat <axis = -1> (q, q)
      keys = Concat <axis = -1> (scaled, scaled)
      o, next = LinearAttention <q_num_heads = 2, kv_num_heads = 2> (pair, keys, v, state, g, beta)
      y = MatMul (o, out)
    }"""


def layer():
    """The model of that text, and its inputs."""
    given = drawn(x=(2, 21, 96), weight=(96, 1, 4), before=(2, 96, 3), state=(2, 2, 16, 32), g=(2, 21, 2), beta=(2, 21, 2), out=(64, 10))
    given["g"], given["beta"] = -abs(given["g"]), 1 / (1 + np.exp(-given["beta"]))
    return onnx.parser.parse_model(LAYER), given


class Nodes(unittest.TestCase):
    def check(self, operator, given, outputs, tolerance=TOLERANCE["f32"], **attributes):
        """The compiled node computes what the reference does."""
        made = model(operator, given, outputs, **attributes)
        expected = dict(zip(filter(None, outputs), ReferenceEvaluator(made).run(None, given)))
        got = attune.onnx.compile(made)(**given)
        self.assertEqual(list(got), list(expected))
        for name, array in expected.items():
            self.assertEqual((got[name].dtype, got[name].shape), (array.dtype, array.shape), name)
            exact = array.astype(np.float64)
            self.assertLess(np.linalg.norm(got[name] - exact), tolerance * max(np.linalg.norm(exact), 1e-30), name)

    def refused(self, text, operator, given, outputs, **attributes):
        with self.assertRaisesRegex(attune.ArgumentError, text):
            attune.onnx.spec(model(operator, given, outputs, **attributes))


class Attention(Nodes):
    def setUp(self):
        self.given = drawn(Q=(2, 4, 21, 32), K=(2, 2, 33, 32), V=(2, 2, 33, 40))
        self.packed = {"q_num_heads": 4, "kv_num_heads": 2}

    def test_four_dimensions(self):
        self.check("Attention", self.given, ["Y"])
        self.check("Attention", self.given, ["Y"], scale=0.3, softcap=2.0)

    def test_three_dimensions(self):
        given = drawn(Q=(2, 21, 128), K=(2, 33, 64), V=(2, 33, 80))
        self.check("Attention", given, ["Y"], **self.packed)
        self.refused("'q_num_heads', 'kv_num_heads': expected numbers of heads", "Attention", given, ["Y"])

    def test_causal_from_the_first_key_on(self):
        self.check("Attention", self.given, ["Y"], is_causal=1)
        self.check("Attention", {**self.given, **drawn(Q=(2, 4, 33, 32))}, ["Y"], is_causal=1)
        more = drawn(Q=(2, 4, 40, 32))
        with self.assertRaisesRegex(attune.ArgumentError, "as many queries as keys"):
            attune.onnx.compile(model("Attention", self.given, ["Y"], is_causal=1))(**{**self.given, **more})

    def test_windows(self):
        self.check("Attention", self.given, ["Y"], is_causal=1, left_window_size=4)
        self.check("Attention", self.given, ["Y"], left_window_size=4, right_window_size=0)
        self.refused("ends at the query's own key", "Attention", self.given, ["Y"], left_window_size=4)

    def test_the_cache_of_a_decoder(self):
        given = {**drawn(Q=(2, 4, 3, 32), K=(2, 2, 3, 32), V=(2, 2, 3, 40)),
                 **drawn(1, past_key=(2, 2, 50, 32), past_value=(2, 2, 50, 40))}
        outputs = ["Y", "present_key", "present_value"]
        self.check("Attention", given, outputs, is_causal=1)
        self.check("Attention", given, outputs, is_causal=1, left_window_size=9)
        given = {**drawn(Q=(2, 1, 128), K=(2, 1, 64), V=(2, 1, 80)),
                 **drawn(1, past_key=(2, 2, 50, 32), past_value=(2, 2, 50, 40))}
        self.check("Attention", given, outputs, is_causal=1, **self.packed)

    def test_lengths_of_keys(self):
        given = {**self.given, "nonpad_kv_seqlen": np.array([33, 7], np.int64)}
        self.check("Attention", given, ["Y"])
        self.refused("'nonpad_kv_seqlen': expected none with is_causal", "Attention", given, ["Y"], is_causal=1)

    def test_half_precision(self):
        given = {name: array.astype(np.float16) for name, array in self.given.items()}
        self.check("Attention", given, ["Y"], tolerance=TOLERANCE["f16"], is_causal=1)

    def test_what_is_refused(self):
        mask = np.ones((1, 1, 21, 33), bool)
        self.refused("'attn_mask': expected none", "Attention", {**self.given, "attn_mask": mask}, ["Y"])
        self.refused("'qk_matmul_output': expected none", "Attention", self.given, ["Y", "", "", "scores"])
        self.refused("opset 23 or later, but got 22", "Attention", self.given, ["Y"], opset=22)
        unknown = model("Attention", self.given, ["Y"])
        unknown.graph.input[0].type.tensor_type.shape.dim[3].Clear()
        with self.assertRaisesRegex(attune.ArgumentError, "input 'Q': expected a size that the model states"):
            attune.onnx.spec(unknown)


class LinearAttention(Nodes):
    def setUp(self):
        self.given = drawn(query=(2, 41, 128), key=(2, 41, 64), value=(2, 41, 80))
        self.given["key"] /= 6
        gates = drawn(1, decay=(2, 41, 2), channels=(2, 41, 64), beta=(2, 41, 2))
        self.decay, self.channels = (-np.log1p(np.exp(-gates[name])) for name in ("decay", "channels"))
        self.beta = 1 / (1 + np.exp(-gates["beta"]))
        self.heads = {"q_num_heads": 4, "kv_num_heads": 2}

    def rules(self):
        yield "linear", {}
        for decay in (self.decay, self.channels):
            yield "gated", {"decay": decay}
            yield "gated_delta", {"decay": decay, "beta": self.beta}
        for beta in (self.beta, self.beta[:, :, :1]):
            yield "delta", {"beta": beta}

    def test_all_rules(self):
        for rule, gates in self.rules():
            with self.subTest(rule, **{name: gate.shape for name, gate in gates.items()}):
                self.check("LinearAttention", {**self.given, **gates}, ["output", ""], update_rule=rule, scale=0.5, **self.heads)

    def test_states(self):
        past = drawn(2, past_state=(2, 2, 32, 40))
        for rule, gates in self.rules():
            for initial in ({}, past):
                with self.subTest(rule, initial=bool(initial)):
                    self.check("LinearAttention", {**self.given, **gates, **initial}, ["output", "present_state"],
                               update_rule=rule, **self.heads)

    def test_half_precision(self):
        given = {name: array.astype(np.float16) for name, array in {**self.given, "decay": self.decay}.items()}
        stored = {"past_state": drawn(2, past_state=(2, 2, 32, 40))["past_state"].astype(np.float16)}
        self.check("LinearAttention", {**given, **stored}, ["output", "present_state"], tolerance=TOLERANCE["f16"],
                   update_rule="gated", **self.heads)
        self.check("LinearAttention", given, ["output", ""], tolerance=TOLERANCE["f16"], update_rule="gated", **self.heads)

    def test_what_is_refused(self):
        self.refused("'beta': expected one of the rule 'delta'", "LinearAttention", self.given, ["output"], update_rule="delta",
                     **self.heads)
        self.refused("'update_rule': expected one of linear, gated", "LinearAttention", self.given, ["output"],
                     update_rule="other", **self.heads)


class Definitions(unittest.TestCase):
    def test_tables_of_the_compiler(self):
        """A node with every input and output of ONNX's own definition is read by these names; with an attribute more it is not."""
        given = {"Attention": drawn(Q=(2, 4, 21, 32), K=(2, 2, 33, 32), V=(2, 2, 33, 40)),
                 "LinearAttention": drawn(query=(2, 41, 128), key=(2, 41, 64), value=(2, 41, 80), past_state=(2, 2, 32, 40),
                                          decay=(2, 41, 2), beta=(2, 41, 2))}
        refused = {"attn_mask", "nonpad_kv_seqlen", "qk_matmul_output"}
        for operator, arrays in given.items():
            schema = onnx.defs.get_schema(operator)
            known = onnx.helper.make_node(operator, [each.name if each.name not in refused else "" for each in schema.inputs],
                                          [each.name if each.name not in refused else "" for each in schema.outputs])
            for name, attribute in schema.attributes.items():
                if attribute.default_value.type:
                    known.attribute.append(attribute.default_value)
                elif name != "scale":
                    known.attribute.append(helper.make_attribute(name, 2))
            made = model(operator, arrays, ["output", ""])
            del made.graph.node[0], made.graph.output[:]
            made.graph.node.append(known)
            made.opset_import[0].version = onnx.defs.onnx_opset_version()
            node = attune.onnx.compile(made)
            self.assertEqual(list(node.inputs), [each.name for each in schema.inputs if each.name not in refused])
            self.assertEqual(list(node.outputs), [each.name for each in schema.outputs if each.name not in refused])


class Evaluator(unittest.TestCase):
    def close(self, made, given, dtype="f32"):
        """The evaluator has the numbers of ONNX's own."""
        expected, got = ReferenceEvaluator(made).run(None, given), attune.onnx.evaluator(made, threads=1).run(None, given)
        for own, exact in zip(got, expected, strict=True):
            self.assertEqual((own.dtype, own.shape), (exact.dtype, exact.shape))
            exact = exact.astype(np.float64)
            self.assertLessEqual(np.linalg.norm(own - exact), TOLERANCE[dtype] * np.linalg.norm(exact))
        return got

    def conv(self, shape, taps, activation, dtype=np.float32, **more):
        given = {"x": drawn(x=shape)["x"].astype(dtype), "weight": drawn(1, w=(shape[1], 1, taps))["w"].astype(dtype), **more}
        names = [name if name in given else "" for name in ("x", "weight", "bias", "past")]
        node = helper.make_node("CausalConvWithState", names, ["y", "after"], activation=activation)
        inputs = [helper.make_tensor_value_info(name, TYPES[array.dtype], None) for name, array in given.items()]
        outputs = [helper.make_tensor_value_info(name, TYPES[np.dtype(dtype)], None) for name in ("y", "after")]
        made = helper.make_model(helper.make_graph([node], "conv", inputs, outputs), opset_imports=[helper.make_opsetid("", 27)])
        return made, given

    def test_short_convolutions(self):
        for shape, taps in (((2, 6, 9), 4), ((1, 3, 1), 4), ((2, 5, 2), 1), ((1, 4, 7), 3)):
            for activation in ("none", "silu", "swish"):
                more = drawn(2, bias=shape[1:2], past=(*shape[:2], taps - 1))
                for names in ((), ("bias",), ("past",), ("bias", "past")):
                    with self.subTest(shape=shape, taps=taps, activation=activation, more=names):
                        self.close(*self.conv(shape, taps, activation, **{name: more[name] for name in names}))
        self.close(*self.conv((2, 6, 9), 4, "silu", np.float16), dtype="f16")
        made, given = self.conv((2, 6, 9), 4, "relu")
        with self.assertRaisesRegex(attune.ArgumentError, "'activation': expected one of none, silu, swish, but got 'relu'"):
            attune.onnx.evaluator(made).run(None, given)

    def test_large_inputs_of_a_convolution(self):
        made, given = self.conv((1, 2, 5), 1, "silu")
        given["x"], given["weight"] = np.float32([[[-1e4, -100, 0, 100, 1e4]] * 2]), np.ones((2, 1, 1), np.float32)
        np.testing.assert_allclose(attune.onnx.evaluator(made).run(None, given)[0], [[[0, 0, 0, 100, 1e4]] * 2], atol=1e-30)

    def test_a_model(self):
        """The whole, and a token at a time from its states."""
        made, given = layer()
        whole = self.close(made, given)
        run, rows = attune.onnx.evaluator(made, threads=1).run, []
        for begin, end in ((0, 19), (19, 20), (20, 21)):
            y, given["before"], given["state"] = run(None, {**given, **{name: given[name][:, begin:end] for name in ("x", "g", "beta")}})
            rows.append(y)
        np.testing.assert_allclose(np.concatenate(rows, 1), whole[0], rtol=1e-4, atol=1e-4)

    def test_exact_attention_in_a_model(self):
        given = drawn(Q=(2, 4, 3, 32), K=(2, 2, 3, 32), V=(2, 2, 3, 40))
        past = drawn(1, past_key=(2, 2, 50, 32), past_value=(2, 2, 50, 40))
        self.close(model("Attention", {**given, **past}, ["Y", "present_key", "present_value"], is_causal=1), {**given, **past})
        self.close(model("Attention", given, ["Y"]), given)


class Models(Nodes):
    def test_nodes_by_name(self):
        given = drawn(Q=(2, 4, 21, 32), K=(2, 2, 33, 32), V=(2, 2, 33, 40))
        made = model("Attention", given, ["Y"])
        made.graph.node.append(helper.make_node("Attention", ["Y", "K", "K"], ["Z"], name="second"))
        for name in ("layer/attention", "Y"):
            self.assertEqual(attune.onnx.spec(made, name)["value_dim"], 40)
        text = "expected a node's name, for there is more than one, but got none; those of the model: 'layer/attention', 'second'"
        with self.assertRaisesRegex(attune.ArgumentError, text):
            attune.onnx.spec(made)
        with self.assertRaisesRegex(attune.ArgumentError, "expected a node of Attention or LinearAttention, but got 'third'"):
            attune.onnx.spec(made, "third")

    def test_a_file(self):
        given = drawn(Q=(2, 4, 21, 32), K=(2, 2, 33, 32), V=(2, 2, 33, 40))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.onnx"
            onnx.save(model("Attention", given, ["Y"]), path)
            node = attune.onnx.compile(path, "layer/attention", threads=1)
            printed = subprocess.run([sys.executable, "-m", "attune.onnx", path, "Y"], capture_output=True, text=True, check=True)
            self.assertEqual(json.loads(printed.stdout), node.spec)
            wrong = subprocess.run([sys.executable, "-m", "attune.onnx", path, "Z"], capture_output=True, text=True, check=False)
            self.assertEqual((wrong.returncode, wrong.stderr[:len(str(path))]), (1, str(path)))
        self.assertEqual(node(**given)["Y"].shape, (2, 4, 21, 40))
        with self.assertRaisesRegex(attune.ArgumentError, "expected the inputs K, Q, V, but got K, Q"):
            node(Q=given["Q"], K=given["K"])


if __name__ == "__main__":
    unittest.main()
