"""Models in ONNX Runtime, their attention replaced by compiled libraries, against ONNX's reference evaluator."""

import pathlib
import tempfile
import unittest
import warnings

import attune
import attune.onnx
import numpy as np
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator
from onnx_nodes import drawn, layer, model
from support import TOLERANCE

# What ONNX Runtime reads; the package onnx may be newer.
NEWEST_IR = 11


def session(made):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.register_custom_ops_library(attune.onnx.runtime_library())
    return onnxruntime.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])


class Replaced(unittest.TestCase):
    def check(self, made, given, dtype="f32", nodes=1):
        """The runtime has the reference's numbers, by our operator."""
        made.ir_version = min(made.ir_version, NEWEST_IR)
        expected = ReferenceEvaluator(made).run(None, given)
        replaced = attune.onnx.replace(made, threads=1)
        self.assertEqual(sum(node.domain == "attune" for node in replaced.graph.node), nodes)
        self.assertFalse([node for node in replaced.graph.node if node.op_type in ("Attention", "LinearAttention")])
        got = session(replaced).run(None, given)
        for own, exact in zip(got, expected, strict=True):
            self.assertEqual((own.dtype, own.shape), (exact.dtype, exact.shape))
            exact = exact.astype(np.float64)
            self.assertLessEqual(np.linalg.norm(own - exact), TOLERANCE[dtype] * np.linalg.norm(exact))
        return got

    def node(self, operator, given, outputs, dtype="f32", **attributes):
        made = model(operator, given, outputs, **attributes)
        element = helper.np_dtype_to_tensor_dtype(next(iter(given.values())).dtype)
        for info in made.graph.output:
            info.type.tensor_type.elem_type = element
        return self.check(made, given, dtype)

    def test_linear_attention(self):
        given = drawn(query=(2, 41, 128), key=(2, 41, 64), value=(2, 41, 80))
        given["key"] /= 6
        gates = drawn(1, decay=(2, 41, 2), channels=(2, 41, 64), beta=(2, 41, 2), past_state=(2, 2, 32, 40))
        decay, channels, beta = -abs(gates["decay"]), -abs(gates["channels"]), 1 / (1 + np.exp(-gates["beta"]))
        heads, past = {"q_num_heads": 4, "kv_num_heads": 2}, {"past_state": gates["past_state"]}
        self.node("LinearAttention", given, ["output", ""], update_rule="linear", **heads)
        self.node("LinearAttention", {**given, "decay": channels, **past}, ["output", "present_state"], update_rule="gated", **heads)
        self.node("LinearAttention", {**given, "beta": beta[:, :, :1]}, ["output", "present_state"], update_rule="delta", **heads)
        self.node("LinearAttention", {**given, **past, "decay": decay, "beta": beta}, ["output", "present_state"], **heads)
        half = {name: array.astype(np.float16) for name, array in {**given, **past, "decay": decay}.items()}
        self.node("LinearAttention", half, ["output", "present_state"], "f16", update_rule="gated", **heads)

    def test_attention(self):
        apart, together = drawn(Q=(2, 4, 21, 32), K=(2, 2, 33, 32), V=(2, 2, 33, 40)), drawn(Q=(2, 3, 128), K=(2, 3, 64), V=(2, 3, 80))
        past, packed = drawn(1, past_key=(2, 2, 50, 32), past_value=(2, 2, 50, 40)), {"q_num_heads": 4, "kv_num_heads": 2}
        self.node("Attention", apart, ["Y"], softcap=2.0)
        self.node("Attention", apart, ["Y"], is_causal=1, left_window_size=4)
        self.node("Attention", {**apart, "nonpad_kv_seqlen": np.array([33, 7], np.int64)}, ["Y"])
        self.node("Attention", {**together, **past}, ["Y", "present_key", "present_value"], is_causal=1, **packed)
        self.node("Attention", together, ["Y", "present_key", "present_value"], is_causal=1, **packed)
        self.node("Attention", together, ["Y"], is_causal=1, **packed)

    def test_a_model(self):
        """Whole, and a token at a time from its states."""
        made, given = layer()
        whole = self.check(made, given)
        with tempfile.TemporaryDirectory() as folder:
            replaced = attune.onnx.replace(made, ["o"], folder=folder, threads=1)
            self.assertEqual(len(list(pathlib.Path(folder).iterdir())), 1)
            run, rows = session(replaced).run, []
            for begin, end in ((0, 19), (19, 20), (20, 21)):
                y, given["before"], given["state"] = run(None, {**given, **{name: given[name][:, begin:end] for name in ("x", "g", "beta")}})
                rows.append(y)
        np.testing.assert_allclose(np.concatenate(rows, 1), whole[0], rtol=1e-4, atol=1e-4)

    def test_what_cannot_be_compiled(self):
        given = drawn(Q=(2, 4, 21, 32), K=(2, 2, 33, 32), V=(2, 2, 33, 40))
        made = model("Attention", {**given, "attn_mask": np.ones((1, 1, 21, 33), bool)}, ["Y"])
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            self.assertEqual(attune.onnx.replace(made).graph.node[0].op_type, "Attention")
        self.assertRegex(str(seen[0].message), "'attn_mask': expected none.*; the node stays as it is")
        with self.assertRaisesRegex(attune.ArgumentError, "'attn_mask': expected none"):
            attune.onnx.replace(made, ["Y"])
        right = attune.onnx.replace(model("Attention", given, ["Y"]))
        right.ir_version = min(right.ir_version, NEWEST_IR)
        with self.assertRaisesRegex(Exception, "'k'.*expected|expected.*'k'"):
            session(right).run(None, {**given, "K": given["K"][:, :, :30]})
        next(each for node in right.graph.node for each in node.attribute if each.name == "library").s = b"/nowhere.so"
        with self.assertRaisesRegex(Exception, "expected a library that loads, but got: /nowhere.so"):
            session(right)


if __name__ == "__main__":
    unittest.main()
