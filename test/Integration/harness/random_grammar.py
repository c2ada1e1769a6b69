"""Random specs over the whole grammar, correct by construction.

Everything depends on the seed alone. Sizes are drawn first and every block, chunk and tile is then one of their divisors.
One spec in eight is large: thousands of tokens, so that a sequence has several pieces, or wide rows. Whether it is comes
from a stream of its own, so that the others are as they are drawn with `sizes` small.
"""

import dataclasses
import math

import numpy as np

KINDS = ["softmax", "polynomial", "kernel", "polysketch", "effatt", "eva", "agent"]
MAPS = ["favor", "favor_relu", "elu1", "relu", "cosformer", "focused"]
# Maps whose states may decay; powers of `focused` above this are exponents, which do not.
DECAY_MAPS, LARGEST_PLAIN_POWER = ["identity", "elu1", "relu", "favor_relu", "focused"], 4
SIZES = ["mixed", "small", "large"]
# Forms that only a CPU has.
CPU_FORMS = {"map": "materialized", "project": "fused", "launch": "co_launched", "project_out": "epilogue"}
LARGE_ONE_IN, LARGEST_LENGTH, LARGEST_WIDTH = 8, 5003, 160
# From this degree on a sketch's numbers are kept in a unit (sketchNeedsUnit).
LONG_RANGE_DEGREE = 16


@dataclasses.dataclass
class Case:
    """A spec's fields and the sizes of its '?'."""
    fields: dict
    batch: int
    queries: int
    keys: int

    def parts(self):
        """(heads, mechanism) of each part."""
        fields = self.fields
        if "parts" in fields:
            return [(part["heads"], part["mechanism"]) for part in fields["parts"]]
        return [(fields["heads"], fields["mechanism"])]

    def outputs(self):
        """Numbers of one query."""
        return self.batch * self.fields["heads"] * self.fields["value_dim"]

    def mechanisms(self):
        return [mechanism for _, mechanism in self.parts()]

    def init_arguments(self):
        """The '?' sizes as attnc takes them."""
        names = [("batch", self.batch), ("queries", self.queries), ("keys", self.keys)]
        return [text for name, size in names if self.fields.get(name) == "?" for text in (f"--{name}", str(size))]


