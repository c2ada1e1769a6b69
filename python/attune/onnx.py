"""Attention of ONNX models, compiled: nodes of the operators Attention (opset 23 on) and LinearAttention (27).

    node = attune.onnx.compile("model.onnx", "layer0/attention")
    outputs = node(Q=q, K=k, V=v, past_key=keys, past_value=values)           # {"Y": …, "present_key": …, …}

Tensors are named, shaped and typed as the operator's definition says; numbers are the operator's.
"""

from __future__ import annotations

import json
import os
import sys
import typing

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.shape_inference

from ._attention import Attention
from ._compile import compile as compile_spec
from ._errors import ArgumentError

Model = typing.Union[str, "os.PathLike[str]", onnx.ModelProto]
Arrays = typing.Dict[str, typing.Any]
SINCE = {"Attention": 23, "LinearAttention": 27}
DTYPES = {onnx.TensorProto.FLOAT: "f32", onnx.TensorProto.FLOAT16: "f16", onnx.TensorProto.BFLOAT16: "bf16"}
# update_rule: (decay is given, beta is given)
RULES = {"linear": (False, False), "gated": (True, False), "delta": (False, True), "gated_delta": (True, True)}


def spec(model: Model, node: typing.Optional[str] = None) -> typing.Dict[str, typing.Any]:
    """The spec of a node, as a mapping: of the node of that name, or with an output of that name, or of the only one.

    Batch and length stay open. Raises ArgumentError: what of the node cannot be compiled, which input, attribute or shape.
    """
    return _Reader(model, node).spec()


def compile(model: Model, node: typing.Optional[str] = None, **options: typing.Any) -> "Node":
    """The node, compiled with the options of `attune.compile`. Raises what `spec` and `attune.compile` raise."""
    reader = _Reader(model, node)
    fields = reader.spec()
    return Node(reader, fields, compile_spec(fields, **options))


class Node:
    """A compiled node: call it with arrays by the names that the operator's definition gives its inputs. Outputs come by
    theirs, those that the node has. `spec` is what was compiled, `attention` what runs it.

    past_key and past_value are set before K and V in memory, as the definition says: a copy a call.
    """

    def __init__(self, reader: "_Reader", fields: typing.Dict[str, typing.Any], attention: Attention) -> None:
        self.name, self.operator, self.spec = reader.node.name, reader.node.op_type, fields
        self.attention = attention
        self._inputs, self._outputs = reader.inputs, reader.outputs
        self._heads = reader.heads()
        self._call = _call_linear if self.operator == "LinearAttention" else _call_softmax

    def __call__(self, **inputs: typing.Any) -> Arrays:
        given = {name: array for name, array in inputs.items() if array is not None}
        if given.keys() != self._inputs:
            raise ArgumentError(f"{self.name}: expected the inputs {', '.join(sorted(self._inputs))}, but got "
                                f"{', '.join(sorted(given)) or 'none'}")
        outputs = self._call(self, given)
        return {name: outputs[name] for name in self._outputs}

    def __repr__(self) -> str:
        return f"<attune.onnx.Node {self.name} ({self.operator}): {', '.join(sorted(self._inputs))}>"


def _split(array: typing.Any, heads: int) -> typing.Any:
    """[batch, tokens, heads · width] as [batch, heads, tokens, width], a view."""
    return array.reshape(*array.shape[:2], heads, -1).swapaxes(1, 2)


def _joined(array: typing.Any) -> typing.Any:
    """The other way."""
    return array.swapaxes(1, 2).reshape(array.shape[0], array.shape[2], -1)


def _call_softmax(node: Node, given: Arrays) -> Arrays:
    packed = given["Q"].ndim == 3
    q, k, v = (_split(given[name], heads) if packed else given[name] for name, heads in zip("QKV", node._heads))
    if "past_key" in given:
        k, v = (np.concatenate([given[past], new], 2) for past, new in (("past_key", k), ("past_value", v)))
    keys, values = k, v
    more = {}
    if "nonpad_kv_seqlen" in given:
        more["key_lengths"] = given["nonpad_kv_seqlen"].astype(np.int32)
    elif node.spec["causal"] and "past_key" not in given and q.shape[2] != k.shape[2]:
        if q.shape[2] > k.shape[2]:
            raise ArgumentError(f"{node.name}: expected at most as many queries as keys ({k.shape[2]}) with is_causal, but "
                                f"got {q.shape[2]}")
        k, v = k[:, :, :q.shape[2]], v[:, :, :q.shape[2]]  # the first query is aligned with the first key
    y = node.attention(q=q, k=k, v=v, **more)
    return {"Y": _joined(y) if packed else y, "present_key": keys, "present_value": values}


