"""Attention of ONNX models, compiled: nodes of the operators Attention (opset 23 on) and LinearAttention (27).

    node = attune.onnx.compile("model.onnx", "layer0/attention")
    outputs = node(Q=q, K=k, V=v, past_key=keys, past_value=values)           # {"Y": …, "present_key": …, …}

    run = attune.onnx.evaluator("model.onnx").run                            # a whole model, its attention compiled
    model = attune.onnx.replace("model.onnx")                                # the same for ONNX Runtime, with runtime_library()

Tensors are named, shaped and typed as the operator's definition says; numbers are the operator's.
"""

from __future__ import annotations

import typing

from .._compile import compile as compile_spec
from ._evaluator import evaluator
from ._model import Model, Source
from ._node import Node
from ._runtime import replace, runtime_library

__all__ = ["Node", "compile", "evaluator", "replace", "runtime_library", "spec"]


def spec(model: Model, node: typing.Optional[str] = None) -> typing.Dict[str, typing.Any]:
    """The spec of a node, as a mapping: of the node of that name, or with an output of that name, or of the only one.

    Batch and length stay open. Raises ArgumentError: what of the node cannot be compiled, which input, attribute or shape.
    """
    return Source(model).read(node)["spec"]


def compile(model: Model, node: typing.Optional[str] = None, **options: typing.Any) -> Node:
    """The node, compiled with the options of `attune.compile`. Raises what `spec` and `attune.compile` raise."""
    read = Source(model).read(node)
    return Node(read, compile_spec(read["spec"], **options))