class Choices:
    """Random choices by a seed and a name; by a seed drawn again, which is (seed, how often)."""

    def __init__(self, seed, stream):
        self.rng = np.random.default_rng([*(seed if isinstance(seed, tuple) else (seed,)), *stream.encode()])

    def below(self, bound):
        return int(self.rng.integers(bound))

    def between(self, first, last):
        return first + self.below(last - first + 1)

    def once(self, times):
        """True once in `times`."""
        return self.below(times) == 0

    def pick(self, options):
        return options[self.below(len(options))]

    def divisor(self, number):
        return self.pick([i for i in range(1, number + 1) if number % i == 0])

    def size(self, most):
        """Often small, 1 not rarely, and now and then a multiple of 64 or its neighbour."""
        match self.below(6):
            case 0:
                return 1
            case 1:
                return self.between(1, min(most, 9))
            case 2:
                return min(max(64 * self.between(1, max(most // 64, 1)) + self.between(-1, 1), 1), most)
        return self.between(1, most)


#===------------------------------------------------------------------------------------------------------------------===#
# Specs
#===------------------------------------------------------------------------------------------------------------------===#


@dataclasses.dataclass
class Limits:
    """What may be drawn, and how large."""
    kinds: list = dataclasses.field(default_factory=lambda: KINDS)
    maps: list = dataclasses.field(default_factory=lambda: MAPS)
    plain: bool = False     # nothing that modifies a mechanism, nothing around it, no parts
    tokens: int = 128
    width: int = 64
    sizes: str = "small"    # one of SIZES: within these two always, but for one in eight, or never
    work: float = 1e9       # of a large spec: multiply-adds of all pairs of tokens
    cpu_forms: bool = True  # whether forms may be pinned that only a CPU has
    dtypes: tuple = ("f32", "f16", "bf16")


class SpecDraw:
    """One spec within the limits."""

    def __init__(self, seed, limits):
        self.choices, sizes, self.decays = Choices(seed, "spec"), Choices(seed, "sizes"), Choices(seed, "decays")
        self.masks = Choices(seed, "masks")
        self.kinds, self.maps, self.plain = limits.kinds, limits.maps, limits.plain
        self.cpu_forms, self.dtypes = limits.cpu_forms, limits.dtypes
        self.tokens, self.width, self.features, self.ranks = limits.tokens, limits.width, 70, [1, 4, 12, 16, 30]
        self.large = limits.sizes == "large" or limits.sizes == "mixed" and sizes.once(LARGE_ONE_IN)
        if self.large:
            self.make_large(sizes, limits.work)
        self.name = f"random_{seed[0] if isinstance(seed, tuple) else seed}"

    def make_large(self, c, work):
        """Either long or wide: the more tokens, the narrower."""
        self.head_counts = c.pick([(1, 1), (1, 1), (1, 2), (2, 1)])
        self.width = c.pick([16, 24, 40, 64, 96, LARGEST_WIDTH])
        pairs = work / (2 * self.width * math.prod(self.head_counts))
        self.tokens = max(129, min(LARGEST_LENGTH, int(math.sqrt(pairs))))
        self.features, self.ranks = 200, [16, 64, 100, 200]

    def draw(self):
        c = self.choices
        self.causal = c.once(2) and any(kind not in ("effatt", "agent") for kind in self.kinds)
        self.projection = self.draw_projection()
        cross = not self.projection or self.projection.get("cross", False)
        self.n = self.draw_length()
        self.N = self.n if not cross or c.once(2) or self.must_be_equal() else self.draw_length()
        self.batch, self.kv_heads, self.group = c.between(1, 3), c.between(1, 3), c.between(1, 3)
        if self.large:
            self.batch, (self.kv_heads, self.group) = 1, self.head_counts
        self.d = c.size(self.width)
        self.dv = self.d if c.once(2) else c.size(self.width)
        fields = self.head_fields()
        if self.kv_heads > 1 and self.modify(3):
            fields["parts"] = self.draw_parts()
        else:
            fields["mechanism"] = self.draw_mechanism(self.kv_heads * self.group)
        if c.once(3) and any(has_scale(m) for m in Case(fields, 0, 0, 0).mechanisms()):
            fields["scale"] = c.pick([0.01, 0.3, 1.0, 1 / 3])
        forms = {"linearize": self.forms(fields), "fold": ["apart", "folded"] if self.can_fold(fields) else [],
                 "low_rank": ["project_first", "compress_first"] if self.can_compress_first(fields) else [],
                 "project": ["materialized", "fused"] if self.can_project_in_reader(fields) else [],
                 "launch": ["sequential", "co_launched"] if self.can_run_together(fields) else [],
                 "map": ["fused", "materialized"] if self.can_map_alone(fields) else [],
                 "keys": ["in_order", "split"] if self.can_split_keys(fields) else []}
        pin = {law: c.pick(options) for law, options in forms.items() if options and c.once(2)}
        if self.can_project_in_epilogue(fields, pin) and c.once(2):
            pin["project_out"] = c.pick(["materialized", "epilogue"])
        if not self.cpu_forms:
            pin = {law: form for law, form in pin.items() if CPU_FORMS.get(law) != form}
        if pin:
            fields["pin"] = pin
        return Case(fields, self.batch, self.n, self.N)

    def modify(self, times):
        """Whether to add what the plain mechanism does not have: once in `times`."""
        return self.choices.once(times) and not self.plain

    def draw_length(self):
        """Half of them with many divisors."""
        c = self.choices
        if self.large:
            length = c.pick([self.tokens, c.between(129, self.tokens), c.between(129, self.tokens)])
            return length if c.once(2) else length // 48 * 48
        return c.size(self.tokens) if c.once(2) else min(c.pick([8, 12, 16, 36, 48, 60, 64, 72, 96, 120, 128]), self.tokens)

    def must_be_equal(self):
        """Causal forms of what is no longer a matter of pairs need n = N."""
        return self.causal and not {"softmax", "polynomial"} & set(self.kinds)

    def draw_projection(self):
        c = self.choices
        if not self.modify(4):
            return None
        flags = {name: c.once(2) for name in ("output", "bias", "cross")}
        return {"model_dim": c.size(48), **flags}

    def head_fields(self):
        c = self.choices
        follows = self.N == self.n and c.once(2)
        fields = {"attention": self.name, "dtype": c.pick(self.dtypes),
                  "batch": "?" if c.once(3) else self.batch, "queries": "?" if c.once(3) else self.n}
        if not follows:
            fields["keys"] = "?" if c.once(3) else self.N
        fields |= {"heads": self.kv_heads * self.group, "kv_heads": self.kv_heads, "head_dim": self.d,
                   "value_dim": self.dv, "causal": self.causal, "key_lengths": c.once(2)}
        if self.projection:
            fields["projection"] = self.projection
        if self.d % 2 == 0 and self.modify(4):
            fields["rope"] = {"base": c.pick([10000, 500.0]), "layout": c.pick(["interleaved", "half"])}
        self.normed = self.modify(4)
        if self.normed:
            fields["qk_norm"] = {"epsilon": c.pick([1e-5, 1e-3])}
        return fields

    def draw_parts(self):
        """Two parts or three, of whole groups."""
        first = self.choices.between(1, self.kv_heads - 1)
        groups = [first, self.kv_heads - first]
        if groups[1] > 1 and self.choices.once(2):
            groups[1:] = [1, groups[1] - 1]
        return [{"heads": count * self.group, "mechanism": self.draw_mechanism(count * self.group)} for count in groups]

    def forms(self, fields):
        """What `linearize` may be pinned to: what one of the parts can take."""
        forms = set()
        for mechanism in Case(fields, 0, 0, 0).mechanisms():
            if mechanism["kind"] not in ("kernel", "polysketch"):
                continue
            after_map = mechanism.get("low_rank", {}).get("order") == "after_map"
            forms |= set() if after_map else {"quadratic"}
            forms |= set() if "window" in mechanism else {"chunked" if self.causal else "state"}
            forms |= {"split"} if self.can_split(mechanism) else set()
            if mechanism["kind"] == "kernel" and "window" not in mechanism and not self.causal and not after_map:
                forms |= {"fused_state", "merged_state"}
            forms |= {"grouped"} if self.can_group(mechanism) else set()
        return sorted(forms)

    def can_split(self, mechanism):
        """Whether a causal sequence can be cut: the unit of sketches of a higher degree runs along it."""
        return self.causal and "window" not in mechanism and mechanism.get("degree", 0) < LONG_RANGE_DEGREE

    def can_group(self, mechanism):
        """Whether the query heads of a key-value head can share its state, chunk by chunk."""
        own = mechanism.get("feature_map", {})
        return (self.causal and self.group > 1 and mechanism["kind"] == "kernel" and "window" not in mechanism
                and not own.get("per_head") and own["kind"] != "focused")

    def can_fold(self, fields):
        """Whether W ω can be one matrix: nothing stands between, and nothing else needs the queries."""
        favor = fields.get("mechanism", {}).get("feature_map", {})
        if not self.projection or "features" not in favor or fields.keys() & {"rope", "qk_norm"}:
            return False
        m = fields["mechanism"]
        cancels = m.get("denominator") != "none" and favor["epsilon"] == 0 and not any(guard_of(m))
        return m.get("low_rank", {}).get("order") != "after_map" and (
            favor["kind"] == "favor_relu" or cancels or favor["stabilizer"] in ("constant", "max"))

    def can_project_in_reader(self, fields):
        """Whether all that reads the queries can project them itself."""
        after_map = [m for m in Case(fields, 0, 0, 0).mechanisms() if m.get("low_rank", {}).get("order") == "after_map"]
        kinds = {m["kind"] for m in Case(fields, 0, 0, 0).mechanisms()}
        return self.projection and not after_map and kinds <= {"softmax", "polynomial", "kernel", "effatt"}

    def can_project_in_epilogue(self, fields, pin):
        """Whether some kernel has all heads of a token, in the form that is pinned."""
        kinds = {"softmax", "polynomial", "kernel", "effatt", "agent"}
        return (self.projection and self.projection["output"] and "parts" not in fields
                and fields["mechanism"]["kind"] in kinds
                and pin.get("linearize") not in ("fused_state", "chunked", "split", "grouped")
                and pin.get("keys") != "split" and ("keys" not in pin or fields["mechanism"]["kind"] == "softmax"))

    def can_run_together(self, fields):
        """Whether the kernels of parts can share launches: those that compress features run before all parts."""
        return "parts" in fields and not any(m.get("low_rank", {}).get("order") == "after_map"
                                             for m in Case(fields, 0, 0, 0).mechanisms())

    def can_map_alone(self, fields):
        """Whether a kernel can store the features of the keys of one of the parts."""
        return any(m["kind"] == "kernel" and m.get("low_rank", {}).get("order") != "after_map"
                   for m in Case(fields, 0, 0, 0).mechanisms())

    def can_split_keys(self, fields):
        """Whether pieces of the keys can run side by side: of exact attention their number follows from that of the queries; chunks of
        groups have parts."""
        softmax = fields["queries"] != "?" and any(m["kind"] == "softmax" and "window" not in m
                                                   for m in Case(fields, 0, 0, 0).mechanisms())
        return softmax or any(self.can_group(m) for m in Case(fields, 0, 0, 0).mechanisms())

    def can_compress_first(self, fields):
        """Whether E can go before the projection of the keys, or of the values."""
        m = fields.get("mechanism", {})
        if not self.projection or "low_rank" not in m or m["low_rank"].get("order") == "after_map":
            return False
        return not fields.keys() & {"rope", "qk_norm"} or "lepe" not in m

    #===-- Mechanisms ------------------------------------------------------------------------------------------------===#

    def draw_mechanism(self, heads):
        allowed = [kind for kind in self.kinds if not (self.causal and kind in ("effatt", "agent"))
                   and (not self.causal or self.n == self.N or kind in ("softmax", "polynomial"))]
        weighted = allowed + ["kernel"] * (3 * ("kernel" in allowed))  # it has maps of its own
        mechanism = {"kind": self.choices.pick(weighted)}
        getattr(self, mechanism["kind"])(mechanism)
        if not self.causal and self.n == self.N and self.modify(3):
            self.lepe(mechanism)
        return mechanism

    def softmax(self, m):
        if not self.low_rank(m, 3):
            self.window(m, 3)
        self.last(m)
        if not self.plain and self.masks.once(4):
            m["softcap"] = self.masks.pick([0.7, 5, 30, 50, 1000])
        if not self.plain and "low_rank" not in m and self.masks.once(4):
            m["alibi"] = True

    def last(self, m):
        """By a stream of its own, as all masks and logits of decoders."""
        if self.causal and not self.plain and not m.keys() & {"window", "low_rank"} and self.masks.once(3):
            m["window"] = {"last": self.masks.pick([1, 2, 7, 16, 33, 64, 100, 500])}

    def polynomial(self, m):
        m["degree"] = self.choices.pick([2, 4, 6, 8, 10, 16, 32])
        self.denominator(m)
        self.window(m, 3)
        self.last(m)

    def polysketch(self, m):
        m |= {"degree": self.choices.pick([4, 4, 8, 16, 32]), "size": self.choices.pick([1, 2, 4, 8, 16, 32])}
        if self.causal and self.choices.once(2):
            m["local_exact"] = self.choices.divisor(self.n)
        self.denominator(m)

    def effatt(self, m):
        pass

    def agent(self, m):
        m["agents"] = self.choices.divisor(self.n)

    def eva(self, m):
        c = self.choices
        keys = self.N
        if self.low_rank(m, 3):
            keys = m["low_rank"]["rank"]
        chunks = c.divisor(math.gcd(keys, self.n))
        m["chunk"] = keys // chunks
        if self.causal or c.once(2):
            blocks = c.divisor(chunks if self.causal else math.gcd(keys, self.n))
            m["window"] = {"length": keys // blocks}
        m |= {"mu_weight": c.pick([0.5, 1.0, -0.25]), "exclude_local": c.once(2), "mass": c.once(2)}

    def kernel(self, m):
        c = self.choices
        m["feature_map"] = self.feature_map()
        kind = m["feature_map"]["kind"]
        if not self.low_rank(m, 3, orders=["after_map"] if kind == "cosformer" else ["before_map", "after_map"]):
            self.window(m, 3)
        if m.get("low_rank", {}).get("order") == "after_map":
            m["denominator"] = "none"
        else:
            self.denominator(m)
        favor = m["feature_map"]
        guarded = favor.get("epsilon", 0) > 0 or any(v > 0 for v in guard_of(m))
        if kind == "favor" and self.causal and guarded and favor["stabilizer"] in ("max", "projection"):
            favor["stabilizer"] = c.pick(["constant", "none"])
        if self.causal and not self.plain:
            self.decay(m)

    def decay(self, m):
        """By a stream of its own: what else is drawn does not depend on it."""
        c, own = self.decays, m["feature_map"]
        if c.once(4):
            own = m["feature_map"] = {"kind": "identity"}
            if c.once(2):
                m.pop("denominator", None)
        decays = own["kind"] in DECAY_MAPS and (self.group == 1 or not (own.get("per_head") or own["kind"] == "focused"))
        if decays and "window" not in m and own.get("power", 0) <= LARGEST_PLAIN_POWER and c.once(2):
            m["decay"] = {"per": "head"}
            if own["kind"] != "identity" and c.once(3):
                m["denominator"] = "none"

    def feature_map(self):
        c = self.choices
        kind = c.pick(self.maps)
        fields = {"kind": kind}
        if kind in ("favor", "favor_relu"):
            fields |= {"features": c.size(self.features), "per_head": c.once(2)}
        if kind == "favor":
            fields |= {"epsilon": c.pick([0, 0, 1e-4, 0.1]), "stabilizer": c.pick(["constant", "max", "projection", "none"])}
        if kind == "favor_relu":
            fields |= {"epsilon": c.pick([0, 1e-3]), "normalize": c.once(2)}
        if kind == "cosformer":
            fields["max_position"] = max(self.n, self.N) + c.pick([0, 1, 300])
        if kind == "focused":
            fields |= {"power": c.pick([3, 1.0, 2.5, 4, 0.5, 5, 6.5, 8, 12, 17.3, 30]), "epsilon": c.pick([1e-6, 1e-2])}
        return fields

    def denominator(self, m):
        if self.choices.once(3):
            m["denominator"] = {"bias": self.choices.pick([0, 1e-6, 1]), "floor": self.choices.pick([0, 1e-6, 50])}

    def low_rank(self, m, times, orders=("before_map",)):
        c = self.choices
        if self.causal or not self.modify(times):
            return False
        m["low_rank"] = {"rank": c.pick(self.ranks), "tied": c.once(2), "per_head": c.once(2),
                         "order": c.pick(orders)}
        return True

    def window(self, m, times):
        c = self.choices
        if self.n != self.N or not self.modify(times):
            return
        if c.once(2):
            m["window"] = {"length": c.divisor(self.n)}
            return
        rows = c.divisor(self.n)
        columns = self.n // rows
        m["window"] = {"grid": [rows, columns], "size": [c.divisor(rows), c.divisor(columns)]}

    def lepe(self, m):
        c = self.choices
        m["lepe"] = {"bias": c.once(2)}
        if ("window" not in m or m["kind"] == "eva") and c.once(2):
            rows = c.divisor(self.n)
            m["lepe"]["grid"] = [rows, self.n // rows]


def guard_of(mechanism):
    """bias and floor of the denominator."""
    guard = mechanism.get("denominator", {})
    if guard == "none":
        return 0, 0
    floor = 1e-6 if mechanism.get("feature_map", {}).get("kind") in ("relu", "cosformer") else 0
    return guard.get("bias", 0), guard.get("floor", floor)


def has_scale(mechanism):
    kind, favor = mechanism["kind"], mechanism.get("feature_map", {})
    return kind in ("softmax", "polynomial", "polysketch", "eva", "agent") or favor.get("kind") in ("favor", "identity") or \
        favor.get("normalize", False)


def has_logits(mechanism):
    """Whether exponentials of scale · ⟨q, k⟩ are its weights, or what its map approximates."""
    return mechanism["kind"] in ("softmax", "eva", "agent") or mechanism.get("feature_map", {}).get("kind") == "favor"


def draw_spec(seed, limits=None):
    return SpecDraw(seed, limits or Limits()).draw()
