"""A compiled node: from the tensors of the operator's definition to those of the spec, and back."""

from __future__ import annotations

import typing

import numpy as np

from .._attention import Attention
from .._errors import ArgumentError

Arrays = typing.Dict[str, typing.Any]


class Node:
    """A compiled node: call it with arrays by the names that the operator's definition gives its inputs. Outputs come by
    theirs, those that the node has. `inputs` and `outputs` are these names, with those of the model; `spec` is what was
    compiled, `attention` what runs it.

    past_key and past_value are set before K and V in memory, as the definition says: a copy a call.
    """

    def __init__(self, read: typing.Dict[str, typing.Any], attention: Attention) -> None:
        self.name, self.operator, self.spec = read["node"], read["operator"], read["spec"]
        self.attention = attention
        self.inputs: typing.Dict[str, str] = read["inputs"]
        self.outputs: typing.Dict[str, str] = read["outputs"]
        self._heads = (self.spec["heads"], self.spec["kv_heads"], self.spec["kv_heads"])
        self._call = _call_linear if self.operator == "LinearAttention" else _call_softmax

    def __call__(self, **inputs: typing.Any) -> Arrays:
        given = {name: _in_rows(array) for name, array in inputs.items() if array is not None}
        if given.keys() != self.inputs.keys():
            raise ArgumentError(f"{self.name}: expected the inputs {', '.join(sorted(self.inputs))}, but got "
                                f"{', '.join(sorted(given)) or 'none'}")
        outputs = self._call(self, given)
        return {name: outputs[name] for name in self.outputs}

    def __repr__(self) -> str:
        return f"<attune.onnx.Node {self.name} ({self.operator}): {', '.join(sorted(self.inputs))}>"


def _in_rows(array: typing.Any) -> typing.Any:
    """With the elements of a row beside one another, as libraries take them: a copy of a transposed array."""
    adjacent = array.ndim == 0 or array.strides[-1] == array.itemsize
    return array if adjacent else np.ascontiguousarray(array)


def _split(array: typing.Any, heads: int) -> typing.Any:
    """[batch, tokens, heads · width] as [batch, heads, tokens, width], a view."""
    return array.reshape(*array.shape[:2], heads, array.shape[2] // heads).swapaxes(1, 2)


def _joined(array: typing.Any) -> typing.Any:
    """The other way."""
    batch, heads, tokens, width = array.shape
    return array.swapaxes(1, 2).reshape(batch, tokens, heads * width)


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
