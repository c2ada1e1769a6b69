"""The rows of benchmarks/gradients.py: families, what is asked of each, and the least that a backward pass computes.

The multiply-adds are those of gradients of queries, keys and values in f32, whatever computes them, given what the spec's forward run
leaves. A product that a gradient needs counts once, also where it is of the forward pass; elementwise work, exponentials among it, does
not count.
"""

import cpu_operations
import cpu_rows
import gated_rows
from cpu_rows import FAMILIES, Family

FAVOR = cpu_rows.kernel("favor", features=128)


def image(**more):
    """Its own lists each time: a spec has no references."""
    return {"grid": [64, 64], **more}


def of_others(*names):
    return {name: FAMILIES[name] for name in names}


def gated(kind):
    return Family(gated_rows.Row(kind, 64, cpu_rows.USUAL_LENGTH, 4).spec()["mechanism"], causal=True)


FORMS = {
    **of_others("softmax", "softmax_causal", "window_256", "linformer", "elu1", "elu1_causal"),
    "favor": Family(FAVOR),
    "favor_causal": Family(FAVOR, causal=True),
    **of_others("cosformer", "effatt"),
    "elfatt": Family([{"kind": "effatt", "lepe": image()}, {"kind": "softmax", "window": image(size=[8, 8]), "lepe": {}}]),
    "eva": FAMILIES["eva"],
    "flurka": Family({**FAVOR, **cpu_rows.LOW_RANK}),
    "polysketch_causal": Family({"kind": "polysketch", "degree": 4, "size": 16}, causal=True),
    "gla": gated("gla"),
    "retention": gated("retention"),
    "gated_delta": gated("gated_delta"),
    "agent": FAMILIES["agent"],
}
GROUPS = {
    "exact": ["softmax", "softmax_causal"],
    "linear": ["elu1", "favor", "cosformer", "effatt"],
    "chunked": ["elu1_causal", "favor_causal", "gla", "retention", "gated_delta"],
    "low rank": ["linformer", "flurka"],
    "other": ["window_256", "elfatt", "eva", "polysketch_causal", "agent"],
}
WANTED = ["q", "k", "v"]
# Of linear forms: windows, agents and chunks divide both. EVA's chunks and a grid of fixed sizes are no one form at two lengths.
GROWTH_LENGTHS = [8192, 65536]
GROWTH_FORMS = [name for name in FORMS if name not in (*GROUPS["exact"], "eva", "elfatt")]


class Row(cpu_rows.Point):
    """A point whose spec asks for gradients."""

    @property
    def name(self):
        return f"{self.family} n{self.n}"

    @property
    def kind(self):
        return FORMS[self.family]

    @property
    def group(self):
        return next(group for group, names in GROUPS.items() if self.family in names)

    @property
    def fields(self):
        return super().fields | {"gradients": WANTED}

    @property
    def gated(self):
        """The row of benchmarks/gated.py that has its formula; None for other families."""
        return gated_rows.Row(self.family, self.d, self.n, self.head_count) if self.family in gated_rows.KINDS else None


def row_of(family, n=cpu_rows.USUAL_LENGTH):
    return Row(family, "f32", cpu_rows.USUAL_WIDTH, n, 1)


def rows():
    return [row_of(family, n) for family in FORMS for n in ((1024, 4096) if family in GROUPS["exact"] else (4096,))]


#===----------------------------------------------------------------------------------------------------------------===#
# Multiply-adds of a head
#===----------------------------------------------------------------------------------------------------------------===#


def pairs(point, keys, d, dv):
    """Every query with each of `keys` keys, half of them if causal: the score, ō vᵀ, and each of q̄, k̄, v̄."""
    return point.n * keys * (3 * d + 2 * dv) * (0.5 if point.causal else 1)


def states(point, keys, m, dv, left=False):
    """Through a state S of m features by the values and, with `dv` one more, the sum of weights: S itself, unless the forward run has
    `left` it, q̄ = ō Sᵀ, S̄ = qᵀ ō, k̄ = v S̄ᵀ, v̄ = k S̄.

    If causal S and S̄ are those of each token, one from each end of the sequence, without a pair; the products are as many."""
    return (2 * point.n + (2 if left else 3) * keys) * m * dv


def kernel(point, mechanism, keys):
    feature_map, d = mechanism["feature_map"], point.d
    m, sums = cpu_operations.map_width(feature_map, d), 0 if mechanism.get("denominator") == "none" else 1
    maps = 2 * (point.n + keys) * m * d if feature_map["kind"] == "favor" else 0  # projections, and back through them
    least = min(states(point, keys, m, d + sums, left=not point.causal), pairs(point, keys, m, d))
    # A key that erases reads S, and what it reads has a gradient that reaches both S̄ and k̄.
    return maps + (8 * point.n * m * d if "erase" in mechanism else least)


def polysketch(point, mechanism, keys):
    """A state of the r (r + 1) / 2 different products of two entries of a sketch; sketches, and back through them."""
    r, leaves, d = mechanism["size"], mechanism["degree"] // 2, point.d
    sketches = 2 * (point.n + keys) * (leaves * d * r + (leaves - 1) * 2 * r * r)
    return sketches + min(states(point, keys, r * (r + 1) / 2, d + 1), pairs(point, keys, r, d))


def eva(point, mechanism, keys):
    """Pairs; of each chunk the logits and the mean of its values again, and back through both."""
    seen = mechanism["window"]["length"] + keys / mechanism["chunk"]
    return pairs(point, seen, point.d, point.d) + keys * 3 * (point.d + point.d)


def agent(point, mechanism, keys):
    """Pairs of agents with queries and with keys, and the agents' values again."""
    agents = mechanism["agents"]
    return (point.n + keys) * agents * 5 * point.d + keys * agents * point.d


def head(point, mechanism):
    keys, d, compressed = point.n, point.d, 0
    if "low_rank" in mechanism:
        keys = mechanism["low_rank"]["rank"]
        compressed = keys * point.n * 2 * d  # back through E k and E v, which the forward pass leaves
    kind = mechanism["kind"]
    if kind == "softmax":
        products = pairs(point, cpu_operations.window_tokens(mechanism) or keys, d, d)
    elif kind == "effatt":
        products = states(point, keys, d, d, left=True)
    else:
        products = {"kernel": kernel, "polysketch": polysketch, "eva": eva, "agent": agent}[kind](point, mechanism, keys)
    return products + compressed + (9 * point.n * d if "lepe" in mechanism else 0)


def multiply_adds(point):
    """Of all heads."""
    return sum(heads * head(point, mechanism) for heads, mechanism in point.parts)
