"""Whole models: ONNX's reference evaluator with attention compiled, and with short convolutions that do not loop in Python."""

from __future__ import annotations

import os
import typing

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from .._compile import compile as compile_spec
from .._errors import ArgumentError
from ._model import Model, Source
from ._node import Node

ACTIVATIONS = ("none", "silu", "swish")
Results = typing.Tuple[np.ndarray, ...]


def evaluator(model: Model, **options: typing.Any) -> ReferenceEvaluator:
    """`onnx.reference.ReferenceEvaluator` of a model, whose nodes of Attention and LinearAttention are compiled with the options of
    `attune.compile` when they are first run, for whatever sizes their tensors have then. CausalConvWithState is NumPy's, all else ONNX's own:
    to have a model's numbers, not to have them fast."""
    compiled = [type(name, (_Compiled,), {"options": options}) for name in ("Attention", "LinearAttention")]
    given = model if isinstance(model, onnx.ModelProto) else os.fspath(model)
    return ReferenceEvaluator(given, new_ops=[*compiled, CausalConvWithState])


class _Compiled(OpRun):
    """A node, compiled for each kind of tensors that it is given: the dtypes, and the sizes that a spec has."""

    op_domain = ""
    options: typing.Mapping[str, typing.Any] = {}

    def __init__(self, node: onnx.NodeProto, run_params: typing.Any, schema: typing.Any = None) -> None:
        super().__init__(node, run_params, schema)
        self.compiled: typing.Dict[typing.Any, Node] = {}

    def _run(self, *arrays: typing.Optional[np.ndarray], **attributes: typing.Any) -> Results:
        del attributes  # the node has them
        given = {name: array for name, array in zip(self.onnx_node.input, arrays) if name and array is not None}
        types = tuple((name, array.dtype, _open(array)) for name, array in given.items())
        if types not in self.compiled:
            read = Source(self._alone(types)).read()
            self.compiled[types] = Node(read, compile_spec(read["spec"], **self.options))
        node = self.compiled[types]
        outputs = node(**{formal: given[actual] for formal, actual in node.inputs.items()})
        named = {node.outputs[formal]: array for formal, array in outputs.items()}
        most = max(place for place, name in enumerate(self.onnx_node.output) if name)
        return tuple(named.get(name, np.empty(0)) for name in self.onnx_node.output[:most + 1])

    def _alone(self, types: typing.Any) -> onnx.ModelProto:
        """A model of this node."""
        inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), shape) for name, dtype, shape in types]
        graph = helper.make_graph([self.onnx_node], "node", inputs, [])
        opsets = [helper.make_opsetid(domain, version) for domain, version in self.run_params["opsets"].items()]
        return helper.make_model(graph, opset_imports=opsets)


def _open(array: np.ndarray) -> typing.Tuple[typing.Optional[int], ...]:
    """Its shape, open in batch and tokens."""
    if array.ndim == 4:
        return None, array.shape[1], None, array.shape[3]
    return (None,) * (array.ndim - 1) + array.shape[-1:] if array.ndim == 3 else (None,) * array.ndim


class CausalConvWithState(OpRun):
    """ONNX's operator: a causal convolution of each channel of [batch, channels, tokens], going on from the inputs before them."""

    op_domain = ""

    def _run(self, x: np.ndarray, weight: np.ndarray, bias: typing.Optional[np.ndarray] = None,
             past_state: typing.Optional[np.ndarray] = None, activation: typing.Any = "none") -> Results:
        if activation not in ACTIVATIONS:
            raise ArgumentError(f"node '{self.onnx_node.name}' (CausalConvWithState): attribute 'activation': expected one of "
                                f"{', '.join(ACTIVATIONS)}, but got '{activation}'")
        return causal_conv(x, weight, bias, past_state, activation)


def causal_conv(x: np.ndarray, weight: np.ndarray, bias: typing.Optional[np.ndarray], past: typing.Optional[np.ndarray],
                activation: str) -> Results:
    """The output, and the last inputs, which come before those of the next call; sums in f32 at least."""
    taps, tokens = weight.shape[2], x.shape[2]
    if past is None:
        past = np.zeros((*x.shape[:2], taps - 1), x.dtype)
    rows = np.concatenate([past.astype(x.dtype, copy=False), x], 2)                # [batch, channels, taps − 1 + tokens]
    wide = np.result_type(x.dtype, np.float32)
    total = np.zeros(x.shape, wide)
    for tap in range(taps):
        total += rows[:, :, tap:tap + tokens].astype(wide, copy=False) * weight[:, 0, tap, None].astype(wide, copy=False)
    if bias is not None:
        total += bias[:, None]
    if activation != "none":
        with np.errstate(over="ignore"):  # of exp(−x) for x below −88, where x · 0 is right
            total /= 1 + np.exp(-total)
    return total.astype(x.dtype, copy=False), rows[:, :, tokens:]
