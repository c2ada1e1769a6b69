"""Models for ONNX Runtime: a node of attention becomes the operator attune::Run, one run of a compiled library, among nodes of ONNX that
bring its tensors into the library's types and order of dimensions."""

from __future__ import annotations

import hashlib
import os
import pathlib
import shutil
import typing
import warnings

import onnx
from onnx import TensorProto, helper

from .._attention import Attention
from .._compile import compile as compile_spec
from .._errors import ArgumentError
from ._model import Model, Source

DOMAIN = "attune"
OPERATORS = ("Attention", "LinearAttention")
ELEMENTS = {"f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16}
Read = typing.Dict[str, typing.Any]


def runtime_library() -> str:
    """The path of the operators, for `SessionOptions.register_custom_ops_library`."""
    return str(pathlib.Path(__file__).parents[1] / "libattune_ort.so")


def replace(model: Model, nodes: typing.Optional[typing.Sequence[str]] = None, *,
            folder: typing.Union[str, "os.PathLike[str]", None] = None, **options: typing.Any) -> onnx.ModelProto:
    """A copy of a model for ONNX Runtime, with nodes of Attention and LinearAttention compiled with the options of `attune.compile`.

    nodes   names of nodes or of their outputs; without it all, and those that cannot be compiled stay, with a RuntimeWarning
    folder  where libraries are put, which the model names by path, for any processor unless `isa` says another; without it they stay in the
            cache, which may lose them

    Raises ArgumentError: a node of `nodes` that is not there or cannot be compiled.
    """
    made = onnx.ModelProto()
    made.CopyFrom(model if isinstance(model, onnx.ModelProto) else onnx.load(os.fspath(model)))
    source = Source(model)
    wanted = {next(iter(source.read(name)["outputs"].values())) for name in nodes} if nodes is not None else None
    kept = []
    for node in made.graph.node:
        kept.extend(_replaced(node, source, wanted, made, folder, options))
    del made.graph.node[:]
    made.graph.node.extend(kept)
    if all(opset.domain != DOMAIN for opset in made.opset_import):
        made.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    return made


def _key(node: onnx.NodeProto) -> str:
    """An output, which no other node has."""
    return next((name for name in node.output if name), "")


def _replaced(node: onnx.NodeProto, source: Source, wanted: typing.Optional[typing.Set[str]], made: onnx.ModelProto,
              folder: typing.Any, options: typing.Mapping[str, typing.Any]) -> typing.List[onnx.NodeProto]:
    """What stands in a node's place: itself, if it is no attention or not wanted."""
    key = _key(node)
    if node.op_type not in OPERATORS or node.domain not in ("", "ai.onnx") or (wanted is not None and key not in wanted):
        return [node]
    try:
        read = source.read(key)
    except ArgumentError as error:
        if wanted is not None:
            raise
        warnings.warn(f"{error}; the node stays as it is", RuntimeWarning, stacklevel=4)
        return [node]
    attention = compile_spec(read["spec"], **{"isa": "all" if folder else None, **options})
    rewrite = _Rewrite(node, read, attention, _placed(attention.library, folder))
    if node.op_type == "LinearAttention":
        rewrite.linear()
    else:
        rewrite.exact(packed=source.rank(read["inputs"]["Q"]) != 4)
    known = {info.name for info in (*made.graph.value_info, *made.graph.output)}
    made.graph.value_info.extend(info for info in rewrite.types if info.name not in known)
    return rewrite.nodes


def _placed(library: pathlib.Path, folder: typing.Any) -> str:
    """The library's path, in `folder` if there is one: by a name of its content."""
    if folder is None:
        return str(library)
    digest = hashlib.sha256(library.read_bytes()).hexdigest()[:16]
    path = pathlib.Path(folder).resolve() / f"libattention-{digest}.so"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        shutil.copyfile(library, path)
    return str(path)


class _Rewrite:
    """The nodes in the place of one."""

    def __init__(self, node: onnx.NodeProto, read: Read, attention: Attention, library: str) -> None:
        self.node, self.inputs, self.outputs, self.spec = node, read["inputs"], read["outputs"], read["spec"]
        self.attention, self.library = attention, library
        self.nodes: typing.List[onnx.NodeProto] = []
        self.types: typing.List[onnx.ValueInfoProto] = []

    def add(self, operator: str, *inputs: str, output: typing.Optional[str] = None, **attributes: typing.Any) -> str:
        """A node of ONNX; its output has a name that no other tensor of the model has."""
        name = output or f"{_key(self.node)}/attune/{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def numbers(self, *values: int) -> str:
        return self.add("Constant", value_ints=list(values))

    def run(self, inputs: typing.Mapping[str, str], outputs: typing.Mapping[str, str], together: bool) -> None:
        """The library, of tensors by its names for them."""
        self.nodes.append(helper.make_node(
            "Run", list(inputs.values()), list(outputs.values()), domain=DOMAIN, name=self.node.name, library=self.library,
            attention=self.attention.name, takes=",".join(inputs), gives=",".join(outputs), together=int(together),
            threads=self.attention._threads))
        for name, tensor in outputs.items():
            element = ELEMENTS[self.spec["dtype"]] if name == "o" else TensorProto.FLOAT
            self.types.append(helper.make_tensor_value_info(tensor, element, None))

    def linear(self) -> None:
        given, given_heads = self.inputs, self.spec["kv_heads"]
        inputs = {"q": given["query"], "k": given["key"], "v": given["value"]}
        outputs = {"o": self.outputs["output"]}
        if "decay" in given:
            decay = self.add("Cast", given["decay"], to=TensorProto.FLOAT)
            per_token = self.spec["mechanism"]["decay"]["per"] == "token"
            inputs["g"] = self.add("Transpose", decay, perm=[0, 2, 1]) if per_token else decay
        if "beta" in given:
            beta = self.add("Expand", self.add("Cast", given["beta"], to=TensorProto.FLOAT), self.numbers(1, 1, given_heads))
            inputs["beta"] = self.add("Transpose", beta, perm=[0, 2, 1])
        if "past_state" in given:
            inputs["state.s"] = self.add("Cast", given["past_state"], to=TensorProto.FLOAT)
        if "present_state" in self.outputs:
            outputs["final_state.s"] = f"{_key(self.node)}/attune/final"
        self.run(inputs, outputs, together=True)
        if "present_state" in self.outputs:  # of the type of past_state, or of the others
            like = given.get("past_state", given["query"])
            self.add("CastLike", outputs["final_state.s"], like, output=self.outputs["present_state"])

    def exact(self, packed: bool) -> None:
        """`packed`: heads lie in one dimension with their width."""
        given, keys, values = self.inputs, self.inputs["K"], self.inputs["V"]
        cached, shown = "past_key" in given, {"present_key", "present_value"} & self.outputs.keys()
        if packed and (cached or shown):
            keys, values = self.apart(keys, self.spec["head_dim"]), self.apart(values, self.spec["value_dim"])
        if cached:
            keys, values = (self.add("Concat", given[past], new, axis=2) for past, new in (("past_key", keys), ("past_value", values)))
        for name, tensor in (("present_key", keys), ("present_value", values)):
            if name in shown:
                self.add("Identity", tensor, output=self.outputs[name])
        if self.spec["causal"] and not cached:  # the first query is aligned with the first key
            tokens = 1 if packed else 2
            ends = self.add("Shape", given["Q"], start=tokens, end=tokens + 1)
            axis = 2 if packed and shown else tokens
            keys, values = (self.add("Slice", name, self.numbers(0), ends, self.numbers(axis)) for name in (keys, values))
        inputs = {"q": given["Q"], "k": keys, "v": values}
        if "nonpad_kv_seqlen" in given:
            inputs["key_lengths"] = self.add("Cast", given["nonpad_kv_seqlen"], to=TensorProto.INT32)
        self.run(inputs, {"o": self.outputs["Y"]}, together=packed)

    def apart(self, name: str, width: int) -> str:
        """[batch, tokens, heads · width] as [batch, heads, tokens, width]."""
        split = self.add("Reshape", name, self.numbers(0, 0, self.spec["kv_heads"], width))
        return self.add("Transpose", split, perm=[0, 2, 1, 3])
