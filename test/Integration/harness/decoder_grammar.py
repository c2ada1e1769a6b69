"""Random specs of decoders: gates, states, packed sequences, masks and logits, correct by construction.

Beside random_grammar.py, which draws what is around a mechanism and whose seeds stay what they are. Everything depends on the
seed alone. Sizes and sequences are drawn first; a spec fixes them or leaves them '?'.
"""

import dataclasses

import numpy as np
import yaml

from random_grammar import Choices, guard_of

FAMILIES = ["recurrent", "pairs", "blocks"]
MAPS = ["identity", "elu1", "relu", "favor_relu", "focused", "favor", "cosformer"]
DECAY_MAPS, ERASE_MAPS = MAPS[:5], MAPS[:3]
LARGE_ONE_IN, LARGEST_LENGTH = 12, 700
# Beyond it float64 underflows in the oracle.
LARGEST_POWER = 30


@dataclasses.dataclass
class Case:
    """A spec's fields, and the sizes of its '?'. `lengths` and `key_lengths` are those of the packed sequences, or of all batch
    entries."""
    fields: dict
    lengths: np.ndarray
    key_lengths: np.ndarray

    @property
    def packed(self):
        return self.fields.get("packed", False)

    @property
    def sequences(self):
        """Packed ones, or the batch."""
        return len(self.lengths)

    @property
    def batch(self):
        return 1 if self.packed else self.sequences

    @property
    def queries(self):
        return int(self.lengths.sum() if self.packed else self.lengths[0])

    @property
    def keys(self):
        return int(self.key_lengths.sum() if self.packed else self.key_lengths[0])

    @property
    def has_key_offsets(self):
        projection = self.fields.get("projection")
        return self.packed and (projection["cross"] if projection else "keys" in self.fields)

    def parts(self):
        """(prefix, first head, heads, mechanism) of each part."""
        if "parts" not in self.fields:
            return [("", 0, self.fields["heads"], self.fields["mechanism"])]
        first, parts = 0, []
        for i, part in enumerate(self.fields["parts"]):
            parts.append((f"part{i}.", first, part["heads"], part["mechanism"]))
            first += part["heads"]
        return parts

    def mechanisms(self):
        return [mechanism for *_, mechanism in self.parts()]

    def state(self, what):
        return self.fields.get("state", {}).get(what, False)

    def with_lengths(self, lengths):
        """The same spec on other tokens."""
        lengths = np.asarray(lengths)
        return Case(self.fields, lengths, lengths)

    def open_sizes(self):
        """Whether runs of any number of tokens go through one library."""
        return self.fields["queries"] == "?" and self.fields.get("keys", "?") == "?"

    def init_arguments(self):
        sizes = [("batch", self.batch), ("queries", self.queries), ("keys", self.keys), ("sequences", self.sequences)]
        return [text for name, size in sizes if self.fields.get(name) == "?" for text in (f"--{name}", str(max(size, 1)))]

    def text(self):
        return yaml.safe_dump(self.fields, sort_keys=False)


@dataclasses.dataclass
class Limits:
    families: list = dataclasses.field(default_factory=lambda: FAMILIES)
    tokens: int = 130
    width: int = 40
    large: bool = True
    pins: bool = True
    dtypes: tuple = ("f32", "f16", "bf16")


