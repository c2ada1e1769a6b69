"""What benchmarks/papers/steps.py measures: the papers' shapes, as they are or shortened, and the attention of each variant."""

import dataclasses
import typing

VARIANTS = {
    "plain": "exact, PyTorch", "exact": "exact", "low_rank": "Linformer", "performer": "Performer", "rnn": "RNN",
    "flurka_performer": "FLuRKA, Performer", "flurka_rnn": "FLuRKA, RNN",
    "polysketch16": "polysketch, r = 16", "polysketch32": "polysketch, r = 32",
    "polysketch32_local": "polysketch, r = 32, exact in blocks of 256",
}
ENCODERS = ("plain", "exact", "low_rank", "performer", "rnn", "flurka_performer", "flurka_rnn")
DECODERS = ("plain", "exact", "polysketch16", "polysketch32", "polysketch32_local", "performer")


@dataclasses.dataclass(frozen=True)
class Shape:
    """`rounds` of each count of layers; `trains`: steps too, else the forward pass alone; `large`: models are made for a round and not kept, for their
    memory, and no round that does not count comes first."""

    title: str
    tokens: int
    heads: int
    width: int # of a head
    hidden: int
    variants: typing.Tuple[str, ...]
    rounds: typing.Mapping[int, int]
    slots: int = 0 # of an encoder; a decoder has none
    trains: bool = True
    large: bool = False

    @property
    def causal(self):
        return not self.slots

    @property
    def model(self):
        return self.heads * self.width

    def described(self):
        slots = f", k = {self.slots}" if self.slots else ""
        return f"n = {self.tokens}{slots}, {self.heads} heads of {self.width}, feed-forward part of {self.hidden}"


def context(tokens, rounds, **more):
    return Shape(f"PolySketchFormer, {tokens} tokens", tokens, 12, 64, 3072, more.pop("variants", DECODERS), rounds, **more)


WITHOUT_PLAIN = ENCODERS[1:]
SHAPES = {
    "figure3_first": Shape("FLuRKA, Figure 3, its first length", 7050, 8, 325, 512, ENCODERS, {1: 1}, slots=1500, large=True),
    "figure3": Shape("FLuRKA, Figure 3, its last length", 55500, 8, 325, 512, WITHOUT_PLAIN, {1: 2}, slots=1500, trains=False, large=True),
    "figure4_top": Shape("FLuRKA, Figure 4, top, k = N, shortened", 8192, 4, 128, 512, ENCODERS, {1: 2}, slots=8192, large=True),
    "figure4_bottom": Shape("FLuRKA, Figure 4, bottom, an eighth of every size", 2500, 4, 625, 64, ENCODERS[3:], {1: 2}, slots=125),
    "figure5_first": Shape("FLuRKA, Figure 5, its first length", 7500, 4, 128, 512, ENCODERS, {1: 2, 6: 1}, slots=1000),
    "figure5": Shape("FLuRKA, Figure 5, its last length", 52500, 4, 128, 512, WITHOUT_PLAIN, {1: 1}, slots=1000, trains=False, large=True),
    "context1024": context(1024, {1: 5, 12: 1}),
    "context4096": context(4096, {1: 2}),
    "context8192": context(8192, {1: 1}),
    "context16384": context(16384, {1: 2}, large=True, variants=DECODERS[1:]),
    "context32768": context(32768, {1: 1}, large=True, variants=("exact", "polysketch16", "polysketch32")),
}


def mechanism(shape, variant):
    """The field of a spec; PyTorch's own computes what `exact` does."""
    if variant in ("plain", "exact"):
        return {"kind": "softmax"}
    if variant.startswith("polysketch"):
        sketch = {"kind": "polysketch", "degree": 4, "size": 16 if "16" in variant else 32}
        return {**sketch, "local_exact": 256} if variant.endswith("local") else sketch
    low_rank = {"low_rank": {"rank": shape.slots, "tied": False}}
    if variant == "low_rank":
        return {"kind": "softmax", **low_rank}
    feature_map = {"kind": "elu1"} if variant.endswith("rnn") else {"kind": "favor", "features": shape.width}
    return {"kind": "kernel", "feature_map": feature_map, **(low_rank if variant.startswith("flurka") else {})}


def sizes(shape, variant):
    """The fields of the spec that is compiled and priced: of an encoder the layer with its projections, of a decoder attention alone."""
    fields = {"dtype": "f32", "batch": 1, "queries": shape.tokens, "heads": shape.heads, "head_dim": shape.width,
              "mechanism": mechanism(shape, variant)}
    return {**fields, "causal": True} if shape.causal else {**fields, "projection": {"model_dim": shape.model}}