def _call_linear(node: Node, given: Arrays) -> Arrays:
    q_heads, kv_heads, _ = node._heads
    tensors = {"q": _split(given["query"], q_heads), "k": _split(given["key"], kv_heads),
               "v": _split(given["value"], kv_heads)}
    if "decay" in given:
        decay = given["decay"].astype(np.float32)
        per_token = node.spec["mechanism"]["decay"]["per"] == "token"
        tensors["g"] = np.ascontiguousarray(decay.swapaxes(1, 2)) if per_token else _split(decay, kv_heads)
    if "beta" in given:
        beta = given["beta"].astype(np.float32).swapaxes(1, 2)
        tensors["beta"] = np.ascontiguousarray(np.broadcast_to(beta, (beta.shape[0], kv_heads, beta.shape[2])))
    stored = given["query"].dtype
    if "past_state" in given:
        stored = given["past_state"].dtype
        tensors["state_s"] = given["past_state"].astype(np.float32)
    results = node.attention(**tensors)
    if not isinstance(results, dict):
        return {"output": _joined(results)}
    return {"output": _joined(results["o"]), "present_state": results["final_state.s"].astype(stored)}


class _Reader:
    """A node of a model, and what is known of its tensors."""

    def __init__(self, model: Model, name: typing.Optional[str]) -> None:
        loaded = model if isinstance(model, onnx.ModelProto) else onnx.load(os.fspath(model))
        self.node = _found(loaded.graph, name)
        where = self.where = f"node '{self.node.name}' ({self.node.op_type})"
        versions = {opset.domain: opset.version for opset in loaded.opset_import}
        version = versions.get("", versions.get("ai.onnx", 0))
        if version < SINCE[self.node.op_type]:
            raise ArgumentError(f"{where}: expected a model of opset {SINCE[self.node.op_type]} or later, but got "
                                f"{version}; convert it with onnx.version_converter")
        schema = onnx.defs.get_schema(self.node.op_type, min(version, onnx.defs.onnx_opset_version()))
        self.names = {formal.name: actual for formal, actual in zip(schema.inputs, self.node.input) if actual}
        self.inputs = self.names.keys()
        self.outputs = [formal.name for formal, actual in zip(schema.outputs, self.node.output) if actual]
        self.attributes = {name: attribute.default_value for name, attribute in schema.attributes.items()}
        self.attributes.update({attribute.name: attribute for attribute in self.node.attribute})
        inferred = onnx.shape_inference.infer_shapes(loaded).graph
        self.types = {info.name: info.type.tensor_type for info in
                      (*inferred.input, *inferred.value_info, *inferred.output)}
        for constant in inferred.initializer:
            self.types[constant.name] = onnx.helper.make_tensor_type_proto(constant.data_type, constant.dims).tensor_type

    def attribute(self, name: str) -> typing.Any:
        """Its value, as given or by default; None if it has neither."""
        found = self.attributes.get(name)
        return None if found is None or not found.type else onnx.helper.get_attribute_value(found)

    def refuse(self, what: str, expected: str, found: str) -> typing.NoReturn:
        raise ArgumentError(f"{self.where}: {what}: expected {expected}, but got {found}")

    def size(self, name: str, axis: int) -> int:
        """A size of an input that the spec needs."""
        shape = self.types[self.names[name]].shape.dim if self.names[name] in self.types else []
        if len(shape) == 0 or not shape[axis].dim_value:
            self.refuse(f"input '{name}'", f"a size that the model states in dimension {axis}", "none; give the model's "
                        "inputs their shapes")
        return int(shape[axis].dim_value)

    def rank(self, name: str) -> int:
        return len(self.types[self.names[name]].shape.dim) if self.names[name] in self.types else 0

    def dtype(self, name: str) -> str:
        kind = self.types[self.names[name]].elem_type if self.names[name] in self.types else 0
        if kind not in DTYPES:
            self.refuse(f"input '{name}'", "a tensor of float, float16 or bfloat16",
                        onnx.TensorProto.DataType.Name(kind).lower() if kind else "an unknown type")
        return DTYPES[kind]

    def heads(self) -> typing.Tuple[int, int, int]:
        """Of queries, keys and values."""
        if self.node.op_type == "Attention" and self.rank("Q") == 4:
            return self.size("Q", 1), self.size("K", 1), self.size("V", 1)
        q_heads, kv_heads = self.attribute("q_num_heads"), self.attribute("kv_num_heads")
        if not q_heads or not kv_heads:
            self.refuse("attributes 'q_num_heads', 'kv_num_heads'", "numbers of heads of tensors with three dimensions",
                        f"{q_heads} and {kv_heads}")
        return q_heads, kv_heads, kv_heads

    def widths(self, names: typing.Sequence[str]) -> typing.Tuple[int, int]:
        """Of a head of queries and of values."""
        packed = self.node.op_type == "LinearAttention" or self.rank(names[0]) == 3
        q_heads, _, v_heads = self.heads()
        q, v = self.size(names[0], -1), self.size(names[2], -1)
        return (q // q_heads, v // v_heads) if packed else (q, v)

    def spec(self) -> typing.Dict[str, typing.Any]:
        linear = self.node.op_type == "LinearAttention"
        names = ("query", "key", "value") if linear else ("Q", "K", "V")
        q_heads, kv_heads, _ = self.heads()
        head_dim, value_dim = self.widths(names)
        fields = {"attention": "attention", "dtype": self.dtype(names[0]), "batch": "?", "queries": "?", "heads": q_heads,
                  "kv_heads": kv_heads, "head_dim": head_dim, "value_dim": value_dim}
        scale = self.attribute("scale")
        if scale:
            fields["scale"] = scale
        return {**fields, **(self._linear(kv_heads) if linear else self._softmax())}

    def _softmax(self) -> typing.Dict[str, typing.Any]:
        for name in self.inputs - {"Q", "K", "V", "past_key", "past_value", "nonpad_kv_seqlen"}:
            self.refuse(f"input '{name}'", "none", "one; lengths (nonpad_kv_seqlen), is_causal and windows can be compiled")
        if "qk_matmul_output" in self.outputs:
            self.refuse("output 'qk_matmul_output'", "none", "one; what stands between the products is never in memory")
        left, right = (-1 if size is None else size
                       for size in (self.attribute("left_window_size"), self.attribute("right_window_size")))
        causal = bool(self.attribute("is_causal")) or right == 0
        if causal and "nonpad_kv_seqlen" in self.inputs:
            self.refuse("input 'nonpad_kv_seqlen'", "none with is_causal", "one; the last query of each entry would "
                        "stand at another key")
        mechanism: typing.Dict[str, typing.Any] = {"kind": "softmax"}
        if not causal and (left >= 0 or right > 0):
            self.refuse("attributes 'left_window_size', 'right_window_size'", "a window that ends at the query's own key "
                        "(right_window_size 0, or is_causal)", f"{left} and {right}")
        if left >= 0:
            mechanism["window"] = {"last": left + 1}
        if self.attribute("softcap"):
            mechanism["softcap"] = self.attribute("softcap")
        return {"keys": "?", "causal": causal, "key_lengths": "nonpad_kv_seqlen" in self.inputs, "mechanism": mechanism}

    def _linear(self, kv_heads: int) -> typing.Dict[str, typing.Any]:
        rule = self.attribute("update_rule")
        rule = rule.decode() if isinstance(rule, bytes) else rule
        if rule not in RULES:
            self.refuse("attribute 'update_rule'", f"one of {', '.join(RULES)}", f"'{rule}'")
        for name, wanted in zip(("decay", "beta"), RULES[rule]):
            if (name in self.inputs) != wanted:
                self.refuse(f"input '{name}'", ("one" if wanted else "none") + f" of the rule '{rule}'",
                            "none" if wanted else "one")
        mechanism: typing.Dict[str, typing.Any] = {"kind": "kernel", "feature_map": {"kind": "identity"}}
        if "decay" in self.inputs:
            mechanism["decay"] = {"per": "token" if self.size("decay", -1) == kv_heads else "channel"}
        if "beta" in self.inputs:
            mechanism["erase"] = {"per": "token"}
        fields = {"causal": True, "mechanism": mechanism}
        state = {"initial": "past_state" in self.inputs, "final": "present_state" in self.outputs}
        return {**fields, "state": state} if any(state.values()) else fields


def _found(graph: onnx.GraphProto, name: typing.Optional[str]) -> onnx.NodeProto:
    there = [node for node in graph.node if node.op_type in SINCE and node.domain in ("", "ai.onnx")]
    found = [node for node in there if name is None or node.name == name or name in node.output]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(f"'{node.name or node.output[0]}'" for node in there) or "none"
    wanted = "a name, for there is more than one" if name is None and there else f"a node of {' or '.join(SINCE)}"
    raise ArgumentError(f"expected {wanted}, but got {'none' if name is None else repr(name)}; those of the model: {listed}")


def main() -> None:
    """python3 -m attune.onnx MODEL [NODE]: prints the spec of a node, which `attnc compile` reads."""
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python3 -m attune.onnx MODEL [NODE]")
    try:
        print(json.dumps(spec(*sys.argv[1:]), indent=1))
    except (ArgumentError, OSError) as error:
        sys.exit(f"{sys.argv[1]}: {error}")


if __name__ == "__main__":
    main()