class DecoderDraw:
    """One spec within the limits."""

    def __init__(self, seed, limits):
        self.choices, self.limits, self.masks = Choices(seed, "decoder"), limits, Choices(seed, "masks")
        self.name = f"decoder_{seed[0] if isinstance(seed, tuple) else seed}"

    def draw(self):
        c = self.choices
        self.family = c.pick([family for family in ("recurrent",) * 5 + ("pairs",) * 2 + ("blocks",) if family in self.limits.families])
        self.packed = self.family == "blocks" or c.once(3)
        self.causal = self.family == "recurrent" or self.family == "pairs" and not c.once(4) or \
            self.family == "blocks" and self.masks.once(2)
        self.large = self.limits.large and Choices(c.below(1 << 30), "size").once(LARGE_ONE_IN)
        self.heads_of_all()
        self.projection = self.draw_projection()
        self.sizes()
        self.sketches = self.family == "recurrent" and c.once(6)
        fields = self.around()
        self.mechanisms(fields)
        self.beside(fields)
        return Case(fields, self.lengths, self.key_lengths)

    #===-- Sizes -----------------------------------------------------------------------------------------------------===#

    def heads_of_all(self):
        c = self.choices
        self.kv_heads, self.group = (1, c.between(1, 2)) if self.large else (c.between(1, 3), c.between(1, 3))
        self.heads = self.kv_heads * self.group

    def sizes(self):
        c = self.choices
        width = 100 if self.large and c.once(3) else self.limits.width
        self.d, self.dv = c.size(width), c.size(width)
        self.lengths = self.packed_lengths() if self.packed else np.full(1 if self.large else c.between(1, 3), self.length())
        cross = self.projection is None or self.projection["cross"]
        self.others = self.family != "recurrent" and cross and c.once(2) and not (self.causal and self.family == "blocks")  # keys of their own
        self.key_lengths = self.lengths
        if self.others:
            self.key_lengths = np.array([self.length() for _ in self.lengths]) if self.packed else np.full_like(self.lengths, self.length())

    def length(self):
        c = self.choices
        return c.between(200, LARGEST_LENGTH) if self.large else c.size(self.limits.tokens)

    def packed_lengths(self):
        """Empty ones, ones of a token, one that is far longer than the others."""
        c = self.choices
        match c.below(6):
            case 0:
                return np.ones(c.between(1, 40), int)
            case 1:
                return np.array([0, 0, self.length(), 0])[c.below(3):]
            case 2:
                lengths = np.array([c.below(4) for _ in range(c.between(1, 20))])
                lengths[c.below(len(lengths))] = self.length()
                return lengths
            case 3:
                return np.array([self.length()])
        return np.array([c.pick([0, 1, c.between(1, 20), self.length()]) for _ in range(c.between(1, 6))] + [self.length()])

    def size(self, number):
        """As it stands in the spec."""
        return "?" if number == 0 or self.choices.once(2) else int(number)

    #===-- Around the mechanisms -------------------------------------------------------------------------------------===#

    def draw_projection(self):
        c = self.choices
        if not c.once(6):
            return None
        return {"model_dim": c.size(32), **{name: c.once(2) for name in ("output", "bias")}, "cross": c.once(4)}

    def around(self):
        c = self.choices
        fields = {"attention": self.name, "dtype": c.pick(self.limits.dtypes)}
        count = self.size(len(self.lengths))
        fields |= {"packed": True, "sequences": count} if self.packed else {"batch": count}
        total = sum if self.packed else max
        self.state = {}
        if self.family == "recurrent" and not c.once(3):
            self.state = c.pick([{"initial": True, "final": True}] * 4 + [{"final": True}, {"initial": True}, {}])
        fields["queries"] = "?" if self.state and not c.once(4) else self.size(total(self.lengths))
        if self.others or not (self.packed or self.state) and self.projection is None and c.once(4):
            fields["keys"] = self.size(total(self.key_lengths))
        fields["heads"] = self.heads
        self.apart = self.family == "recurrent" and not self.sketches and c.once(3)  # qk_heads
        if self.apart:
            fields["qk_heads"] = self.kv_heads
        elif self.kv_heads != self.heads or c.once(2):
            fields["kv_heads"] = self.kv_heads
        fields |= {"head_dim": self.d, "value_dim": self.dv, "causal": self.causal}
        if not self.packed and c.once(3):
            fields["key_lengths"] = True
        if self.projection:
            fields["projection"] = self.projection
        if self.d % 2 == 0 and c.once(4):
            fields["rope"] = {"base": c.pick([10000, 500.0]), "layout": c.pick(["interleaved", "half"])}
        if c.once(4):
            fields["qk_norm"] = c.pick([{"kind": "l2"}, {"kind": "l2", "epsilon": 1e-3}, {"kind": "layer"}, {"epsilon": 1e-5}])
        if self.state or self.family == "recurrent" and c.once(8):
            fields["state"] = self.state
        return fields

    def mechanisms(self, fields):
        c = self.choices
        parts = self.heads > 1 and c.once(4) and (self.apart or self.kv_heads > 1)
        if not parts:
            fields["mechanism"] = self.mechanism()
            return
        unit, count = (1, self.heads) if self.apart else (self.group, self.kv_heads)
        first = c.between(1, count - 1)
        fields["parts"] = [{"heads": heads * unit, "mechanism": self.mechanism()} for heads in (first, count - first)]

    def beside(self, fields):
        """What depends on the mechanisms: scale, results, pins."""
        c, case = self.choices, Case(fields, self.lengths, self.key_lengths)
        if c.once(3) and any(map(has_scale, case.mechanisms())):
            fields["scale"] = c.pick([0.01, 0.3, 1.0, 1 / 3])
        if "mechanism" in fields and fields["mechanism"]["kind"] == "softmax" and c.once(2):
            fields["results"] = ["lse"]
        if self.limits.pins and self.family == "recurrent" and c.once(3):
            fields["pin"] = {"linearize": c.pick(["chunked", "split", "grouped", "quadratic"])}

    #===-- Mechanisms ------------------------------------------------------------------------------------------------===#

    def mechanism(self):
        c = self.choices
        if self.family == "recurrent":
            return self.polysketch() if self.sketches and c.once(2) else self.kernel()
        if self.family == "pairs":
            return c.pick([self.softmax, self.softmax, self.softmax, self.polynomial])()
        m = c.pick([self.softmax, self.polynomial, self.kernel, self.polysketch, self.polysketch if self.causal else self.effatt])()
        if m["kind"] in ("softmax", "polynomial", "kernel") and not self.others and not m.keys() & {"decay", "erase", "write"} and c.once(2):
            m["window"] = {"length": c.pick([1, 2, 7, 16, 33, 64, 1000])}
        return m

    def softmax(self):
        c, m = self.choices, {"kind": "softmax"}
        self.last(m)
        if c.once(2):
            m["softcap"] = c.pick([0.7, 5, 30, 50, 1000])
        if c.once(2):
            m["alibi"] = True
        return m

    def polynomial(self):
        m = {"kind": "polynomial", "degree": self.choices.pick([2, 4, 6, 8])}
        self.guard(m)
        self.last(m)
        return m

    def last(self, m):
        if self.causal and self.choices.once(2):
            m["window"] = {"last": self.choices.pick([1, 2, 7, 16, 33, 64, 100, 5000])}

    def effatt(self):
        return {"kind": "effatt"}

    def polysketch(self):
        c = self.choices
        m = {"kind": "polysketch", "degree": c.pick([4, 4, 8]), "size": c.pick([4, 8, 16])}
        if self.causal and c.once(2):
            m["local_exact"] = c.pick([1, 3, 8, 16, 33])
            if not self.packed and not any(self.state.values()):
                m["local_exact"] = c.divisor(int(self.lengths[0]))
        self.guard(m)
        return m

    def guard(self, m):
        if self.choices.once(4):
            m["denominator"] = {"bias": self.choices.pick([0, 1e-6, 1]), "floor": self.choices.pick([0, 1e-6, 50])}

    def kernel(self):
        c = self.choices
        gates = self.causal and not c.once(5)
        m = {"kind": "kernel", "feature_map": self.feature_map(gates)}
        kind = m["feature_map"]["kind"]
        erases = gates and kind in ERASE_MAPS and c.once(2)
        divides = not erases and (c.once(6) if kind == "identity" else not c.once(3))
        if not divides and kind != "identity":
            m["denominator"] = "none"
        elif divides:
            m["denominator"] = {"bias": c.pick([0, 1e-6, 1]), "floor": c.pick([0, 1e-6, 50])}
            if kind != "identity" and c.once(2):
                del m["denominator"]
        if not self.causal and m.get("denominator") == "none":
            del m["denominator"]
        if gates:
            self.gates(m, kind, erases, divides)
        self.stabilize(m)
        return m

    def gates(self, m, kind, erases, divides):
        c = self.choices
        if kind in DECAY_MAPS and not c.once(5):
            m["decay"] = {"per": c.pick(["head", "token", "token", "channel"])}
        if erases:
            m["erase"] = {"per": c.pick(["token", "token", "channel"])}
        if c.once(2) and kind != "cosformer" or kind == "cosformer" and c.once(3):
            m["write"] = {"per": "token" if divides else c.pick(["token", "channel"])}

    def feature_map(self, gates):
        """A map with parameters of each query head needs as many key-value heads, with gates and states."""
        c = self.choices
        kind = c.pick(MAPS[:3] + MAPS if gates else MAPS[not self.causal:])
        own = not (gates or any(self.state.values())) or self.apart or self.group == 1
        if kind == "focused" and not own:
            kind = "relu"
        fields = {"kind": kind}
        if kind in ("favor", "favor_relu"):
            fields |= {"features": c.size(60), "per_head": own and c.once(2)}
        if kind == "favor":
            fields |= {"epsilon": c.pick([0, 0, 1e-4]), "stabilizer": c.pick(["constant", "max", "projection", "none"])}
        if kind == "favor_relu":
            fields |= {"epsilon": c.pick([0, 1e-3]), "normalize": c.once(2)}
        if kind == "cosformer":
            fields["max_position"] = int(max(1, self.lengths.max(), self.key_lengths.max())) + c.pick([0, 1, 300]) + 60 * bool(self.state)
        if kind == "focused":
            fields |= {"power": c.pick([3, 1.0, 2.5, 4, 0.5, 6.5, 12]), "epsilon": c.pick([1e-6, 1e-2])}
        return fields

    def stabilize(self, m):
        """Maxima over keys would let the future in."""
        favor = m["feature_map"]
        guarded = favor.get("epsilon", 0) > 0 or any(value > 0 for value in guard_of(m))
        if favor["kind"] == "favor" and self.causal and m.get("denominator") != "none" and guarded and \
                favor["stabilizer"] in ("max", "projection"):
            favor["stabilizer"] = self.choices.pick(["constant", "none"])


def has_scale(mechanism):
    own = mechanism.get("feature_map", {})
    return mechanism["kind"] in ("softmax", "polynomial", "polysketch") or own.get("kind") in ("favor", "identity") or \
        own.get("normalize", False)


def divides(mechanism):
    """Whether a kernel's output is a quotient."""
    default = "none" if mechanism["feature_map"]["kind"] == "identity" else {}
    return mechanism.get("denominator", default) != "none"


def draw_spec(seed, limits=None):
    return DecoderDraw(seed, limits or Limits()).draw()
