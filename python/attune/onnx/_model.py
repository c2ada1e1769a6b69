"""A model as the compiler reads it: `attnc import` knows what a node is as a spec; shapes are inferred by ONNX's own package."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
import typing

import onnx
import onnx.shape_inference

from .. import _compiler
from .._errors import ArgumentError, SpecError
from .._spec import Spec

Model = typing.Union[str, "os.PathLike[str]", onnx.ModelProto]
LARGEST_CONSTANT = 4096  # bytes; shapes depend on small ones


def loaded(model: Model) -> onnx.ModelProto:
    """Without what lies in files beside it, which no shape depends on."""
    return model if isinstance(model, onnx.ModelProto) else onnx.load(os.fspath(model), load_external_data=False)


class Source:
    """A model whose nodes are read."""

    def __init__(self, model: Model) -> None:
        self._shown = "<model>" if isinstance(model, onnx.ModelProto) else os.fspath(model)
        inferred = onnx.shape_inference.infer_shapes(_light(loaded(model)))
        self._content = inferred.SerializeToString()
        self._ranks = {info.name: len(info.type.tensor_type.shape.dim)
                       for info in (*inferred.graph.input, *inferred.graph.value_info, *inferred.graph.output)}
        self._ranks.update((constant.name, len(constant.dims)) for constant in inferred.graph.initializer)

    def rank(self, tensor: str) -> int:
        """0 of a tensor of which nothing is known."""
        return self._ranks.get(tensor, 0)

    def read(self, node: typing.Optional[str] = None) -> typing.Dict[str, typing.Any]:
        """A node, by its name or by that of an output: its `node`, `operator`, `inputs` and `outputs` by the names of the operator's
        definition, and its `spec`. All specs have one name, so that nodes that compute the same are one entry of the cache."""
        with tempfile.TemporaryDirectory(prefix="attune-") as folder:
            path = pathlib.Path(folder) / "model.onnx"
            path.write_bytes(self._content)
            options = ["--json", *(["--node", node] if node else [])]
            try:
                said = _compiler.call(Spec("", ".onnx", self._shown), "import", path, *options)
            except SpecError as error:
                raise ArgumentError(str(error)) from None
        read: typing.Dict[str, typing.Any] = json.loads(said)
        read["spec"]["attention"] = "attention"
        return read


def _light(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model without the content of its large constants."""
    light = onnx.ModelProto(ir_version=model.ir_version, opset_import=model.opset_import, functions=model.functions)
    light.graph.name = model.graph.name
    for name in ("node", "input", "output", "value_info"):
        getattr(light.graph, name).extend(getattr(model.graph, name))
    for constant in model.graph.initializer:
        large = constant.ByteSize() > LARGEST_CONSTANT
        light.graph.initializer.append(onnx.TensorProto(name=constant.name, data_type=constant.data_type, dims=constant.dims)
                                       if large else constant)
    return light
