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


class Models(Nodes):
    def test_nodes_by_name(self):
        given = drawn(Q=(2, 4, 21, 32), K=(2, 2, 33, 32), V=(2, 2, 33, 40))
        made = model("Attention", given, ["Y"])
        made.graph.node.append(helper.make_node("Attention", ["Y", "K", "K"], ["Z"], name="second"))
        for name in ("layer/attention", "Y"):
            self.assertEqual(attune.onnx.spec(made, name)["value_dim"], 40)
        text = "expected a name, for there is more than one, but got none; those of the model: 'layer/attention', 'second'"
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
